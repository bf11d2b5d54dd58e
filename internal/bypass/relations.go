package bypass

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/pawl-go/pawl/internal/sqlname"
)

// name is a table's or a view's; the schema is empty when it is not said.
type name struct{ schema, relation string }

func nameOf(v *pg.RangeVar) name { return name{v.GetSchemaname(), v.GetRelname()} }

// listed is the name that a list of strings spells, as in DROP.
func listed(parts []string) name {
	switch n := len(parts); n {
	case 0:
		return name{}
	case 1:
		return name{relation: parts[0]}
	default:
		return name{parts[n-2], parts[n-1]}
	}
}

// role is what a table is to a machine.
type role int

const (
	rows    role = iota // the guarded table
	ledger              // its history or its facts
	outbox              // fsm_outbox
	journal             // fsm_audit
)

// relation is a table that matters, perhaps seen through a view.
type relation struct {
	role  role
	table *Guarded // nil for a table that all machines share
	// shown is the table's own name, through the view's when there is one.
	shown, through string
	view           *derived
}

// own returns the machine's column that the name means, empty for another.
func (t *relation) own(column string) string {
	if t.role != rows {
		return ""
	}
	return t.among(t.table.Columns, column)
}

// key returns the column of the key that the name means, empty for another.
func (t *relation) key(column string) string {
	if t.role != rows {
		return ""
	}
	return t.among(t.table.Keys, column)
}

func (t *relation) among(columns []string, column string) string {
	if t.view != nil {
		column = t.view.columns[column]
	}
	if slices.Contains(columns, column) {
		return column
	}
	return ""
}

// derived is a view or a child table of a table that matters.
type derived struct {
	base *relation
	// columns are the own and key columns of the base by the view's names.
	columns map[string]string
	// vague says that the names cannot be told without the catalog.
	vague bool
}

// resolve returns what a name is to the machines, nil when it is nothing.
func (s *scan) resolve(n name) *relation {
	for i := range s.tables {
		g := &s.tables[i]
		if g.Schema != "" && n.schema != "" && g.Schema != n.schema {
			continue
		}
		switch n.relation {
		case "":
		case g.Table:
			return &relation{role: rows, table: g, shown: n.relation}
		case g.History, g.Facts:
			return &relation{role: ledger, table: g, shown: n.relation}
		}
	}
	switch n.relation {
	case sqlname.Outbox:
		return &relation{role: outbox, shown: n.relation}
	case sqlname.Audit:
		return &relation{role: journal, shown: n.relation}
	}
	for _, key := range []name{n, {relation: n.relation}} {
		if d := s.derived[key]; d != nil {
			t := *d.base
			t.through, t.view = n.relation, d
			return &t
		}
	}
	return nil
}

// texts are the strings of a list.
func texts(nodes []*pg.Node) []string {
	var out []string
	for _, n := range nodes {
		out = append(out, n.GetString_().GetSval())
	}
	return out
}
