package check

import (
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
)

// deadlines resolves and checks the events that deadlines fire.
func (c *checker) deadlines() {
	for _, d := range c.stateDecls {
		n := d.deadline.Get("event")
		if n == nil {
			continue
		}
		s := c.nameValue(n, "the deadline's event")
		if s == nil {
			continue
		}
		event := c.event(s)
		if event == nil {
			continue
		}
		d.state.Deadline.Event = event
		c.deadlineEventFits(event, s.Pos)
		cell := event.Cells[d.state.Index]
		if !cell.Moves() {
			if c.gaps {
				continue // perhaps it is among those that could not be read
			}
			c.errorf(s.Pos, CodeDeadlineEvent, "event %s has no transition from %s, so the deadline would never move the row; add one", quote(event.Name), quote(d.state.Name))
			continue
		}
		if limit, ok := d.deadline.Entry("max"); ok && !loops(cell) {
			c.errorf(limit.Key.Pos, CodeMax, "max ends a self-loop, but event %s never leads from %s back to it; delete max", quote(event.Name), quote(d.state.Name))
		}
	}
}

// deadlineEventFits refuses parameters, and with them every identity.
func (c *checker) deadlineEventFits(e *model.Event, pos diag.Position) {
	switch {
	case e.Callback:
		c.errorf(pos, CodeDeadlineEvent, "event %s comes from outside (source: callback), so a deadline cannot fire it; use an event of its own", quote(e.Name))
	case len(e.Params) > 0:
		c.errorf(pos, CodeDeadlineEvent, "event %s has parameters, and a deadline has no values for them; use an event without", quote(e.Name))
	}
}
