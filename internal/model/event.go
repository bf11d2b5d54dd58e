package model

import (
	"slices"
	"time"

	"github.com/pawl-go/pawl/internal/diag"
)

// MaxIdentity is how long an identity may be, and each text of it or of a fingerprint, in
// bytes; fsm.MaxIdentity is the runtime's.
const MaxIdentity = 1024

// Event is something that can happen to a row.
type Event struct {
	Name     string
	Describe string
	Labels   []Label
	Owner    string
	Tags     []string
	// Callback says that the event comes from outside, where duplicates,
	// delays and disorder are normal (source: callback).
	Callback bool
	Params   []*Param
	// Identity names the parameters that make two deliveries the same fact;
	// empty for an event without identity.
	Identity []*Param
	// Fingerprint names the parameters that must then be equal.
	Fingerprint []*Param
	// ExpectVersion says that a call must give the expected version.
	ExpectVersion bool
	// Cells has one cell for each state of the machine, in the order of its states.
	Cells []*Cell
	// Index is the event's place in Machine.Events.
	Index int
	// Ident is the exported Go identifier part: "PaymentSucceeded". Unique in the machine.
	Ident string
	Pos   diag.Position
}

// Label returns the label in lang, else the first one, else the event's name.
func (e *Event) Label(lang string) string { return label(e.Labels, lang, e.Name) }

// Param is one parameter of an event.
type Param struct {
	Name     string
	Describe string
	Type     Type
	Optional bool
	// Check is nil when every value of the type is fine.
	Check *Expr
	// Ident is the exported Go field name. Unique in the event.
	Ident string
	Pos   diag.Position
}

// Decision is what a cell says when no transition of it is taken.
type Decision int

const (
	// Reject refuses the event.
	Reject Decision = iota
	// Replay answers that the event has taken effect before; nothing is done.
	Replay
	// Ignore answers that the event does no harm here; nothing is done.
	Ignore
	// Compensate records the fact once and emits, without moving the row.
	Compensate
	// GuardFailed refuses the event since none of the cell's guards was true.
	GuardFailed
)

// String returns the word that a definition uses.
func (d Decision) String() string {
	switch d {
	case Reject:
		return "reject"
	case Replay:
		return "replay"
	case Ignore:
		return "ignore"
	case Compensate:
		return "compensate"
	case GuardFailed:
		return "guard failed"
	}
	return "undecided"
}

// Cell is one state × one event: the transitions tried in order, and what is
// said when none is taken.
type Cell struct {
	State *State
	Event *Event
	// Transitions is empty where the event moves nothing.
	Transitions []*Transition
	// Otherwise is the decision when no transition of the cell is taken. It is
	// never reached behind an unguarded transition.
	Otherwise Decision
	// Emit is what a Compensate decision writes to the outbox, perhaps nothing.
	Emit []string
}

// Moves reports whether the cell has a transition.
func (c *Cell) Moves() bool { return len(c.Transitions) > 0 }

// Closed reports whether the cell's last transition is unguarded, so that
// Otherwise is never reached.
func (c *Cell) Closed() bool {
	return c.Moves() && c.Transitions[len(c.Transitions)-1].Guard == nil
}

// Compensates reports whether the cell records the event without moving the
// row, at least when no guard is true.
func (c *Cell) Compensates() bool { return c.Otherwise == Compensate && !c.Closed() }

// Compensates reports whether a cell of the event does.
func (e *Event) Compensates() bool { return slices.ContainsFunc(e.Cells, (*Cell).Compensates) }

// Moves returns the transitions of the event, in the order written.
func (m *Machine) Moves(e *Event) []*Transition {
	var moves []*Transition
	for _, t := range m.Transitions {
		if t.Event == e {
			moves = append(moves, t)
		}
	}
	return moves
}

// Deadline moves a row on by itself after it has stood in a state for a time.
type Deadline struct {
	After time.Duration
	Event *Event
	// Max ends a self-loop: the deadline is set at most that often while the
	// row stays in the state. 0 is without end.
	Max int
	Pos diag.Position
}

// DeadlineStates returns the states, in order, whose deadline fires the event.
func (m *Machine) DeadlineStates(e *Event) []*State {
	var states []*State
	for _, s := range m.States {
		if s.Deadline != nil && s.Deadline.Event == e {
			states = append(states, s)
		}
	}
	return states
}

// DeadlineEvents returns the events, in order, that a deadline fires.
func (m *Machine) DeadlineEvents() []*Event {
	var events []*Event
	for _, e := range m.Events {
		if len(m.DeadlineStates(e)) > 0 {
			events = append(events, e)
		}
	}
	return events
}
