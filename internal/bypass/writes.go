package bypass

import (
	"fmt"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/pawl-go/pawl/internal/diag"
)

// statement looks at a statement and at all statements inside it, wherever the
// grammar lets one stand: CTEs, EXPLAIN, PREPARE, COPY, rules, BEGIN ATOMIC.
func (r *reader) statement(st statement) {
	if st.tree != nil {
		r.visit(st, st.tree.ProtoReflect())
	}
}

func (r *reader) visit(st statement, m protoreflect.Message) {
	r.node(st, m.Interface())
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		if field.Kind() != protoreflect.MessageKind || !m.Has(field) {
			continue
		}
		if !field.IsList() {
			r.visit(st, m.Get(field).Message())
			continue
		}
		list := m.Get(field).List()
		for j := range list.Len() {
			r.visit(st, list.Get(j).Message())
		}
	}
}

// node judges one node by itself.
func (r *reader) node(st statement, n any) {
	switch n := n.(type) {
	case *pg.UpdateStmt:
		r.catalog(st, n.GetRelation())
		if t := r.target(n.GetRelation()); t != nil {
			r.sets(st, t, n.GetRelation(), n.GetTargetList())
			r.written(st, t, n.GetRelation(), "UPDATE")
		}
	case *pg.InsertStmt:
		r.catalog(st, n.GetRelation())
		r.insert(st, n)
	case *pg.DeleteStmt:
		r.catalog(st, n.GetRelation())
		if t := r.target(n.GetRelation()); t != nil {
			r.written(st, t, n.GetRelation(), "DELETE")
		}
	case *pg.MergeStmt:
		r.merge(st, n)
	case *pg.CopyStmt:
		if t := r.target(n.GetRelation()); t != nil && n.GetIsFrom() {
			r.inserts(st, t, n.GetRelation(), "COPY")
			r.written(st, t, n.GetRelation(), "COPY")
		}
	case *pg.FuncCall:
		r.call(st, n)
	case *pg.CreateFunctionStmt:
		r.function(st, n)
	case *pg.DoStmt:
		r.do(st, n)
	default:
		r.schema(st, n)
	}
}

// target is what a statement writes to, nil when it is nobody's.
func (r *reader) target(v *pg.RangeVar) *relation {
	if v == nil {
		return nil
	}
	return r.scan.resolve(nameOf(v))
}

// place is where a table is named. A qualified name begins with its schema.
func place(st statement, v *pg.RangeVar) int { return st.p.at(int(v.GetLocation())) }

// said is the table as messages name it.
func (t *relation) said() string {
	if t.through != "" {
		return fmt.Sprintf("%q (through %q)", t.shown, t.through)
	}
	return fmt.Sprintf("%q", t.shown)
}

// sets reports the own and key columns among those that are assigned.
func (r *reader) sets(st statement, t *relation, v *pg.RangeVar, targets []*pg.Node) {
	if t.role == rows && t.view != nil && t.view.vague {
		r.unread(place(st, v), fmt.Sprintf("the columns of the view %q cannot be told without the database; look whether this sets a column of machine %q", t.through, t.table.Machine))
	}
	for _, n := range targets {
		target := n.GetResTarget()
		if own := t.own(target.GetName()); own != "" {
			r.add(st.p.at(int(target.GetLocation())), CodeSets, diag.Error,
				fmt.Sprintf("the column %q of %s is set by machine %q alone: call one of its events", own, t.said(), t.table.Machine))
		}
		if key := t.key(target.GetName()); key != "" {
			r.add(st.p.at(int(target.GetLocation())), CodeSets, diag.Error,
				fmt.Sprintf("the column %q of %s is its key and stays: the trigger of machine %q refuses another value", key, t.said(), t.table.Machine))
		}
	}
}

func (r *reader) insert(st statement, n *pg.InsertStmt) {
	v := n.GetRelation()
	t := r.target(v)
	if t == nil {
		return
	}
	r.inserted(st, t, v, n.GetCols(), "INSERT")
	r.written(st, t, v, "INSERT")
	if conflict := n.GetOnConflictClause(); conflict != nil {
		r.sets(st, t, v, conflict.GetTargetList())
	}
}

// inserted reports an INSERT at the first own column that it names, else at
// the table.
func (r *reader) inserted(st statement, t *relation, v *pg.RangeVar, columns []*pg.Node, verb string) {
	if t.role != rows {
		return
	}
	for _, n := range columns {
		if target := n.GetResTarget(); t.own(target.GetName()) != "" {
			r.add(st.p.at(int(target.GetLocation())), CodeInserts, diag.Error, fmt.Sprintf(
				"the %s gives the column %q of %s, which is set by machine %q alone: call Create", verb, t.own(target.GetName()), t.said(), t.table.Machine))
			return
		}
	}
	r.inserts(st, t, v, verb)
}

func (r *reader) inserts(st statement, t *relation, v *pg.RangeVar, verb string) {
	if t.role == rows {
		r.add(place(st, v), CodeInserts, diag.Error,
			fmt.Sprintf("the %s makes rows of %s, which machine %q alone creates: call Create", verb, t.said(), t.table.Machine))
	}
}

func (r *reader) merge(st statement, n *pg.MergeStmt) {
	v := n.GetRelation()
	t := r.target(v)
	if t == nil {
		return
	}
	for _, when := range n.GetMergeWhenClauses() {
		clause := when.GetMergeWhenClause()
		switch clause.GetCommandType() {
		case pg.CmdType_CMD_UPDATE:
			r.sets(st, t, v, clause.GetTargetList())
		case pg.CmdType_CMD_INSERT:
			r.inserted(st, t, v, clause.GetTargetList(), "MERGE")
		case pg.CmdType_CMD_DELETE:
		default:
			continue // DO NOTHING
		}
		r.written(st, t, v, "MERGE")
	}
}

// written reports a write to a table that the machines keep for themselves.
func (r *reader) written(st statement, t *relation, v *pg.RangeVar, verb string) {
	r.ledger(place(st, v), t, verb)
}

func (r *reader) ledger(offset int, t *relation, verb string) {
	switch {
	case t.role == rows:
	case t.role == outbox && verb == "DELETE":
		r.add(offset, CodeLedger, diag.Warning,
			fmt.Sprintf("the DELETE takes rows out of %s: only a relay may, and only those it has sent", t.said()))
	case t.role == ledger:
		r.add(offset, CodeLedger, diag.Error,
			fmt.Sprintf("the %s writes to %s, which machine %q keeps by itself", verb, t.said(), t.table.Machine))
	default:
		r.add(offset, CodeLedger, diag.Error, fmt.Sprintf("the %s writes to %s, which the machines keep by themselves", verb, t.said()))
	}
}
