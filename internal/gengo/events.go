package gengo

import (
	"fmt"
	"slices"
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
	g.allowed(f)
	g.nexts(f)
}

// lists are slices that look-ups return, each made once for the program: a
// look-up that makes its answer anew spends most of its time on that.
type lists struct {
	name, of string
	made     []string
}

// at is the expression of the list with these elements.
func (l *lists) at(elements string) string {
	i := slices.Index(l.made, elements)
	if i < 0 {
		i, l.made = len(l.made), append(l.made, elements)
	}
	return fmt.Sprintf("%s[%d]", l.name, i)
}

// render declares the lists, nothing where there are none.
func (l *lists) render(f *genfile.File, about string) {
	if len(l.made) == 0 {
		return
	}
	f.P()
	f.P("// ", l.name, " are what ", about, " returns.")
	f.P("var ", l.name, " = [...][]", l.of, "{")
	for _, elements := range l.made {
		f.P("{", elements, "},")
	}
	f.P("}")
}

// allowed renders the look-up of a state's events.
func (g *generator) allowed(f *genfile.File) {
	made := lists{name: "allowedEvents", of: "Event"}
	f.P("// Allowed returns the events that can move a row which stands in s and do not come from outside, in the order of")
	f.P("// the definition: the buttons of a page. A guard may still refuse. It is empty for a final or unknown state. The")
	f.P("// slice is the same for all who ask, and not to be changed.")
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
			f.P("return ", made.at(list[2:]))
		}
	}
	f.P("}")
	f.P("return nil")
	f.P("}")
	made.render(f, "Allowed")
	f.P()
}

// nexts renders the look-up of a cell's targets.
func (g *generator) nexts(f *genfile.File) {
	made := lists{name: "nextStates", of: "State"}
	f.P("// Next returns the states to which e can move a row that stands in s, in the order in which its transitions are")
	f.P("// tried. It is empty where e moves nothing. The slice is the same for all who ask, and not to be changed.")
	f.P("func Next(s State, e Event) []State {")
	f.P("switch e {")
	for _, e := range g.m.Events {
		g.next(f, e, &made)
	}
	f.P("}")
	f.P("return nil")
	f.P("}")
	made.render(f, "Next")
}

// next renders the cases of one event, states with the same targets together.
func (g *generator) next(f *genfile.File, e *model.Event, made *lists) {
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
		f.P("return ", made.at(gr.targets))
	}
	f.P("}")
}
