package logic

import (
	"math/big"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// castNames has the types of casts by the names that the grammar gives them.
var castNames = map[string]term{
	"int2": {kind: Int, bits: 16}, "int4": {kind: Int, bits: 32}, "int8": {kind: Int, bits: 64},
	"smallint": {kind: Int, bits: 16}, "integer": {kind: Int, bits: 32}, "bigint": {kind: Int, bits: 64},
	"numeric": {kind: Decimal}, "decimal": {kind: Decimal}, "float8": {kind: Float},
	"text": {kind: Text}, "varchar": {kind: Text}, "bool": {kind: Bool}, "boolean": {kind: Bool},
	"uuid": {kind: UUID}, "timestamptz": {kind: Time}, "date": {kind: Date},
}

// castTo returns the type of a cast that keeps the value as it is; one with a
// length or precision does not.
func castTo(t *pg.TypeName) (term, bool) {
	names := t.GetNames()
	if len(names) == 2 && names[0].GetString_().GetSval() == "pg_catalog" {
		names = names[1:]
	}
	if len(names) != 1 || len(t.GetTypmods()) > 0 || len(t.GetArrayBounds()) > 0 || t.GetSetof() || t.GetPctType() {
		return term{}, false
	}
	to, ok := castNames[names[0].GetString_().GetSval()]
	return to, ok
}

// cast reads a cast.
func (r *reader) cast(n *pg.Node) *term {
	to, ok := castTo(n.GetTypeCast().GetTypeName())
	if !ok || to.kind == Bool || r.isCond(n.GetTypeCast().GetArg()) {
		return r.unknown(n)
	}
	t := r.term(n.GetTypeCast().GetArg())
	if t.form == quoted {
		if out := r.literal(to.kind, t.text); out != nil {
			if to.kind == Int {
				return r.checked(out, to)
			}
			return out
		}
		return r.opaqueTerm(n, to.kind, to.bits)
	}
	if out := r.converted(t, to); out != nil {
		return out
	}
	return r.opaqueTerm(n, to.kind, to.bits)
}

// converted returns a term as another type where that keeps the value or is an
// error, else nil.
func (r *reader) converted(t *term, to term) *term {
	switch {
	case t.form == null:
		return t
	case t.untyped || t.form == quoted:
		return nil
	case t.form == choice:
		left, right := r.converted(t.left, to), r.converted(t.right, to)
		if left == nil || right == nil {
			return nil
		}
		return r.branch(t.when, left, right)
	case to.kind == Int && t.kind == Int:
		return r.checked(t, to)
	case to.kind == Int && t.form == number && t.kind == Decimal && t.constant.IsInt():
		return r.checked(t, to)
	case to.kind == Decimal && t.kind == Int:
		if t.form == number {
			return &term{form: number, kind: Decimal, constant: t.constant}
		}
		return r.times(t, big.NewRat(1, 1), &to)
	case to.kind == Float && t.kind != Float:
		if t.form == number {
			return asFloat(t)
		}
		return nil
	case to.kind == t.kind:
		return t
	}
	return nil
}

// checked returns an integer as another width, which is an error where it does
// not fit.
func (r *reader) checked(t *term, to term) *term {
	if t.form == variable && t.bits == to.bits {
		return t
	}
	low, high := intRange(to.bits)
	if t.form == number && t.constant.Num().Cmp(low) >= 0 && t.constant.Num().Cmp(high) <= 0 {
		return &term{form: number, kind: Int, bits: to.bits, constant: t.constant}
	}
	return r.times(t, big.NewRat(1, 1), &to)
}

// coalesced reads coalesce of values of one type, or returns nil.
func (r *reader) coalesced(args []*pg.Node) *term {
	terms := make([]*term, 0, len(args))
	for _, arg := range args {
		if r.isCond(arg) {
			return nil
		}
		terms = append(terms, r.term(arg))
	}
	if terms = r.unified(terms); len(terms) == 0 {
		return nil
	}
	out := terms[len(terms)-1]
	for i := len(terms) - 2; i >= 0; i-- {
		out = r.branch(not(r.nothing(terms[i])), terms[i], out)
	}
	return out
}

// chosen reads CASE with values of one type, or returns nil.
func (r *reader) chosen(c *pg.CaseExpr) *term {
	var terms []*term
	for _, arg := range c.GetArgs() {
		terms = append(terms, r.term(arg.GetCaseWhen().GetResult()))
	}
	last := &term{form: null}
	if c.GetDefresult() != nil {
		last = r.term(c.GetDefresult())
	}
	terms = r.unified(append(terms, last))
	if len(terms) == 0 {
		return nil
	}
	out := terms[len(terms)-1]
	for i := len(terms) - 2; i >= 0; i-- {
		out = r.branch(r.when(c, c.GetArgs()[i].GetCaseWhen()), terms[i], out)
	}
	return out
}

// unified gives terms the type that PostgreSQL finds for them together, or
// returns nil when that is not certain.
func (r *reader) unified(terms []*term) []*term {
	var as *term
	for _, t := range terms {
		switch {
		case t.form == null || t.form == quoted:
		case t.untyped:
			return nil
		case as == nil:
			as = &term{kind: t.kind, bits: t.bits}
			if isNumber(t) {
				as = wider(t, t)
			}
		case isNumber(t) && (as.kind == Int || as.kind == Decimal):
			as = wider(as, t)
		case t.kind != as.kind:
			return nil
		}
	}
	if as == nil {
		return nil
	}
	out := make([]*term, 0, len(terms))
	for _, t := range terms {
		if t.form == quoted {
			t = r.literal(as.kind, t.text)
		} else if t.form != null {
			t = r.converted(t, *as)
		}
		if t == nil {
			return nil
		}
		out = append(out, t)
	}
	return out
}
