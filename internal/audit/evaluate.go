package audit

import (
	"errors"
	"slices"
	"strconv"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/pawl-go/pawl/internal/pgparse"
)

// errForeign says that a condition is not made of what migrations write, so
// that nothing is said of it.
var errForeign = errors.New("not a condition that a migration writes")

// condition is what a CHECK or a trigger's WHEN says. It is judged here and not
// in the database: what somebody planted there is not run.
type condition struct{ node *pg.Node }

// scope are the columns that a condition may name, as "status" or
// "old.status". Values are bool, or string for everything else.
type scope map[string]any

// readCondition parses an expression as PostgreSQL shows it.
func readCondition(text string) (condition, error) {
	result, err := pgparse.Parse("SELECT " + text)
	if err != nil || len(result.GetStmts()) != 1 {
		return condition{}, errForeign
	}
	targets := result.GetStmts()[0].GetStmt().GetSelectStmt().GetTargetList()
	if len(targets) != 1 {
		return condition{}, errForeign
	}
	return condition{targets[0].GetResTarget().GetVal()}, nil
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

// holds judges the condition of one row, or two. The error is errForeign.
func (c condition) holds(columns scope) (bool, error) {
	v, err := columns.value(c.node)
	if err != nil {
		return false, err
	}
	b, ok := v.(bool)
	if !ok {
		return false, errForeign
	}
	return b, nil
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
			}
		}
	case n.GetNullTest() != nil: // no value is NULL
		_, err := s.value(n.GetNullTest().GetArg())
		return n.GetNullTest().GetNulltesttype() == pg.NullTestType_IS_NOT_NULL, err
	case n.GetBoolExpr() != nil:
		return s.joined(n.GetBoolExpr())
	case n.GetAExpr() != nil:
		return s.operated(n.GetAExpr())
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

// joined is AND, OR and NOT. No value is NULL.
func (s scope) joined(e *pg.BoolExpr) (any, error) {
	for _, arg := range e.GetArgs() {
		v, err := condition{arg}.holds(s)
		switch {
		case err != nil:
			return nil, err
		case e.GetBoolop() == pg.BoolExprType_NOT_EXPR:
			return !v, nil
		case v == (e.GetBoolop() == pg.BoolExprType_OR_EXPR):
			return v, nil
		}
	}
	return e.GetBoolop() == pg.BoolExprType_AND_EXPR, nil
}

// operated is a comparison or a sum, or a comparison with each of an array.
func (s scope) operated(e *pg.A_Expr) (any, error) {
	if len(e.GetName()) != 1 || e.GetLexpr() == nil {
		return nil, errForeign // of another schema, or a sign
	}
	operator := e.GetName()[0].GetString_().GetSval()
	left, err := s.value(e.GetLexpr())
	if err != nil {
		return nil, err
	}
	every := e.GetKind() == pg.A_Expr_Kind_AEXPR_OP_ALL
	switch e.GetKind() {
	case pg.A_Expr_Kind_AEXPR_OP:
		right, err := s.value(e.GetRexpr())
		if err != nil {
			return nil, err
		}
		return operate(operator, left, right)
	case pg.A_Expr_Kind_AEXPR_OP_ANY, pg.A_Expr_Kind_AEXPR_OP_ALL:
	default:
		return nil, errForeign
	}
	array := e.GetRexpr()
	if cast := array.GetTypeCast(); cast != nil && keeps(cast.GetTypeName()) {
		array = cast.GetArg()
	}
	if array.GetAArrayExpr() == nil {
		return nil, errForeign
	}
	for _, element := range array.GetAArrayExpr().GetElements() {
		right, err := s.value(element)
		if err != nil {
			return nil, err
		}
		is, err := operate(operator, left, right)
		if is == !every || err != nil {
			return is, err
		}
	}
	return every, nil
}

func operate(operator string, left, right any) (any, error) {
	a, isText := left.(string)
	b, areTexts := right.(string)
	if !isText || !areTexts {
		return nil, errForeign
	}
	switch operator {
	case "=":
		return a == b, nil
	case "<>":
		return a != b, nil
	}
	n, err := strconv.ParseInt(a, 10, 32) // neither a sum nor a version of a scope is larger
	m, failed := strconv.ParseInt(b, 10, 32)
	if err != nil || failed != nil {
		return nil, errForeign
	}
	switch operator {
	case "+":
		return strconv.FormatInt(n+m, 10), nil
	case "<":
		return n < m, nil
	case "<=":
		return n <= m, nil
	case ">":
		return n > m, nil
	case ">=":
		return n >= m, nil
	}
	return nil, errForeign
}
