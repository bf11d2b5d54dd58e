package keyed

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// scope is what the names in one SELECT, UPDATE or DELETE can mean.
type scope struct {
	relations []*relation
	equations []equation
	outer     *scope // nil for the outermost
}

// relation is one thing to read from.
type relation struct {
	alias string
	table string // empty for what is no table
	at    int32
	pins  map[string]pin     // what is known of its columns; nil where nothing can be
	sub   *pg.RangeSubselect // nil for what is no subquery
	// written says that the statement writes it, and notes it by itself.
	written bool
}

// equation says that two values are equal. It tells of the rows of some relations
// alone, of all where only is nil: an outer join keeps the others all the same.
type equation struct {
	left, right *pg.Node
	// among is a subquery whose first column has the left value.
	among *pg.Node
	only  []*relation
}

// from adds what an item of FROM reads, and returns it.
func (r *reader) from(n *pg.Node, in *scope, seen *parts) []*relation {
	switch {
	case n.GetRangeVar() != nil:
		return in.add(r.reads(n.GetRangeVar(), seen))
	case n.GetRangeSubselect() != nil:
		s := n.GetRangeSubselect()
		return in.add(&relation{alias: s.GetAlias().GetAliasname(), sub: s, pins: map[string]pin{}})
	case n.GetRangeFunction() != nil:
		return in.add(&relation{alias: n.GetRangeFunction().GetAlias().GetAliasname()})
	case n.GetJoinExpr() != nil:
		j := n.GetJoinExpr()
		left, right := r.from(j.GetLarg(), in, seen), r.from(j.GetRarg(), in, seen)
		switch j.GetJointype() {
		case pg.JoinType_JOIN_INNER:
			in.condition(j.GetQuals(), nil)
		case pg.JoinType_JOIN_LEFT:
			in.condition(j.GetQuals(), right)
		case pg.JoinType_JOIN_RIGHT:
			in.condition(j.GetQuals(), left)
		}
		return append(left, right...)
	}
	return nil
}

// reads is a part of WITH, or a table.
func (r *reader) reads(v *pg.RangeVar, seen *parts) *relation {
	t := target(v)
	if columns, part := seen.find(v.GetRelname()); part && v.GetSchemaname() == "" {
		t.table = ""
		r.read[t.at] = true
		for _, c := range columns {
			t.pins[c.name] = c.pin
		}
	}
	return t
}

func (s *scope) add(to *relation) []*relation {
	s.relations = append(s.relations, to)
	return []*relation{to}
}

// condition keeps the equations that must hold where the condition is true.
func (s *scope) condition(n *pg.Node, only []*relation) {
	switch {
	case n.GetBoolExpr().GetBoolop() == pg.BoolExprType_AND_EXPR:
		for _, arg := range n.GetBoolExpr().GetArgs() {
			s.condition(arg, only)
		}
	case n.GetBooleanTest().GetBooltesttype() == pg.BoolTestType_IS_TRUE:
		s.condition(n.GetBooleanTest().GetArg(), only)
	case n.GetAExpr().GetKind() == pg.A_Expr_Kind_AEXPR_OP && n.GetAExpr().GetName()[0].GetString_().GetSval() == "=":
		e := n.GetAExpr()
		s.equations = append(s.equations, equation{left: e.GetLexpr(), right: e.GetRexpr(), only: only},
			equation{left: e.GetRexpr(), right: e.GetLexpr(), only: only})
	case n.GetSubLink().GetSubLinkType() == pg.SubLinkType_ANY_SUBLINK && len(n.GetSubLink().GetOperName()) == 0:
		s.equations = append(s.equations, equation{left: n.GetSubLink().GetTestexpr(), among: n.GetSubLink().GetSubselect(), only: only})
	}
}

// settle finds out what the equations say, and notes the tables. An equation can
// need what another one or a subquery says, and so on.
func (r *reader) settle(in *scope, seen *parts) {
	for again := true; again; {
		again = false
		before := len(r.found)
		for _, to := range in.relations {
			again = r.sub(to, in, seen) || again
		}
		for _, e := range in.equations {
			again = r.learn(e, in, seen) || again
		}
		r.found = r.found[:before] // the last reading of a subquery counts
	}
	for _, to := range in.relations {
		r.sub(to, in, seen)
		if to.table != "" && !to.written {
			r.note(to)
		}
	}
}

// sub reads a subquery of FROM, and reports whether more is known of it than before.
func (r *reader) sub(to *relation, in *scope, seen *parts) (more bool) {
	if to.sub == nil {
		return false
	}
	around := in.outer
	if to.sub.GetLateral() {
		around = in
	}
	columns := renamed(r.statement(to.sub.GetSubquery(), around, seen), to.sub.GetAlias().GetColnames())
	for _, c := range columns {
		more = to.learn(c.name, c.pin) || more
	}
	return more
}

// learn uses an equation, and reports whether it told anything new.
func (r *reader) learn(e equation, in *scope, seen *parts) bool {
	to, name := in.own(e.left)
	if to == nil || e.only != nil && !slices.Contains(e.only, to) {
		return false
	}
	if e.among == nil {
		return to.learn(name, r.pin(e.right, in))
	}
	columns := r.statement(e.among, in, seen)
	return len(columns) > 0 && to.learn(name, columns[0].pin)
}

// learn keeps what is known of a column if it is more than before.
func (to *relation) learn(name string, p pin) bool {
	if to.pins == nil || p.way <= to.pins[name].way {
		return false
	}
	to.pins[name] = p
	return true
}

// own is the relation of this scope, without the outer ones, to which a column
// belongs, and the column's name; nil for what is no such column.
func (s *scope) own(n *pg.Node) (*relation, string) {
	qualifier, name := named(n)
	if name == "" {
		return nil, ""
	}
	if qualifier == "" && len(s.relations) == 1 {
		return s.relations[0], name
	}
	for _, to := range s.relations {
		if to.alias == qualifier {
			return to, name
		}
	}
	return nil, ""
}
