package model

import (
	"strconv"
	"time"

	"github.com/pawl-go/pawl/internal/diag"
)

// Table is the guarded table of a machine. Its status, version and deadline
// columns are the machine's own and are not among Columns.
type Table struct {
	Name string
	// Keys are the columns of the primary key in order: one, or several such as
	// tenant and id.
	Keys    []*Column
	Columns []*Column
	// Existing says that the table, its key and the declared columns were there
	// before the machine: migrations add to it without holding it up.
	Existing bool
	// Status is how the table keeps the state.
	Status Status
	// Version, Deadline and Runs are the names of the machine's other own columns.
	Version, Deadline, Runs string
	// VersionType is bigint, or integer for a column that was there before.
	VersionType string
	// History is how the history is cut by time, nil for one that is whole.
	History *History
	Pos     diag.Position
}

// History is a history in partitions by time.
type History struct {
	// Partition is how long one is: one of PartitionUnits.
	Partition string
	// Keep is how long entries stay at least, 0 for ever.
	Keep time.Duration
	Pos  diag.Position
}

// PartitionUnits are the lengths of a partition, as PostgreSQL's date_trunc
// calls them.
func PartitionUnits() []string { return []string{"day", "week", "month"} }

// Status is the column that keeps the state of a row.
type Status struct {
	Column  string
	Storage Storage
	// Type is the column's type in SQL: text, smallint, integer, bigint, or the
	// name of the enum.
	Type string
	Pos  diag.Position
}

// Text is what the column holds, as text, for a state of that name and code.
func (s Status) Text(name string, code int) string {
	if s.Storage == StoredCode {
		return strconv.Itoa(code)
	}
	return name
}

// Storage tells how a status column holds a state.
type Storage int

const (
	// StoredText holds the state's name as text.
	StoredText Storage = iota
	// StoredEnum holds the state's name as a value of a PostgreSQL enum.
	StoredEnum
	// StoredCode holds State.Code as an integer.
	StoredCode
)

// Own returns the names of the columns that are the machine's own, in order:
// status, version, deadline and runs, used or not.
func (t *Table) Own() []string { return []string{t.Status.Column, t.Version, t.Deadline, t.Runs} }

// Column is the key or a declared column of the table.
type Column struct {
	Name     string
	Describe string
	Type     Type
	// Optional says that the column may be NULL.
	Optional bool
	// Default is nil for a column without one. It refers to no column or parameter.
	Default *Expr
	// Check is nil for a column without one.
	Check *Expr
	// Ident is the exported Go field name. Unique in the table, and none of the
	// machine's own columns has it.
	Ident string
	Pos   diag.Position
}

// Column returns the declared column of that name, or nil. The key is not
// among them.
func (t *Table) Column(name string) *Column {
	for _, c := range t.Columns {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// Names of a table's own columns, beside the key and the declared ones, where
// the definition does not give others.
const (
	StatusColumn       = "status"
	VersionColumn      = "version"
	DeadlineColumn     = "deadline_at"
	DeadlineRunsColumn = "deadline_runs"
)

// Sets reports whether a transition of the machine sets the column, so that
// its value is the lifecycle's and not the creator's.
func (m *Machine) Sets(c *Column) bool {
	for _, t := range m.Transitions {
		for _, a := range t.Set {
			if a.Column == c {
				return true
			}
		}
	}
	return false
}

// Created returns the columns, in order, that a creator gives: those that no
// transition sets, and those that must have a value and have no default.
func (m *Machine) Created() []*Column {
	var columns []*Column
	if m.Table == nil {
		return nil
	}
	for _, c := range m.Table.Columns {
		if !m.Sets(c) || !c.Optional && c.Default == nil {
			columns = append(columns, c)
		}
	}
	return columns
}
