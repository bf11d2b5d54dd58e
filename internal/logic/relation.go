package logic

import (
	"math/big"
	"strconv"

	pg "github.com/pganalyze/pg_query_go/v6"
)

var comparing = map[string]bool{"=": true, "<>": true, "<": true, "<=": true, ">": true, ">=": true}

// refuted has the operators that are the NOT of another.
var refuted = map[string]string{"!~~": "~~", "!~~*": "~~*", "!~": "~", "!~*": "~*"}

func operatorName(e *pg.A_Expr) string {
	if len(e.GetName()) != 1 {
		return ""
	}
	if name := e.GetName()[0].GetString_().GetSval(); name != "!=" {
		return name
	}
	return "<>"
}

// operation reads an operator as a condition.
func (r *reader) operation(n *pg.Node) *cond {
	e, name := n.GetAExpr(), operatorName(n.GetAExpr())
	left, right := e.GetLexpr(), e.GetRexpr()
	items := right.GetList().GetItems()
	switch kind := e.GetKind(); {
	case kind == pg.A_Expr_Kind_AEXPR_OP && comparing[name] && left != nil:
		return r.relation(name, left, right)
	case kind == pg.A_Expr_Kind_AEXPR_IN && len(items) > 0:
		return r.list(name, left, items, name == "=")
	case kind == pg.A_Expr_Kind_AEXPR_OP_ANY && comparing[name] && right.GetAArrayExpr() != nil:
		return r.list(name, left, right.GetAArrayExpr().GetElements(), true)
	case kind == pg.A_Expr_Kind_AEXPR_OP_ALL && comparing[name] && right.GetAArrayExpr() != nil:
		return r.list(name, left, right.GetAArrayExpr().GetElements(), false)
	case kind == pg.A_Expr_Kind_AEXPR_DISTINCT:
		return not(r.alike(left, right))
	case kind == pg.A_Expr_Kind_AEXPR_NOT_DISTINCT:
		return r.alike(left, right)
	case kind == pg.A_Expr_Kind_AEXPR_BETWEEN && len(items) == 2:
		return r.within(left, items[0], items[1])
	case kind == pg.A_Expr_Kind_AEXPR_NOT_BETWEEN && len(items) == 2:
		return not(r.within(left, items[0], items[1]))
	case kind == pg.A_Expr_Kind_AEXPR_BETWEEN_SYM && len(items) == 2:
		return anyOf(r.within(left, items[0], items[1]), r.within(left, items[1], items[0]))
	case kind == pg.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM && len(items) == 2:
		return not(anyOf(r.within(left, items[0], items[1]), r.within(left, items[1], items[0])))
	case kind == pg.A_Expr_Kind_AEXPR_NULLIF:
		// NULL where the sides are equal, else the left.
		return pick(r.relation("=", left, right), known(isUnknown), r.cond(left))
	case refuted[name] != "" && left != nil:
		r.pattern(refuted[name], left, right, r.named(r.joined(refuted[name], left, right), n, Bool, 0))
		return not(&cond{shape: fact, place: r.named(r.joined(refuted[name], left, right), n, Bool, 0)})
	case (kind == pg.A_Expr_Kind_AEXPR_LIKE || kind == pg.A_Expr_Kind_AEXPR_ILIKE || kind == pg.A_Expr_Kind_AEXPR_OP) && left != nil && name != "":
		r.pattern(name, left, right, r.named(r.joined(name, left, right), n, Bool, 0))
		return &cond{shape: fact, place: r.named(r.joined(name, left, right), n, Bool, 0)}
	}
	return r.opaqueCond(n)
}

// joined names an opaque condition by its sides.
func (r *reader) joined(op string, left, right *pg.Node) string {
	return "(" + r.text(left) + ") " + op + " (" + r.text(right) + ")"
}

func (r *reader) list(op string, left *pg.Node, items []*pg.Node, some bool) *cond {
	kids := make([]*cond, 0, len(items))
	for _, item := range items {
		kids = append(kids, r.relation(op, left, item))
	}
	switch {
	case some && len(kids) == 0:
		return known(isFalse)
	case some:
		return anyOf(kids...)
	case len(kids) == 0:
		return known(isTrue)
	}
	return both(kids...)
}

func (r *reader) within(n, low, high *pg.Node) *cond {
	return both(r.relation(">=", n, low), r.relation("<=", n, high))
}

// alike reads IS NOT DISTINCT FROM.
func (r *reader) alike(left, right *pg.Node) *cond {
	return anyOf(both(r.isNull(left), r.isNull(right)), among(isTrue, r.relation("=", left, right)))
}

// relation reads a comparison.
func (r *reader) relation(op string, left, right *pg.Node) *cond {
	if c := r.given[right]; c != nil {
		return c
	}
	if !r.grow() {
		return r.opaqueFact(r.joined(op, left, right), r.inside(left, right), nil)
	}
	if r.isCond(left) || r.isCond(right) {
		return conditions(op, r.cond(left), r.cond(right))
	}
	if left.GetRowExpr() != nil || right.GetRowExpr() != nil {
		return r.opaqueFact(r.joined(op, left, right), r.inside(left, right), nil)
	}
	l, t := r.term(left), r.term(right)
	switch op {
	case "=":
		return r.compare(equals, l, t)
	case "<>":
		return not(r.compare(equals, l, t))
	case "<":
		return r.compare(less, l, t)
	case ">":
		return r.compare(less, t, l)
	case "<=":
		return r.compare(atMost, l, t)
	}
	return r.compare(atMost, t, l)
}

// conditions compares two conditions: false is less than true.
func conditions(op string, l, r *cond) *cond {
	equal := &cond{shape: same, kids: []*cond{l, r}}
	decided := both(among(isTrue|isFalse, l), among(isTrue|isFalse, r))
	below := pick(decided, both(not(l), r), known(isUnknown))
	above := pick(decided, both(not(r), l), known(isUnknown))
	switch op {
	case "=":
		return equal
	case "<>":
		return not(equal)
	case "<":
		return below
	case ">":
		return above
	case "<=":
		return not(above)
	}
	return not(below)
}

// compare makes a comparison of terms. CASE and coalesce become conditions
// around it.
func (a *analysis) compare(op operator, l, r *term) *cond {
	switch {
	case !a.grow():
		return a.opaqueFact("a long expression"+sequence(a.parts), a.everyone(), nil)
	case l.form == null || r.form == null:
		return known(isUnknown)
	case l.form == choice:
		return pick(l.when, a.compare(op, l.left, r), a.compare(op, l.right, r))
	case r.form == choice:
		return pick(r.when, a.compare(op, l, r.left), a.compare(op, l, r.right))
	case op == atMost: // whatever the type, it is the NOT of the turned <
		return not(a.compare(less, r, l))
	}
	if l, r, ok := a.matched(op, l, r); ok {
		return a.comparison(op, l, r)
	}
	switch op {
	case less:
		return a.opaqueRelation(a.show(l)+" < "+a.show(r), l, r)
	}
	first, second := a.show(l), a.show(r)
	if second < first {
		first, second = second, first
	}
	return a.opaqueRelation(first+" = "+second, l, r)
}

// comparison is what makes two comparisons of plain values the same.
type comparison struct {
	op          operator
	left, right plainValue
}

type plainValue struct {
	form     form
	kind     Kind
	bits, id int
	constant string
}

// comparison makes a comparison, one for equal ones, so that the search sees at
// a glance when a guard says what another denies.
func (a *analysis) comparison(op operator, l, r *term) *cond {
	made := &cond{shape: compare, op: op, left: l, right: r}
	if !l.simple() || !r.simple() {
		return made
	}
	key := comparison{op, l.plainValue(), r.plainValue()}
	if had := a.compared[key]; had != nil {
		return had
	}
	a.compared[key] = made
	return made
}

func (t *term) plainValue() plainValue {
	v := plainValue{form: t.form, kind: t.kind, bits: t.bits, id: t.id}
	if t.constant != nil {
		v.constant = t.constant.RatString()
	}
	return v
}

// opaqueRelation is a comparison that is not understood. Like every other it is
// NULL only where a side is.
func (a *analysis) opaqueRelation(text string, l, r *term) *cond {
	places := r.places(l.places(nil))
	c := a.opaqueFact(text, places, places)
	a.slots[c.place].classes = finite
	return c
}

// matched gives two terms one type, and reports whether they can be compared
// exactly.
func (a *analysis) matched(op operator, l, r *term) (*term, *term, bool) {
	l, r = a.typed(l, r), a.typed(r, l)
	if l == nil || r == nil || l.untyped || r.untyped {
		return nil, nil, false
	}
	if l.kind == Float || r.kind == Float {
		l, r = asFloat(l), asFloat(r)
		return l, r, l != nil && r != nil
	}
	switch {
	case l.kind == Text && r.kind == Text && op != equals:
		return l, r, l.form == variable && r.form == variable
	case l.kind == Other && op != equals:
		return nil, nil, false
	}
	numbers := (l.kind == Int || l.kind == Decimal) && (r.kind == Int || r.kind == Decimal)
	return l, r, numbers || l.kind == r.kind
}

// typed returns a quoted literal as the type that it meets; nil when that cannot
// be told. The failing side stays what it was for the opaque condition's name.
func (a *analysis) typed(t, other *term) *term {
	switch {
	case t.form != quoted:
		return t
	case other.form == quoted:
		return a.word(t.text)
	case other.untyped:
		return nil
	}
	return a.literal(other.kind, t.text)
}

// asFloat returns a term as PostgreSQL converts it to double precision, or nil
// where that may round a variable.
func asFloat(t *term) *term {
	switch {
	case t.kind == Float:
		return t
	case t.form == number && (t.kind == Int || t.kind == Decimal):
		return rounded(t)
	case t.kind == Int && t.bits <= 32:
		return t
	}
	return nil
}

// show writes a term for the name of an opaque condition.
func (a *analysis) show(t *term) string {
	switch t.form {
	case number:
		if t.kind == Int || t.kind == Decimal || t.kind == Float {
			return decimal(t.constant)
		}
		return "constant " + t.constant.RatString() + " of kind " + strconv.Itoa(int(t.kind))
	case word, quoted:
		return quote(t.text)
	case variable:
		return a.slots[t.id].text
	case sum:
		return "(" + a.show(t.left) + " + " + a.show(t.right) + ")"
	case multiple:
		return "(" + decimal(t.constant) + " * " + a.show(t.left) + ")"
	}
	return "NULL"
}

// sequence makes a name that no other opaque value has.
func sequence(n int) string { return " #" + big.NewInt(int64(n)).String() }
