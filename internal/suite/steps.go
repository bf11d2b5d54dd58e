package suite

import "github.com/pawl-go/pawl/internal/model"

// item is what the kinds of items have in common.
func item(kind ItemKind, id string, steps ...ItemStep) Item {
	return Item{ID: id, Kind: kind, Steps: steps}
}

func (a arc) item() Item {
	return item(ItemTransition, "transition "+a.id(), a.itemStep())
}

func (a arc) itemStep() ItemStep {
	return ItemStep{State: a.cell.State, Event: a.cell.Event, Transition: a.transition(), Variant: variantName(a.cell, a.at)}
}

// items are all arcs, each at its place, as what cases are to cover that begin
// with the creation of a row.
func (g *graph) items() []Item {
	items := make([]Item, len(g.arcs))
	for i, a := range g.arcs {
		items[i] = a.item()
		if !g.reached(i) {
			items[i].Why = "no row ever reaches state " + a.cell.State.Name
		}
	}
	return items
}

// newCase is a case that takes the arcs one after another.
func (g *graph) newCase(id string, start *model.State, arcs []int) *Case {
	c := &Case{ID: id, Start: start, Steps: make([]Step, len(arcs))}
	for i, a := range arcs {
		c.Steps[i] = wayStep(g.arcs[a].cell, g.arcs[a].at)
	}
	g.filler.fill(c)
	return c
}

// wayStep is the call that takes the cell's way of that place: one of its
// transitions, or behind them what is said when none is taken.
func wayStep(c *model.Cell, at int) Step { return Variants(c)[at].step(c) }

// variantName names the cell's way of that place. Empty for a cell of one way.
func variantName(c *model.Cell, at int) string { return Variants(c)[at].Name }
