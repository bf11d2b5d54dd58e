package sqlexpr

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/pawl-go/pawl/internal/pgparse"
)

// wrapper stands before the fragment when it is parsed; its closing bracket
// keeps the fragment to one operand.
const wrapper = "SELECT ("

// parse reads the masked fragment and walks its tree.
func (w *walker) parse(masked string) {
	top := w.tree(masked)
	if top == nil {
		return
	}
	w.walk(top)
	if len(w.issues) == 0 {
		w.want(top)
	}
	if len(w.issues) == 0 {
		w.types(top)
	}
}

// tree parses the text of one expression and returns its node, or nil after
// reporting what is wrong.
func (w *walker) tree(text string) *pg.Node {
	result, err := pgparse.Parse(wrapper + text + ")")
	if err != nil {
		w.syntax(err, len(wrapper))
		return nil
	}
	top := onlyTarget(result)
	if top == nil {
		w.add(0, Several, "", "write exactly one SQL expression, without FROM, WHERE or a second one")
	}
	return top
}

// onlyTarget returns the expression when the tree is SELECT (expression) and
// nothing else, else nil.
func onlyTarget(result *pg.ParseResult) *pg.Node {
	if len(result.GetStmts()) != 1 {
		return nil
	}
	s := result.GetStmts()[0].GetStmt().GetSelectStmt()
	bare := s != nil && len(s.GetTargetList()) == 1 && len(s.GetDistinctClause()) == 0 && s.GetIntoClause() == nil &&
		len(s.GetFromClause()) == 0 && s.GetWhereClause() == nil && len(s.GetGroupClause()) == 0 && s.GetHavingClause() == nil &&
		len(s.GetWindowClause()) == 0 && len(s.GetValuesLists()) == 0 && len(s.GetSortClause()) == 0 && s.GetLimitOffset() == nil &&
		s.GetLimitCount() == nil && len(s.GetLockingClause()) == 0 && s.GetWithClause() == nil && s.GetLarg() == nil && s.GetRarg() == nil
	if !bare {
		return nil
	}
	target := s.GetTargetList()[0].GetResTarget()
	if target == nil || target.GetName() != "" || len(target.GetIndirection()) > 0 {
		return nil
	}
	return target.GetVal()
}

// offset turns a location of the tree into one of the fragment.
func (w *walker) offset(location int32) int { return int(location) - len(wrapper) }

// walk checks a node and those below it, and marks names. Node kinds that are
// not listed are refused.
func (w *walker) walk(n *pg.Node) {
	switch {
	case n == nil || n.GetNode() == nil || n.GetAConst() != nil:
	case n.GetColumnRef() != nil:
		w.column(n.GetColumnRef())
	case n.GetParamRef() != nil:
		w.paramRef(n.GetParamRef())
	case n.GetAExpr() != nil:
		w.operator(n.GetAExpr())
	case n.GetBoolExpr() != nil:
		for _, arg := range n.GetBoolExpr().GetArgs() {
			w.walk(arg)
			w.condition(arg, n.GetBoolExpr().GetLocation(), "AND, OR and NOT")
		}
	case n.GetNullTest() != nil:
		w.walk(n.GetNullTest().GetArg())
	case n.GetBooleanTest() != nil:
		w.walk(n.GetBooleanTest().GetArg())
		w.condition(n.GetBooleanTest().GetArg(), n.GetBooleanTest().GetLocation(), "IS TRUE and IS FALSE")
	case n.GetCaseExpr() != nil:
		w.caseExpr(n.GetCaseExpr())
	case n.GetCoalesceExpr() != nil:
		w.all(n.GetCoalesceExpr().GetArgs())
	case n.GetMinMaxExpr() != nil:
		w.all(n.GetMinMaxExpr().GetArgs())
	case n.GetTypeCast() != nil:
		w.cast(n.GetTypeCast())
	case n.GetFuncCall() != nil:
		w.function(n.GetFuncCall())
	case n.GetNamedArgExpr() != nil:
		w.walk(n.GetNamedArgExpr().GetArg())
	case n.GetList() != nil:
		w.all(n.GetList().GetItems())
	case n.GetAArrayExpr() != nil:
		w.all(n.GetAArrayExpr().GetElements())
	case n.GetRowExpr() != nil:
		w.all(n.GetRowExpr().GetArgs())
	case n.GetCollateClause() != nil:
		w.walk(n.GetCollateClause().GetArg())
	case n.GetAIndirection() != nil:
		w.indirection(n.GetAIndirection())
	default:
		w.refuse(n)
	}
}

func (w *walker) all(nodes []*pg.Node) {
	for _, n := range nodes {
		w.walk(n)
	}
}

// refuse reports a node that no fragment may hold.
func (w *walker) refuse(n *pg.Node) {
	switch {
	case n.GetSubLink() != nil:
		w.add(w.offset(n.GetSubLink().GetLocation()), Subquery, "",
			"a query over other rows cannot stand here: two calls at once would both see it true; keep a counter on the guarded row and compare with that")
	case n.GetSqlvalueFunction() != nil:
		at := w.offset(n.GetSqlvalueFunction().GetLocation())
		name := "this keyword"
		if i := w.tokenAt(at); i >= 0 {
			if hint := w.spelling(w.tokens[i]); hint != "" {
				w.add(at, Syntax, "", "%s", hint)
				return
			}
			name = strings.ToUpper(w.text(w.tokens[i]))
		}
		if strings.HasPrefix(name, "CURRENT_TIME") || strings.HasPrefix(name, "LOCALTIME") || name == "CURRENT_DATE" {
			w.add(at, Volatile, name, "%s is the server's clock; write now(), which is the clock that the caller injects", name)
			return
		}
		w.add(at, Volatile, name, "%s depends on the session; pass the value as a parameter", name)
	case n.GetGroupingFunc() != nil:
		w.add(w.offset(n.GetGroupingFunc().GetLocation()), Aggregate, "grouping", "grouping works on many rows; an expression sees one row only")
	case n.GetSetToDefault() != nil:
		w.add(w.offset(n.GetSetToDefault().GetLocation()), Unsupported, "DEFAULT", "DEFAULT is no value; write the value")
	default:
		w.add(0, Unsupported, "", "this form of SQL is not supported here; use operators, CASE, casts and plain functions")
	}
}

func (w *walker) field(fields []Field, name string) *Field {
	for i := range fields {
		if fields[i].Name == name {
			return &fields[i]
		}
	}
	return nil
}

// columnName returns the name of an unqualified reference, else "".
func (w *walker) columnName(c *pg.ColumnRef) string {
	if len(c.GetFields()) != 1 {
		return ""
	}
	return c.GetFields()[0].GetString_().GetSval()
}

func (w *walker) column(c *pg.ColumnRef) {
	at, name := w.offset(c.GetLocation()), w.columnName(c)
	i := w.tokenAt(at)
	if len(c.GetFields()) != 1 || name == "" || i < 0 {
		w.add(at, Qualified, name, "write columns without a table: only the guarded row can be read, and its columns are known by their names alone")
		return
	}
	if w.field(w.scope.Columns, name) == nil {
		w.add(at, UnknownColumn, name, "column %q is not declared", name)
		return
	}
	w.marks = append(w.marks, mark{at, w.tokens[i].end, Column, name})
}

func (w *walker) paramRef(p *pg.ParamRef) {
	at := w.offset(p.GetLocation())
	name, ok := w.params[at]
	i := w.tokenAt(at)
	if !ok {
		w.add(at, ParamSpelling, "", "write a parameter by its name, as @name")
		return
	}
	if w.field(w.scope.Params, name) == nil {
		w.add(at, UnknownParam, name, "parameter %q is not declared", name)
		return
	}
	end := at + 1 + len(name)
	if i >= 0 && i+1 < len(w.tokens) {
		end = w.tokens[i+1].end
	}
	w.marks = append(w.marks, mark{at, end, Param, name})
}

func (w *walker) caseExpr(c *pg.CaseExpr) {
	w.walk(c.GetArg())
	for _, arg := range c.GetArgs() {
		when := arg.GetCaseWhen()
		w.walk(when.GetExpr())
		if c.GetArg() == nil {
			w.condition(when.GetExpr(), when.GetLocation(), "WHEN")
		}
		w.walk(when.GetResult())
	}
	w.walk(c.GetDefresult())
}

func (w *walker) indirection(x *pg.A_Indirection) {
	w.walk(x.GetArg())
	for _, step := range x.GetIndirection() {
		indices := step.GetAIndices()
		if indices == nil {
			w.add(0, Unsupported, "", "fields of composite values cannot be read here; only subscripts in [ ] can follow a value")
			continue
		}
		w.walk(indices.GetLidx())
		w.walk(indices.GetUidx())
	}
}
