package audit

import (
	"errors"
	"maps"
	"slices"
	"strconv"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/pawl-go/pawl/internal/pgparse"
)

// errForeign says that a condition is not made of what migrations write, so
// that nothing is said of it.
var errForeign = errors.New("not a condition that a migration writes")

// condition is what a CHECK, a trigger's WHEN or an IF in its function says. It
// is judged here and not in the database: what somebody planted there is not run.
type condition struct{ node *pg.Node }

// scope are the columns that a condition may name, as "status" or
// "old.status". Values are bool, or string for everything else; nil is NULL.
// Under entriesOf are those of the history.
type scope map[string]any

// entriesOf begins the name under which a scope has the entries of a table.
const entriesOf = "entries of "

// readCondition parses an expression as PostgreSQL shows it.
func readCondition(text string) (condition, error) {
	result, err := pgparse.Parse("SELECT " + text)
	// A length is given to a statement that a semicolon ends.
	if err != nil || len(result.GetStmts()) != 1 || result.GetStmts()[0].GetStmtLen() != 0 {
		return condition{}, errForeign
	}
	// To PL/pgSQL a condition is whatever can stand behind SELECT: one that ends in
	// WHERE false is never true, and FROM gives its names other meanings.
	query := result.GetStmts()[0].GetStmt().GetSelectStmt()
	alone := &pg.SelectStmt{TargetList: query.GetTargetList(), LimitOption: pg.LimitOption_LIMIT_OPTION_DEFAULT, Op: pg.SetOperation_SETOP_NONE}
	if len(alone.TargetList) != 1 || !proto.Equal(query, alone) {
		return condition{}, errForeign
	}
	target := alone.TargetList[0].GetResTarget()
	if target.GetName() != "" || len(target.GetIndirection()) > 0 {
		return condition{}, errForeign
	}
	return condition{target.GetVal()}, nil
}

// readWhen parses a trigger as PostgreSQL shows it; the node is nil where it
// has no WHEN.
func readWhen(text string) (condition, error) {
	result, err := pgparse.Parse(text)
	if err != nil || len(result.GetStmts()) != 1 {
		return condition{}, errForeign
	}
	made := result.GetStmts()[0].GetStmt().GetCreateTrigStmt()
	if made == nil {
		return condition{}, errForeign
	}
	return condition{made.GetWhenClause()}, nil
}

// holds judges the condition of one row, or two: NULL is not true. The error is
// errForeign.
func (c condition) holds(columns scope) (bool, error) {
	is, err := columns.truth(c.node)
	return is == true, err
}

// truth is a condition's true, false or NULL, which is nil.
func (s scope) truth(n *pg.Node) (any, error) {
	v, err := s.value(n)
	if err != nil {
		return nil, err
	}
	if _, ok := v.(bool); !ok && v != nil {
		return nil, errForeign
	}
	return v, nil
}

func (s scope) value(n *pg.Node) (any, error) {
	switch {
	case n.GetAConst() != nil:
		return constant(n.GetAConst())
	case n.GetColumnRef() != nil:
		name := ""
		for i, f := range n.GetColumnRef().GetFields() {
			if i > 0 {
				name += "."
			}
			name += f.GetString_().GetSval()
		}
		if v, ok := s[name]; ok {
			return v, nil
		}
	case n.GetTypeCast() != nil:
		if cast := n.GetTypeCast(); keeps(cast.GetTypeName()) && len(cast.GetTypeName().GetArrayBounds()) == 0 {
			v, err := s.value(cast.GetArg())
			if text, ok := v.(string); ok && err == nil {
				return converted(text, cast.GetTypeName())
			} else if v == nil && err == nil {
				return nil, nil
			}
		}
	case n.GetNullTest() != nil:
		v, err := s.value(n.GetNullTest().GetArg())
		return (v == nil) == (n.GetNullTest().GetNulltesttype() == pg.NullTestType_IS_NULL), err
	case n.GetBoolExpr() != nil:
		return s.joined(n.GetBoolExpr())
	case n.GetAExpr() != nil:
		return s.operated(n.GetAExpr())
	case n.GetCaseExpr() != nil:
		return s.chosen(n.GetCaseExpr())
	case n.GetSubLink() != nil:
		return s.exists(n.GetSubLink())
	}
	return nil, errForeign
}

func constant(c *pg.A_Const) (any, error) {
	switch v := c.GetVal().(type) {
	case *pg.A_Const_Ival:
		return strconv.FormatInt(int64(v.Ival.GetIval()), 10), nil
	case *pg.A_Const_Sval:
		return v.Sval.GetSval(), nil
	case *pg.A_Const_Boolval:
		return v.Boolval.GetBoolval(), nil
	}
	return nil, errForeign
}

// converted is a value after a cast that keeps it: '007' is the integer 7.
func converted(text string, t *pg.TypeName) (any, error) {
	names := t.GetNames()
	if name := names[len(names)-1].GetString_().GetSval(); name == "text" || name == "varchar" {
		return text, nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return nil, errForeign
	}
	return strconv.FormatInt(n, 10), nil
}

// keeps reports whether a cast to the type changes nothing of a state, a
// version or a key.
func keeps(t *pg.TypeName) bool {
	names := t.GetNames()
	if len(names) == 0 || len(t.GetTypmods()) > 0 || len(names) > 1 && names[0].GetString_().GetSval() != "pg_catalog" {
		return false
	}
	return slices.Contains([]string{"text", "varchar", "int2", "int4", "int8"}, names[len(names)-1].GetString_().GetSval())
}

// joined is AND, OR and NOT. What comes first decides where it can.
func (s scope) joined(e *pg.BoolExpr) (any, error) {
	var is any = e.GetBoolop() == pg.BoolExprType_AND_EXPR
	for _, arg := range e.GetArgs() {
		v, err := s.truth(arg)
		switch {
		case err != nil:
			return nil, err
		case e.GetBoolop() == pg.BoolExprType_NOT_EXPR && v == nil:
			return nil, nil
		case e.GetBoolop() == pg.BoolExprType_NOT_EXPR:
			return v == false, nil
		case v == nil:
			is = nil
		case v == (e.GetBoolop() == pg.BoolExprType_OR_EXPR):
			return v, nil
		}
	}
	return is, nil
}

// chosen is a CASE; without an ELSE it may be NULL.
func (s scope) chosen(e *pg.CaseExpr) (any, error) {
	for _, arg := range e.GetArgs() {
		when, asks := arg.GetCaseWhen(), s.truth
		if e.GetArg() != nil { // CASE x WHEN 1 …
			asks = func(one *pg.Node) (any, error) { return s.compared("=", e.GetArg(), one) }
		}
		is, err := asks(when.GetExpr())
		if err != nil {
			return nil, err
		}
		if is == true {
			return s.value(when.GetResult())
		}
	}
	if e.GetDefresult() == nil {
		return nil, nil
	}
	return s.value(e.GetDefresult())
}

// exists is EXISTS over entries that the scope has, such as those of a history.
func (s scope) exists(e *pg.SubLink) (any, error) {
	query := e.GetSubselect().GetSelectStmt()
	if e.GetSubLinkType() != pg.SubLinkType_EXISTS_SUBLINK || len(query.GetFromClause()) != 1 ||
		query.GetWithClause() != nil || query.GetOp() != pg.SetOperation_SETOP_NONE || len(query.GetGroupClause()) > 0 ||
		query.GetHavingClause() != nil || query.GetLimitCount() != nil || query.GetLimitOffset() != nil || query.GetWhereClause() == nil {
		return nil, errForeign
	}
	table := query.GetFromClause()[0].GetRangeVar()
	entries, ok := s[entriesOf+table.GetRelname()].([]scope)
	if !ok || table.GetSchemaname() != "" || table.GetAlias() == nil {
		return nil, errForeign
	}
	for _, entry := range entries {
		all := maps.Clone(s)
		for column, v := range entry {
			all[table.GetAlias().GetAliasname()+"."+column] = v
		}
		if is, err := (condition{query.GetWhereClause()}).holds(all); is || err != nil {
			return is, err
		}
	}
	return false, nil
}
