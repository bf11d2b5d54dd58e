package audit

import (
	"strconv"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// operated is a comparison or a sum, or a comparison with each of an array.
func (s scope) operated(e *pg.A_Expr) (any, error) {
	if len(e.GetName()) != 1 || e.GetLexpr() == nil {
		return nil, errForeign // of another schema, or a sign
	}
	operator := e.GetName()[0].GetString_().GetSval()
	switch e.GetKind() {
	case pg.A_Expr_Kind_AEXPR_OP:
		return s.compared(operator, e.GetLexpr(), e.GetRexpr())
	case pg.A_Expr_Kind_AEXPR_IN: // its operator says whether it is NOT IN
		return s.each(operator, e.GetLexpr(), e.GetRexpr().GetList().GetItems(), operator == "<>")
	case pg.A_Expr_Kind_AEXPR_OP_ANY, pg.A_Expr_Kind_AEXPR_OP_ALL:
		array := e.GetRexpr()
		if cast := array.GetTypeCast(); cast != nil && keeps(cast.GetTypeName()) {
			array = cast.GetArg()
		}
		if array.GetAArrayExpr() != nil {
			return s.each(operator, e.GetLexpr(), array.GetAArrayExpr().GetElements(), e.GetKind() == pg.A_Expr_Kind_AEXPR_OP_ALL)
		}
	}
	return nil, errForeign
}

func (s scope) compared(operator string, a, b *pg.Node) (any, error) {
	left, err := s.value(a)
	if err != nil {
		return nil, err
	}
	right, err := s.value(b)
	if err != nil {
		return nil, err
	}
	return operate(operator, left, right)
}

// each compares with every element, of which every one or any one has to do.
func (s scope) each(operator string, a *pg.Node, elements []*pg.Node, every bool) (any, error) {
	var all any = every
	for _, element := range elements {
		is, err := s.compared(operator, a, element)
		if is == !every || err != nil {
			return is, err
		}
		if is == nil {
			all = nil
		}
	}
	return all, nil
}

func operate(operator string, left, right any) (any, error) {
	if left == nil || right == nil {
		return nil, nil
	}
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
