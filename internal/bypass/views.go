package bypass

import (
	"cmp"
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// maker is a statement that makes a view, or a child of a table.
type maker struct {
	made name
	// base is the parent of a child table; a view has its query instead.
	base    name
	query   *pg.SelectStmt
	aliases []string
}

// learn keeps what a statement tells about other names for guarded tables,
// and about the triggers on them.
func (s *scan) learn(st statement) {
	switch {
	case st.tree.GetViewStmt() != nil:
		v := st.tree.GetViewStmt()
		s.makers = append(s.makers, maker{made: nameOf(v.GetView()), query: v.GetQuery().GetSelectStmt(), aliases: texts(v.GetAliases())})
	case st.tree.GetCreateStmt() != nil:
		c := st.tree.GetCreateStmt()
		for _, parent := range c.GetInhRelations() {
			s.makers = append(s.makers, maker{made: nameOf(c.GetRelation()), base: nameOf(parent.GetRangeVar())})
		}
	case st.tree.GetAlterTableStmt() != nil:
		a := st.tree.GetAlterTableStmt()
		for _, node := range a.GetCmds() {
			switch cmd := node.GetAlterTableCmd(); cmd.GetSubtype() {
			case pg.AlterTableType_AT_AddInherit:
				s.makers = append(s.makers, maker{made: nameOf(a.GetRelation()), base: nameOf(cmd.GetDef().GetRangeVar())})
			case pg.AlterTableType_AT_AttachPartition:
				s.makers = append(s.makers, maker{made: nameOf(cmd.GetDef().GetPartitionCmd().GetName()), base: nameOf(a.GetRelation())})
			}
		}
	case st.tree.GetCreateTrigStmt() != nil:
		t := st.tree.GetCreateTrigStmt()
		on := s.resolve(nameOf(t.GetRelation()))
		if function := texts(t.GetFuncname()); on != nil && on.role == rows && len(function) > 0 {
			last := function[len(function)-1]
			s.triggers[last] = append(s.triggers[last], triggerOf(t, on.table))
		}
	}
}

// relate resolves views, and views of views, until no more come to light.
func (s *scan) relate() {
	for range s.makers {
		more := false
		for _, m := range s.makers {
			if s.resolve(m.made) != nil {
				continue
			}
			var d *derived
			if m.query != nil {
				d = s.selected(m.query, m.aliases)
			} else if base := s.resolve(m.base); base != nil {
				d = &derived{base: base, columns: map[string]string{}}
				d.all()
			}
			if d == nil {
				continue
			}
			s.derived[m.made] = d
			s.derived[name{relation: m.made.relation}] = d
			more = true
		}
		if !more {
			return
		}
	}
}

// selected is what a query shows of a table that matters; nil when it is none
// that PostgreSQL could write through, which has one table or one such query
// in its FROM.
func (s *scan) selected(q *pg.SelectStmt, aliases []string) *derived {
	if len(q.GetFromClause()) != 1 {
		return nil
	}
	from := q.GetFromClause()[0]
	var base *relation
	switch {
	case from.GetRangeVar() != nil:
		base = s.resolve(nameOf(from.GetRangeVar()))
	case from.GetRangeSubselect() != nil:
		sub := from.GetRangeSubselect()
		if inner := s.selected(sub.GetSubquery().GetSelectStmt(), texts(sub.GetAlias().GetColnames())); inner != nil {
			shallow := *inner.base
			shallow.view, base = inner, &shallow
		}
	}
	if base == nil {
		return nil
	}
	d := &derived{base: base, columns: map[string]string{}}
	d.vague = base.view != nil && base.view.vague
	for i, target := range q.GetTargetList() {
		if !d.column(target.GetResTarget(), i, aliases) {
			break
		}
	}
	return d
}

// all shows every own and key column by its name in the base.
func (d *derived) all() {
	switch {
	case d.base.role != rows:
	case d.base.view != nil:
		d.columns, d.vague = d.base.view.columns, d.base.view.vague
	default:
		for _, c := range slices.Concat(d.base.table.Columns, d.base.table.Keys) {
			d.columns[c] = c
		}
	}
}

// column enters column i of the view. It returns false behind a *, since what
// comes then cannot be counted.
func (d *derived) column(target *pg.ResTarget, i int, aliases []string) bool {
	fields := target.GetVal().GetColumnRef().GetFields()
	if len(fields) == 0 {
		return true
	}
	last := fields[len(fields)-1]
	if last.GetAStar() != nil {
		d.all()
		d.vague = d.vague || len(aliases) > i
		return false
	}
	column := last.GetString_().GetSval()
	shown := column
	if target.GetName() != "" {
		shown = target.GetName()
	}
	if i < len(aliases) {
		shown = aliases[i]
	}
	if base := cmp.Or(d.base.own(column), d.base.key(column)); base != "" {
		d.columns[shown] = base
	}
	return true
}
