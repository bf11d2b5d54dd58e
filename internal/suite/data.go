package suite

import (
	"slices"
	"strings"

	"github.com/pawl-go/pawl/internal/example"
	"github.com/pawl-go/pawl/internal/model"
)

// filler gives the cases of one machine their data, and remembers what it has
// worked out. It is not for concurrent use.
type filler struct {
	machine *model.Machine
	finder  *example.Finder
	// limit is how many cases a suite may have, 0 for any number. One that grows
	// above it is given up, and must not be used.
	limit int
}

func newFiller(m *model.Machine) *filler {
	return &filler{machine: m, finder: example.NewFinder(m)}
}

// fill gives a case the row before its first step, the parameters of each step,
// and the columns after it, so that every step goes its way. Where that cannot
// be done the steps before have their values, and the first that has none says
// in Unknown what it needs.
func (f *filler) fill(c *Case) { f.fillWith(c, nil) }

// impossible is how Unknown begins where it is certain that no values exist.
const impossible = "no values exist for which: "

// fillWith fills a case of which some steps, by their index, need more than
// their way.
func (f *filler) fillWith(c *Case, more map[int][]example.Condition) {
	p := example.Problem{Created: c.Start == nil}
	for i := range c.Steps {
		call := f.call(c, i)
		call.Must = append(call.Must, more[i]...)
		p.Calls = append(p.Calls, call)
	}
	found := f.telling(p, c)
	c.Given = shown(found.Row)
	for i, taken := range found.Calls {
		c.Steps[i].Params, c.Steps[i].After = shown(taken.Params), shown(taken.After)
		if len(taken.Unsure) > 0 {
			c.Steps[i].Unsure = taken.Unsure
			c.Steps[i].Unknown = "the values suit the guards, and whether they suit the CHECKs of " + strings.Join(taken.Unsure, ", ") + " is for the database to say"
		}
	}
	if found.Failed >= 0 {
		why := "values are not known for which: " + found.Why
		if found.Never {
			why = impossible + found.Why
		}
		c.Steps[found.Failed].Unknown = why
		for i := found.Failed + 1; i < len(c.Steps); i++ {
			if needsData(&c.Steps[i]) {
				c.Steps[i].Unknown = "the row is not known after a step without values"
			}
		}
	}
	if slices.ContainsFunc(c.Steps, func(s Step) bool { return s.Other }) {
		c.Other = shown(f.finder.OtherKey(found.Row))
	}
}

// telling finds the data of a problem. Where the cell of a case's one step, or of
// the second call of a race, asks no guard, the call gets, where there is such data,
// values for which the guards of the event's other cells are true, as many as can
// be together: were the row judged in one of their states by mistake, it would move.
func (f *filler) telling(p example.Problem, c *Case) example.Answer {
	found := f.finder.Find(p)
	last := len(c.Steps) - 1
	if f.machine.Table == nil || last < 0 || last > 0 && !c.Steps[last].Second || found.Failed >= 0 ||
		len(p.Calls[last].Must) > 0 || p.Calls[last].Again > 0 {
		return found
	}
	for _, guard := range guardsOf(c.Steps[last].Event) {
		more := p
		more.Calls = slices.Clone(p.Calls)
		more.Calls[last].Must = append(slices.Clip(p.Calls[last].Must), example.Condition{Expr: guard.SQL})
		if better := f.finder.Find(more); better.Failed < 0 && len(better.Calls[last].Unsure) == len(found.Calls[last].Unsure) {
			found, p = better, more
		}
	}
	return found
}

// guardsOf are the guards of an event's transitions, each once, in order.
func guardsOf(e *model.Event) []*model.Guard {
	var out []*model.Guard
	for _, cell := range e.Cells {
		for _, t := range cell.Transitions {
			if t.Guard != nil && t.Guard.SQL != nil && !slices.Contains(out, t.Guard) {
				out = append(out, t.Guard)
			}
		}
	}
	return out
}

// filled fills a case, and reports whether it can exist at all.
func (f *filler) filled(c *Case, more map[int][]example.Condition) bool {
	f.fillWith(c, more)
	return !slices.ContainsFunc(c.Steps, func(s Step) bool { return s.Impossible() })
}

func needsData(s *Step) bool {
	return len(s.Event.Params) > 0 || slices.ContainsFunc(cellOf(s).Transitions, func(t *model.Transition) bool { return t.Guard != nil })
}

func cellOf(s *Step) *model.Cell { return s.Event.Cells[s.From.Index] }

// call is a step as an example must have it.
func (f *filler) call(c *Case, i int) example.Call {
	s := &c.Steps[i]
	call := example.Call{State: s.From, To: s.To, Event: s.Event, Moves: s.Moved()}
	if s.Moved() && s.Transition != nil {
		call.Set = s.Transition.Set
	}
	if s.Repeat {
		for j, earlier := range c.Steps[:i] {
			if earlier.Event == s.Event && !earlier.Repeat {
				call.Again = j + 1
			}
		}
		call.Differs = s.Outcome == Mismatched && !s.Other
	}
	if known := s.Repeat && (s.Outcome == Replayed || s.Outcome == Mismatched); !known {
		call.Must = way(cellOf(s), s)
	}
	return call
}

// way has the conditions under which a cell goes the way of a step.
func way(cell *model.Cell, s *Step) []example.Condition {
	var out []example.Condition
	for i, t := range cell.Transitions {
		if t.Guard == nil || t.Guard.SQL == nil {
			break
		}
		taken := s.Chooses(i)
		out = append(out, example.Condition{Expr: t.Guard.SQL, Untrue: !taken})
		if taken {
			break
		}
	}
	return out
}

// Chooses reports whether the guard of the i-th transition of the step's cell is
// the one that must be true: that of the transition which the step takes, or
// would take if its version were not Stale.
func (s *Step) Chooses(i int) bool {
	t := s.Event.Cells[s.From.Index].Transitions[i]
	return t == s.Transition || s.Transition == nil && s.goes(guardName(t, i))
}

// goes reports whether the step's variant is of that name, whatever boundary
// follows it.
func (s *Step) goes(name string) bool {
	rest, ok := strings.CutPrefix(s.Variant, name)
	return ok && (rest == "" || rest[0] == ' ' || rest[0] == ',')
}

func shown(values []example.Value) []Value {
	out := make([]Value, 0, len(values))
	for _, v := range values {
		out = append(out, Value(v))
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
