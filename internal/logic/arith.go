package logic

import (
	"math/big"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// place returns the slot that a column or parameter has.
func (r *reader) place(n *pg.Node) (int, bool) {
	var name string
	switch {
	case n.GetParamRef() != nil:
		name = "@" + r.names[n.GetParamRef().GetNumber()]
	case len(n.GetColumnRef().GetFields()) == 1:
		name = n.GetColumnRef().GetFields()[0].GetString_().GetSval()
	}
	place, ok := r.byName[name]
	return place, ok
}

// value is the term of a slot.
func (a *analysis) value(place int) *term {
	s := a.slots[place]
	return &term{form: variable, kind: s.Kind, bits: width(s.Bits), id: place, untyped: s.untyped}
}

// term reads a node as a value. What is not understood is opaque, of the kind
// that its type is certain to be.
func (r *reader) term(n *pg.Node) *term {
	if !r.grow() {
		return r.unknown(n)
	}
	switch {
	case n.GetAConst() != nil:
		if t := constantTerm(n.GetAConst()); t != nil {
			return t
		}
	case n.GetColumnRef() != nil, n.GetParamRef() != nil:
		if place, ok := r.place(n); ok {
			return r.value(place)
		}
	case n.GetTypeCast() != nil:
		return r.cast(n)
	case n.GetCoalesceExpr() != nil:
		if t := r.coalesced(n.GetCoalesceExpr().GetArgs()); t != nil {
			return t
		}
	case n.GetCaseExpr() != nil:
		if t := r.chosen(n.GetCaseExpr()); t != nil {
			return t
		}
	case n.GetAExpr().GetKind() == pg.A_Expr_Kind_AEXPR_NULLIF:
		e := n.GetAExpr()
		if t := r.term(e.GetLexpr()); t.form != quoted {
			return r.branch(r.relation("=", e.GetLexpr(), e.GetRexpr()), &term{form: null}, t)
		}
	case n.GetAExpr().GetKind() == pg.A_Expr_Kind_AEXPR_OP:
		return r.arithmetic(n)
	case n.GetFuncCall() != nil:
		return r.call(n)
	}
	return r.unknown(n)
}

// unknown is a value of which not even the type is known.
func (r *reader) unknown(n *pg.Node) *term {
	t := r.opaqueTerm(n, Other, 0)
	r.slots[t.id].untyped = true
	return r.value(t.id)
}

// opaqueTerm is a value of which only the type is known.
func (r *reader) opaqueTerm(n *pg.Node, kind Kind, bits int) *term {
	return r.value(r.named(r.text(n), n, kind, bits))
}

// named is the place of a node's opaque value.
func (r *reader) named(text string, n *pg.Node, kind Kind, bits int) int {
	place := r.opaque(text, kind, bits, r.inside(n), r.strictArgs(n))
	if r.total(n) {
		r.slots[place].classes &^= isNull
	}
	return place
}

func constantTerm(c *pg.A_Const) *term {
	switch {
	case c.GetIsnull():
		return &term{form: null}
	case c.GetSval() != nil:
		return &term{form: quoted, kind: Text, text: c.GetSval().GetSval()}
	case c.GetFval() != nil:
		return numeral(c.GetFval().GetFval())
	case c.GetBsval() != nil || c.GetBoolval() != nil:
		return nil
	}
	return &term{form: number, kind: Int, bits: 32, constant: big.NewRat(int64(c.GetIval().GetIval()), 1)}
}

// arithmetic reads +, - and * of numbers; other operators give opaque values.
func (r *reader) arithmetic(n *pg.Node) *term {
	e, op := n.GetAExpr(), operatorName(n.GetAExpr())
	right := r.term(e.GetRexpr())
	if e.GetLexpr() == nil {
		switch {
		case op == "-" && isNumber(right):
			return r.times(right, big.NewRat(-1, 1), right)
		case op == "+" && isNumber(right):
			return right
		}
		return r.unknown(n)
	}
	left := r.term(e.GetLexpr())
	l, t := r.typed(left, right), r.typed(right, left)
	if l == nil || t == nil {
		return r.unknown(n)
	}
	if (l.form == null || t.form == null) && strictOperators[op] {
		return &term{form: null}
	}
	if isNumber(l) && isNumber(t) {
		as := wider(l, t)
		switch {
		case op == "+":
			return r.plus(l, t, as)
		case op == "-":
			return r.plus(l, r.times(t, big.NewRat(-1, 1), &term{kind: Decimal}), as)
		case op == "*" && t.form == number:
			return r.times(l, t.constant, as)
		case op == "*" && l.form == number:
			return r.times(t, l.constant, as)
		case op == "*" || op == "/" || op == "%":
			return r.opaqueTerm(n, as.kind, as.bits)
		}
		return r.unknown(n)
	}
	switch {
	case op != "+" && op != "-" && op != "*" && op != "/":
	case l.kind == Float && (isNumber(t) || t.kind == Float) || t.kind == Float && isNumber(l):
		return r.opaqueTerm(n, Float, 0)
	case op != "+" && op != "-":
	case l.kind == Time && t.untyped,
		l.kind == Date && t.kind == Int && !t.untyped:
		return r.opaqueTerm(n, l.kind, 0)
	}
	return r.unknown(n)
}

// isNumber reports whether a term is of a type with exact arithmetic.
func isNumber(t *term) bool {
	if t.form == choice {
		return (isNumber(t.left) || t.left.form == null) && (isNumber(t.right) || t.right.form == null)
	}
	return !t.untyped && (t.kind == Int || t.kind == Decimal) && t.form != quoted && t.form != null
}

// wider returns the type of the two that holds both, on a term that is no more
// than that.
func wider(l, r *term) *term {
	lk, lb := typeOf(l)
	rk, rb := typeOf(r)
	if lk == Decimal || rk == Decimal {
		return &term{kind: Decimal}
	}
	return &term{kind: Int, bits: max(lb, rb)}
}

// typeOf returns the type of a number, of a choice the wider of both sides.
func typeOf(t *term) (Kind, int) {
	if t.form != choice {
		if t.form == null {
			return Int, 0
		}
		return t.kind, t.bits
	}
	w := wider(t.left, t.right)
	return w.kind, w.bits
}

// branch makes a choice.
func (r *reader) branch(when *cond, then, other *term) *term {
	out := &term{form: choice, when: when, left: then, right: other}
	if out.kind, out.bits = then.kind, then.bits; then.form == null {
		out.kind, out.bits = other.kind, other.bits
	}
	return out
}

func (r *reader) plus(l, t, as *term) *term {
	switch {
	case !r.grow() || l.size+t.size > maxSize:
		return r.tooLong()
	case l.form == null || t.form == null:
		return &term{form: null}
	case l.form == choice:
		return r.branch(l.when, r.plus(l.left, t, as), r.plus(l.right, t, as))
	case t.form == choice:
		return r.branch(t.when, r.plus(l, t.left, as), r.plus(l, t.right, as))
	}
	if folded := inRange(as, new(big.Rat).Add(orZero(l), orZero(t))); folded != nil && l.form == number && t.form == number {
		return folded
	}
	return &term{form: sum, kind: as.kind, bits: as.bits, left: l, right: t, size: l.size + t.size + 1}
}

func (r *reader) times(t *term, by *big.Rat, as *term) *term {
	switch {
	case !r.grow() || t.size > maxSize:
		return r.tooLong()
	case t.form == null:
		return t
	case t.form == choice:
		return r.branch(t.when, r.times(t.left, by, as), r.times(t.right, by, as))
	}
	if folded := inRange(as, new(big.Rat).Mul(orZero(t), by)); folded != nil && t.form == number {
		return folded
	}
	return &term{form: multiple, kind: as.kind, bits: as.bits, constant: by, left: t, size: t.size + 1}
}

func orZero(t *term) *big.Rat {
	if t.constant == nil {
		return new(big.Rat)
	}
	return t.constant
}

// inRange returns a constant of a type, or nil where it overflows.
func inRange(as *term, value *big.Rat) *term {
	if as.kind == Int {
		low, high := intRange(as.bits)
		if value.Num().Cmp(low) < 0 || value.Num().Cmp(high) > 0 {
			return nil
		}
	}
	return &term{form: number, kind: as.kind, bits: as.bits, constant: value}
}

// tooLong stands for a part of an expression that would take too much room.
func (r *reader) tooLong() *term {
	return r.value(r.opaque("a long expression"+sequence(r.parts), Decimal, 0, r.everyone(), nil))
}
