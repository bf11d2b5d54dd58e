package compare

import (
	"slices"

	"github.com/pawl-go/pawl/internal/model"
)

// What generate keeps in the database until the programs of old are gone: the
// edges that they take, and the states that they bring rows into.

// entered reports whether rows come into a state of old from elsewhere.
func (d *differ) entered(o *model.State) bool {
	if o == d.old.Initial() {
		return true
	}
	return slices.ContainsFunc(d.old.Edges(), func(e model.Edge) bool { return e.From != o && slices.Contains(e.To, o) })
}

// endsEdge reports whether a move of old is no edge of new, and yet one that
// the database accepts as long as programs of old may run.
func (d *differ) endsEdge(from, to *model.State) bool {
	is := func(o, n *model.State) bool { return d.former[n] == o }
	accepted := func(o *model.State) bool {
		return d.entered(o) || slices.ContainsFunc(d.new.States, func(n *model.State) bool { return is(o, n) })
	}
	stays := slices.ContainsFunc(d.new.Edges(), func(e model.Edge) bool {
		return is(from, e.From) && slices.ContainsFunc(e.To, func(n *model.State) bool { return is(to, n) })
	})
	return !stays && accepted(from) && accepted(to)
}

// endsEventsEdges reports whether one of the moves of an event of old ends so.
func (d *differ) endsEventsEdges(o *model.Event) bool {
	return slices.ContainsFunc(d.old.Moves(o), func(t *model.Transition) bool {
		return slices.ContainsFunc(t.From, func(from *model.State) bool { return d.endsEdge(from, t.To) })
	})
}

// endsCellsEdges reports whether one of the moves of a cell of old ends so.
func (d *differ) endsCellsEdges(o *model.Cell) bool {
	return slices.ContainsFunc(o.Transitions, func(t *model.Transition) bool { return d.endsEdge(o.State, t.To) })
}
