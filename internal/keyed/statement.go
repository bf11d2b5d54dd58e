package keyed

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// selects reads a SELECT, VALUES or a set operation of both.
func (r *reader) selects(s *pg.SelectStmt, outer *scope, seen *parts) []column {
	seen = r.with(s.GetWithClause(), outer, seen)
	if s.GetLarg() != nil {
		return both(r.selects(s.GetLarg(), outer, seen), r.selects(s.GetRarg(), outer, seen))
	}
	in := &scope{outer: outer}
	if lists := s.GetValuesLists(); len(lists) > 0 {
		return r.values(lists, in, seen)
	}
	for _, from := range s.GetFromClause() {
		r.from(from, in, seen)
	}
	in.condition(s.GetWhereClause(), nil)
	r.settle(in, seen)
	r.within(s, in, seen)
	return r.results(s.GetTargetList(), in)
}

// both is what is known of the rows of two results together.
func both(a, b []column) []column {
	out := slices.Clone(a)
	for i := range out {
		if i >= len(b) || out[i].pin != b[i].pin {
			out[i].pin = pin{}
		}
	}
	return out
}

func (r *reader) values(lists []*pg.Node, in *scope, seen *parts) []column {
	var out []column
	for i, list := range lists {
		var row []column
		for _, v := range list.GetList().GetItems() {
			r.below(v, in, seen)
			row = append(row, column{pin: r.pin(v, in)})
		}
		if i == 0 {
			out = row
		} else {
			out = both(out, row)
		}
	}
	return out
}

// results are the columns of a list of targets.
func (r *reader) results(targets []*pg.Node, in *scope) []column {
	var out []column
	for _, n := range targets {
		t := n.GetResTarget()
		c := column{t.GetName(), r.pin(t.GetVal(), in)}
		if c.name == "" {
			_, c.name = named(t.GetVal())
		}
		out = append(out, c)
	}
	return out
}

// inserts reads an INSERT: a row goes where the value of its distribution column says.
func (r *reader) inserts(s *pg.InsertStmt, outer *scope, seen *parts) []column {
	seen = r.with(s.GetWithClause(), outer, seen)
	values := r.statement(s.GetSelectStmt(), outer, seen)
	into := target(s.GetRelation())
	for i, n := range s.GetCols() {
		if i < len(values) {
			into.pins[n.GetResTarget().GetName()] = values[i].pin
		}
	}
	r.note(into)
	in := &scope{relations: []*relation{into}, outer: outer}
	for _, n := range s.GetReturningList() {
		r.below(n, in, seen)
	}
	return r.results(s.GetReturningList(), in)
}

// changes reads an UPDATE or a DELETE.
func (r *reader) changes(into *pg.RangeVar, from []*pg.Node, where *pg.Node, sets, returning []*pg.Node, outer *scope, seen *parts) []column {
	changed := target(into)
	changed.written = true
	in := &scope{relations: []*relation{changed}, outer: outer}
	for _, f := range from {
		r.from(f, in, seen)
	}
	in.condition(where, nil)
	r.settle(in, seen)
	for _, list := range [][]*pg.Node{{where}, sets, returning} {
		for _, n := range list {
			r.below(n, in, seen)
		}
	}
	r.join(from, in, seen)
	if slices.ContainsFunc(sets, func(n *pg.Node) bool { return n.GetResTarget().GetName() == r.tables[changed.table] }) {
		changed.pins = map[string]pin{} // the row goes to another shard
	}
	r.note(changed)
	return r.results(returning, in)
}

// target is the table that a statement writes.
func target(v *pg.RangeVar) *relation {
	t := &relation{alias: v.GetAlias().GetAliasname(), table: v.GetRelname(), at: v.GetLocation(), pins: map[string]pin{}}
	if t.alias == "" {
		t.alias = t.table
	}
	return t
}

// note takes down a reference to a distributed table.
func (r *reader) note(to *relation) {
	r.read[to.at] = true
	if column, distributed := r.tables[to.table]; distributed {
		p := to.pins[column]
		r.found = append(r.found, Reference{to.table, p.way, p.by, to.at})
	}
}
