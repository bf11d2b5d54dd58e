package mutate

// caseOperators break the order and the results of CASE, which judges cells.
var caseOperators = []Operator{
	{Name: "when-drop", Describe: "leaves a branch of CASE out", sites: dropWhen},
	{Name: "when-swap", Describe: "asks two branches of CASE in the other order", sites: swapWhen},
	{Name: "result-swap", Describe: "gives two branches of CASE each other's result", sites: swapResult},
	{Name: "else-drop", Describe: "leaves the ELSE of CASE out", sites: dropElse},
}

func dropWhen(p *place, n *node, add func(...edit)) {
	if n.kind != "CaseExpr" {
		return
	}
	whens := n.all("args")
	if len(whens) > 1 {
		for i := range whens {
			add(without(whens, i))
		}
		return
	}
	rest := "NULL"
	if e := n.one("defresult"); e != nil {
		rest = p.of(e)
	}
	add(edit{n.lo, n.hi, rest})
}

func swapWhen(p *place, n *node, add func(...edit)) {
	if n.kind == "CaseExpr" {
		whens := n.all("args")
		for i := 1; i < len(whens); i++ {
			add(p.swap(whens[i-1], whens[i])...)
		}
	}
}

func swapResult(p *place, n *node, add func(...edit)) {
	if n.kind != "CaseExpr" {
		return
	}
	var results []*node
	for _, w := range n.all("args") {
		results = append(results, w.one("result"))
	}
	results = append(results, n.all("defresult")...)
	for i := 1; i < len(results); i++ {
		add(p.swap(results[i-1], results[i])...)
	}
}

func dropElse(p *place, n *node, add func(...edit)) {
	if n.kind != "CaseExpr" {
		return
	}
	if e := n.one("defresult"); e != nil {
		whens := n.all("args")
		add(edit{whens[len(whens)-1].hi, e.hi, ""})
	}
}

// swap are the edits that put two nodes in each other's place.
func (t *text) swap(a, b *node) []edit {
	return []edit{{a.lo, a.hi, t.of(b)}, {b.lo, b.hi, t.of(a)}}
}
