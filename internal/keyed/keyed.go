// Package keyed reads statements and says how they find the rows of distributed
// tables: by one value of the distribution column, which is on one shard, by one
// value for each item of a batch, or anywhere. It knows nothing of any engine; what
// an engine makes of a statement is told in docs/scale.md.
package keyed

import (
	"fmt"
	"regexp"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/pawl-go/pawl/internal/pgparse"
)

// Table is a distributed table and the column by which it is distributed.
type Table struct{ Name, Column string }

// Way is how a statement finds rows.
type Way int

const (
	// Anywhere is by no value of the distribution column: on all shards.
	Anywhere Way = iota
	// Each is by values that come in an array: on as many shards as they have.
	Each
	// One is by a value that is computed of parameters alone: on one shard.
	One
)

// Reference is one place of a statement that reads or writes a distributed table.
type Reference struct {
	Table string
	Way   Way
	// By is the parameter whose value decides, or how it is computed of
	// parameters; empty for Anywhere.
	By string
	at int32
}

// String returns "orders by fsm_key", "orders by each fsm_key" or "orders anywhere".
func (r Reference) String() string {
	switch r.Way {
	case One:
		return r.Table + " by " + r.By
	case Each:
		return r.Table + " by each " + r.By
	}
	return r.Table + " anywhere"
}

// pin is how a value is known: of what, if at all.
type pin struct {
	way Way
	by  string
}

// parameter is one of sqlc's. The parser reads @name as an operator and a column.
var parameter = regexp.MustCompile(`@(\w+)|sqlc\.n?arg\('(\w+)'\)`)

// References returns the references to the tables in statements as sqlc takes them,
// in the order of the text; none for a text without any. The error is the parser's.
//
// A row is found by a value where an equation that must hold for it says so: in WHERE,
// or in the condition of a join that does not keep it all the same. What an equation
// says goes on through the parts of WITH, subqueries and RETURNING. What is not
// understood is Anywhere.
func References(sql string, tables []Table) ([]Reference, error) {
	r := &reader{tables: map[string]string{}, read: map[int32]bool{}}
	for _, t := range tables {
		r.tables[t.Name] = t.Column
	}
	sql = parameter.ReplaceAllStringFunc(sql, func(p string) string {
		found := parameter.FindStringSubmatch(p)
		name := found[1] + found[2]
		if !slices.Contains(r.params, name) {
			r.params = append(r.params, name)
		}
		return fmt.Sprintf("$%d", 1+slices.Index(r.params, name))
	})
	tree, err := pgparse.Parse(sql)
	if err != nil {
		return nil, err
	}
	for _, s := range tree.GetStmts() {
		r.statement(s.GetStmt(), nil, nil)
		r.rest(s.ProtoReflect())
	}
	slices.SortStableFunc(r.found, func(a, b Reference) int { return int(a.at - b.at) })
	return r.found, nil
}

// reader reads the statements of one text.
type reader struct {
	tables map[string]string // the distribution column by the table
	params []string          // the names of $1, $2, …
	found  []Reference
	read   map[int32]bool // the places of the names that were understood
}

// column is a column of a result.
type column struct {
	name string
	pin  pin
}

// parts are the results of the parts of WITH that can be seen, the nearest first.
type parts struct {
	name    string
	columns []column
	more    *parts
}

func (p *parts) find(name string) ([]column, bool) {
	for ; p != nil; p = p.more {
		if p.name == name {
			return p.columns, true
		}
	}
	return nil, false
}

// with reads the parts of WITH.
func (r *reader) with(w *pg.WithClause, outer *scope, seen *parts) *parts {
	for _, n := range w.GetCtes() {
		cte := n.GetCommonTableExpr()
		columns := renamed(r.statement(cte.GetCtequery(), outer, seen), cte.GetAliascolnames())
		seen = &parts{cte.GetCtename(), columns, seen}
	}
	return seen
}

// renamed gives columns the names of a list, as far as it goes.
func renamed(columns []column, names []*pg.Node) []column {
	out := slices.Clone(columns)
	for i, n := range names {
		if i < len(out) {
			out[i].name = n.GetString_().GetSval()
		}
	}
	return out
}

// statement reads one statement and returns the columns of its result, none for one
// that has none or is of another kind.
func (r *reader) statement(n *pg.Node, outer *scope, seen *parts) []column {
	switch {
	case n.GetSelectStmt() != nil:
		return r.selects(n.GetSelectStmt(), outer, seen)
	case n.GetInsertStmt() != nil:
		return r.inserts(n.GetInsertStmt(), outer, seen)
	case n.GetUpdateStmt() != nil:
		u := n.GetUpdateStmt()
		seen = r.with(u.GetWithClause(), outer, seen)
		return r.changes(u.GetRelation(), u.GetFromClause(), u.GetWhereClause(), u.GetTargetList(), u.GetReturningList(), outer, seen)
	case n.GetDeleteStmt() != nil:
		d := n.GetDeleteStmt()
		seen = r.with(d.GetWithClause(), outer, seen)
		return r.changes(d.GetRelation(), d.GetUsingClause(), d.GetWhereClause(), nil, d.GetReturningList(), outer, seen)
	}
	return nil
}
