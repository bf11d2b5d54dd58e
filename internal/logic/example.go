package logic

import (
	"math/big"
	"slices"
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// Ask is what an example must meet: that a condition is true or, where Bound is
// not 0, that the two sides of its bound number Bound, counted from 1 in the
// order of Bounds, are so many steps apart, whatever the condition is.
type Ask struct {
	SQL          string
	Bound, Steps int
	// Decides asks besides that it hangs on that comparison alone whether the
	// condition is true: it is where the comparison is, and only there.
	Decides bool
}

// Bound is a comparison within a condition, of values that have a next one.
type Bound struct {
	// Text is the comparison as people write it: "refunded + @amount <= paid".
	Text string
	// Step is the least difference between two values, in words: "1", "0.01",
	// "1 microsecond", "1 day". It is empty where there is none, and Why says so.
	Step string
	Why  string
}

// Example finds values for which all that is asked is met: a Yes has them as its
// witness. vars has every name that is used. What texts match LIKE or a regular
// expression is tried with a few. The work is bounded as that of some questions
// of Analyse.
func (r *Reader) Example(vars []Var, asks []Ask) Finding {
	f, a := r.example(vars, asks)
	if f.Answer != NotDecided {
		return f
	}
	return r.tried(vars, asks, a, f, maxTexts)
}

// maxTexts is how many texts are tried for the variables of one example.
const maxTexts = 12

// tried looks for an example with a text for the first variable that is matched
// with a pattern, and so on for the next.
func (r *Reader) tried(vars []Var, asks []Ask, a *analysis, undecided Finding, left int) Finding {
	place := a.matchedVariable()
	if place < 0 {
		return undecided
	}
	for _, text := range a.texts(place) {
		if left--; left < 0 {
			break
		}
		fixed := slices.Clone(vars)
		if limit := vars[place].Length; limit > 0 && utf8.RuneCountInString(text) > limit {
			continue
		}
		fixed[place].Among = []string{text}
		f, b := r.example(fixed, asks)
		if f.Answer == NotDecided {
			f = r.tried(fixed, asks, b, f, left/2)
		}
		if f.Answer == Yes {
			return f
		}
	}
	return undecided
}

// example decides whether there is one, patterns apart.
func (r *Reader) example(vars []Var, asks []Ask) (Finding, *analysis) {
	a := newAnalysis(vars)
	for _, ask := range asks {
		t := r.tree(ask.SQL)
		if ask.Bound == 0 {
			a.guards = append(a.guards, a.read(t))
			continue
		}
		bounds := a.bounds(t)
		if ask.Bound < 1 || ask.Bound > len(bounds) {
			a.guards = append(a.guards, known(isFalse))
			continue
		}
		at := bounds[ask.Bound-1]
		a.guards = append(a.guards, a.apart(at, ask.Steps))
		if ask.Decides {
			a.guards = append(a.guards, a.readWith(t, at, isTrue), not(among(isTrue, a.readWith(t, at, isFalse))))
		}
	}
	a.among()
	a.settle()
	whole := make([]asked, 0, len(a.guards))
	for _, g := range a.guards {
		whole = append(whole, asked{g, isTrue})
	}
	f, _ := a.decide(whole, perQuestion)
	return f, a
}

// Bounds returns the comparisons of numbers, dates and times in a condition, in
// the order written; none for one that cannot be read. A comparison with = and
// <> is one too, BETWEEN is two.
func (r *Reader) Bounds(vars []Var, sql string) []Bound {
	a := newAnalysis(vars)
	var out []Bound
	for _, b := range a.bounds(r.tree(sql)) {
		_, says := a.step(b)
		out = append(out, Bound{Text: b.text, Step: says.Step, Why: says.Why})
	}
	return out
}

// sides is a comparison of two values.
type sides struct {
	text        string
	left, right *term
	end         *pg.Node // the right side, by which the reader finds it again
}

// readWith reads a fragment in which one comparison has this truth value.
func (a *analysis) readWith(t tree, at sides, set truth) *cond {
	r := &reader{analysis: a, names: t.names, given: map[*pg.Node]*cond{at.end: known(set)}}
	return r.cond(t.node)
}

// bounds finds the comparisons of a fragment.
func (a *analysis) bounds(t tree) []sides {
	if t.node == nil {
		return nil
	}
	r := &reader{analysis: a, names: t.names}
	var out []sides
	r.compared(t.node, func(op string, left, right *pg.Node) {
		if r.isCond(left) || r.isCond(right) || left.GetRowExpr() != nil || right.GetRowExpr() != nil {
			return
		}
		l, t := r.term(left), r.term(right)
		if typed := r.typed(l, t); typed != nil {
			l = typed
		}
		if typed := r.typed(t, l); typed != nil {
			t = typed
		}
		if countable(l) && countable(t) {
			p := printer{names: r.names}
			out = append(out, sides{p.node(left) + " " + op + " " + p.node(right), l, t, right})
		}
	})
	return out
}

// countable reports whether a term is a number, a date or a time, as far as is
// known.
func countable(t *term) bool {
	switch t.kind {
	case Int, Decimal, Float, Date, Time:
		return t.form != null && t.form != quoted && !t.untyped
	}
	return false
}

// compared calls f for every comparison that the truth of a node is made of.
func (r *reader) compared(n *pg.Node, f func(op string, left, right *pg.Node)) {
	switch {
	case n.GetBoolExpr() != nil:
		for _, arg := range n.GetBoolExpr().GetArgs() {
			r.compared(arg, f)
		}
	case n.GetBooleanTest() != nil:
		r.compared(n.GetBooleanTest().GetArg(), f)
	case n.GetAExpr() != nil:
		e, name := n.GetAExpr(), operatorName(n.GetAExpr())
		ends := e.GetRexpr().GetList().GetItems()
		switch e.GetKind() {
		case pg.A_Expr_Kind_AEXPR_OP:
			if comparing[name] && e.GetLexpr() != nil {
				f(name, e.GetLexpr(), e.GetRexpr())
			}
		case pg.A_Expr_Kind_AEXPR_BETWEEN, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN:
			if len(ends) == 2 {
				f(">=", e.GetLexpr(), ends[0])
				f("<=", e.GetLexpr(), ends[1])
			}
		}
	}
}

// step returns the least difference between two values of a comparison, in the
// solver's own measure and in words; nil, with a reason, where there is none.
func (a *analysis) step(b sides) (*big.Rat, Bound) {
	switch {
	case b.left.kind == Time && b.right.kind == Time:
		return big.NewRat(1, 1), Bound{Step: "1 microsecond"}
	case b.left.kind == Date && b.right.kind == Date:
		return big.NewRat(1, 1), Bound{Step: "1 day"}
	case b.left.kind == Float || b.right.kind == Float:
		return nil, Bound{Why: "double precision numbers have no step that people count in"}
	case b.left.kind == Int && b.right.kind == Int:
		return big.NewRat(1, 1), Bound{Step: "1"}
	}
	scale := -1
	for _, p := range b.right.places(b.left.places(nil)) {
		if s := a.slots[p]; s.Kind == Decimal && s.Precision > 0 {
			scale = max(scale, s.Scale)
		}
	}
	if scale < 0 {
		return nil, Bound{Why: "a numeric without a scale has no next value"}
	}
	step := new(big.Rat).SetFrac(one, power10(scale))
	return step, Bound{Step: decimal(step)}
}

// apart says that the left side is so many steps above the right one.
func (a *analysis) apart(b sides, steps int) *cond {
	step, _ := a.step(b)
	if step == nil {
		return known(isFalse)
	}
	by := new(big.Rat).Mul(step, big.NewRat(int64(steps), 1))
	if b.left.kind != Time && b.left.kind != Date {
		add := &term{form: number, kind: Decimal, constant: by}
		if by.IsInt() {
			add.kind, add.bits = Int, 32
		}
		return a.compare(equals, b.left, (&reader{analysis: a}).plus(b.right, add, wider(b.right, add)))
	}
	first, last := constant(Date, firstDay), constant(Date, lastDay)
	if b.left.kind == Time {
		first, last = constant(Time, firstMicro), constant(Time, lastMicro)
	}
	later := (&reader{analysis: a}).plus(b.right, &term{form: number, kind: b.left.kind, constant: by}, &term{kind: b.left.kind})
	// Nothing is a step away from an infinite time.
	return both(a.compare(less, first, b.left), a.compare(less, b.left, last),
		a.compare(less, first, b.right), a.compare(less, b.right, last), a.compare(equals, b.left, later))
}
