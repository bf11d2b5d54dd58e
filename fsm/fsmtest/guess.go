package fsmtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// valuesFile is where a user gives values, beside Machine.Before: by machine, and
// then by column or, with @, parameter, a list of SQL literals.
const valuesFile = "values.json"

// maxGuesses is how many values are tried for one case.
const maxGuesses = 400

// guess is a column of the row or a parameter of a call, with what it is tried
// with beside what the case has.
type guess struct {
	// into has the values in which the guess is written, by its number.
	into   int
	name   string
	values []string
}

// readValues reads the values that the user gives for a machine; none where the
// file is not there. An error says where in the file it is wrong.
func readValues(m *Machine) (map[string][]string, error) {
	if m.Before == "" {
		return nil, nil
	}
	name := filepath.Join(filepath.Dir(m.Before), valuesFile)
	text, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all map[string]map[string][]string
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("%s%s: %w; it has lists of SQL literals by machine and column or @parameter, as in {%q: {\"@code\": [\"'x'\"]}}", name, place(text, err), err, m.Name)
	}
	for _, key := range slices.Sorted(maps.Keys(all[m.Name])) {
		if len(m.typesOf(key)) == 0 {
			return nil, fmt.Errorf("%s: %s has no column or, with @, parameter %q", name, m.Name, key)
		}
	}
	return all[m.Name], nil
}

// place is where in a text JSON is wrong, as :LINE:COLUMN; empty where it is not known.
func place(text []byte, err error) string {
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	offset := 0
	switch {
	case errors.As(err, &syntax):
		offset = int(syntax.Offset)
	case errors.As(err, &typ):
		offset = int(typ.Offset)
	}
	if offset < 1 || offset > len(text) {
		return ""
	}
	before := string(text[:offset-1])
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return fmt.Sprintf(":%d:%d", strings.Count(before, "\n")+1, utf8.RuneCountInString(line)+1)
}

// typesOf are the types of a column or, with @, of the parameters of that name.
func (m *Machine) typesOf(key string) []string {
	var types []string
	name, param := strings.CutPrefix(key, "@")
	if !param {
		for _, c := range m.Columns {
			if c.Name == name {
				types = append(types, c.Type)
			}
		}
		return types
	}
	for _, event := range m.Events {
		for _, p := range event.Params {
			if p.Name == name && !slices.Contains(types, p.Type) {
				types = append(types, p.Type)
			}
		}
	}
	return types
}

// refused says which of the values that the user gives the database does not read
// as one of its type; nil where it reads all. What it cannot read would be passed
// over among the values that are tried, and nobody would know.
func (e *engine) refused(ctx context.Context) error {
	for _, key := range slices.Sorted(maps.Keys(e.values)) {
		for i, value := range e.values[key] {
			var err error
			for _, typ := range e.m.typesOf(key) {
				if _, err = e.pool.Exec(ctx, "SELECT "+typed(value, typ)); err == nil {
					break
				}
			}
			if err != nil {
				return fmt.Errorf("%s: %s, %s, value %d: %s is no SQL literal of its type: %w",
					filepath.Join(filepath.Dir(e.m.Before), valuesFile), e.m.Name, key, i+1, value, err)
			}
		}
	}
	return nil
}

// guesses are the columns and parameters that the guards and assignments of some
// events read, and the CHECKs of what they set and of what is unsure. The row's
// values are number 0, those of the calls follow in the order of the events.
func (e *engine) guesses(unsure []string, events ...*Event) []guess {
	all, touched := "", slices.Clone(unsure)
	for _, event := range events {
		for _, t := range event.Transitions {
			all += t.Guard + "\n"
			for _, a := range t.Set {
				all += a.SQL + "\n"
				touched = append(touched, a.Column)
			}
		}
		for _, p := range event.Params {
			all += p.Check + "\n"
		}
	}
	for _, c := range e.m.Columns {
		if slices.Contains(touched, c.Name) {
			all += c.Check + "\n"
		}
	}
	var list []guess
	add := func(into int, alias, mark string, c Column) {
		if !reads(all, alias, c.Name) {
			return
		}
		values := append(slices.Clone(e.values[mark+c.Name]), guessed(c)...)
		list = append(list, guess{into, c.Name, values})
	}
	for i, event := range events {
		for _, p := range event.Params {
			add(i+1, "p", "@", p)
		}
	}
	for _, c := range e.m.Columns {
		add(0, "o", "", c)
	}
	return list
}

// reads reports whether an expression reads a column of o, or a parameter of p.
func reads(sql, alias, name string) bool {
	return regexp.MustCompile(`\b` + alias + `\.(` + regexp.QuoteMeta(name) + `\b|` + regexp.QuoteMeta(quoted(name)) + `)`).MatchString(sql)
}

// guessed are some values of a type that differ in what expressions look at.
func guessed(c Column) []string {
	var list []string
	switch base(c.Type) {
	case "smallint", "integer", "bigint":
		list = []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "0", "100", "-1", "1000"}
	case "numeric", "double precision":
		list = []string{"1", "2", "3", "5", "7", "10", "0.5", "0", "100", "-1", "1000"}
	case "boolean":
		list = []string{"true", "false"}
	case "uuid":
		list = others("uuid", "", "")
	case "timestamptz", "date":
		list = []string{"'2031-05-06'", "'2020-01-02'", "'2031-05-07'", "'2032-06-08'"}
	case "jsonb":
		list = []string{`'{}'`, `'{"a": 1}'`, `'[]'`, `'[1]'`, `'1'`, `'"a"'`}
	case "bytea":
		list = []string{`'\x01'`, `'\x'`, `'\x0102'`}
	default:
		list = []string{"'a'", "'A'", "'abc'", "'ABC'", "'1'", "'12345'", "'a-1'", "'a b'", "'a@b.example'", "'2020-01-02'", "''"}
	}
	if c.Optional {
		list = append(list, "NULL")
	}
	return list
}

// tries are the values to try, those of the case first, then with one changed,
// then with two, each list's first values, which are the likelier ones, before its
// last. yield says whether to go on. It returns the number of tries.
func tries(values []Values, list []guess, yield func([]Values) bool) int {
	n := 0
	try := func(changes ...int) bool {
		now := slices.Clone(values)
		for i := 0; i < len(changes); i += 2 {
			g := list[changes[i]]
			now[g.into] = maps.Clone(now[g.into])
			if now[g.into] == nil {
				now[g.into] = Values{}
			}
			now[g.into][g.name] = g.values[changes[i+1]]
		}
		n++
		return yield(now) && n < maxGuesses
	}
	if !try() {
		return n
	}
	for i := range list {
		for a := range list[i].values {
			if !try(i, a) {
				return n
			}
		}
	}
	most := 0
	for _, g := range list {
		most = max(most, len(g.values))
	}
	for far := range 2*most - 1 { // the first values of all pairs before the last ones of any
		for i := range list {
			for k := range list[:i] {
				for a := range list[i].values {
					if b := far - a; b >= 0 && b < len(list[k].values) && !try(i, a, k, b) {
						return n
					}
				}
			}
		}
	}
	return n
}

// names are the guesses for people.
func names(list []guess) string {
	var out []string
	for _, g := range list {
		name := g.name
		if g.into > 0 {
			name = "@" + name
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return strings.Join(out, ", ")
}
