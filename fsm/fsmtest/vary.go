package fsmtest

import (
	"strings"
)

// other are the values with another one for a parameter, which its check takes
// as well; none where none was found.
func (f *firing) other(name string) (Values, bool) {
	var p Column
	for _, q := range f.event.Params {
		if q.Name == name {
			p = q
		}
	}
	for _, v := range others(p.Type, f.values[name], p.Value) {
		values := Values{name: v}
		for k, v := range f.values {
			if k != name {
				values[k] = v
			}
		}
		if f.takes(p, values) {
			return values, true
		}
	}
	return nil, false
}

// vary gives other values to the parameters whose values do not matter, all in a
// cell that has one way, so that what a call writes is not what the row had.
func (f *firing) vary(oneWay bool) {
	f.t.Helper()
	usual := f.values
	for _, p := range f.event.Params {
		if _, matters := usual[p.Name]; matters && !oneWay || p.Value == "" {
			continue
		}
		if other, ok := f.other(p.Name); ok && f.allowed(other) {
			f.values = other
		}
	}
}

// allowed reports whether the CHECKs let pass what the call does with the values.
func (f *firing) allowed(values Values) bool {
	if !f.unsure {
		return true
	}
	s, ctx := shotOf(f.event, values), f.t.Context()
	j, err := f.e.judge(ctx, f.e.pool, f.row, f.look(f.row), s)
	return err == nil && f.e.passes(ctx, f.e.pool, f.row, s, j) == nil
}

// takes reports whether the check of a parameter lets the values pass.
func (f *firing) takes(p Column, values Values) bool {
	if p.Check == "" {
		return true
	}
	ok := false
	s := shotOf(f.event, values)
	err := f.e.ask(f.t.Context(), f.e.pool, f.row, s, "to_jsonb(("+p.Check+") IS NOT FALSE)", &ok)
	return err == nil && ok
}

// others are values of a type that differ from the one at hand.
func others(typ, value, usual string) []string {
	if value == "" {
		value = usual
	}
	switch base(typ) {
	case "smallint", "integer", "bigint", "numeric", "double precision":
		return []string{"(" + value + ") + 1", "(" + value + ") - 1", "(" + value + ") * 2"}
	case "uuid":
		return []string{"'ffffffff-0000-4000-8000-000000000001'", "'ffffffff-0000-4000-8000-000000000002'"}
	case "timestamptz", "date":
		return []string{typed(value, base(typ)) + " + interval '1 day'", typed(value, base(typ)) + " - interval '1 day'"}
	case "jsonb":
		return []string{"jsonb_build_array(" + typed(value, "jsonb") + ")"}
	case "bytea":
		return []string{typed(value, "bytea") + ` || '\x01'::bytea`}
	case "boolean":
		return []string{"NOT (" + value + ")"}
	}
	return []string{"(" + value + ")::text || 'x'", "reverse((" + value + ")::text)", "left((" + value + ")::text, -1) || 'x'", strings.ToUpper(value)}
}
