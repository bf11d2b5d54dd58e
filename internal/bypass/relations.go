package bypass

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
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
	if t.view != nil {
		return t.view.columns[column]
	}
	if slices.Contains(t.table.Columns, column) {
		return column
	}
	return ""
}

// derived is a view or a child table of a table that matters.
type derived struct {
	base *relation
	// columns are the own columns of the base by the view's names for them.
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
	case "fsm_outbox":
		return &relation{role: outbox, shown: n.relation}
	case "fsm_audit":
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

// maker is a statement that makes a view or a child table.
type maker struct {
	made    name
	base    name
	aliases []string
	targets []*pg.Node // nil for a child table
}

// learn keeps what a statement tells about other names for guarded tables,
// and about the triggers on them.
func (s *scan) learn(st statement) {
	switch {
	case st.tree.GetViewStmt() != nil:
		v := st.tree.GetViewStmt()
		q := v.GetQuery().GetSelectStmt()
		if q == nil || len(q.GetFromClause()) != 1 || q.GetFromClause()[0].GetRangeVar() == nil {
			return // no view that PostgreSQL can write through
		}
		s.makers = append(s.makers, maker{nameOf(v.GetView()), nameOf(q.GetFromClause()[0].GetRangeVar()), texts(v.GetAliases()), q.GetTargetList()})
	case st.tree.GetCreateStmt() != nil:
		c := st.tree.GetCreateStmt()
		for _, parent := range c.GetInhRelations() {
			s.makers = append(s.makers, maker{made: nameOf(c.GetRelation()), base: nameOf(parent.GetRangeVar())})
		}
	case st.tree.GetCreateTrigStmt() != nil:
		t := st.tree.GetCreateTrigStmt()
		on := s.resolve(nameOf(t.GetRelation()))
		if function := texts(t.GetFuncname()); on != nil && on.role == rows && len(function) > 0 {
			last := function[len(function)-1]
			s.triggers[last] = append(s.triggers[last], on.table)
		}
	}
}

// relate resolves views, and views of views, until no more come to light.
func (s *scan) relate() {
	for range s.makers {
		more := false
		for _, m := range s.makers {
			base := s.resolve(m.base)
			if base == nil || s.resolve(m.made) != nil {
				continue
			}
			d := m.derive(base)
			s.derived[m.made] = d
			s.derived[name{relation: m.made.relation}] = d
			more = true
		}
		if !more {
			return
		}
	}
}

func (m maker) derive(base *relation) *derived {
	d := &derived{base: base, columns: map[string]string{}}
	if base.role != rows {
		return d
	}
	if base.view != nil {
		d.vague = base.view.vague
	}
	all := func() {
		for _, c := range base.table.Columns {
			d.columns[c] = c
		}
		if base.view != nil {
			d.columns = base.view.columns
		}
	}
	if m.targets == nil {
		all()
		return d
	}
	for i, target := range m.targets {
		fields := target.GetResTarget().GetVal().GetColumnRef().GetFields()
		if len(fields) == 0 {
			continue
		}
		last := fields[len(fields)-1]
		if last.GetAStar() != nil {
			d.vague = d.vague || len(m.aliases) > i
			all()
			break
		}
		column := last.GetString_().GetSval()
		shown := column
		if target.GetResTarget().GetName() != "" {
			shown = target.GetResTarget().GetName()
		}
		if i < len(m.aliases) {
			shown = m.aliases[i]
		}
		if own := base.own(column); own != "" {
			d.columns[shown] = own
		}
	}
	return d
}

// texts are the strings of a list.
func texts(nodes []*pg.Node) []string {
	var out []string
	for _, n := range nodes {
		out = append(out, n.GetString_().GetSval())
	}
	return out
}
