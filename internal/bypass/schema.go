package bypass

import (
	"fmt"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/sqlname"
)

const replicationRole = "session_replication_role"

// schema judges statements that change what is there, not what is in it.
func (r *reader) schema(st statement, n any) {
	switch n := n.(type) {
	case *pg.TruncateStmt:
		for _, node := range n.GetRelations() {
			v := node.GetRangeVar()
			if t := r.target(v); t != nil && t.role == rows {
				r.disarms(place(st, v), "TRUNCATE empties %s without its row triggers, so history and facts stay behind", t.said())
			} else if t != nil {
				r.written(st, t, v, "TRUNCATE")
			}
		}
	case *pg.AlterTableStmt:
		r.alter(st, n)
	case *pg.DropStmt:
		r.drop(st, n)
	case *pg.RenameStmt:
		r.rename(st, n)
	case *pg.AlterObjectSchemaStmt:
		if t := r.target(n.GetRelation()); t != nil && t.through == "" {
			r.disarms(place(st, n.GetRelation()), "%s moves to another schema", t.said())
		}
	case *pg.VariableSetStmt:
		off := n.GetKind() == pg.VariableSetKind_VAR_SET_VALUE && !fires(n.GetArgs())
		if strings.EqualFold(n.GetName(), replicationRole) && (off || n.GetKind() == pg.VariableSetKind_VAR_SET_CURRENT) {
			r.disarms(st.p.at(st.p.word(st.from, st.to, replicationRole)), "%s keeps triggers from firing", replicationRole)
		}
	case *pg.RuleStmt:
		if t := r.target(n.GetRelation()); t != nil && t.through == "" && n.GetEvent() != pg.CmdType_CMD_SELECT {
			r.disarms(place(st, n.GetRelation()), "the rule %q changes what is written to %s", n.GetRulename(), t.said())
		}
	case *pg.CreateTrigStmt:
		if t := r.target(n.GetRelation()); n.GetReplace() && t != nil && t.guardTrigger(n.GetTrigname()) {
			r.disarms(st.p.at(st.p.word(st.from, st.to, n.GetTrigname())), "it replaces the trigger %q, which guards %s", n.GetTrigname(), t.said())
		}
	}
}

// catalogs are PostgreSQL's own tables of what guards.
var catalogs = []string{"pg_trigger", "pg_constraint", "pg_proc", "pg_class", "pg_attribute", "pg_rewrite"}

// catalog reports a write to one of them.
func (r *reader) catalog(st statement, v *pg.RangeVar) {
	if slices.Contains(catalogs, v.GetRelname()) && (v.GetSchemaname() == "" || v.GetSchemaname() == "pg_catalog") {
		r.disarms(place(st, v), "it writes to %q, where what guards the tables is kept", v.GetRelname())
	}
}

func (r *reader) disarms(offset int, format string, args ...any) {
	r.add(offset, CodeDisarms, diag.Error, fmt.Sprintf(format, args...))
}

// fires reports whether a value of session_replication_role lets triggers fire.
func fires(args []*pg.Node) bool {
	if len(args) != 1 {
		return false
	}
	value := strings.ToLower(args[0].GetAConst().GetSval().GetSval())
	return value == "origin" || value == "local"
}

// guardTrigger reports whether the trigger of that name on the table is generated.
func (t *relation) guardTrigger(trigger string) bool {
	if t.role != rows {
		return false
	}
	called := t.table.called()
	return slices.Contains([]string{called.Edge(), called.Birth(), called.Gone()}, trigger)
}

// guardFunction returns the table that a function of that name guards, or nil.
func (s *scan) guardFunction(function string) *Guarded {
	for i := range s.tables {
		if called := s.tables[i].called(); function == called.Refuse() || function == called.Forget() {
			return &s.tables[i]
		}
	}
	return nil
}

// guardConstraint reports whether the constraint is one that is generated for
// the machine's own columns or keys. The key of a table that was there before
// is taken to have the name that PostgreSQL gives.
func (t *relation) guardConstraint(constraint string) bool {
	if constraint == sqlname.PrimaryKey(t.shown) {
		return true
	}
	switch t.role {
	case rows:
		called := t.table.called()
		return constraint == called.StatusCheck() || constraint == called.VersionCheck()
	case ledger:
		return constraint == t.table.called().ForcedCheck()
	case journal:
		return constraint == sqlname.WhoCheck
	}
	return false
}

// protected reports whether the column may not be changed by hand; of the
// tables that the machines keep for themselves, none may.
func (t *relation) protected(column string) bool { return t.role != rows || t.own(column) != "" }

func (r *reader) alter(st statement, n *pg.AlterTableStmt) {
	v := n.GetRelation()
	t := r.target(v)
	if t == nil || n.GetObjtype() != pg.ObjectType_OBJECT_TABLE {
		return
	}
	at := st.p.from(int(v.GetLocation()))
	from := min(int(v.GetLocation())+1, st.to)
	if at+1 < len(st.p.tokens) {
		from = st.p.tokens[at].end
	}
	for _, node := range n.GetCmds() {
		cmd := node.GetAlterTableCmd()
		place := st.p.word(from, st.to, cmd.GetName())
		if cmd.GetName() == "" {
			place = int(v.GetLocation())
		} else {
			from = place + 1
		}
		if what := t.disarmedBy(cmd); what != "" {
			r.disarms(st.p.at(place), "%s, which guards %s", what, t.said())
		}
	}
}

// disarmedBy says what a change takes away; empty when it is harmless.
func (t *relation) disarmedBy(cmd *pg.AlterTableCmd) string {
	column, trigger := t.protected(cmd.GetName()), t.guardTrigger(cmd.GetName())
	switch cmd.GetSubtype() {
	case pg.AlterTableType_AT_DisableTrigAll, pg.AlterTableType_AT_DisableTrigUser:
		if t.role == rows {
			return "it disables every trigger, also the machine's own"
		}
	case pg.AlterTableType_AT_DisableTrig, pg.AlterTableType_AT_EnableReplicaTrig:
		if trigger {
			return fmt.Sprintf("it disables the trigger %q", cmd.GetName())
		}
	case pg.AlterTableType_AT_DropConstraint:
		if t.guardConstraint(cmd.GetName()) {
			return fmt.Sprintf("it drops the constraint %q", cmd.GetName())
		}
	case pg.AlterTableType_AT_DropColumn, pg.AlterTableType_AT_AlterColumnType, pg.AlterTableType_AT_ColumnDefault,
		pg.AlterTableType_AT_DropNotNull, pg.AlterTableType_AT_AddIdentity, pg.AlterTableType_AT_SetExpression:
		if column {
			return fmt.Sprintf("it changes the column %q", cmd.GetName())
		}
	}
	return ""
}

func (r *reader) drop(st statement, n *pg.DropStmt) {
	for _, object := range n.GetObjects() {
		parts := texts(object.GetList().GetItems())
		switch n.GetRemoveType() {
		case pg.ObjectType_OBJECT_TABLE:
			if t := r.scan.resolve(listed(parts)); t != nil && t.through == "" {
				r.disarms(st.p.at(st.p.word(st.from, st.to, t.shown)), "it drops the table %s", t.said())
			}
		case pg.ObjectType_OBJECT_TRIGGER:
			if len(parts) < 2 {
				continue
			}
			trigger := parts[len(parts)-1]
			if t := r.scan.resolve(listed(parts[:len(parts)-1])); t != nil && t.guardTrigger(trigger) {
				r.disarms(st.p.at(st.p.word(st.from, st.to, trigger)), "it drops the trigger %q, which guards %s", trigger, t.said())
			}
		case pg.ObjectType_OBJECT_FUNCTION, pg.ObjectType_OBJECT_ROUTINE:
			r.guardFunctionGone(st, texts(object.GetObjectWithArgs().GetObjname()), "drops")
		case pg.ObjectType_OBJECT_SCHEMA:
			schema := object.GetString_().GetSval()
			for _, g := range r.scan.tables {
				if g.Schema == schema || g.Schema == "" && schema == "public" {
					r.disarms(st.p.at(st.p.word(st.from, st.to, schema)), "it drops the schema of the table %q", g.Table)
				}
			}
		}
	}
}

func (r *reader) guardFunctionGone(st statement, function []string, verb string) {
	if len(function) == 0 {
		return
	}
	last := function[len(function)-1]
	if g := r.scan.guardFunction(last); g != nil {
		r.disarms(st.p.at(st.p.word(st.from, st.to, last)), "it %s the function %q, which guards %q", verb, last, g.Table)
	}
}

func (r *reader) rename(st statement, n *pg.RenameStmt) {
	if n.GetRenameType() == pg.ObjectType_OBJECT_FUNCTION {
		r.guardFunctionGone(st, texts(n.GetObject().GetObjectWithArgs().GetObjname()), "renames")
		return
	}
	t := r.target(n.GetRelation())
	if t == nil || t.through != "" {
		return
	}
	place := func(name string) int { return st.p.at(st.p.word(st.from, st.to, name)) }
	switch {
	case n.GetRenameType() == pg.ObjectType_OBJECT_TABLE:
		r.disarms(place(t.shown), "it renames the table %s", t.said())
	case n.GetRenameType() == pg.ObjectType_OBJECT_COLUMN && t.protected(n.GetSubname()):
		r.disarms(place(n.GetSubname()), "it renames the column %q of %s", n.GetSubname(), t.said())
	case n.GetRenameType() == pg.ObjectType_OBJECT_TRIGGER && t.guardTrigger(n.GetSubname()),
		n.GetRenameType() == pg.ObjectType_OBJECT_TABCONSTRAINT && t.guardConstraint(n.GetSubname()):
		r.disarms(place(n.GetSubname()), "it renames %q, which guards %s", n.GetSubname(), t.said())
	}
}

// call judges functions that do what statements do.
func (r *reader) call(st statement, n *pg.FuncCall) {
	function := texts(n.GetFuncname())
	if len(function) == 0 {
		return
	}
	args, at := n.GetArgs(), st.p.at(int(n.GetLocation()))
	switch last := function[len(function)-1]; {
	case last == "set_config" && len(args) > 0:
		setting := args[0].GetAConst().GetSval()
		switch {
		case setting == nil:
			r.unread(at, "set_config sets what cannot be told from here; look that it is not "+replicationRole)
		case strings.EqualFold(setting.GetSval(), replicationRole) && (len(args) < 2 || !fires(args[1:2])):
			r.disarms(at, "%s keeps triggers from firing", replicationRole)
		}
	case last == "dblink" || last == "dblink_exec" || last == "dblink_send_query" || last == "dblink_open":
		r.unread(at, last+" runs SQL that is not looked into")
	}
}
