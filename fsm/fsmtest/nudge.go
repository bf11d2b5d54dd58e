package fsmtest

import "slices"

// nudged fires at the cell again with the values of the case but for one: each
// column and parameter that a guard of the event reads is a little smaller, a
// little larger, and NULL where it may be. What must happen then is asked of the
// guards anew. A comparison that lost an operand or took another operator differs
// from the definition's at one of these values, where the case's own does not show it.
// Values that a CHECK refuses are none.
func (f *firing) nudged(c Case) {
	f.t.Helper()
	if c.Variant == "" {
		return
	}
	given, params, unsure := f.given, f.values, f.unsure
	f.unsure, f.apart = true, false
	for _, g := range f.e.read(f.event, f.state) {
		was := []Values{given, params}[g.into]
		for _, v := range around(g, was[g.name]) {
			values := Values{}
			for name, v := range was {
				values[name] = v
			}
			values[g.name] = v
			f.given, f.values = given, params
			if g.into == 0 {
				f.given = values
			} else {
				f.values = values
			}
			f.nudge("with " + g.name + " " + v)
		}
	}
	f.given, f.values, f.unsure = given, params, unsure
}

// nudge fires once, where a row can be made and the CHECKs let the call pass.
func (f *firing) nudge(step string) {
	f.t.Helper()
	r, err := f.e.newRow(f.t.Context(), seed{state: f.state, event: f.event.Name, values: f.given})
	if err != nil {
		return // a CHECK refuses the row
	}
	f.rows, f.row = append(f.rows, r), r
	if f.allowed(f.values) {
		f.shoot(step, f.judge(), f.any()...)
	}
	f.forget()
	f.rows = nil
}

// near is a column or parameter that a guard reads.
type near struct {
	into int
	Column
	name string
}

// read lists what the guards of an event in a state read: columns, then parameters.
func (e *engine) read(event *Event, state string) []near {
	guards := ""
	for _, t := range event.Transitions {
		if slices.Contains(t.From, state) {
			guards += t.Guard + "\n"
		}
	}
	var list []near
	for i, of := range [][]Column{e.m.Columns, event.Params} {
		for _, c := range of {
			if reads(guards, []string{"o", "p"}[i], c.Name) {
				list = append(list, near{i, c, c.Name})
			}
		}
	}
	return list
}

// around are values around one: what the row has where a case has none, or, of
// what is NULL then, the usual one.
func around(g near, value string) []string {
	switch {
	case value != "":
	case g.into == 0 && g.Default != "":
		value = g.Default
	case g.into == 0 && g.Optional:
		value = "NULL"
	default:
		value = g.Value
	}
	var list []string
	if g.Optional && value != "NULL" {
		list = append(list, "NULL")
	}
	if value == "NULL" {
		value = g.Value
		list = append(list, value)
	}
	switch base(g.Type) {
	case "smallint", "integer", "bigint", "numeric", "double precision":
		return append(list, "("+value+") - 1", "("+value+") + 1")
	case "timestamptz":
		return append(list, typed(value, "timestamptz")+" - interval '1 microsecond'", typed(value, "timestamptz")+" + interval '1 microsecond'")
	case "date":
		return append(list, typed(value, "date")+" - 1", typed(value, "date")+" + 1")
	case "text", "character varying", "varchar":
		text := "(" + value + ")::text"
		return append(list, "left("+text+", -1)", text+" || 'x'")
	}
	return append(list, others(g.Type, value, g.Value)...)
}
