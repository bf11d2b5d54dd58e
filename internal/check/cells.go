package check

import (
	"strings"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/syntax"
)

// decisions builds the cells of every event and decides each.
func (c *checker) decisions() {
	for _, d := range c.eventDecls {
		for _, s := range c.machine.States {
			cell := &model.Cell{State: s, Event: d.event}
			d.event.Cells = append(d.event.Cells, cell)
		}
		c.fill(d.event)
		c.decide(d)
	}
}

// fill puts the event's transitions into its cells and reports those that are
// never reached.
func (c *checker) fill(event *model.Event) {
	keys := make([]map[string]bool, len(event.Cells))
	closed := make([]*transDecl, len(event.Cells))
	for _, d := range c.eventOf[event.Name].transitions {
		for i, from := range d.t.From {
			at := from.Index
			cell := event.Cells[at]
			cell.Transitions = append(cell.Transitions, d.t)
			if keys[at] == nil {
				keys[at] = make(map[string]bool)
			}
			switch {
			case closed[at] != nil:
				c.errorf(d.from[i], CodeShadowed, "this transition is never taken from %s: the one at line %d has no guard and stands before it; give that one a guard, or put it last",
					quote(from.Name), closed[at].t.Pos.Line)
			case !d.guarded:
				closed[at] = d
			case d.guardKey != "" && keys[at][d.guardKey]:
				c.errorf(d.guardPos, CodeSameGuard, "event %s has another transition from %s with the same guard before this one, so this one is never taken; use another guard, or none",
					quote(event.Name), quote(from.Name))
			}
			keys[at][d.guardKey] = true
		}
	}
}

// choice is what an event's otherwise says of a state.
type choice struct {
	decision model.Decision
	pos      diag.Position
}

var decisions = []struct {
	key      string
	decision model.Decision
}{{"replay", model.Replay}, {"ignore", model.Ignore}, {"reject", model.Reject}, {"compensate", model.Compensate}}

// otherwise reads who decides what: by state, and for the rest.
func (c *checker) otherwise(d *eventDecl) (named map[*model.State]choice, rest *choice, emit []string) {
	named = make(map[*model.State]choice)
	fields := c.optionalMapping(d.fields.Get("otherwise"), "\"otherwise\"")
	c.keys(fields, "otherwise")
	for _, e := range fields.Entries {
		decision, known := decisionOf(e.Key.Text)
		if !known {
			continue
		}
		states := e.Value
		if decision == model.Compensate {
			inner := e.Value.AsMapping()
			switch {
			case inner == nil && e.Value.IsNull():
				c.errorf(e.Key.Pos, CodeMissing, "\"compensate\" does not say in which states; write compensate: {states: '*', emit: [refund_due]}")
				continue
			case inner == nil: // states alone, as beside the other decisions
				c.errorf(e.Value.Pos, CodeWrongKind, "\"compensate\" must say what it emits as well, perhaps nothing; write compensate: {states: '*', emit: []}")
			default:
				c.keys(inner, "compensate")
				emit = c.topics(inner.Get("emit"))
				if states = inner.Get("states"); states == nil {
					c.errorf(e.Key.Pos, CodeMissing, "\"compensate\" does not say in which states; write compensate: {states: '*', emit: [refund_due]}")
				}
			}
			if len(d.event.Identity) == 0 && d.fields.Get("identity").IsNull() {
				c.errorf(e.Key.Pos, CodeCompensate, "event %s has no identity, so the same fact could be compensated twice; add identity, or ignore or reject it", quote(d.event.Name))
			}
		}
		for _, s := range c.names(states, quote(e.Key.Text)) {
			c.choose(named, &rest, s, decision)
		}
	}
	return named, rest, emit
}

func decisionOf(key string) (model.Decision, bool) {
	for _, d := range decisions {
		if d.key == key {
			return d.decision, true
		}
	}
	return 0, false
}

func (c *checker) choose(named map[*model.State]choice, rest **choice, s *syntax.Scalar, decision model.Decision) {
	if s.Text == "*" {
		if *rest != nil {
			c.errorf(s.Pos, CodeDecidedTwice, "'*' is decided twice, at line %d as %s; name the states in one of them", (*rest).pos.Line, (*rest).decision)
			return
		}
		*rest = &choice{decision, s.Pos}
		return
	}
	state := c.state(s)
	if state == nil {
		return
	}
	if before, ok := named[state]; ok {
		c.errorf(s.Pos, CodeDecidedTwice, "state %s is decided twice, at line %d as %s; delete one", quote(state.Name), before.pos.Line, before.decision)
		return
	}
	named[state] = choice{decision, s.Pos}
}

// decide decides every cell of the event.
func (c *checker) decide(d *eventDecl) {
	event := d.event
	named, rest, emit := c.otherwise(d)
	var undecided []string
	restReaches := false
	if !event.Callback {
		d.unasked = rest
	}
	for _, cell := range event.Cells {
		said, ok := named[cell.State]
		// A guard that is broken is still a guard: its cell stays open.
		closed := cell.Moves() && c.closed(cell)
		switch {
		case cell.Moves() && (closed || !event.Callback):
			cell.Otherwise = model.GuardFailed
			if ok {
				c.unreachable(said, cell, closed)
			}
			continue
		case ok:
		case rest != nil:
			said, restReaches = *rest, true
		case event.Callback:
			undecided = append(undecided, quote(cell.State.Name))
			continue
		}
		cell.Otherwise = said.decision
		if said.decision == model.Compensate {
			cell.Emit = emit
		}
	}
	if len(undecided) > 0 {
		c.errorf(event.Pos, CodeUndecided, "event %s comes from outside, and what it does is not decided in %s; add it to otherwise", quote(event.Name), some(undecided))
	}
	if rest != nil && !restReaches && len(event.Cells) > 0 {
		c.warnf(rest.pos, CodeNothingLeft, "'*' reaches no state: every one is decided already; delete it")
	}
}

func (c *checker) closed(cell *model.Cell) bool {
	return !c.transDecls[cell.Transitions[len(cell.Transitions)-1].Index].guarded
}

func (c *checker) unreachable(said choice, cell *model.Cell, closed bool) {
	if closed {
		c.errorf(said.pos, CodeNotReached, "state %s cannot be in otherwise: event %s always moves the row from it; delete the name", quote(cell.State.Name), quote(cell.Event.Name))
		return
	}
	c.errorf(said.pos, CodeNotReached, "state %s cannot be in otherwise: event %s has guarded transitions from it, and is answered with guard failed when none is true; delete the name",
		quote(cell.State.Name), quote(cell.Event.Name))
}

// some lists names, not so many that nobody reads them.
func some(names []string) string {
	const most = 8
	if len(names) > most {
		return strings.Join(names[:most], ", ") + " and others"
	}
	return strings.Join(names, ", ")
}
