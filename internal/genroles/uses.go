package genroles

import (
	"fmt"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/pawl-go/pawl/internal/pgparse"
	"github.com/pawl-go/pawl/internal/sqlname"
)

// use is what statements do with one table.
type use struct {
	table            string
	reads, locks     bool
	inserts, updates []string // columns
}

// uses are in the order in which the tables came.
type uses []*use

func (u *uses) of(table string) *use {
	for _, one := range *u {
		if one.table == table {
			return one
		}
	}
	one := &use{table: table}
	*u = append(*u, one)
	return one
}

// writes reports whether a statement changes anything, or locks rows, for which
// PostgreSQL asks the privilege of changing them.
func (u uses) writes() bool {
	return slices.ContainsFunc(u, func(one *use) bool { return one.locks || len(one.inserts)+len(one.updates) > 0 })
}

// add joins what another statement does.
func (u *uses) add(other uses) {
	for _, o := range other {
		one := u.of(o.table)
		one.reads, one.locks = one.reads || o.reads, one.locks || o.locks
		one.inserts, one.updates = union(one.inserts, o.inserts), union(one.updates, o.updates)
	}
}

func union(a, b []string) []string {
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(a, s)
		}
	}
	return a
}

// verbs are the privileges as GRANT has them; empty for none. A lock needs that of
// changing some column, so that a table whose rows are only locked gets the first.
func (u *use) verbs(first string) string {
	var list []string
	if u.reads {
		list = append(list, "SELECT")
	}
	if len(u.inserts) > 0 {
		list = append(list, "INSERT ("+names(u.inserts)+")")
	}
	updates := u.updates
	if u.locks && len(updates) == 0 {
		updates = []string{first}
	}
	if len(updates) > 0 {
		list = append(list, "UPDATE ("+names(updates)+")")
	}
	return strings.Join(list, ", ")
}

func names(columns []string) string {
	quoted := make([]string, len(columns))
	for i, c := range columns {
		quoted[i] = sqlname.Ident(c)
	}
	return strings.Join(quoted, ", ")
}

// usesOf reads a statement. The error is of one that is not among those that
// machines have.
func usesOf(sql string) (uses, error) {
	tree, err := pgparse.Parse(sql)
	if err != nil {
		return nil, err
	}
	r := &reading{parts: map[string]bool{}, alias: map[string]string{}}
	for _, s := range tree.GetStmts() {
		r.visit(s.GetStmt().ProtoReflect(), r.declare)
	}
	for _, s := range tree.GetStmts() {
		r.visit(s.GetStmt().ProtoReflect(), r.node)
	}
	return r.found, r.err
}

// reading is a statement that is being read.
type reading struct {
	// parts are the names of WITH, alias those of tables.
	parts map[string]bool
	alias map[string]string
	// blind are the tables of INSERTs that read nothing of them.
	blind []*pg.RangeVar
	found uses
	err   error
}

func (r *reading) visit(m protoreflect.Message, see func(any)) {
	see(m.Interface())
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		if field.Kind() != protoreflect.MessageKind || !m.Has(field) {
			continue
		}
		if !field.IsList() {
			r.visit(m.Get(field).Message(), see)
			continue
		}
		list := m.Get(field).List()
		for j := range list.Len() {
			r.visit(list.Get(j).Message(), see)
		}
	}
}

// declare takes down what names stand for, before anything is judged.
func (r *reading) declare(n any) {
	switch n := n.(type) {
	case *pg.CommonTableExpr:
		r.parts[n.GetCtename()] = true
	case *pg.RangeVar:
		if a := n.GetAlias(); a != nil {
			r.alias[a.GetAliasname()] = n.GetRelname()
		}
	case *pg.InsertStmt:
		if len(n.GetReturningList()) == 0 && n.GetOnConflictClause() == nil {
			r.blind = append(r.blind, n.GetRelation())
		}
	}
}

func (r *reading) node(n any) {
	switch n := n.(type) {
	case *pg.InsertStmt:
		one := r.found.of(n.GetRelation().GetRelname())
		one.inserts = union(one.inserts, targets(n.GetCols()))
		if c := n.GetOnConflictClause(); c != nil {
			one.updates = union(one.updates, targets(c.GetTargetList()))
		}
	case *pg.UpdateStmt:
		one := r.found.of(n.GetRelation().GetRelname())
		one.updates = union(one.updates, targets(n.GetTargetList()))
	case *pg.LockingClause:
		for _, l := range n.GetLockedRels() {
			if table, ok := r.alias[l.GetRangeVar().GetRelname()]; ok {
				r.found.of(table).locks = true
			}
		}
	case *pg.DeleteStmt, *pg.MergeStmt, *pg.TruncateStmt, *pg.CopyStmt, *pg.DoStmt:
		r.err = fmt.Errorf("a statement of a machine has %T", n)
	case *pg.RangeVar:
		r.read(n)
	}
}

// read notes a table that is looked at. Names of WITH are none, nor are the names by
// which a lock calls tables.
func (r *reading) read(v *pg.RangeVar) {
	name := v.GetRelname()
	_, alias := r.alias[name]
	if r.parts[name] || slices.Contains(r.blind, v) || alias && v.GetAlias() == nil {
		return
	}
	r.found.of(name).reads = true
}

func targets(list []*pg.Node) []string {
	var columns []string
	for _, n := range list {
		columns = append(columns, n.GetResTarget().GetName())
	}
	return columns
}
