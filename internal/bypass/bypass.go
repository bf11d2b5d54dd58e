// Package bypass finds hand-written SQL that goes around a machine: a
// statement that sets a column which only events may set, creates a row
// without Create, writes history or facts, or takes away what guards them. The
// SQL is parsed by PostgreSQL's own grammar, function bodies included; what
// cannot be looked into is said, and not passed over.
//
// Which files there are, and which tables the machines guard, it leaves to its
// caller; what the database itself refuses, to the generated triggers.
package bypass

import (
	"slices"
	"strings"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/sqlname"
)

// Guarded is a table that a machine guards. Names are as the catalog has them.
type Guarded struct {
	Machine string
	// Schema is empty for a table that is found by the search path; then a
	// query may name any schema and is taken to mean this table.
	Schema, Table string
	// Existing says that the table was there before the machine.
	Existing bool
	// Columns are the machine's own: status, version and the deadline's.
	Columns []string
	// Keys are the columns of its key, which stays as long as the row.
	Keys []string
	// History and Facts are the machine's other tables; Facts is empty when it
	// keeps none.
	History, Facts string
	// Wrote reports whether a statement, less its semicolon, is one that the
	// generator writes for the machine, to the letter: a migration by hand may
	// have copied it, and it may do what others may not. Nil for none.
	Wrote func(statement string) bool
}

// called are the names of what the machine's migrations make.
func (g *Guarded) called() sqlname.Machine {
	return sqlname.Machine{Name: g.Machine, Table: g.Table, Existing: g.Existing}
}

// File is one file of SQL.
type File struct {
	Name string
	SQL  []byte
}

// Scan reads files that belong to one database and adds what goes around the
// machines to problems. Views and triggers of one file count in all of them.
// It returns how many findings a comment in the files allows. Without tables,
// or without files, there is nothing to find. It never panics.
func Scan(files []File, tables []Guarded, problems *diag.List) (allowed int) {
	if len(tables) == 0 {
		return 0
	}
	s := &scan{tables: tables, derived: map[name]*derived{}, triggers: map[string][]trigger{}}
	readers := make([]*reader, 0, len(files))
	for _, f := range files {
		r := &reader{scan: s, source: newSource(f.Name, f.SQL)}
		r.read()
		readers = append(readers, r)
	}
	s.relate()
	for _, r := range readers {
		for _, st := range r.statements {
			if !s.wrote(st) {
				r.statement(st)
			}
		}
		allowed += r.settle(problems)
	}
	return allowed
}

// wrote reports whether the statement is the generator's own.
func (s *scan) wrote(st statement) bool {
	text := strings.TrimSpace(st.p.sql[st.from:st.to])
	return slices.ContainsFunc(s.tables, func(g Guarded) bool { return g.Wrote != nil && g.Wrote(text) })
}

// scan is what one Scan knows of all files.
type scan struct {
	tables []Guarded
	// derived are the views and child tables through which a guarded table, or
	// one of its others, can be written.
	derived  map[name]*derived
	makers   []maker
	triggers map[string][]trigger // those that a function serves, by its name
}

// finding is a problem at a place of a file, before a comment may allow it.
type finding struct {
	offset   int
	code     diag.Code
	severity diag.Severity
	message  string
}

// reader reads one file.
type reader struct {
	scan       *scan
	source     *source
	statements []statement
	found      []finding
	allows     []*allow
}

// settle reports what was found, less what is allowed, whose number it returns.
func (r *reader) settle(problems *diag.List) (allowed int) {
	slices.SortStableFunc(r.found, func(a, b finding) int { return a.offset - b.offset })
	for _, f := range slices.Compact(r.found) {
		covered := false
		for _, a := range r.allows {
			if a.code == f.code && a.reason != "" && a.from <= f.offset && f.offset < a.to {
				a.used, covered = true, true
			}
		}
		if covered {
			allowed++
			continue
		}
		problems.Add(diag.Problem{Pos: r.source.position(f.offset), Code: f.code, Severity: f.severity, Message: f.message})
	}
	for _, a := range r.allows {
		if message := a.idle(); message != "" {
			problems.Addf(r.source.position(a.offset), CodeAllow, diag.Warning, "%s", message)
		}
	}
	return allowed
}
