package gensql

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Pending is what the database still does for programs generated before the
// newest definition, and for them alone. [Advance] ends it.
type Pending struct {
	// States are no longer declared; rows of those programs still stand there.
	States []string `json:"states,omitempty"`
	// Codes are theirs, in the same order, where the status column keeps codes.
	Codes []int `json:"codes,omitempty"`
	// Initial are states in which those programs create rows.
	Initial []string `json:"initial,omitempty"`
	// Edges are moves of those programs.
	Edges []Edge `json:"edges,omitempty"`
	// Checks are the conditions in force on columns that are declared with others.
	Checks []PendingCheck `json:"checks,omitempty"`
	// Defaults are of columns that no longer have one; creators of before leave
	// the column to it.
	Defaults []PendingDefault `json:"defaults,omitempty"`
	// Filled are columns that have become required; an empty value is replaced
	// by the default.
	Filled []string `json:"filled,omitempty"`
	// Left are columns that are no longer declared and still must have a value,
	// since those programs cannot read an empty one.
	Left []string `json:"left,omitempty"`
	// Due are states whose deadline came or went, which those programs do not
	// know when they move a row.
	Due []string `json:"due,omitempty"`
}

// PendingCheck is the condition in force on a column, empty for none.
type PendingCheck struct {
	Column string `json:"column"`
	Check  string `json:"check,omitempty"`
}

// PendingDefault is the default that a column still has.
type PendingDefault struct {
	Column  string `json:"column"`
	Default string `json:"default"`
}

func (p Pending) none() bool { return reflect.DeepEqual(p, Pending{}) }

// pending is s.Pending, or an empty one.
func (s Schema) pending() Pending {
	if s.Pending == nil {
		return Pending{}
	}
	return *s.Pending
}

// stepMove is a rename while its rows are moved: nothing enters the former
// name any more. No schema that is embedded has it.
const stepMove = "move"

// renamesAt lists the renames at a step that a status column shows.
func (s Schema) renamesAt(step string) []Rename {
	var renames []Rename
	if s.coded() {
		return nil
	}
	for _, r := range s.Renames {
		if r.Step == step || step == RenameMigrate && r.Step == stepMove {
			renames = append(renames, r)
		}
	}
	return renames
}

// statesInForce lists the states in which a row may stand.
func (s Schema) statesInForce() []string { return slices.Concat(s.States, s.pending().States) }

// entered is s without the former names that nothing enters any more.
func (s Schema) entered() Schema {
	s.Renames = slices.DeleteFunc(slices.Clone(s.Renames), func(r Rename) bool { return r.Step == stepMove })
	return s
}

// edgesInForce joins the declared edges and the pending ones, by the states
// that they start from.
func (s Schema) edgesInForce() []Edge {
	return joinEdges(s.Edges, s.pending().Edges)
}

// inForce is a declared column as it is now in the database.
func (s Schema) inForce(c Column) Column {
	for _, p := range s.pending().Checks {
		if p.Column == c.Name {
			c.Check = p.Check
		}
	}
	for _, p := range s.pending().Defaults {
		if p.Column == c.Name {
			c.Default = p.Default
		}
	}
	return c
}

// leftInForce is a column that is no longer declared as it is now in the database.
func (s Schema) leftInForce(c Column) Column {
	c.Check = ""
	if !slices.Contains(s.pending().Left, c.Name) {
		c.Optional = true
	} else if c.Default == "" {
		c.Default = standIn(c.Type)
	}
	return c
}

// standIn is a value of a type for rows whose creator does not know the
// column, empty for a type that has none.
func standIn(sqlType string) string {
	base, _, _ := strings.Cut(sqlType, "(")
	switch strings.TrimSpace(base) {
	case "text", "varchar", "bytea":
		return "''"
	case "smallint", "integer", "bigint", "numeric", "double precision":
		return "0"
	case "boolean":
		return "false"
	case "uuid":
		return "'00000000-0000-0000-0000-000000000000'"
	case "timestamptz", "date":
		return "'1970-01-01'"
	case "jsonb":
		return "'null'"
	}
	return ""
}

func joinEdges(a, b []Edge) []Edge {
	var joined []Edge
	for _, e := range slices.Concat(a, b) {
		i := slices.IndexFunc(joined, func(j Edge) bool { return j.From == e.From })
		if i < 0 {
			i = len(joined)
			joined = append(joined, Edge{From: e.From})
		}
		for _, to := range e.To {
			if !slices.Contains(joined[i].To, to) {
				joined[i].To = append(joined[i].To, to)
			}
		}
	}
	return joined
}

// hasEdge reports whether the edges lead from one state to the other.
func hasEdge(edges []Edge, from, to string) bool {
	return slices.ContainsFunc(edges, func(e Edge) bool { return e.From == from && slices.Contains(e.To, to) })
}

// Waits tells, in words, what waits for the programs of before to be gone; none
// when nothing does.
func (s Schema) Waits() []string {
	p := s.pending()
	var words []string
	add := func(format string, args ...any) { words = append(words, fmt.Sprintf(format, args...)) }
	for _, r := range s.Renames {
		if r.Step == RenameExpand {
			add("state %s is written under its former name %s", r.Is, r.Was)
		} else {
			add("state %s is read under its former name %s too", r.Is, r.Was)
		}
	}
	for _, state := range p.States {
		add("state %s is accepted, though no longer declared", state)
	}
	for _, state := range p.Initial {
		add("rows may be created in %s", state)
	}
	for _, e := range p.Edges {
		add("rows may move from %s to %s", e.From, strings.Join(e.To, ", "))
	}
	for _, c := range p.Checks {
		if c.Check == "" {
			add("column %s has no check yet", c.Column)
			continue
		}
		add("the check of column %s is the one of before or the new one", c.Column)
	}
	for _, d := range p.Defaults {
		add("column %s keeps its default, %s", d.Column, d.Default)
	}
	for _, c := range p.Filled {
		add("an empty %s is filled with the default", c)
	}
	for _, c := range p.Left {
		add("column %s must have a value, though no longer declared", c)
	}
	for _, state := range p.Due {
		add("rows that enter %s may lack the due time that they should have, or have one", state)
	}
	return words
}
