package sqlexpr

import (
	"math/big"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// operation judges an operator, and what the grammar makes of one.
func (t *typer) operation(e *pg.A_Expr) typed {
	at, name := t.offset(e.GetLocation()), operatorName(e)
	out := typed{typ: "bool", at: at, words: "a condition"}
	switch e.GetKind() {
	case pg.A_Expr_Kind_AEXPR_IN:
		t.in(at, name, e.GetLexpr(), e.GetRexpr().GetList().GetItems())
	case pg.A_Expr_Kind_AEXPR_BETWEEN, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN, pg.A_Expr_Kind_AEXPR_BETWEEN_SYM, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
		left := t.value(e.GetLexpr())
		for _, v := range t.values(e.GetRexpr().GetList().GetItems()) {
			t.apply(">=", at, left, v)
		}
	case pg.A_Expr_Kind_AEXPR_OP_ANY, pg.A_Expr_Kind_AEXPR_OP_ALL:
		t.some(at, name, e)
	case pg.A_Expr_Kind_AEXPR_NULLIF:
		left, right := t.value(e.GetLexpr()), t.value(e.GetRexpr())
		s := t.apply("=", at, left, right)
		if s == nil {
			return typed{at: at}
		}
		out = left
		if out.typ == unknownType {
			out = typed{typ: s.args[0], at: at}
		}
		out.text = nil
	case pg.A_Expr_Kind_AEXPR_DISTINCT, pg.A_Expr_Kind_AEXPR_NOT_DISTINCT:
		if l, r := e.GetLexpr(), e.GetRexpr(); l.GetAConst().GetIsnull() || r.GetAConst().GetIsnull() {
			t.values([]*pg.Node{l, r}) // this is IS NULL to PostgreSQL
		} else {
			t.compareNodes("=", at, l, r)
		}
	default:
		return t.plain(at, name, e)
	}
	return out
}

// plain judges an operator between two values, or before one.
func (t *typer) plain(at int, name string, e *pg.A_Expr) typed {
	if e.GetLexpr() == nil {
		return t.prefix(at, name, t.value(e.GetRexpr()))
	}
	if operators[name] == comparison {
		t.compareNodes(name, at, e.GetLexpr(), e.GetRexpr())
		return typed{typ: "bool", at: at, words: "a condition"}
	}
	left, right := t.value(e.GetLexpr()), t.value(e.GetRexpr())
	s := t.apply(name, at, left, right)
	if s == nil {
		return typed{at: at}
	}
	if (name == "/" || name == "%") && zero(right) {
		t.add(at, Unreadable, name, "this divides by zero, which is an error on every call; divide by another value, or by nullif(…, 0)")
	}
	return typed{typ: s.result, at: at, collation: t.oneCollation([]typed{left, right})}
}

func (t *typer) prefix(at int, name string, v typed) typed {
	if !v.known() {
		return typed{at: at}
	}
	s := t.catalog.unary(name, v.typ)
	if s == nil {
		t.add(at, Mismatch, name, "operator %s cannot stand before %s%s", name, v.words, t.fitting(t.catalog.operators[name], 1, []typed{v}))
		return typed{at: at}
	}
	t.literal(v, s.args[0])
	out := typed{typ: s.result, at: at}
	if name == "-" && v.number != "" {
		out.number, out.words = "-"+v.number, "the number -"+v.number
	}
	return out
}

// zero reports whether a value is the constant zero.
func zero(v typed) bool {
	text := v.number
	if v.text != nil {
		text = strings.TrimSpace(*v.text)
	}
	mantissa, _, _ := strings.Cut(strings.ToLower(text), "e")
	n, ok := new(big.Rat).SetString(mantissa)
	return ok && len(text) <= 64 && n.Sign() == 0
}

// apply finds the operator for two values and returns it, or nil after saying
// that there is none.
func (t *typer) apply(name string, at int, left, right typed) *signature {
	if !left.known() || !right.known() {
		return nil
	}
	if isEnum(left.typ) || isEnum(right.typ) || name == "=" || name == "<>" || name == "!=" {
		t.state(left, right)
		t.state(right, left)
	}
	s := t.catalog.binary(name, left.typ, right.typ)
	if s == nil {
		t.add(at, Mismatch, name, "operator %s cannot join %s and %s%s", spelled(name), left.words, right.words,
			t.fitting(t.catalog.operators[name], 2, []typed{left, right}))
		return nil
	}
	b, _ := t.catalog.binding(s.args, []string{left.typ, right.typ})
	out := signature{args: []string{b.stands(s.args[0]), b.stands(s.args[1])}, result: b.stands(s.result)}
	t.literal(left, out.args[0])
	t.literal(right, out.args[1])
	if operators[name] == condition && strings.Contains(name, "~") && !strings.Contains(name, "~~") && right.text != nil {
		t.pattern(right)
	}
	t.oneCollation([]typed{left, right})
	return &out
}

// spelled is the operator as people write it.
func spelled(name string) string {
	switch name {
	case "~~":
		return "LIKE"
	case "!~~":
		return "NOT LIKE"
	case "~~*":
		return "ILIKE"
	case "!~~*":
		return "NOT ILIKE"
	}
	return name
}

// compareNodes compares two nodes; rows are compared part by part.
func (t *typer) compareNodes(name string, at int, l, r *pg.Node) {
	a, b := l.GetRowExpr(), r.GetRowExpr()
	if a == nil || b == nil {
		t.apply(name, at, t.value(l), t.value(r))
		return
	}
	if len(a.GetArgs()) != len(b.GetArgs()) {
		t.add(at, Mismatch, "", "rows of %d and %d values are compared; give both the same number", len(a.GetArgs()), len(b.GetArgs()))
		return
	}
	for i := range a.GetArgs() {
		t.compareNodes(name, at, a.GetArgs()[i], b.GetArgs()[i])
	}
}

// in judges a list: its constants are read as the type that all have in common
// with the left side where there is one, else each is compared by itself.
func (t *typer) in(at int, name string, l *pg.Node, items []*pg.Node) {
	if l.GetRowExpr() != nil {
		for _, item := range items {
			t.compareNodes(name, at, l, item)
		}
		return
	}
	left := t.value(l)
	types, rest := []string{left.typ}, []typed(nil)
	for _, item := range items {
		v := t.value(item)
		if item.GetColumnRef() != nil || !v.known() {
			t.apply(name, at, left, v)
			continue
		}
		types, rest = append(types, v.typ), append(rest, v)
	}
	found, ok := t.catalog.common(types)
	if !left.known() || len(rest) < 2 || !ok || found == recordType || slices.ContainsFunc(rest, func(v typed) bool { return element(v.typ) != "" }) {
		for _, v := range rest {
			t.apply(name, at, left, v)
		}
		return
	}
	for _, v := range rest {
		if t.state(left, v); !t.literal(v, found) {
			return
		}
	}
	t.apply(name, at, left, typed{typ: found, at: rest[0].at, words: rest[0].words})
}

// some judges value = ANY (array).
func (t *typer) some(at int, name string, e *pg.A_Expr) {
	left, right := t.value(e.GetLexpr()), t.value(e.GetRexpr())
	for _, n := range e.GetRexpr().GetAArrayExpr().GetElements() {
		t.state(left, t.silent(n))
	}
	if !left.known() || !right.known() {
		return
	}
	item := typed{typ: unknownType, at: right.at, words: right.words}
	if right.typ != unknownType {
		if item.typ = element(right.typ); item.typ == "" {
			t.add(right.at, Mismatch, "", "ANY and ALL take an array, but %s is none; write IN (…), or ARRAY[…]", right.words)
			return
		}
		item.words = "an element of " + right.words
	}
	s := t.apply(name, at, left, item)
	switch {
	case s == nil:
	case element(s.args[1]) != "":
		t.add(at, Mismatch, name, "ANY and ALL take an array of what stands before the operator, and an array of arrays is none")
	case s.result != "bool":
		t.add(at, Mismatch, name, "ANY and ALL need an operator that gives a condition, and %s does not", name)
	default:
		t.literal(right, "_"+s.args[1])
	}
}

// silent is the constant that a node is, without judging it again.
func (t *typer) silent(n *pg.Node) typed {
	if n.GetAConst() == nil {
		return typed{}
	}
	return t.constant(n.GetAConst())
}

// state reports a constant that the other side, a state, can never be.
func (t *typer) state(v, other typed) {
	if v.states == nil || other.text == nil && other.number == "" {
		return
	}
	name := other.number
	if other.text != nil {
		name = *other.text
	}
	if v.typ != "text" && v.typ != "varchar" && !isEnum(v.typ) {
		name = wholeNumber(name)
	}
	if !slices.Contains(v.states, name) {
		t.add(other.at, UnknownState, name, "%s is no state", other.words)
	}
}

// wholeNumber writes a number as a state's code is written, or returns it as it
// is.
func wholeNumber(text string) string {
	n, ok := new(big.Rat).SetString(strings.TrimSpace(text))
	if !ok || len(text) > 64 || strings.ContainsAny(text, "eEpP/") || !n.IsInt() {
		return text
	}
	return n.Num().String()
}
