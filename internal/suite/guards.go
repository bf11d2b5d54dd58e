package suite

import (
	"strconv"
	"strings"

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
func Guards(m *model.Machine) *Suite {
	g := &guards{newBuilder(m, "guards")}
	each(m, func(cell *model.Cell) {
		if variants := Variants(cell); len(variants) > 1 {
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
		g.wherever(cell, variants, i, name+" NULL", example.IsNull(p))
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
			g.wherever(cell, variants, i, number+[]string{"b-1", "b", "b+1"}[steps+1], example.Condition{Expr: guard.SQL, Bound: n + 1, Steps: steps})
		}
	}
}

// wherever adds a case in which a condition holds that is about the guard of
// number i, going the first way that it can: by that guard, by a later one or by
// none, and last by one before it.
func (g *guards) wherever(cell *model.Cell, variants []Variant, i int, what string, must example.Condition) {
	item := g.item(ItemGuard, named(cell, variants[i].Name, what), of(cell, variants[i]))
	ways := append(variants[i:len(variants):len(variants)], variants[:i]...)
	for _, undecided := range []bool{false, true} {
		for _, v := range ways {
			s := v.step(cell)
			if v.Name == variants[i].Name {
				s.Variant += " " + what
			} else {
				s.Variant += " at " + variants[i].Name + " " + what
			}
			c := &Case{Start: cell.State, Steps: []Step{s}}
			more := map[int][]example.Condition{0: {must}}
			if possible := g.filler.filled(c, more); !possible || !undecided && c.why() != "" {
				g.suite.Items[item].Why = c.why()
				continue
			}
			g.add(path(cell, variants[i].Name+" "+what), []Step{s}, more, item)
			return
		}
	}
	if why := g.suite.Items[item].Why; strings.HasPrefix(why, impossible) {
		g.suite.Items[item].Why = impossible + must.String() + " (" + what + ")"
	}
}
