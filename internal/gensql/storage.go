package gensql

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
)

// usual are the names of the own columns where the definition gives no others.
var usual = Own{Status: model.StatusColumn, Version: model.VersionColumn, Deadline: model.DeadlineColumn, Runs: model.DeadlineRunsColumn}

// ownOf names a table's own columns.
func ownOf(t *model.Table) Own {
	own := Own{Status: t.Status.Column, Version: t.Version, Deadline: t.Deadline, Runs: t.Runs}
	if t.VersionType != versionType {
		own.VersionType = t.VersionType
	}
	return own
}

// versionType is that of a version where the definition gives no other.
const versionType = "bigint"

// own names the machine's own columns.
func (s Schema) own() Own {
	if s.Own != nil {
		return *s.Own
	}
	return usual
}

// keys are the columns of the key.
func (s Schema) keys() []Column {
	if len(s.Keys) > 0 {
		return s.Keys
	}
	return []Column{s.Key}
}

// ownColumns are the own columns of a table that is made for the machine.
func (s Schema) ownColumns() []Column {
	columns := []Column{{Name: s.own().Status, Type: s.statusType()}, {Name: s.own().Version, Type: cmp.Or(s.own().VersionType, versionType)}}
	if s.Deadlines {
		columns = append(columns, Column{Name: s.own().Deadline, Type: "timestamptz", Optional: true})
	}
	if s.Runs {
		columns = append(columns, Column{Name: s.own().Runs, Type: "integer", Default: "0"})
	}
	return columns
}

func (s Schema) statusType() string {
	switch {
	case s.Status == nil:
		return "text"
	case s.enum():
		return ident(s.Status.Type)
	}
	return s.Status.Type
}

// enum and coded report how the status column keeps a state that is no text.
func (s Schema) enum() bool  { return s.Status != nil && len(s.Status.Codes) == 0 }
func (s Schema) coded() bool { return s.Status != nil && len(s.Status.Codes) > 0 }

// enumType makes the enum that the status column is of. Its order is that of
// the definition.
func (s Schema) enumType() step {
	return step{
		[]string{fmt.Sprintf("CREATE TYPE %s AS ENUM (%s);", s.statusType(), literals(s.labels()))},
		[]string{fmt.Sprintf("DROP TYPE %s;", s.statusType())},
	}
}

// labels are all names that a text or an enum holds: the states, and after
// them the former names that are still in use.
func (s Schema) labels() []string {
	labels := s.statesInForce()
	for _, r := range s.Renames {
		if slices.Contains(s.States, r.Is) {
			labels = append(labels, r.Was)
		}
	}
	return labels
}

// status is the status column of a row such as NEW, as it can be compared with
// constants: a value that was just added to an enum cannot be used in the same
// transaction, its text can.
func (s Schema) status(row string) string {
	column := qualified(row, s.own().Status)
	if s.enum() {
		return column + "::text"
	}
	return column
}

func (s Schema) version(row string) string { return qualified(row, s.own().Version) }

// values are the SQL constants by which the status column holds the states.
func (s Schema) values(states []string) []string {
	var values []string
	for _, state := range states {
		if s.coded() {
			values = append(values, strconv.Itoa(s.code(state)))
			continue
		}
		values = append(values, literal(state))
		for _, r := range s.Renames {
			if r.Is == state {
				values = append(values, literal(r.Was))
			}
		}
	}
	return values
}

func (s Schema) code(state string) int {
	if i := slices.Index(s.States, state); i >= 0 && i < len(s.Status.Codes) {
		return s.Status.Codes[i]
	}
	if i := slices.Index(s.pending().States, state); i >= 0 && i < len(s.pending().Codes) {
		return s.pending().Codes[i]
	}
	return 0 // a schema that was read from a file says so; the database refuses what comes of it
}

// known is the condition that the status column holds a state.
func (s Schema) known() string { return s.standsIn("", s.statesInForce()) }

func (s Schema) stands(row, state string) string {
	return isOneOf(s.status(row), s.values([]string{state}))
}

func (s Schema) standsIn(row string, states []string) string {
	return s.status(row) + " IN (" + strings.Join(s.values(states), ", ") + ")"
}

func (s Schema) standsNot(row, state string) string {
	values := s.values([]string{state})
	if len(values) == 1 {
		return s.status(row) + " <> " + values[0]
	}
	return s.status(row) + " NOT IN (" + strings.Join(values, ", ") + ")"
}

// text is the name of today of the state in which a row such as NEW stands.
func (s Schema) text(row string) string {
	if !s.coded() {
		return s.told(s.status(row))
	}
	column := s.status(row)
	var b strings.Builder
	b.WriteString("CASE " + column)
	for i, state := range s.States {
		fmt.Fprintf(&b, " WHEN %d THEN %s", s.Status.Codes[i], literal(state))
	}
	return b.String() + " ELSE " + column + "::text END"
}

// told is the name of today of a state whose name a text holds.
func (s Schema) told(text string) string {
	return renamed(text, s.Renames, func(r Rename) (from, to string) { return r.Was, r.Is })
}

// keyList lists the key's columns.
func (s Schema) keyList(row string) string {
	var names []string
	for _, k := range s.keys() {
		names = append(names, qualified(row, k.Name))
	}
	return strings.Join(names, ", ")
}

// keyColumns declares them in a table that goes with the machine's.
func (s Schema) keyColumns() string {
	var columns []string
	for _, k := range s.keys() {
		columns = append(columns, "  "+k.declare()+",")
	}
	return strings.Join(columns, "\n")
}

func (s Schema) sameKey(a, b string) string { return s.compareKeys(a, " = ", b, " AND ") }

func (s Schema) otherKey(a, b string) string { return s.compareKeys(a, " <> ", b, " OR ") }

func (s Schema) compareKeys(a, operator, b, join string) string {
	var pairs []string
	for _, k := range s.keys() {
		pairs = append(pairs, qualified(a, k.Name)+operator+qualified(b, k.Name))
	}
	return strings.Join(pairs, join)
}

// sameStorage refuses another key, and another way in which the rows there are
// keep their state.
func (s Schema) sameStorage(prev Schema, m *model.Machine, refuse func(diag.Position, string, ...any)) {
	describe := func(s Schema) string {
		var keys []string
		for _, k := range s.keys() {
			keys = append(keys, k.Name+" "+k.Type)
		}
		return strings.Join(keys, ", ")
	}
	if describe(prev) != describe(s) {
		refuse(m.Table.Keys[0].Pos, "the key was %s before", describe(prev))
	}
	names := func(o Own) Own { o.VersionType = ""; return o }
	if was := prev.own(); names(was) != names(s.own()) {
		refuse(m.Table.Pos, "the machine's own columns were called %s, %s, %s and %s before", was.Status, was.Version, was.Deadline, was.Runs)
	}
	if was := prev.own(); was.VersionType != s.own().VersionType {
		refuse(m.Table.Pos, "the version was %s before", cmp.Or(was.VersionType, versionType))
		return
	}
	if prev.statusType() != s.statusType() || prev.enum() != s.enum() {
		refuse(m.Table.Status.Pos, "the status column was %s before", prev.statusType())
		return
	}
	for _, state := range s.States {
		if s.coded() && slices.Contains(prev.States, state) && prev.code(state) != s.code(state) {
			refuse(m.State(state).Pos, "the code of %q was %d before", state, prev.code(state))
		}
	}
}
