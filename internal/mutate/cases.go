package mutate

import "slices"

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
	if n.kind != "CaseExpr" {
		return
	}
	whens := n.all("args")
	for i := 1; i < len(whens); i++ {
		if !p.exclusive(n, whens[i-1], whens[i]) {
			add(p.swap(whens[i-1], whens[i])...)
		}
	}
}

// exclusive reports whether two branches can never both be taken, which makes
// their order say nothing: they compare one thing with different constants.
func (p *place) exclusive(of, a, b *node) bool {
	left, these := p.compared(a.one("expr"))
	right, those := p.compared(b.one("expr"))
	if of.one("arg") != nil { // CASE x WHEN 1 …
		left, these, right, those = "", []string{p.of(a.one("expr"))}, "", []string{p.of(b.one("expr"))}
	}
	return left == right && these != nil && those != nil &&
		!slices.ContainsFunc(these, func(s string) bool { return slices.Contains(those, s) })
}

// compared returns what a condition, or the first of several that must all be
// true, compares with which constants; nil for another condition.
func (p *place) compared(n *node) (what string, constants []string) {
	if n.kind == "BoolExpr" && n.str("boolop") == "AND_EXPR" {
		n = n.one("args")
	}
	if n.operator() != "=" && n.str("kind") != "AEXPR_IN" {
		return "", nil
	}
	for _, k := range n.all("rexpr") {
		if k.kind != "A_Const" {
			return "", nil
		}
		constants = append(constants, p.of(k))
	}
	return p.of(n.one("lexpr")), constants
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
		add(edit{p.tokens[p.at(whens[len(whens)-1].hi)].lo, e.hi, ""})
	}
}

// swap are the edits that put two nodes in each other's place.
func (t *text) swap(a, b *node) []edit {
	return []edit{{a.lo, a.hi, t.of(b)}, {b.lo, b.hi, t.of(a)}}
}
