package suite

import (
	"strconv"

	"github.com/pawl-go/pawl/internal/example"
	"github.com/pawl-go/pawl/internal/model"
)

// Guards is the suite that looks at conditions. For every cell with guards its
// items are: each guard true with those before it not, none of them true or the
// else taken; each two that can both be true; each guard with each column and
// parameter that may be NULL and is; and for each comparison of numbers, dates
// or times in a guard its sides a step apart, equal, and a step apart the other
// way. What a cell does at a bound is found with the values: the guard is true
// there if it can be, after those before it were not.
func Guards(m *model.Machine) *Suite { return guardSuite(newFiller(m)) }

func guardSuite(f *filler) *Suite {
	g := &guards{newBuilder(f, "guards")}
	each(f.machine, func(cell *model.Cell) {
		if variants := Variants(cell); len(variants) > 1 && !g.full() {
			g.ways(cell, variants)
			g.pairs(cell, variants)
			for i, t := range cell.Transitions {
				if t.Guard != nil && t.Guard.SQL != nil {
					g.nulls(cell, variants, i)
					g.bounds(cell, variants, i)
				}
			}
		}
	})
	return g.done()
}

type guards struct{ *builder }

// guardWays is how many ways the cells with guards have: as many cases there
// are at least, unless some are impossible.
func guardWays(m *model.Machine) int64 {
	n := int64(0)
	each(m, func(cell *model.Cell) {
		if cell.Moves() && cell.Transitions[0].Guard != nil {
			n += int64(len(Variants(cell)))
		}
	})
	return n
}

func (g *guards) ways(cell *model.Cell, variants []Variant) {
	for _, v := range variants {
		g.add(path(cell, v.Name), []Step{v.step(cell)}, nil, g.item(ItemGuard, named(cell, v.Name), of(cell, v)))
	}
}

// pairs looks for two guards that are true together: the first one is taken. Two
// that exclude each other are nothing to cover.
func (g *guards) pairs(cell *model.Cell, variants []Variant) {
	for i, a := range variants {
		for _, b := range variants[i+1:] {
			if a.Transition == nil || b.Transition == nil || b.Transition.Guard == nil || b.Transition.Guard.SQL == nil {
				continue
			}
			s := a.step(cell)
			s.Variant += ", " + b.Name + " too"
			too := map[int][]example.Condition{0: {{Expr: b.Transition.Guard.SQL}}}
			item := g.item(ItemGuard, named(cell, a.Name, "and", b.Name), of(cell, a), of(cell, b))
			if !g.add(path(cell, a.Name+" and "+b.Name), []Step{s}, too, item) {
				g.suite.Items = g.suite.Items[:item]
			}
		}
	}
}

// nulls makes each column and parameter that a guard reads NULL, where it may be.
func (g *guards) nulls(cell *model.Cell, variants []Variant, i int) {
	seen := map[string]bool{}
	for _, p := range cell.Transitions[i].Guard.SQL.Parts {
		name := p.Text
		if p.Kind == model.ParamRef {
			name = "@" + name
		}
		if !g.optional(p) || seen[name] {
			continue
		}
		seen[name] = true
		g.wherever(cell, variants, i, name+" NULL", name+" is NULL", example.IsNull(p))
	}
}

// optional reports whether a part of a guard is a column or a parameter that may
// be NULL.
func (g *guards) optional(p model.Part) bool {
	switch p.Kind {
	case model.ParamRef:
		return p.Param.Optional
	case model.ColumnRef:
		c := g.suite.Machine.Table.Column(p.Text)
		return c != nil && c.Optional
	}
	return false
}

// bounds goes to both sides of every comparison in a guard.
func (g *guards) bounds(cell *model.Cell, variants []Variant, i int) {
	guard := cell.Transitions[i].Guard
	bounds := g.filler.finder.Bounds(cell.Event, guard.SQL)
	for n, b := range bounds {
		number := ""
		if len(bounds) > 1 {
			number = strconv.Itoa(n+1) + " "
		}
		if b.Step == "" {
			item := g.item(ItemGuard, named(cell, variants[i].Name, number+"b"), of(cell, variants[i]))
			g.suite.Items[item].Why = b.Text + ": " + b.Why
			continue
		}
		for steps := -1; steps <= 1; steps++ {
			at := example.Condition{Expr: guard.SQL, Bound: n + 1, Steps: steps}
			decides := at
			decides.Decides = true
			g.wherever(cell, variants, i, number+[]string{"b-1", "b", "b+1"}[steps+1], saying(b, steps), decides, at)
		}
	}
}

// wherever adds a case in which a condition holds that is about the guard of
// number i, going the first way that it can: by that guard, by a later one or by
// none, and last by one before it. Of several conditions the first is taken that
// can hold, and values that are known are better than those that are not.
func (g *guards) wherever(cell *model.Cell, variants []Variant, i int, what, words string, conditions ...example.Condition) {
	item := g.item(ItemGuard, named(cell, variants[i].Name, what), of(cell, variants[i]))
	ways := append(variants[i:len(variants):len(variants)], variants[:i]...)
	var best *Case
	for _, must := range conditions {
		for n, v := range ways {
			s := v.step(cell)
			s.Variant = variants[i].Name + " " + what
			if n > 0 {
				s.Variant = v.Name + " at " + s.Variant
			}
			c := &Case{ID: g.id(path(cell, variants[i].Name+" "+what)), Start: cell.State, Steps: []Step{s}}
			possible := g.filler.filled(c, map[int][]example.Condition{0: {must}})
			if possible && c.why() == "" {
				g.put(c, item)
				return
			}
			if possible && best == nil {
				best = c
			}
		}
	}
	if best != nil {
		g.put(best, item)
		return
	}
	g.suite.Items[item].Why = impossible + words
}

// saying is a bound in words.
func saying(b example.Bound, steps int) string {
	apart := map[int]string{-1: "the left is the right less " + b.Step, 0: "both sides are equal", 1: "the left is the right and " + b.Step + " more"}
	return "of " + b.Text + ", " + apart[steps]
}
