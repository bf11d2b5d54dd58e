package genfire

import (
	"fmt"
	"slices"
	"strings"

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
			if len(c.Steps) != 1 || c.Start == nil || c.Steps[0].Event != e || c.Steps[0].Outcome == suite.Stale {
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
			f.P(append([]any{"{In: ", list(is.states), ", Event: ", quote(e.Name)}, is.rest...)...)
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
	values := append(g.values(",\nGiven: ", g.given(c)), g.values(",\nParams: ", s.Params)...)
	line, end := append(line, values...), "},"
	outcome := ", Outcome: "
	if len(values) > 0 { // a line for each kind of thing
		outcome, end = ",\nOutcome: ", ",\n},"
	}
	line = append(line, outcome, g.runtime(string(s.Outcome)))
	if s.Moved() {
		line = append(line, ", To: ", quote(s.To.Name))
	}
	if len(s.Emit) > 0 {
		line = append(line, ", Emit: ", list(s.Emit))
	}
	line = append(line, unsure(c)...)
	if why := g.unknown(c); why != "" {
		line = append(line, ", Skip: ", quote(why))
	}
	return append(line, end)
}

// given are the values of a case's row that a row does not have anyway. The key
// is the tests' own choice.
func (g *generator) given(c *suite.Case) []suite.Value {
	var values []suite.Value
	for _, v := range c.Given {
		column := g.m.Table.Column(v.Name)
		switch {
		case column == nil:
			continue
		case column.Default != nil && v.SQL == expr(column.Default):
			continue
		case column.Default == nil && column.Optional && v.Null:
			continue
		case column.Default == nil && !column.Optional && v.SQL == g.usual(column):
			continue
		}
		values = append(values, v)
	}
	return values
}

// unknown says why the case cannot be fired; empty for one that can.
func (g *generator) unknown(c *suite.Case) string {
	for _, s := range c.Steps {
		if s.Unknown != "" && len(s.Unsure) == 0 {
			return s.Unknown
		}
	}
	for _, v := range c.Given {
		if v.Name == g.m.Table.Version {
			return "it depends on the row's version"
		}
	}
	return ""
}

// unsure renders the columns and parameters of which the database must say
// whether they pass the CHECKs; nothing for none.
func unsure(c *suite.Case) []any {
	var names []string
	for _, s := range c.Steps {
		for _, name := range s.Unsure {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []any{", Unsure: ", list(names)}
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
		if len(c.Steps) == 2 && c.Start != nil && c.Steps[1].Second {
			f.P(g.race(c)...)
		}
	}
	f.P("},")
}

func (g *generator) race(c *suite.Case) []any {
	first, second := c.Steps[0], c.Steps[1]
	line := []any{"{In: ", quote(c.Start.Name)}
	if way := way(first, second); way != "" {
		line = append(line, ", Variant: ", quote(way))
	}
	line = append(line, g.values(",\nGiven: ", g.given(c))...)
	for i, field := range []string{",\nFirst: ", ",\nSecond: "} {
		s := c.Steps[i]
		line = append(line, field, g.test("RaceCall"), "{Event: ", quote(s.Event.Name))
		line = append(line, g.values(", Params: ", s.Params)...)
		line = append(line, "}")
	}
	line = append(line, ",\nOutcome: ", g.runtime(string(second.Outcome)))
	line = append(line, unsure(c)...)
	if why := g.unknown(c); why != "" {
		line = append(line, ", Skip: ", quote(why))
	}
	return append(line, ",\n},")
}

// way tells the races of one pair apart.
func way(first, second suite.Step) string {
	var parts []string
	if first.Variant != "" {
		parts = append(parts, first.Variant)
	}
	if second.Variant != "" {
		parts = append(parts, "then "+second.Variant)
	}
	if second.Repeat {
		parts = append(parts, "same fact")
	}
	return strings.Join(parts, " ")
}
