package logic

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// strictFunctions are NULL whenever an argument is, with the kind of their value
// where it is always the same.
var strictFunctions = map[string]term{
	"length": {kind: Int, bits: 32}, "char_length": {kind: Int, bits: 32}, "character_length": {kind: Int, bits: 32},
	"octet_length": {kind: Int, bits: 32}, "bit_length": {kind: Int, bits: 32}, "ascii": {kind: Int, bits: 32},
	"strpos": {kind: Int, bits: 32}, "position": {kind: Int, bits: 32}, "cardinality": {kind: Int, bits: 32},
	"jsonb_array_length": {kind: Int, bits: 32}, "jsonb_typeof": {kind: Text},
	"left": {kind: Text}, "right": {kind: Text}, "replace": {kind: Text}, "md5": {kind: Text}, "split_part": {kind: Text},
	"lower": {kind: Other}, "upper": {kind: Other}, "btrim": {kind: Other}, "ltrim": {kind: Other}, "rtrim": {kind: Other},
	"substr": {kind: Other}, "substring": {kind: Other},
	"abs": {kind: Other}, "ceil": {kind: Other}, "ceiling": {kind: Other}, "floor": {kind: Other}, "round": {kind: Other},
	"trunc": {kind: Other}, "mod": {kind: Other}, "div": {kind: Other}, "sign": {kind: Other}, "sqrt": {kind: Other},
	"starts_with": {kind: Bool}, "date_trunc": {kind: Other}, "extract": {kind: Decimal}, "date_part": {kind: Float},
}

// strictOperators are NULL whenever a side is.
var strictOperators = map[string]bool{
	"=": true, "<>": true, "<": true, "<=": true, ">": true, ">=": true,
	"+": true, "-": true, "*": true, "/": true, "%": true, "^": true,
	"~": true, "~*": true, "!~": true, "!~*": true, "~~": true, "~~*": true, "!~~": true, "!~~*": true,
	"@>": true, "<@": true, "?": true, "->": true, "->>": true, "#>": true, "#>>": true,
}

// totalFunctions and totalOperators give NULL for nothing but NULL.
var (
	totalFunctions = map[string]bool{
		"length": true, "char_length": true, "character_length": true, "octet_length": true, "bit_length": true, "ascii": true,
		"strpos": true, "position": true, "jsonb_typeof": true, "left": true, "right": true, "replace": true, "md5": true,
		"lower": true, "upper": true, "btrim": true, "ltrim": true, "rtrim": true, "abs": true, "ceil": true, "ceiling": true,
		"floor": true, "round": true, "trunc": true, "mod": true, "div": true, "sign": true, "starts_with": true, "now": true,
	}
	totalOperators = map[string]bool{
		"=": true, "<>": true, "<": true, "<=": true, ">": true, ">=": true, "+": true, "-": true, "*": true, "/": true, "%": true,
		"~": true, "~*": true, "!~": true, "!~*": true, "~~": true, "~~*": true, "!~~": true, "!~~*": true, "@>": true, "<@": true, "?": true,
	}
)

// total reports whether a node's value is NULL only where one of its strictArgs
// is.
func (r *reader) total(n *pg.Node) bool {
	switch {
	case n.GetAConst() != nil:
		return !n.GetAConst().GetIsnull()
	case n.GetColumnRef() != nil, n.GetParamRef() != nil:
		_, ok := r.place(n)
		return ok
	case n.GetTypeCast() != nil:
		arg := n.GetTypeCast().GetArg()
		place, ok := r.place(arg)
		return isText(arg) || ok && r.slots[place].Kind != Other // null of jsonb can become NULL
	case n.GetFuncCall() != nil:
		return totalFunctions[functionName(n.GetFuncCall())] && !slices.ContainsFunc(n.GetFuncCall().GetArgs(), func(arg *pg.Node) bool { return !r.total(arg) })
	case n.GetAExpr() != nil:
		e := n.GetAExpr()
		return plain(e) && totalOperators[operatorName(e)] && (e.GetLexpr() == nil || r.total(e.GetLexpr())) && r.total(e.GetRexpr())
	}
	return false
}

// plain reports whether an operation is an operator between single values.
func plain(e *pg.A_Expr) bool {
	row := e.GetLexpr().GetRowExpr() != nil || e.GetRexpr().GetRowExpr() != nil
	kind := e.GetKind()
	return !row && (kind == pg.A_Expr_Kind_AEXPR_OP || kind == pg.A_Expr_Kind_AEXPR_LIKE || kind == pg.A_Expr_Kind_AEXPR_ILIKE)
}

// call reads a function: now() and lengths are understood, others are opaque.
func (r *reader) call(n *pg.Node) *term {
	name, args := functionName(n.GetFuncCall()), n.GetFuncCall().GetArgs()
	if name == "now" && len(args) == 0 {
		return r.now()
	}
	if (name == "length" || name == "char_length" || name == "character_length") && len(args) == 1 {
		if t := r.measure(r.term(args[0])); t != nil {
			return t
		}
	}
	f, known := strictFunctions[name]
	if !known || f.kind == Other || f.kind == Bool {
		return r.unknown(n)
	}
	return r.opaqueTerm(n, f.kind, f.bits)
}

// inside returns the variables that nodes are made of; of what cannot be written,
// all there are.
func (r *reader) inside(nodes ...*pg.Node) []int {
	p := printer{names: r.names}
	for _, n := range nodes {
		p.node(n)
	}
	if p.odd {
		return r.everyone()
	}
	var out []int
	for _, name := range p.used {
		if place, ok := r.byName[name]; ok {
			out = (&term{form: variable, id: place}).places(out)
		}
	}
	return out
}

// everyone returns all variables that were given.
func (a *analysis) everyone() []int {
	out := make([]int, a.given)
	for i := range out {
		out[i] = i
	}
	return out
}

// strictArgs returns the variables whose NULL makes the value of a node NULL.
func (r *reader) strictArgs(n *pg.Node) []int {
	var out []int
	add := func(nodes ...*pg.Node) {
		for _, k := range nodes {
			for _, p := range r.strictArgs(k) {
				out = (&term{form: variable, id: p}).places(out)
			}
		}
	}
	switch {
	case n.GetColumnRef() != nil, n.GetParamRef() != nil:
		if place, ok := r.place(n); ok {
			out = append(out, place)
		}
	case n.GetTypeCast() != nil:
		add(n.GetTypeCast().GetArg())
	case n.GetFuncCall() != nil:
		if _, strict := strictFunctions[functionName(n.GetFuncCall())]; strict {
			add(n.GetFuncCall().GetArgs()...)
		}
	case n.GetAExpr() != nil:
		e := n.GetAExpr()
		if plain(e) && strictOperators[operatorName(e)] {
			add(e.GetLexpr(), e.GetRexpr())
		}
	}
	return out
}
