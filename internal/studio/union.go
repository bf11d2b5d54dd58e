package studio

import (
	"slices"
	"strings"

	"github.com/pawl-go/pawl/internal/compare"
	"github.com/pawl-go/pawl/internal/gensvg"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/picture"
)

// What a state or an arc of a union is, and the class that it has in the picture;
// empty for one that is as it was.
const (
	added   = "added"
	changed = "changed"
	removed = "removed"
)

// union is a machine with what it was and is no more, to be drawn.
type union struct {
	machine *model.Machine
	states  map[*model.State]string
	arcs    map[arcOf]string

	old, new *model.Machine
	// by are the states of the union, by those that they are made of.
	by map[*model.State]*model.State
}

// arcOf is a transition from one of its states.
type arcOf struct {
	transition *model.Transition
	from       *model.State
}

// unite puts together what a machine was and what it is. The machines are not
// changed and share nothing with the union that could be.
func unite(old, new *model.Machine, report *compare.Report) *union {
	u := &union{
		old: old, new: new, states: map[*model.State]string{}, arcs: map[arcOf]string{}, by: map[*model.State]*model.State{},
		machine: &model.Machine{Name: new.Name, Describe: new.Describe, Ident: new.Ident},
	}
	u.addStates(report)
	events := u.addEvents(new, new.Transitions)
	u.machine.Events = events
	made := u.machine.Transitions
	u.compare(made, u.former())
	return u
}

// addStates adds those that are, and then those that are gone.
func (u *union) addStates(report *compare.Report) {
	add := func(s *model.State, what string) {
		c := *s
		c.Index = len(u.machine.States)
		c.Initial = c.Initial && what != removed
		c.Deadline = nil // it comes with its event
		u.machine.States = append(u.machine.States, &c)
		u.by[s] = &c
		u.states[&c] = what
	}
	for _, s := range u.new.States {
		o := u.before(s)
		what := ""
		switch {
		case o == nil:
			what = added
		case o.Name != s.Name || told(report, u.new.Name, s):
			what = changed
		}
		add(s, what)
	}
	for _, s := range u.old.States {
		at := slices.IndexFunc(u.new.States, func(n *model.State) bool { return u.before(n) == s || n.Was == s.Name })
		if at >= 0 {
			u.by[s] = u.machine.States[at]
			continue
		}
		add(s, removed)
	}
}

// before is what a state was, perhaps under another name; nil for a new one.
func (u *union) before(s *model.State) *model.State {
	if o := u.old.State(s.Name); o != nil {
		return o
	}
	if s.Was != "" {
		return u.old.State(s.Was)
	}
	return nil
}

// told reports whether the changes speak of a state.
func told(report *compare.Report, machine string, s *model.State) bool {
	return slices.ContainsFunc(report.Changes, func(c *compare.Change) bool {
		path := "states." + s.Name
		return c.Machine == machine && (c.Path == path || strings.HasPrefix(c.Path, path+"."))
	})
}

// addEvents makes the events of one of the machines, with cells for all states of the
// union and with its transitions; those listed are drawn.
func (u *union) addEvents(m *model.Machine, drawn []*model.Transition) []*model.Event {
	events := map[*model.Event]*model.Event{}
	var all []*model.Event
	for _, e := range m.Events {
		c := *e
		c.Cells = make([]*model.Cell, len(u.machine.States))
		for i, s := range u.machine.States {
			c.Cells[i] = &model.Cell{State: s, Event: &c, Otherwise: model.Ignore}
		}
		events[e] = &c
		all = append(all, &c)
	}
	transitions := map[*model.Transition]*model.Transition{}
	for _, t := range m.Transitions {
		c := *t
		c.Event, c.To, c.From = events[t.Event], u.by[t.To], nil
		for _, from := range t.From {
			c.From = append(c.From, u.by[from])
		}
		transitions[t] = &c
	}
	for _, e := range m.Events {
		for _, cell := range e.Cells {
			c := events[e].Cells[u.by[cell.State].Index]
			c.Otherwise, c.Emit = cell.Otherwise, cell.Emit
			for _, t := range cell.Transitions {
				c.Transitions = append(c.Transitions, transitions[t])
			}
		}
	}
	for _, s := range m.States {
		at := u.by[s]
		if s.Deadline != nil && at.Deadline == nil && (m == u.new || u.states[at] == removed) {
			d := *s.Deadline
			d.Event = events[d.Event]
			at.Deadline = &d
		}
	}
	for _, t := range drawn {
		c := transitions[t]
		c.Index = len(u.machine.Transitions)
		u.machine.Transitions = append(u.machine.Transitions, c)
	}
	return all
}

// former makes the transitions that were, and returns them without drawing any.
func (u *union) former() []*model.Transition {
	keep := u.machine.Transitions
	u.machine.Transitions = nil
	u.addEvents(u.old, u.old.Transitions)
	were := u.machine.Transitions
	u.machine.Transitions = keep
	return were
}

// compare finds each arc among those that were. What is not there any more is
// drawn as a transition of its own.
func (u *union) compare(are, were []*model.Transition) {
	rest := arcsOf(were)
	take := func(fits func(arcOf) bool) bool {
		i := slices.IndexFunc(rest, fits)
		if i >= 0 {
			rest = slices.Delete(rest, i, i+1)
		}
		return i >= 0
	}
	var open []arcOf
	for _, a := range arcsOf(are) {
		if !take(func(b arcOf) bool { return a.leads(b) && a.does() == b.does() }) {
			open = append(open, a)
		}
	}
	for _, a := range open {
		u.arcs[a] = added
		if take(a.leads) {
			u.arcs[a] = changed
		}
	}
	for _, a := range rest {
		c := *a.transition
		c.From = []*model.State{a.from}
		c.Index = len(u.machine.Transitions)
		// What asks whether it is the first of its cell finds it there.
		cell := c.Event.Cells[a.from.Index]
		if i := slices.Index(cell.Transitions, a.transition); i >= 0 {
			cell.Transitions[i] = &c
		}
		u.machine.Transitions = append(u.machine.Transitions, &c)
		u.arcs[arcOf{&c, a.from}] = removed
	}
}

func arcsOf(transitions []*model.Transition) []arcOf {
	var all []arcOf
	for _, t := range transitions {
		for _, from := range t.From {
			all = append(all, arcOf{t, from})
		}
	}
	return all
}

// leads reports whether two arcs are the same event between the same states.
func (a arcOf) leads(b arcOf) bool {
	return a.transition.Event.Name == b.transition.Event.Name && a.from == b.from && a.transition.To == b.transition.To
}

// does is what an arc asks for and does, beside the event and the states.
func (a arcOf) does() string {
	t := a.transition
	var parts []string
	if t.Guard != nil {
		parts = append(parts, "if "+t.Guard.Name+" "+t.Guard.SQL.Source)
	}
	for _, s := range t.Set {
		parts = append(parts, "set "+s.Column.Name+" "+s.Value.Source)
	}
	for _, e := range t.Emit {
		parts = append(parts, "emit "+e)
	}
	return strings.Join(parts, "\x00")
}

// marks are the classes of the picture.
func (u *union) marks() *gensvg.Marks {
	arc := func(e *picture.Edge, a picture.Arc) string { return u.arcs[arcOf{a.Transition, e.From}] }
	return &gensvg.Marks{
		Whole: "diff",
		State: func(s *model.State) string { return u.states[s] },
		Arc:   arc,
		Edge: func(e *picture.Edge) string {
			all := arc(e, e.Arcs[0])
			for _, a := range e.Arcs[1:] {
				if arc(e, a) != all {
					return changed
				}
			}
			return all
		},
	}
}
