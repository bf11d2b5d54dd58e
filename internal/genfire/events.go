package genfire

import (
	"strings"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/sqlname"
)

// events renders what each event does, in each state, and its call.
func (g *generator) events() {
	if len(g.m.Events) == 0 {
		return
	}
	f := g.f
	f.P("Events: []", g.test("Event"), "{")
	for _, e := range g.m.Events {
		f.P("{")
		g.text("Name", e.Name)
		g.params(e)
		for _, facts := range []struct {
			field  string
			params []*model.Param
		}{{"Identity", e.Identity}, {"Fingerprint", e.Fingerprint}} {
			if len(facts.params) > 0 {
				f.P(facts.field, ": ", list(paramNames(facts.params)), ",")
			}
		}
		if e.ExpectVersion {
			f.P("NeedsVersion: true,")
		}
		g.transitions(e)
		g.otherwise(e)
		g.call(e)
		f.P("},")
	}
	f.P("},")
}

func paramNames(params []*model.Param) []string {
	names := make([]string, len(params))
	for i, p := range params {
		names[i] = p.Name
	}
	return names
}

func (g *generator) params(e *model.Event) {
	if len(e.Params) == 0 {
		return
	}
	g.f.P("Params: []", g.test("Column"), "{")
	for _, p := range e.Params {
		more := ""
		if p.Optional {
			more += ", Optional: true"
		}
		if p.Check != nil {
			more += ", Check: " + quote(expr(p.Check))
		}
		g.f.P("{Name: ", quote(p.Name), ", Type: ", quote(bare(p.Type)), more, ", Value: ", quote(plain(p.Type)), "},")
	}
	g.f.P("},")
}

// bare is the type of a parameter, which is given as it is and never cut to a length.
func bare(t model.Type) string {
	if t.Kind == model.KindText {
		return "text"
	}
	return t.Base
}

func (g *generator) transitions(e *model.Event) {
	moves := g.m.Moves(e)
	if len(moves) == 0 {
		return
	}
	f := g.f
	f.P("Transitions: []", g.test("Transition"), "{")
	for _, t := range moves {
		line := []any{"{From: ", list(stateNames(t.From)), ", To: ", quote(t.To.Name)}
		if t.Guard != nil {
			if t.Guard.Name != "" {
				line = append(line, ", Name: ", quote(t.Guard.Name))
			}
			line = append(line, ", Guard: ", quote(expr(t.Guard.SQL)))
		}
		if len(t.Set) > 0 {
			line = append(line, ", Set: []", g.test("Assignment"), "{")
			for i, a := range t.Set {
				if i > 0 {
					line = append(line, ", ")
				}
				line = append(line, "{Column: ", quote(a.Column.Name), ", SQL: ", quote(expr(a.Value)), "}")
			}
			line = append(line, "}")
		}
		if len(t.Emit) > 0 {
			line = append(line, ", Emit: ", list(t.Emit))
		}
		f.P(append(line, "},")...)
	}
	f.P("},")
}

// otherwise renders what is said where no transition is taken, states with the
// same decision together.
func (g *generator) otherwise(e *model.Event) {
	type group struct {
		outcome, emit string
		states        []string
	}
	var groups []group
next:
	for _, c := range e.Cells {
		if c.Closed() {
			continue
		}
		is := group{outcome: outcomeOf(c.Otherwise), states: []string{c.State.Name}}
		if c.Otherwise == model.Compensate {
			is.emit = quoteAll(c.Emit)
		}
		for i := range groups {
			if groups[i].outcome == is.outcome && groups[i].emit == is.emit {
				groups[i].states = append(groups[i].states, c.State.Name)
				continue next
			}
		}
		groups = append(groups, is)
	}
	if len(groups) == 0 {
		return
	}
	g.f.P("Otherwise: []", g.test("Decision"), "{")
	for _, is := range groups {
		line := []any{"{In: ", list(is.states), ", Outcome: ", g.runtime(is.outcome)}
		if is.emit != "" {
			line = append(line, ", Emit: []string{", is.emit, "}")
		}
		g.f.P(append(line, "},")...)
	}
	g.f.P("},")
}

func outcomeOf(d model.Decision) string {
	switch d {
	case model.Replay:
		return "Replayed"
	case model.Ignore:
		return "Ignored"
	case model.Compensate:
		return "Compensated"
	case model.GuardFailed:
		return "GuardFailed"
	}
	return "Rejected"
}

// expr is an expression over the row o, the parameters p and the clock c.now.
func expr(e *model.Expr) string {
	var b strings.Builder
	for _, part := range e.Parts {
		switch part.Kind {
		case model.ColumnRef:
			b.WriteString("o." + sqlname.Ident(part.Text))
		case model.ParamRef:
			b.WriteString("p." + sqlname.Ident(part.Param.Name))
		case model.Now:
			b.WriteString("c.now")
		default:
			b.WriteString(part.Text)
		}
	}
	return b.String()
}
