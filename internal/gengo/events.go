package gengo

import (
	"strconv"

	"github.com/pawl-go/pawl/internal/genfile"
	"github.com/pawl-go/pawl/internal/model"
)

// events renders the Event type and the look-ups of the table.
func (g *generator) events(f *genfile.File) {
	f.P("// Event is something that can happen to a row.")
	f.P("type Event string")
	f.P()
	f.P("// The events, in the order of the definition.")
	f.P("const (")
	for _, e := range g.m.Events {
		if e.Describe != "" {
			f.Comment(eventConst(e)+":", e.Describe)
		}
		f.P(eventConst(e), " Event = ", strconv.Quote(e.Name))
	}
	f.P(")")
	f.P()
	f.P("// Events returns all events in the order of the definition.")
	f.P("func Events() []Event {")
	f.P("return []Event{")
	for _, e := range g.m.Events {
		f.P(eventConst(e), ",")
	}
	f.P("}")
	f.P("}")
	f.P()
	f.P("// Allowed returns the events that can move a row which stands in s and do not come from outside, in the order of")
	f.P("// the definition: the buttons of a page. A guard may still refuse. It is empty for a final or unknown state.")
	f.P("func Allowed(s State) []Event {")
	f.P("switch s {")
	for i, s := range g.m.States {
		list := ""
		for _, e := range g.m.Events {
			if e.Cells[i].Moves() && !e.Callback {
				list += ", " + eventConst(e)
			}
		}
		if list != "" {
			f.P("case ", stateConst(s), ":")
			f.P("return []Event{", list[2:], "}")
		}
	}
	f.P("}")
	f.P("return nil")
	f.P("}")
	f.P()
	f.P("// Next returns the states to which e can move a row that stands in s, in the order in which its transitions are")
	f.P("// tried. It is empty where e moves nothing.")
	f.P("func Next(s State, e Event) []State {")
	f.P("switch e {")
	for _, e := range g.m.Events {
		g.next(f, e)
	}
	f.P("}")
	f.P("return nil")
	f.P("}")
}

// next renders the cases of one event, states with the same targets together.
func (g *generator) next(f *genfile.File, e *model.Event) {
	type group struct{ states, targets string }
	var groups []group
next:
	for _, c := range e.Cells {
		targets := ""
		for i, t := range c.Transitions {
			if i > 0 {
				targets += ", "
			}
			targets += stateConst(t.To)
		}
		if targets == "" {
			continue
		}
		for i := range groups {
			if groups[i].targets == targets {
				groups[i].states += ", " + stateConst(c.State)
				continue next
			}
		}
		groups = append(groups, group{stateConst(c.State), targets})
	}
	if len(groups) == 0 {
		return
	}
	f.P("case ", eventConst(e), ":")
	f.P("switch s {")
	for _, gr := range groups {
		f.P("case ", gr.states, ":")
		f.P("return []State{", gr.targets, "}")
	}
	f.P("}")
}
