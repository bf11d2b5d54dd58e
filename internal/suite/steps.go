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
	fill(g.machine, c)
	return c
}

// wayStep is the call that takes the cell's way of that place: one of its
// transitions, or behind them what is said when none is taken.
func wayStep(c *model.Cell, at int) Step {
	s := Step{From: c.State, Event: c.Event, Variant: variantName(c, at), To: c.State}
	if c.Event.ExpectVersion {
		s.Version = RightVersion
	}
	if at < len(c.Transitions) {
		t := c.Transitions[at]
		s.Transition, s.Outcome, s.To, s.Emit = t, Applied, t.To, t.Emit
		s.Fact = len(c.Event.Identity) > 0
		return s
	}
	s.Outcome = outcomeOf(c.Otherwise)
	if c.Otherwise == model.Compensate {
		s.Emit, s.Fact = c.Emit, true
	}
	return s
}

// outcomeOf is what a call is answered when the decision is reached.
func outcomeOf(d model.Decision) Outcome {
	switch d {
	case model.Replay:
		return Replayed
	case model.Ignore:
		return Ignored
	case model.Compensate:
		return Compensated
	case model.GuardFailed:
		return GuardFailed
	}
	return Rejected
}
