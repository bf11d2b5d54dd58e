package sqlexpr

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/pawl-go/pawl/internal/pgparse"
)

// Form is what an expression says, free of how it is written: white space,
// letter case of keywords and names, brackets that change nothing, and the
// order of conditions joined by AND. The zero Form is that of no expression.
type Form struct {
	conditions []clause
}

// clause is one of the expressions that AND joins at the top.
type clause struct {
	tree string
	// left, operator and bound are set for a comparison with a number.
	left, operator string
	bound          float64
}

// FormOf returns the form of an expression that Parse takes. Of one that cannot
// be read it is the text itself. It is safe for concurrent use and never panics.
func FormOf(source string) Form {
	w := &walker{source: source}
	unread := Form{[]clause{{tree: "?" + source}}}
	if _, ok := w.scan(); !ok {
		return unread
	}
	// A parameter stands as a column that nobody can declare.
	var b strings.Builder
	at := 0
	for _, t := range w.tokens {
		name, ok := w.params[t.start-1]
		if !ok {
			continue
		}
		b.WriteString(source[at:t.start-1] + ` "@` + name + `" `)
		at = t.end
	}
	b.WriteString(source[at:])
	result, err := pgparse.Parse(wrapper + b.String() + ")")
	if err != nil || onlyTarget(result) == nil {
		return unread
	}
	var f Form
	for _, n := range conjuncts(onlyTarget(result)) {
		f.add(n)
	}
	return f
}

// Equal reports whether both say the same, as far as their forms tell: that
// a > b and b < a are one is not seen.
func (f Form) Equal(g Form) bool {
	return f.has(g) && g.has(f)
}

func (f Form) has(g Form) bool {
	return !slices.ContainsFunc(g.conditions, func(c clause) bool { return !f.holds(c) })
}

func (f Form) holds(c clause) bool {
	return slices.ContainsFunc(f.conditions, func(d clause) bool { return d.tree == c.tree })
}

// Implies reports whether g is true wherever f is, as far as their forms tell:
// every condition of g is one of f, or a wider bound of the same value. Nothing
// is implied by what is not seen.
func (f Form) Implies(g Form) bool {
	for _, c := range g.conditions {
		if !slices.ContainsFunc(f.conditions, func(d clause) bool { return d.tree == c.tree || d.within(c) }) {
			return false
		}
	}
	return true
}

// within reports whether c bounds the same value no more narrowly.
func (d clause) within(c clause) bool {
	if d.left == "" || d.left != c.left {
		return false
	}
	switch c.operator {
	case ">":
		return d.operator == ">" && d.bound >= c.bound || (d.operator == ">=" || d.operator == "=") && d.bound > c.bound
	case ">=":
		return (d.operator == ">" || d.operator == ">=" || d.operator == "=") && d.bound >= c.bound
	case "<":
		return d.operator == "<" && d.bound <= c.bound || (d.operator == "<=" || d.operator == "=") && d.bound < c.bound
	case "<=":
		return (d.operator == "<" || d.operator == "<=" || d.operator == "=") && d.bound <= c.bound
	}
	return false
}

func conjuncts(n *pg.Node) []*pg.Node {
	b := n.GetBoolExpr()
	if b == nil || b.GetBoolop() != pg.BoolExprType_AND_EXPR {
		return []*pg.Node{n}
	}
	var all []*pg.Node
	for _, arg := range b.GetArgs() {
		all = append(all, conjuncts(arg)...)
	}
	return all
}

func (f *Form) add(n *pg.Node) {
	c := clause{tree: tree(n)}
	if e := n.GetAExpr(); e != nil && e.GetKind() == pg.A_Expr_Kind_AEXPR_OP && len(e.GetName()) == 1 {
		if bound, ok := number(e.GetRexpr()); ok && e.GetLexpr() != nil {
			c.left, c.operator, c.bound = tree(e.GetLexpr()), e.GetName()[0].GetString_().GetSval(), bound
		}
	}
	f.conditions = append(f.conditions, c)
}

// number reads a constant that a float64 holds exactly.
func number(n *pg.Node) (float64, bool) {
	c := n.GetAConst()
	switch {
	case c == nil:
		return 0, false
	case c.GetIval() != nil:
		return float64(c.GetIval().GetIval()), true
	case c.GetFval() != nil:
		v, err := strconv.ParseInt(c.GetFval().GetFval(), 10, 53)
		return float64(v), err == nil
	}
	return 0, false
}

// tree writes a node without the places of its parts.
func tree(n *pg.Node) string {
	text, err := json.Marshal(n)
	var v any
	if err != nil || json.Unmarshal(text, &v) != nil {
		return n.String()
	}
	text, err = json.Marshal(placeless(v))
	if err != nil {
		return n.String()
	}
	return string(text)
}

func placeless(v any) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "location")
		for k := range v {
			v[k] = placeless(v[k])
		}
	case []any:
		for i := range v {
			v[i] = placeless(v[i])
		}
	}
	return v
}
