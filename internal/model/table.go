package model

import "github.com/pawl-go/pawl/internal/diag"

// Table is the guarded table of a machine. Its status, version and deadline
// columns are the machine's own and are not among Columns.
type Table struct {
	Name    string
	Key     *Column
	Columns []*Column
	Pos     diag.Position
}

// Column is the key or a declared column of the table.
type Column struct {
	Name string
	Type Type
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

// Own columns of every guarded table, beside the key and the declared ones.
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
