package logic

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/pawl-go/pawl/internal/sqlexpr"
)

// reader turns one parse tree into conditions and terms.
type reader struct {
	*analysis
	names map[int32]string
	// given are comparisons that are not read but have a value, by their right
	// sides.
	given map[*pg.Node]*cond
}

// tree is a fragment as PostgreSQL's grammar reads it; without a node when it
// does not.
type tree struct {
	sql   string
	node  *pg.Node
	names map[int32]string
}

// tree parses a fragment, or gives what it was parsed to before.
func (r *Reader) tree(sql string) tree {
	t, known := r.trees[sql]
	if !known {
		t.sql = sql
		if node, names, err := sqlexpr.Tree(sql); err == nil {
			t.node, t.names = node, names
		}
		if r.trees == nil {
			r.trees = map[string]tree{}
		}
		r.trees[sql] = t
	}
	return t
}

// read returns the condition of a fragment. What could not be parsed is opaque
// as a whole.
func (a *analysis) read(t tree) *cond {
	if t.node == nil {
		return a.opaqueFact("the unreadable "+t.sql, a.everyone(), nil)
	}
	r := &reader{analysis: a, names: t.names}
	return r.cond(t.node)
}

// opaqueFact is a condition of which only its text is known.
func (a *analysis) opaqueFact(text string, within, strict []int) *cond {
	return &cond{shape: fact, place: a.opaque(text, Bool, 0, within, strict)}
}

// text names an opaque node. One that cannot be written is named by what no
// other one has.
func (r *reader) text(n *pg.Node) string {
	p := printer{names: r.names}
	text := p.node(n)
	if p.odd {
		r.parts++
		return text + sequence(r.parts)
	}
	return text
}

func (r *reader) opaqueCond(n *pg.Node) *cond {
	return &cond{shape: fact, place: r.named(r.text(n), n, Bool, 0)}
}

// cond reads a node as a condition.
func (r *reader) cond(n *pg.Node) *cond {
	if !r.grow() {
		return r.opaqueCond(n)
	}
	switch {
	case n.GetAConst() != nil:
		return r.fixed(n)
	case n.GetColumnRef() != nil, n.GetParamRef() != nil:
		if place, ok := r.place(n); ok && r.slots[place].Kind == Bool {
			return &cond{shape: fact, place: place}
		}
	case n.GetBoolExpr() != nil:
		return r.boolean(n.GetBoolExpr())
	case n.GetNullTest() != nil && !n.GetNullTest().GetArgisrow():
		c := r.isNull(n.GetNullTest().GetArg())
		if n.GetNullTest().GetNulltesttype() == pg.NullTestType_IS_NOT_NULL {
			return not(c)
		}
		return c
	case n.GetBooleanTest() != nil:
		if set, ok := tests[n.GetBooleanTest().GetBooltesttype()]; ok {
			return among(set, r.cond(n.GetBooleanTest().GetArg()))
		}
	case n.GetAExpr() != nil:
		return r.operation(n)
	case n.GetTypeCast() != nil:
		if to, ok := castTo(n.GetTypeCast().GetTypeName()); ok && to.kind == Bool {
			if arg := n.GetTypeCast().GetArg(); isText(arg) || r.isCond(arg) {
				return r.cond(arg)
			}
		}
	case n.GetCoalesceExpr() != nil:
		return r.firstKnown(n.GetCoalesceExpr().GetArgs())
	case n.GetCaseExpr() != nil:
		return r.caseCond(n.GetCaseExpr())
	}
	return r.opaqueCond(n)
}

var tests = map[pg.BoolTestType]truth{
	pg.BoolTestType_IS_TRUE: isTrue, pg.BoolTestType_IS_NOT_TRUE: isFalse | isUnknown,
	pg.BoolTestType_IS_FALSE: isFalse, pg.BoolTestType_IS_NOT_FALSE: isTrue | isUnknown,
	pg.BoolTestType_IS_UNKNOWN: isUnknown, pg.BoolTestType_IS_NOT_UNKNOWN: isTrue | isFalse,
}

func known(set truth) *cond          { return &cond{shape: fixed, set: set} }
func not(c *cond) *cond              { return &cond{shape: negation, kids: []*cond{c}} }
func both(kids ...*cond) *cond       { return &cond{shape: conj, kids: kids} }
func anyOf(kids ...*cond) *cond      { return &cond{shape: disj, kids: kids} }
func among(set truth, c *cond) *cond { return &cond{shape: member, set: set, kids: []*cond{c}} }
func pick(when, then, other *cond) *cond {
	return &cond{shape: either, kids: []*cond{when, then, other}}
}

func isText(n *pg.Node) bool { return n.GetAConst().GetSval() != nil }

// fixed reads a constant condition.
func (r *reader) fixed(n *pg.Node) *cond {
	c := n.GetAConst()
	switch {
	case c.GetIsnull():
		return known(isUnknown)
	case c.GetBoolval() != nil:
		if c.GetBoolval().GetBoolval() {
			return known(isTrue)
		}
		return known(isFalse)
	case c.GetSval() != nil:
		switch c.GetSval().GetSval() {
		case "t", "true", "yes", "on", "1":
			return known(isTrue)
		case "f", "false", "no", "off", "0":
			return known(isFalse)
		}
	}
	return r.opaqueCond(n)
}

func (r *reader) boolean(b *pg.BoolExpr) *cond {
	kids := make([]*cond, 0, len(b.GetArgs()))
	for _, arg := range b.GetArgs() {
		kids = append(kids, r.cond(arg))
	}
	switch b.GetBoolop() {
	case pg.BoolExprType_NOT_EXPR:
		return not(kids[0])
	case pg.BoolExprType_OR_EXPR:
		return anyOf(kids...)
	}
	return both(kids...)
}

// isCond reports whether a node is certainly a condition.
func (r *reader) isCond(n *pg.Node) bool {
	switch {
	case n.GetAConst() != nil:
		return n.GetAConst().GetBoolval() != nil
	case n.GetColumnRef() != nil, n.GetParamRef() != nil:
		place, ok := r.place(n)
		return ok && r.slots[place].Kind == Bool
	case n.GetTypeCast() != nil:
		to, ok := castTo(n.GetTypeCast().GetTypeName())
		return ok && to.kind == Bool
	case n.GetAExpr() != nil:
		if n.GetAExpr().GetKind() == pg.A_Expr_Kind_AEXPR_NULLIF {
			return r.isCond(n.GetAExpr().GetLexpr())
		}
		return n.GetAExpr().GetKind() != pg.A_Expr_Kind_AEXPR_OP || comparing[operatorName(n.GetAExpr())]
	case n.GetCoalesceExpr() != nil:
		return len(n.GetCoalesceExpr().GetArgs()) > 0 && r.isCond(n.GetCoalesceExpr().GetArgs()[0])
	case n.GetCaseExpr() != nil:
		return r.isCond(n.GetCaseExpr().GetArgs()[0].GetCaseWhen().GetResult())
	}
	return n.GetBoolExpr() != nil || n.GetNullTest() != nil || n.GetBooleanTest() != nil
}

// isNull reads "… IS NULL".
func (r *reader) isNull(n *pg.Node) *cond {
	if r.isCond(n) {
		return among(isUnknown, r.cond(n))
	}
	return r.nothing(r.term(n))
}

func (r *reader) nothing(t *term) *cond {
	switch {
	case !r.grow():
		return among(isUnknown, r.opaqueFact("a long expression"+sequence(r.parts), r.everyone(), nil))
	case t.form == null:
		return known(isTrue)
	case t.form == choice:
		return pick(t.when, r.nothing(t.left), r.nothing(t.right))
	}
	return &cond{shape: nothing, left: t}
}

// firstKnown reads coalesce of conditions.
func (r *reader) firstKnown(args []*pg.Node) *cond {
	if len(args) == 0 {
		return known(isUnknown)
	}
	first := r.cond(args[0])
	if len(args) == 1 {
		return first
	}
	return pick(among(isTrue|isFalse, first), first, r.firstKnown(args[1:]))
}

// caseCond reads CASE whose values are conditions.
func (r *reader) caseCond(c *pg.CaseExpr) *cond {
	out := known(isUnknown)
	if c.GetDefresult() != nil {
		out = r.cond(c.GetDefresult())
	}
	args := c.GetArgs()
	for i := len(args) - 1; i >= 0; i-- {
		out = pick(r.when(c, args[i].GetCaseWhen()), r.cond(args[i].GetCaseWhen().GetResult()), out)
	}
	return out
}

// when reads the condition of a WHEN.
func (r *reader) when(c *pg.CaseExpr, w *pg.CaseWhen) *cond {
	if c.GetArg() == nil {
		return r.cond(w.GetExpr())
	}
	return r.relation("=", c.GetArg(), w.GetExpr())
}
