package mutate
import ("testing";"os";"strings";"fmt";"regexp")
func TestZZ(t *testing.T){
 ss,_:=Load(os.DirFS("../.."))
 by:=map[string]*Mutant{}
 for _,s:=range ss{ ms,_:=Mutants(s); for _,m:=range ms{ by[m.String()]=m } }
 use:=map[int]int{}
 for _,f:=range strings.Fields(os.Getenv("LOGS")) {
 b,_:=os.ReadFile(f)
 re:=regexp.MustCompile(`^(survived|killed|timed out) +(.*)$`)
 for _,l:=range strings.Split(string(b),"\n"){
  x:=re.FindStringSubmatch(l); if x==nil{continue}
  key:=strings.TrimSpace(x[2])
  m:=by[key]
  if m==nil { if i:=strings.LastIndex(key," "); i>0 { m=by[strings.TrimSpace(key[:i])] } }
  if m==nil { continue }
  e:=Explained(m)
  if x[1]=="survived" && e<0 { fmt.Println("OPEN",m) }
  if x[1]=="survived" && e>=0 {use[e]++}
  if x[1]!="survived" && e>=0 { fmt.Println("BROKEN",e,explanations[e].Operator,explanations[e].Line,"|",m,l[len(l)-60:]) }
 }}
 for i,e:=range explanations { fmt.Println("USE",i,use[i],e.Operator,e.Why[:30]) }
}
