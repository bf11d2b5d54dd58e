package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/pawl-go/pawl/internal/bypass"
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/gensql"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/sqlname"
)

// ErrNoSQL says that there are no queries to look at where they were said to be.
var ErrNoSQL = errors.New("no .sql file found")

// Bypass reads the hand-written SQL under the given files or folders of fsys
// and adds what goes around the machines to problems. Generated files are
// passed over. It returns the number of hand-written files that were read, and
// that of findings which a comment allows. The error is of reading: ErrNoSQL,
// ErrNotRegular, ErrLinkedFolder, or the file system's; or it is that of ctx,
// which is looked at between files.
func Bypass(ctx context.Context, fsys fs.FS, paths []string, machines []*model.Machine, problems *diag.List) (read, allowed int, err error) {
	var names []string
	for _, p := range paths {
		found, err := filesUnder(fsys, p, handwritten)
		if err != nil {
			return 0, 0, err
		}
		if len(found) == 0 {
			return 0, 0, fmt.Errorf("%s: %w", p, ErrNoSQL)
		}
		names = append(names, found...)
	}
	slices.Sort(names)
	var files []bypass.File
	for _, name := range slices.Compact(names) {
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		content, err := readRegular(fsys, name, bypass.MaxLength+1) // one byte more than is looked at, which is then said
		if err != nil {
			return 0, 0, err
		}
		if first, _, _ := strings.Cut(string(content), "\n"); strings.TrimRight(first, "\r") != generatedSQL {
			files = append(files, bypass.File{Name: name, SQL: content})
		}
	}
	return len(files), bypass.Scan(files, guarded(machines), problems), nil
}

// handwritten reports whether a file's name is that of SQL.
func handwritten(name string) bool { return strings.ToLower(path.Ext(name)) == ".sql" }

// guarded lists the tables that the machines guard.
func guarded(machines []*model.Machine) []bypass.Guarded {
	var tables []bypass.Guarded
	for _, m := range machines {
		if m.Table != nil {
			tables = append(tables, guardedTable(m))
		}
	}
	return tables
}

// guardedTable names what belongs to a machine that has a table.
func guardedTable(m *model.Machine) bypass.Guarded {
	called := sqlname.Machine{Name: m.Name, Table: m.Table.Name}
	g := bypass.Guarded{
		Machine: m.Name, Table: m.Table.Name, Existing: m.Table.Existing, History: called.History(),
		Columns: []string{m.Table.Status.Column, m.Table.Version},
		Wrote:   func(statement string) bool { return gensql.KeepsHistory(m, statement) },
	}
	for _, k := range m.Table.Keys {
		g.Keys = append(g.Keys, k.Name)
	}
	if m.Deadlines() {
		g.Columns = append(g.Columns, m.Table.Deadline)
	}
	if m.CountsRuns() {
		g.Columns = append(g.Columns, m.Table.Runs)
	}
	if m.Facts() {
		g.Facts = called.Facts()
	}
	return g
}
