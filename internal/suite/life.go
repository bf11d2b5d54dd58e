package suite

import (
	"slices"

	"github.com/pawl-go/pawl/internal/model"
)

// Way is one way of a cell: the one of that place in Variants.
type Way struct {
	Cell *model.Cell
	At   int
}

// Variant is what happens on the way.
func (w Way) Variant() Variant { return Variants(w.Cell)[w.At] }

// WayOf returns the way of a cell that takes the transition.
func WayOf(cell *model.Cell, t *model.Transition) Way {
	return Way{cell, slices.Index(cell.Transitions, t)}
}

// Life returns a case of no suite: from the creation of a row it goes the ways one
// after another, each from where the one before has led. Steps that have no values
// say so as those of suites do.
func (k *Maker) Life(id string, ways []Way) *Case {
	c := &Case{ID: id, Steps: make([]Step, len(ways))}
	for i, w := range ways {
		c.Steps[i] = wayStep(w.Cell, w.At)
	}
	k.graph.filler.fill(c)
	return c
}

// Shortest returns the fewest ways from the creation of a row to a state, none to
// the initial one; ok is false for a state that nothing leads to.
func (k *Maker) Shortest(to *model.State) (ways []Way, ok bool) {
	g := k.graph
	switch {
	case g.depth[to.Index] == far:
		return nil, false
	case g.by[to.Index] == none:
		return nil, true
	}
	for _, i := range g.way(g.by[to.Index]) {
		ways = append(ways, Way{g.arcs[i].cell, g.arcs[i].at})
	}
	return ways, true
}
