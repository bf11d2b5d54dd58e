// Package model holds a checked machine: its states, events, transitions and
// cells in the order they were declared, with look-ups. Everything in it is
// resolved (names are pointers, every cell is decided) and nothing in it is
// valid only by luck: internal/check builds it and refuses what it cannot
// resolve, so renderers may rely on it without asking again. It reads no file,
// knows no YAML and renders nothing.
//
// Values are shared between renderers and must not be changed after check.Run
// returned them; reading them from many goroutines is safe.
package model

import (
	"slices"
	"strings"

	"github.com/pawl-go/pawl/internal/diag"
)

// Machine is one lifecycle.
type Machine struct {
	Name     string
	Describe string
	// Owner is who answers for the machine, empty when nobody is named.
	Owner string
	// Tags are words for tools and testers to choose by, in the order written.
	Tags []string
	// Package is the name of the generated Go package, a valid identifier.
	Package string
	// Ident is the exported Go identifier part of the machine's name: "OrderItem" of "order_item".
	Ident string
	// Source is the definition's path as it was given, for headers of generated files.
	Source string
	// Table is nil for a machine that has no SQL.
	Table  *Table
	States []*State
	Events []*Event
	// Guards holds the named guards, in order; inline guards are on their transitions alone.
	Guards      []*Guard
	Transitions []*Transition
	// Maps hold what the words of outside systems mean to this machine.
	Maps []*Map
	// CreateEmit is what the creation of a row writes to the outbox, perhaps nothing.
	CreateEmit []string
	Pos        diag.Position
}

// State is one value of the status column.
type State struct {
	Name     string
	Describe string
	Labels   []Label
	Owner    string
	Tags     []string
	Initial  bool
	// Final says that no transition leaves the state.
	Final bool
	// Resting says that a row may stay in the state for good although events can still move it.
	Resting bool
	// Retired says that rows may leave the state and none may enter it any more.
	Retired bool
	// Was is the name that the state had before, and which programs and rows of
	// that time still use; empty for a state that was always called so.
	Was string
	// WasPos is the place of Was.
	WasPos diag.Position
	// Code stands for the state in a status column of an integer type.
	Code int
	// CodePos is the place of Code.
	CodePos diag.Position
	// Deadline is nil for a state that is never left by itself.
	Deadline *Deadline
	// Index is the state's place in Machine.States.
	Index int
	// Ident is the exported Go identifier part: "Paid" of StatePaid. Unique in the machine.
	Ident string
	Pos   diag.Position
}

// Label is a name for people in one language, a BCP 47 tag such as "zh" or "en".
type Label struct {
	Lang, Text string
}

// Label returns the label in lang, else in a language of the same kind, as zh for
// zh-CN, else the first one, else the state's name.
func (s *State) Label(lang string) string { return label(s.Labels, lang, s.Name) }

func label(labels []Label, lang, name string) string {
	for _, same := range []func(string) bool{
		func(l string) bool { return strings.EqualFold(l, lang) },
		func(l string) bool { return PrimaryLanguage(l) == PrimaryLanguage(lang) },
	} {
		for _, l := range labels {
			if same(l.Lang) {
				return l.Text
			}
		}
	}
	if len(labels) > 0 {
		return labels[0].Text
	}
	return name
}

// PrimaryLanguage is the language that a BCP 47 tag is a kind of: "zh" of "zh-CN".
func PrimaryLanguage(tag string) string {
	first, _, _ := strings.Cut(strings.ToLower(tag), "-")
	return first
}

// StateNames joins the names of states with commas, for people.
func StateNames(states []*State) string {
	names := make([]string, len(states))
	for i, s := range states {
		names[i] = s.Name
	}
	return strings.Join(names, ", ")
}

// Guard is a condition on the row and the event's parameters. It holds only
// when its SQL is true; NULL is not true.
type Guard struct {
	// Name is empty for a guard written inside its transition.
	Name     string
	Describe string
	SQL      *Expr
	Pos      diag.Position
}

// Transition moves a row that stands in one of From to To when the event comes
// and the guard, if there is one, is true.
type Transition struct {
	Event *Event
	From  []*State
	To    *State
	// Guard is nil for an unguarded transition.
	Guard *Guard
	Set   []Assignment
	Emit  []string
	// Tags are the transition's own; those of its event count for it too.
	Tags []string
	// Index is the transition's place in Machine.Transitions.
	Index int
	Pos   diag.Position
}

// Tagged reports whether the transition or its event has the tag.
func (t *Transition) Tagged(tag string) bool {
	return slices.Contains(t.Tags, tag) || slices.Contains(t.Event.Tags, tag)
}

// Assignment sets a column of the guarded row as part of a transition.
type Assignment struct {
	Column *Column
	Value  *Expr
	Pos    diag.Position
}

// State returns the state of that name, or nil.
func (m *Machine) State(name string) *State {
	for _, s := range m.States {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// Event returns the event of that name, or nil.
func (m *Machine) Event(name string) *Event {
	for _, e := range m.Events {
		if e.Name == name {
			return e
		}
	}
	return nil
}

// Initial returns the state in which a row is created.
func (m *Machine) Initial() *State {
	for _, s := range m.States {
		if s.Initial {
			return s
		}
	}
	return nil
}

// Facts reports whether an event of the machine has an identity, so that the
// machine keeps a facts table.
func (m *Machine) Facts() bool {
	for _, e := range m.Events {
		if len(e.Identity) > 0 {
			return true
		}
	}
	return false
}

// Deadlines reports whether a state of the machine is left by itself.
func (m *Machine) Deadlines() bool {
	for _, s := range m.States {
		if s.Deadline != nil {
			return true
		}
	}
	return false
}

// CountsRuns reports whether a deadline of the machine has a max, so that the
// row counts how often it ran.
func (m *Machine) CountsRuns() bool {
	for _, s := range m.States {
		if s.Deadline != nil && s.Deadline.Max > 0 {
			return true
		}
	}
	return false
}

// Emits reports whether anything in the machine writes to the outbox.
func (m *Machine) Emits() bool {
	if len(m.CreateEmit) > 0 {
		return true
	}
	for _, t := range m.Transitions {
		if len(t.Emit) > 0 {
			return true
		}
	}
	for _, e := range m.Events {
		for _, c := range e.Cells {
			if len(c.Emit) > 0 {
				return true
			}
		}
	}
	return false
}

// Edges returns, for each state in order, the states that a transition leads
// to from it, in declaration order and without repeats.
func (m *Machine) Edges() []Edge {
	edges := make([]Edge, 0, len(m.States))
	for _, s := range m.States {
		seen := make([]bool, len(m.States))
		for _, t := range m.Transitions {
			for _, f := range t.From {
				if f == s {
					seen[t.To.Index] = true
				}
			}
		}
		e := Edge{From: s}
		for i, ok := range seen {
			if ok {
				e.To = append(e.To, m.States[i])
			}
		}
		if len(e.To) > 0 {
			edges = append(edges, e)
		}
	}
	return edges
}

// Edge lists the states that one state can be followed by.
type Edge struct {
	From *State
	To   []*State
}
