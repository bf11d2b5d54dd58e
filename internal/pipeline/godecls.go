package pipeline

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"

	"github.com/pawl-go/pawl/internal/check"
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/sqlcgen"
	"github.com/pawl-go/pawl/internal/sqlcname"
	"github.com/pawl-go/pawl/internal/sqlname"
)

// declaredTwice reports Go names that gen/db would declare more than once. sqlc
// makes the name of a struct from a table's or a query's and does not look for
// another one, so that without this the Go compiler would be the one to tell.
func declaredTwice(machines []*model.Machine, files []sqlcgen.File, problems *diag.List) {
	type declaration struct{ file, name string }
	seen := map[string]string{}
	var twice []declaration
	for _, f := range files {
		// What does not parse is not for here to say; Go will.
		parsed, err := parser.ParseFile(token.NewFileSet(), f.Name, f.Content, parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		for _, name := range topLevel(parsed) {
			if _, ok := seen[name]; ok {
				twice = append(twice, declaration{f.Name, name})
			}
			seen[name] = f.Name
		}
	}
	for _, d := range twice {
		m := declarer(machines, d.name, d.file, seen[d.name])
		if m == nil {
			continue
		}
		problems.Addf(m.Table.Pos, check.CodeIdentifier, diag.Error,
			"package db would declare %s twice: two tables or queries give that Go name, as order_fact and order_facts do; rename the machine, its table, or a hand-written table or query", d.name)
	}
}

// topLevel lists the names that a file declares in its package: those of
// functions, types, constants and variables, not those of methods.
func topLevel(f *ast.File) []string {
	var names []string
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				names = append(names, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					names = append(names, s.Name.Name)
				case *ast.ValueSpec:
					for _, n := range s.Names {
						names = append(names, n.Name)
					}
				}
			}
		}
	}
	return names
}

// declarer is the machine that the name comes from: that of the table whose row
// it is, else that of the file, else the one whose name it begins with, else the
// first with a table.
func declarer(machines []*model.Machine, name string, files ...string) *model.Machine {
	var tabled []*model.Machine
	for _, m := range machines {
		if m.Table != nil {
			tabled = append(tabled, m)
		}
	}
	if len(tabled) == 0 {
		return nil
	}
	for _, m := range tabled {
		called := sqlname.Machine{Name: m.Name, Table: m.Table.Name}
		for _, table := range []string{called.Table, called.History(), called.Facts(), called.HistoryRest()} {
			if sqlcname.Struct(table) == name {
				return m
			}
		}
	}
	for _, m := range tabled {
		if slices.Contains(files, m.Name+".sql.go") {
			return m
		}
	}
	for _, m := range tabled {
		if strings.HasPrefix(strings.ToLower(name), strings.ReplaceAll(m.Name, "_", "")) {
			return m
		}
	}
	return tabled[0]
}
