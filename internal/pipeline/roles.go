package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"path"
	"slices"

	"github.com/pawl-go/pawl/internal/fileset"
	"github.com/pawl-go/pawl/internal/genroles"
	"github.com/pawl-go/pawl/internal/gensql"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/sqlcgen"
	"github.com/pawl-go/pawl/internal/sqlname"
)

// rolesFile lies outside the migrations: to make roles takes an administrator.
var rolesFile = path.Join(Gen, "roles.sql")

// Roles asks for the file that makes the roles: "default", a list of names such as
// "app=shop_app,calls=functions", or "none". Without it the file that is there says
// what it was made for, and a project that has none gets none. The error says what is
// wrong with the text.
func Roles(text string) (Option, error) {
	names, err := genroles.Parse(text)
	if err != nil {
		return nil, err
	}
	return func(w *way) { w.roles = &names }, nil
}

// rolesFor are those that were asked for, or those of the file.
func (w way) rolesFor(fsys fs.FS) (*genroles.Names, error) {
	if w.roles != nil {
		return w.roles, nil
	}
	var names genroles.Names
	content, err := readRegular(fsys, rolesFile, math.MaxInt64)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &names, nil
	case err != nil:
		return nil, err
	}
	if names, err = genroles.NamesOf(content); err != nil {
		return nil, fmt.Errorf("%s: %w", rolesFile, err)
	}
	return &names, nil
}

// analyse runs sqlc; the statements are for roles alone.
func analyse(ctx context.Context, in sqlcgen.Input, roles genroles.Names) ([]sqlcgen.File, []sqlcgen.Statement, []sqlcgen.Issue, error) {
	if roles.Wanted() {
		return sqlcgen.Analyse(ctx, in)
	}
	files, issues, err := sqlcgen.Generate(ctx, in)
	return files, nil, issues, err
}

// withRoles adds the file that makes the roles, if there are to be any, and returns
// the files of gen/db, which call functions if they are to.
func withRoles(machines []*model.Machine, l *landed, files []sqlcgen.File, statements []sqlcgen.Statement, set *fileset.Set, roles genroles.Names) ([]sqlcgen.File, error) {
	if !roles.Wanted() {
		return files, nil
	}
	list := roleMachines(machines, l, statements)
	content, err := genroles.Render(roles, list, slices.Sorted(maps.Keys(l.parts())))
	if err != nil {
		return nil, err
	}
	if err := set.Add(rolesFile, content); err != nil || !roles.Functions {
		return files, err
	}
	files = slices.Clone(files)
	for i, f := range files {
		if files[i].Content, err = genroles.Calls(f.Content, list, roles); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return files, nil
}

// roleMachines are the machines with tables, each with its statements.
func roleMachines(machines []*model.Machine, l *landed, statements []sqlcgen.Statement) []genroles.Machine {
	var list []genroles.Machine
	for _, m := range machines {
		s := l.schema(m.Name)
		if m.Table == nil || s == nil {
			continue
		}
		one := genroles.Machine{
			Called: sqlname.Machine{Name: m.Name, Table: m.Table.Name, Existing: m.Table.Existing, Partitioned: m.Table.History != nil},
			Key:    m.Table.Keys[0].Name,
		}
		for _, q := range statements {
			if q.File != m.Name+".sql" {
				continue
			}
			st := genroles.Statement{Name: q.Name, SQL: q.SQL, Params: q.Params, Forces: q.Name == gensql.QueryName(m, "Correct")}
			for _, c := range q.Columns {
				st.Columns = append(st.Columns, genroles.Column(c))
			}
			one.Statements = append(one.Statements, st)
		}
		list = append(list, one)
	}
	return list
}
