package mutate

import (
	"strconv"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// conditionOperators break comparisons, bounds and what joins conditions.
var conditionOperators = []Operator{
	{Name: "compare", Describe: "turns a comparison into its opposite, or moves its boundary", sites: compare},
	{Name: "number", Describe: "puts one more or one less in a number's place", sites: number},
	{Name: "and-drop", Describe: "leaves out one of several conditions that must all be true", sites: joined("AND_EXPR")},
	{Name: "or-drop", Describe: "leaves out one of several conditions of which one must be true", sites: joined("OR_EXPR")},
	{Name: "and-or", Describe: "joins conditions by OR instead of AND, or the other way round", sites: connective},
	{Name: "where-drop", Describe: "leaves out the only condition of a clause", sites: dropWhere},
	{Name: "not-drop", Describe: "leaves out a NOT", sites: dropNot},
	{Name: "is-true", Describe: "loses or turns IS TRUE and its like, which decide what NULL means", sites: isTrue},
	{Name: "is-null", Describe: "turns IS NULL and IS NOT NULL round", sites: isNull},
	{Name: "bool", Describe: "turns true and false round", sites: boolean},
}

var opposites = map[string][]string{
	"=": {"<>"}, "<>": {"="},
	"<": {"<=", ">="}, "<=": {"<", ">"}, ">": {">=", "<="}, ">=": {">", "<"},
}

func compare(p *place, n *node, add func(...edit)) {
	token := p.at(n.location())
	others := opposites[n.operator()]
	if n.operator() == "=" && n.above("BooleanTest") != nil { // a guard
		others = []string{"<>", "<=", ">="}
	}
	for _, o := range others {
		add(edit{p.tokens[token].lo, p.tokens[token].hi, o})
	}
	if n.kind == "A_Expr" && n.str("kind") == "AEXPR_IN" {
		add(edit{p.tokens[token].lo, p.tokens[token].lo, "NOT "})
	}
	if n.kind == "A_Expr" && n.str("kind") == "AEXPR_BETWEEN" {
		add(edit{p.tokens[token].lo, p.tokens[token].lo, "NOT "})
	}
}

func number(p *place, n *node, add func(...edit)) {
	if n.kind != "A_Const" || n.one("ival") == nil || p.insideExists(n) {
		return
	}
	value, err := strconv.Atoi(p.of(n))
	if err != nil {
		return
	}
	add(edit{n.lo, n.hi, strconv.Itoa(value + 1)})
	if n.role != "defresult" { // a number of no cell is as good as another
		add(edit{n.lo, n.hi, strconv.Itoa(value - 1)})
	}
}

// insideExists reports whether a node is what EXISTS selects, which nobody reads.
func (p *place) insideExists(n *node) bool {
	item := n.above("ResTarget")
	return item != nil && item.parent.kind == "SelectStmt" && item.parent.parent != nil && item.parent.parent.kind == "SubLink"
}

// joined returns the operator that leaves out each item of a kind of BoolExpr.
func joined(kind string) func(*place, *node, func(...edit)) {
	return func(p *place, n *node, add func(...edit)) {
		if n.kind != "BoolExpr" || n.str("boolop") != kind {
			return
		}
		args := n.all("args")
		for i := range args {
			lo, hi := p.grouped(args[i])
			if i == 0 {
				next, _ := p.grouped(args[1])
				add(edit{lo, next, ""})
				continue
			}
			_, before := p.grouped(args[i-1])
			add(edit{before, hi, ""})
		}
	}
}

func connective(p *place, n *node, add func(...edit)) {
	if n.kind != "BoolExpr" || n.str("boolop") == "NOT_EXPR" {
		return
	}
	args := n.all("args")
	for i := range args[1:] {
		_, hi := p.grouped(args[i])
		token := p.tokens[p.at(hi)]
		other := "AND"
		if token.kind == pg.Token_AND {
			other = "OR"
		}
		add(edit{token.lo, token.hi, other})
	}
}

func dropWhere(p *place, n *node, add func(...edit)) {
	where := n.one("where_clause")
	if where == nil || where.kind == "BoolExpr" && where.str("boolop") != "NOT_EXPR" {
		return
	}
	lo, hi := p.grouped(where)
	if i := p.at(lo) - 1; p.is(i, pg.Token_WHERE) {
		add(edit{p.tokens[i].lo, hi, ""})
	}
}

func dropNot(p *place, n *node, add func(...edit)) {
	if n.kind == "BoolExpr" && n.str("boolop") == "NOT_EXPR" {
		i := p.at(n.lo)
		add(edit{p.tokens[i].lo, p.tokens[i+1].lo, ""})
	}
}

var tests = map[string][]string{
	"IS_TRUE":      {"", "IS NOT TRUE", "IS NOT FALSE"},
	"IS_NOT_TRUE":  {"", "IS TRUE", "IS FALSE"},
	"IS_FALSE":     {"", "IS NOT FALSE", "IS NOT TRUE"},
	"IS_NOT_FALSE": {"", "IS FALSE", "IS TRUE"},
}

func isTrue(p *place, n *node, add func(...edit)) {
	if n.kind != "BooleanTest" {
		return
	}
	for _, other := range tests[n.str("booltesttype")] {
		add(edit{n.location(), n.hi, other})
	}
}

func isNull(_ *place, n *node, add func(...edit)) {
	if n.kind != "NullTest" {
		return
	}
	other := "IS NULL"
	if n.str("nulltesttype") == "IS_NULL" {
		other = "IS NOT NULL"
	}
	add(edit{n.location(), n.hi, other})
}

func boolean(p *place, n *node, add func(...edit)) {
	if n.kind != "A_Const" || n.one("boolval") == nil {
		return
	}
	other := "true"
	if p.of(n) == "true" {
		other = "false"
	}
	add(edit{n.lo, n.hi, other})
}
