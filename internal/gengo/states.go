package gengo

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/pawl-go/pawl/internal/duration"
	"github.com/pawl-go/pawl/internal/genfile"
	"github.com/pawl-go/pawl/internal/model"
)

func (g *generator) packageComment(f *genfile.File) {
	text := fmt.Sprintf("Package %s is the %s machine.", g.m.Package, g.m.Name)
	if g.m.Describe != "" {
		text += " " + g.m.Describe
	}
	f.Doc(text)
}

func stateConst(s *model.State) string { return "State" + s.Ident }
func eventConst(e *model.Event) string { return "Event" + e.Ident }

// states renders the State type and what is known of its values.
func (g *generator) states(f *genfile.File) {
	f.P("// State is where a row of the machine stands, as the status column holds it.")
	f.P("type State string")
	f.P("// The states, in the order of the definition.")
	f.P("const (")
	for _, s := range g.m.States {
		g.stateComment(f, s)
		f.P(stateConst(s), " State = ", strconv.Quote(s.Name))
	}
	f.P(")")
	f.P()
	f.P("// States returns all states in the order of the definition.")
	f.P("func States() []State {")
	f.P("return []State{")
	for _, s := range g.m.States {
		f.P(stateConst(s), ",")
	}
	f.P("}")
	f.P("}")
	f.P()
	f.P("// Initial is the state in which a row is created.")
	f.P("const Initial = ", stateConst(g.m.Initial()))
	f.P()
	g.stateSet(f, "Valid", "reports whether s is a state of the machine.", func(*model.State) bool { return true })
	g.stateSet(f, "Final", "reports whether nothing leaves the state.", func(s *model.State) bool { return s.Final })
	g.stateSet(f, "Resting", "reports whether a row may stay in the state for good although events can still move it.", func(s *model.State) bool { return s.Resting })
	if g.retires() {
		g.stateSet(f, "Retired", "reports whether rows may leave the state and none may enter it any more.", func(s *model.State) bool { return s.Retired })
	}
	f.P("// Label returns the state's name for people in a language, a BCP 47 tag such as \"en\": the first label of the")
	f.P("// definition when there is none in that language, and the state itself when there is none at all.")
	f.P("func (s State) Label(lang string) string {")
	if !slices.ContainsFunc(g.m.States, func(s *model.State) bool { return len(s.Labels) > 0 }) {
		f.P("return string(s)")
		f.P("}")
		return
	}
	f.P("switch s {")
	for _, s := range g.m.States {
		if len(s.Labels) == 0 {
			continue
		}
		f.P("case ", stateConst(s), ":")
		if len(s.Labels) > 1 {
			f.P("switch lang {")
			for _, l := range s.Labels[1:] {
				f.P("case ", strconv.Quote(l.Lang), ":")
				f.P("return ", strconv.Quote(l.Text))
			}
			f.P("}")
		}
		f.P("return ", strconv.Quote(s.Labels[0].Text))
	}
	f.P("}")
	f.P("return string(s)")
	f.P("}")
}

// retires reports whether the machine has a retired state; the package of one
// without says nothing of them.
func (g *generator) retires() bool {
	return slices.ContainsFunc(g.m.States, func(s *model.State) bool { return s.Retired })
}

func (g *generator) stateComment(f *genfile.File, s *model.State) {
	text := s.Describe
	if d := s.Deadline; d != nil {
		if text != "" {
			text += " "
		}
		text += fmt.Sprintf("After %s comes %s", duration.Format(d.After), d.Event.Name)
		if d.Max > 0 {
			text += fmt.Sprintf(", at most %d times", d.Max)
		}
		text += "."
	}
	if text != "" {
		f.Comment(stateConst(s)+":", text)
	}
}

func (g *generator) stateSet(f *genfile.File, name, comment string, in func(*model.State) bool) {
	f.Comment(name, comment)
	f.P("func (s State) ", name, "() bool {")
	list := ""
	for _, s := range g.m.States {
		if in(s) {
			if list != "" {
				list += ", "
			}
			list += stateConst(s)
		}
	}
	if list == "" {
		f.P("return false")
	} else {
		f.P("switch s {")
		f.P("case ", list, ":")
		f.P("return true")
		f.P("}")
		f.P("return false")
	}
	f.P("}")
	f.P()
}
