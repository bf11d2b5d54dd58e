package keyed

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// named is the qualifier and the name of a column; no name for what is none.
func named(n *pg.Node) (qualifier, name string) {
	var names []string
	for _, f := range n.GetColumnRef().GetFields() {
		names = append(names, f.GetString_().GetSval())
	}
	switch len(names) {
	case 1:
		return "", names[0]
	case 2:
		return names[0], names[1]
	}
	return "", ""
}

// pin is what is known of a value.
func (r *reader) pin(n *pg.Node, in *scope) pin {
	switch {
	case n.GetParamRef() != nil:
		return pin{One, r.params[n.GetParamRef().GetNumber()-1]}
	case n.GetTypeCast() != nil:
		return r.pin(n.GetTypeCast().GetArg(), in)
	case n.GetCoalesceExpr() != nil:
		if args := n.GetCoalesceExpr().GetArgs(); len(args) == 1 {
			return r.pin(args[0], in)
		}
	case n.GetColumnRef() != nil:
		for s := in; s != nil; s = s.outer {
			if to, name := s.own(n); to != nil {
				return to.pins[name]
			}
		}
	case n.GetFuncCall() != nil:
		return r.computed(n.GetFuncCall(), in)
	}
	return pin{}
}

// computed is what is known of a function's result: as much as of its arguments.
func (r *reader) computed(f *pg.FuncCall, in *scope) pin {
	names := f.GetFuncname()
	name := names[len(names)-1].GetString_().GetSval()
	out := pin{way: One}
	var by []string
	for _, arg := range f.GetArgs() {
		if arg.GetAConst() != nil {
			continue
		}
		p := r.pin(arg, in)
		out.way = min(out.way, p.way)
		by = append(by, p.by)
	}
	switch {
	case out.way == Anywhere || len(by) == 0:
		return pin{}
	case name == "unnest":
		return pin{Each, by[0]}
	}
	out.by = name + "(" + strings.Join(by, ", ") + ")"
	return out
}

// within reads the subqueries in the expressions of a SELECT and in its joins.
func (r *reader) within(s *pg.SelectStmt, in *scope, seen *parts) {
	for _, list := range [][]*pg.Node{s.GetTargetList(), {s.GetWhereClause(), s.GetHavingClause(), s.GetLimitCount(), s.GetLimitOffset()}, s.GetSortClause(), s.GetGroupClause()} {
		for _, n := range list {
			r.below(n, in, seen)
		}
	}
	r.join(s.GetFromClause(), in, seen)
}

// join reads the subqueries in the conditions of joins and the arguments of functions.
func (r *reader) join(from []*pg.Node, in *scope, seen *parts) {
	for _, n := range from {
		switch {
		case n.GetJoinExpr() != nil:
			j := n.GetJoinExpr()
			r.below(j.GetQuals(), in, seen)
			r.join([]*pg.Node{j.GetLarg(), j.GetRarg()}, in, seen)
		case n.GetRangeFunction() != nil:
			r.below(n, in, seen)
		}
	}
}

// below reads all subqueries in an expression.
func (r *reader) below(n *pg.Node, in *scope, seen *parts) {
	if n == nil {
		return
	}
	if link := n.GetSubLink(); link != nil {
		r.below(link.GetTestexpr(), in, seen)
		r.statement(link.GetSubselect(), in, seen)
		return
	}
	r.kids(n.ProtoReflect(), in, seen)
}

// kids reads the subqueries below a message.
func (r *reader) kids(m protoreflect.Message, in *scope, seen *parts) {
	if n, ok := m.Interface().(*pg.Node); ok && n.GetSubLink() != nil {
		r.below(n, in, seen)
		return
	}
	each(m, func(kid protoreflect.Message) { r.kids(kid, in, seen) })
}

// rest notes the tables that were not come across, such as those of another kind of
// statement. The names behind FOR UPDATE OF read nothing.
func (r *reader) rest(m protoreflect.Message) {
	switch x := m.Interface().(type) {
	case *pg.LockingClause:
		return
	case *pg.RangeVar:
		if !r.read[x.GetLocation()] {
			r.note(&relation{table: x.GetRelname(), at: x.GetLocation()})
		}
	}
	each(m, r.rest)
}

// each visits the messages right below a message, in the order of the parser's
// declaration.
func each(m protoreflect.Message, visit func(protoreflect.Message)) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		switch {
		case f.Kind() != protoreflect.MessageKind || !m.Has(f):
		case f.IsList():
			for j := range m.Get(f).List().Len() {
				visit(m.Get(f).List().Get(j).Message())
			}
		default:
			visit(m.Get(f).Message())
		}
	}
}
