package evaluate

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// operation reads an operator, and what the grammar makes of one.
func (r *reader) operation(e *pg.A_Expr) (term, error) {
	name := ""
	if names := e.GetName(); len(names) > 0 {
		name = names[len(names)-1].GetString_().GetSval()
	}
	switch e.GetKind() {
	case pg.A_Expr_Kind_AEXPR_OP:
		return r.plain(name, e)
	case pg.A_Expr_Kind_AEXPR_LIKE:
		return r.plain(name, e)
	case pg.A_Expr_Kind_AEXPR_IN:
		return r.in(name, e)
	case pg.A_Expr_Kind_AEXPR_OP_ANY, pg.A_Expr_Kind_AEXPR_OP_ALL:
		return r.some(name, e)
	case pg.A_Expr_Kind_AEXPR_DISTINCT, pg.A_Expr_Kind_AEXPR_NOT_DISTINCT:
		return r.distinct(e)
	case pg.A_Expr_Kind_AEXPR_NULLIF:
		return r.nullif(e)
	case pg.A_Expr_Kind_AEXPR_BETWEEN, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN, pg.A_Expr_Kind_AEXPR_BETWEEN_SYM, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
		return r.between(e)
	}
	return term{}, unsupported("operator %s", name)
}

func (r *reader) both(e *pg.A_Expr) (left, right term, err error) {
	if left, err = r.read(e.GetLexpr()); err != nil {
		return left, right, err
	}
	right, err = r.read(e.GetRexpr())
	return left, right, err
}

func (r *reader) plain(name string, e *pg.A_Expr) (term, error) {
	if e.GetLexpr() == nil {
		arg, err := r.read(e.GetRexpr())
		if err != nil {
			return term{}, err
		}
		return prefix(name, arg)
	}
	left, right, err := r.both(e)
	if err != nil {
		return term{}, err
	}
	return binary(name, left, right)
}

// binary is an operator between two terms.
func binary(name string, left, right term) (term, error) {
	if test := comparisons[name]; test != nil {
		return comparison(test, left, right)
	}
	left, right, err := together(name, left, right)
	if err != nil {
		return term{}, err
	}
	switch {
	case name == "||" && left.kind == texts && right.kind == texts:
		return strict(texts, func(a, b any) (any, error) { return a.(string) + b.(string), nil }, left, right), nil
	case (name == "~~" || name == "!~~") && left.kind == texts && right.kind == texts:
		return strict(bools, func(a, b any) (any, error) {
			matches, err := like(a.(string), b.(string))
			return matches == (name == "~~"), err
		}, left, right), nil
	case left.kind.number() && right.kind.number():
		return arithmetic(name, left, right)
	case left.kind == moments || left.kind == dates || left.kind == spans || right.kind == moments || right.kind == dates || right.kind == spans:
		return calendar(name, left, right)
	}
	return term{}, unsupported("%s %s %s", left.kind, name, right.kind)
}

// together gives literals beside an operator their types: that of the other side,
// but for what is added to a time.
func together(name string, left, right term) (term, term, error) {
	var err error
	switch {
	case left.kind == unknown && right.kind == unknown:
		if left, err = left.as(texts); err == nil {
			right, err = right.as(texts)
		}
	case right.kind == unknown:
		k := left.kind
		if k == moments && name == "+" {
			k = spans
		}
		if k == dates && name != "-" {
			return left, right, unsupported("date %s and a quoted literal", name)
		}
		right, err = right.as(k)
	case left.kind == unknown:
		k := right.kind
		if k == moments && name == "+" {
			k = spans
		}
		if k == dates || k == spans {
			return left, right, unsupported("a quoted literal %s %s", name, k)
		}
		left, err = left.as(k)
	}
	return left, right, err
}

// strict is a function of values that is NULL where one of them is. All are worked
// out, even behind one that is NULL.
func strict(k kind, f func(a, b any) (any, error), left, right term) term {
	return term{kind: k, eval: func(s *scope) (any, error) {
		a, err := left.eval(s)
		if err != nil {
			return nil, err
		}
		b, err := right.eval(s)
		if err != nil || a == nil || b == nil {
			return nil, err
		}
		return f(a, b)
	}}
}

// strict1 is strict for one value.
func strict1(k kind, f func(a any) (any, error), arg term) term {
	return term{kind: k, eval: func(s *scope) (any, error) {
		a, err := arg.eval(s)
		if err != nil || a == nil {
			return nil, err
		}
		return f(a)
	}}
}

// in reads IN and NOT IN. Where the list has two values or more without a column in
// them, their literals are read as the type that all of them have in common.
func (r *reader) in(name string, e *pg.A_Expr) (term, error) {
	left, err := r.read(e.GetLexpr())
	if err != nil {
		return term{}, err
	}
	nodes := e.GetRexpr().GetList().GetItems()
	items, err := r.all(nodes)
	if err != nil {
		return term{}, err
	}
	listed := []term{left}
	for i, n := range nodes {
		if !seesRow(n) {
			listed = append(listed, items[i])
		}
	}
	if k, ok := common(listed); ok && len(listed) > 2 {
		for i, n := range nodes {
			if !seesRow(n) {
				if items[i], err = items[i].as(k); err != nil {
					return term{}, err
				}
			}
		}
		if left, err = left.as(k); err != nil {
			return term{}, err
		}
	}
	return among(name, left, items, name == "=")
}

// seesRow reports whether a column is in a node.
func seesRow(n *pg.Node) bool { return strings.Contains(n.String(), "column_ref") }

// among compares with each item: one of them, or all, must hold.
func among(name string, left term, items []term, one bool) (term, error) {
	tests := make([]term, len(items))
	for i, item := range items {
		var err error
		if tests[i], err = binary(name, left, item); err != nil {
			return term{}, err
		}
		if tests[i].kind != bools {
			return term{}, failure(badTypes, "%s gives no condition", name)
		}
	}
	return junction(tests, one), nil
}

// some reads = ANY (ARRAY[…]) and the like. The array is worked out first.
func (r *reader) some(name string, e *pg.A_Expr) (term, error) {
	array := e.GetRexpr().GetAArrayExpr()
	if array == nil {
		return term{}, unsupported("ANY and ALL of what is no ARRAY[…]")
	}
	left, err := r.read(e.GetLexpr())
	if err != nil {
		return term{}, err
	}
	items, k, err := r.alike(array.GetElements())
	if err != nil {
		return term{}, err
	}
	if k == unknown || k == others {
		return term{}, unsupported("an array of %s", k)
	}
	return among(name, left, items, e.GetKind() == pg.A_Expr_Kind_AEXPR_OP_ANY)
}

func (r *reader) distinct(e *pg.A_Expr) (term, error) {
	left, right, err := r.both(e)
	if err != nil {
		return term{}, err
	}
	equal, err := comparison(comparisons["="], left, right)
	if err != nil {
		if left.isNull() || right.isNull() {
			equal, err = constant(bools, nil), nil // a comparison with NULL asks for no operator
		} else {
			return term{}, err
		}
	}
	if left, right, err = together("=", left, right); err != nil {
		return term{}, err
	}
	wanted := e.GetKind() == pg.A_Expr_Kind_AEXPR_NOT_DISTINCT
	return term{kind: bools, eval: func(s *scope) (any, error) {
		a, err := left.eval(s)
		if err != nil {
			return nil, err
		}
		b, err := right.eval(s)
		if err != nil {
			return nil, err
		}
		if a == nil || b == nil {
			return (a == nil && b == nil) == wanted, nil
		}
		v, err := equal.eval(s)
		return v == wanted, err
	}}, nil
}

// isNull reports whether a term is the word NULL.
func (t term) isNull() bool { return t.kind == unknown && t.quoted == nil }

func (r *reader) nullif(e *pg.A_Expr) (term, error) {
	left, right, err := r.both(e)
	if err != nil {
		return term{}, err
	}
	equal, err := comparison(comparisons["="], left, right)
	if err != nil {
		return term{}, err
	}
	if left, _, err = together("=", left, right); err != nil {
		return term{}, err
	}
	return term{kind: left.kind, eval: func(s *scope) (any, error) {
		same, err := equal.eval(s)
		if err != nil || same == true {
			return nil, err
		}
		return left.eval(s)
	}}, nil
}

func (r *reader) between(e *pg.A_Expr) (term, error) {
	arg, err := r.read(e.GetLexpr())
	if err != nil {
		return term{}, err
	}
	bounds, err := r.all(e.GetRexpr().GetList().GetItems())
	if err != nil {
		return term{}, err
	}
	if len(bounds) != 2 {
		return term{}, unsupported("BETWEEN")
	}
	within := func(low, high term) (term, error) {
		from, err := binary(">=", arg, low)
		if err != nil {
			return term{}, err
		}
		to, err := binary("<=", arg, high)
		return junction([]term{from, to}, false), err
	}
	test, err := within(bounds[0], bounds[1])
	if err != nil {
		return term{}, err
	}
	switch e.GetKind() {
	case pg.A_Expr_Kind_AEXPR_BETWEEN_SYM, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
		other, err := within(bounds[1], bounds[0])
		if err != nil {
			return term{}, err
		}
		test = junction([]term{test, other}, true)
	}
	switch e.GetKind() {
	case pg.A_Expr_Kind_AEXPR_NOT_BETWEEN, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
		return strict1(bools, func(v any) (any, error) { return !v.(bool), nil }, test), nil
	}
	return test, nil
}
