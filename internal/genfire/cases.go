package genfire

import (
	"fmt"

	"github.com/pawl-go/pawl/internal/suite"
)

// cells renders the cases of one step, states with the same values, outcome and
// effects together.
func (g *generator) cells() {
	type group struct {
		states []string
		rest   []any
		text   string
	}
	f := g.f
	f.P("Cases: []", g.test("Case"), "{")
	for _, e := range g.m.Events {
		seen := map[string]bool{}
		var groups []*group
	next:
		for _, c := range g.Cells {
			if len(c.Steps) != 1 || c.Start == nil || c.Steps[0].Event != e {
				continue
			}
			id := c.Start.Name + "\x00" + c.Steps[0].Variant
			if seen[id] {
				continue
			}
			seen[id] = true
			rest := g.cell(c)
			text := flat(rest)
			for _, is := range groups {
				if is.text == text {
					is.states = append(is.states, c.Start.Name)
					continue next
				}
			}
			groups = append(groups, &group{[]string{c.Start.Name}, rest, text})
		}
		for _, is := range groups {
			f.P(append(append([]any{"{In: ", list(is.states), ", Event: ", quote(e.Name)}, is.rest...), "},")...)
		}
	}
	f.P("},")
}

// cell renders what a case says beside its state and event.
func (g *generator) cell(c *suite.Case) []any {
	s := c.Steps[0]
	var line []any
	if s.Variant != "" {
		line = append(line, ", Variant: ", quote(s.Variant))
	}
	line = append(line, g.values(", Given: ", c.Given)...)
	line = append(line, g.values(", Params: ", s.Params)...)
	line = append(line, ", Outcome: ", g.runtime(string(s.Outcome)))
	if s.Moved() {
		line = append(line, ", To: ", quote(s.To.Name))
	}
	if len(s.Emit) > 0 {
		line = append(line, ", Emit: ", list(s.Emit))
	}
	if s.Unknown != "" {
		line = append(line, ", Skip: ", quote(s.Unknown))
	}
	return line
}

// values renders columns or parameters; nothing for none.
func (g *generator) values(field string, values []suite.Value) []any {
	if len(values) == 0 {
		return nil
	}
	line := []any{field, g.test("Values"), "{"}
	for i, v := range values {
		if i > 0 {
			line = append(line, ", ")
		}
		line = append(line, quote(v.Name), ": ", quote(v.SQL))
	}
	return append(line, "}")
}

// flat is a line as text, to see whether two are the same.
func flat(line []any) string { return fmt.Sprintln(line...) }

// races renders the cases of two steps in two sessions.
func (g *generator) races() {
	if len(g.Races) == 0 {
		return
	}
	f := g.f
	f.P("Races: []", g.test("Race"), "{")
	for _, c := range g.Races {
		if len(c.Steps) != 2 || c.Start == nil || !c.Steps[1].Second {
			continue
		}
		line := []any{"{In: ", quote(c.Start.Name)}
		line = append(line, g.values(", Given: ", c.Given)...)
		unknown := ""
		for i, field := range []string{", First: ", ", Second: "} {
			s := c.Steps[i]
			line = append(line, field, g.test("RaceCall"), "{Event: ", quote(s.Event.Name))
			line = append(line, g.values(", Params: ", s.Params)...)
			line = append(line, "}")
			if unknown == "" {
				unknown = s.Unknown
			}
		}
		if unknown != "" {
			line = append(line, ", Skip: ", quote(unknown))
		}
		f.P(append(line, "},")...)
	}
	f.P("},")
}
