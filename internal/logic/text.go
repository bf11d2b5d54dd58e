package logic

import (
	"strconv"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// printer writes an expression as text, the same for the same expression. It is
// the name of an opaque value, and is shown to people.
type printer struct {
	names map[int32]string
	// used are the names that were written, those of parameters with their @.
	used []string
	// odd is set when a part could not be written, so that the text is no name.
	odd bool
}

func (p *printer) list(nodes []*pg.Node) string {
	texts := make([]string, 0, len(nodes))
	for _, n := range nodes {
		texts = append(texts, p.node(n))
	}
	return strings.Join(texts, ", ")
}

func (p *printer) node(n *pg.Node) string {
	switch {
	case n == nil || n.GetNode() == nil:
		return ""
	case n.GetAConst() != nil:
		return p.constant(n.GetAConst())
	case n.GetColumnRef() != nil:
		parts := make([]string, 0, 1)
		for _, f := range n.GetColumnRef().GetFields() {
			parts = append(parts, identifier(f.GetString_().GetSval()))
		}
		if fields := n.GetColumnRef().GetFields(); len(fields) == 1 {
			p.used = append(p.used, fields[0].GetString_().GetSval())
		} else {
			p.odd = true
		}
		return strings.Join(parts, ".")
	case n.GetParamRef() != nil:
		name := "@" + p.names[n.GetParamRef().GetNumber()]
		p.used = append(p.used, name)
		return name
	case n.GetAExpr() != nil:
		return p.operation(n.GetAExpr())
	case n.GetBoolExpr() != nil:
		return p.boolean(n.GetBoolExpr())
	case n.GetNullTest() != nil:
		word := " IS NULL"
		if n.GetNullTest().GetNulltesttype() == pg.NullTestType_IS_NOT_NULL {
			word = " IS NOT NULL"
		}
		return p.operand(n.GetNullTest().GetArg()) + word
	case n.GetBooleanTest() != nil:
		word := strings.ReplaceAll(n.GetBooleanTest().GetBooltesttype().String(), "_", " ")
		return p.operand(n.GetBooleanTest().GetArg()) + " " + word
	case n.GetCaseExpr() != nil:
		return p.choice(n.GetCaseExpr())
	case n.GetCoalesceExpr() != nil:
		return "coalesce(" + p.list(n.GetCoalesceExpr().GetArgs()) + ")"
	case n.GetMinMaxExpr() != nil:
		name := "greatest("
		if n.GetMinMaxExpr().GetOp() == pg.MinMaxOp_IS_LEAST {
			name = "least("
		}
		return name + p.list(n.GetMinMaxExpr().GetArgs()) + ")"
	case n.GetTypeCast() != nil:
		return p.operand(n.GetTypeCast().GetArg()) + "::" + p.typeName(n.GetTypeCast().GetTypeName())
	case n.GetFuncCall() != nil:
		return p.call(n.GetFuncCall())
	case n.GetList() != nil:
		return "(" + p.list(n.GetList().GetItems()) + ")"
	case n.GetAArrayExpr() != nil:
		return "ARRAY[" + p.list(n.GetAArrayExpr().GetElements()) + "]"
	case n.GetRowExpr() != nil:
		return "ROW(" + p.list(n.GetRowExpr().GetArgs()) + ")"
	}
	p.odd = true
	return "an expression"
}

// operand writes a part of an operation in brackets, unless it is one word.
func (p *printer) operand(n *pg.Node) string {
	text := p.node(n)
	if n.GetAConst() != nil || n.GetColumnRef() != nil || n.GetParamRef() != nil || n.GetFuncCall() != nil || text == "" {
		return text
	}
	return "(" + text + ")"
}

func (p *printer) constant(c *pg.A_Const) string {
	switch {
	case c.GetIsnull():
		return "NULL"
	case c.GetSval() != nil:
		return quote(c.GetSval().GetSval())
	case c.GetBoolval() != nil:
		return strconv.FormatBool(c.GetBoolval().GetBoolval())
	case c.GetFval() != nil:
		return c.GetFval().GetFval()
	case c.GetBsval() != nil:
		return "B" + quote(c.GetBsval().GetBsval())
	}
	return strconv.Itoa(int(c.GetIval().GetIval()))
}

// kinds are the words of operations whose operator does not say it all.
var kinds = map[pg.A_Expr_Kind]string{
	pg.A_Expr_Kind_AEXPR_OP: "", pg.A_Expr_Kind_AEXPR_LIKE: "", pg.A_Expr_Kind_AEXPR_ILIKE: "",
	pg.A_Expr_Kind_AEXPR_OP_ANY: "ANY ", pg.A_Expr_Kind_AEXPR_OP_ALL: "ALL ", pg.A_Expr_Kind_AEXPR_IN: "IN ",
	pg.A_Expr_Kind_AEXPR_DISTINCT: "DISTINCT ", pg.A_Expr_Kind_AEXPR_NOT_DISTINCT: "NOT DISTINCT ",
	pg.A_Expr_Kind_AEXPR_NULLIF: "NULLIF ", pg.A_Expr_Kind_AEXPR_SIMILAR: "SIMILAR ",
	pg.A_Expr_Kind_AEXPR_BETWEEN: "", pg.A_Expr_Kind_AEXPR_NOT_BETWEEN: "",
	pg.A_Expr_Kind_AEXPR_BETWEEN_SYM: "", pg.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM: "",
}

func (p *printer) operation(e *pg.A_Expr) string {
	word, known := kinds[e.GetKind()]
	if !known || len(e.GetName()) != 1 {
		p.odd = true
	}
	left, right := p.operand(e.GetLexpr()), p.operand(e.GetRexpr())
	name := e.GetName()
	if len(name) == 1 && word == "" && left != "" {
		left += " "
	}
	text := left
	for _, part := range name {
		text += word + part.GetString_().GetSval() + " "
	}
	return text + right
}

func (p *printer) boolean(b *pg.BoolExpr) string {
	word := " AND "
	switch b.GetBoolop() {
	case pg.BoolExprType_NOT_EXPR:
		return "NOT " + p.operand(b.GetArgs()[0])
	case pg.BoolExprType_OR_EXPR:
		word = " OR "
	}
	texts := make([]string, 0, len(b.GetArgs()))
	for _, arg := range b.GetArgs() {
		texts = append(texts, p.operand(arg))
	}
	return strings.Join(texts, word)
}

func (p *printer) choice(c *pg.CaseExpr) string {
	text := "CASE " + p.operand(c.GetArg())
	for _, arg := range c.GetArgs() {
		text += " WHEN " + p.operand(arg.GetCaseWhen().GetExpr()) + " THEN " + p.operand(arg.GetCaseWhen().GetResult())
	}
	if c.GetDefresult() != nil {
		text += " ELSE " + p.operand(c.GetDefresult())
	}
	return text + " END"
}

func (p *printer) typeName(t *pg.TypeName) string {
	parts := make([]string, 0, 2)
	for _, n := range t.GetNames() {
		parts = append(parts, n.GetString_().GetSval())
	}
	text := strings.TrimPrefix(strings.Join(parts, "."), "pg_catalog.")
	if len(t.GetTypmods()) > 0 {
		text += "(" + p.list(t.GetTypmods()) + ")"
	}
	return text + strings.Repeat("[]", len(t.GetArrayBounds()))
}

func (p *printer) call(f *pg.FuncCall) string {
	if f.GetAggStar() || f.GetAggDistinct() || f.GetOver() != nil || f.GetAggFilter() != nil || len(f.GetAggOrder()) > 0 || f.GetFuncVariadic() {
		p.odd = true
	}
	return functionName(f) + "(" + p.list(f.GetArgs()) + ")"
}

// functionName returns the name of a call without the grammar's own schema.
func functionName(f *pg.FuncCall) string {
	parts := make([]string, 0, 2)
	for _, n := range f.GetFuncname() {
		parts = append(parts, n.GetString_().GetSval())
	}
	return strings.TrimPrefix(strings.Join(parts, "."), "pg_catalog.")
}

func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// identifier writes a name, in double quotes where it would be read otherwise.
func identifier(name string) string {
	plain := func(r rune) bool { return r == '_' || 'a' <= r && r <= 'z' || '0' <= r && r <= '9' }
	if name != "" && strings.IndexFunc(name, func(r rune) bool { return !plain(r) }) < 0 {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}
