package evaluate

import (
	pg "github.com/pganalyze/pg_query_go/v6"
)

// alike reads terms and makes them of the type that they have in common, text
// where all are literals.
func (r *reader) alike(nodes []*pg.Node) ([]term, kind, error) {
	terms, err := r.all(nodes)
	if err != nil {
		return nil, unknown, err
	}
	k, err := unify(terms)
	return terms, k, err
}

// unify makes terms of one type, in place.
func unify(terms []term) (kind, error) {
	k, ok := common(terms)
	if !ok {
		return k, unsupported("values of different types in one place")
	}
	if k == unknown {
		k = texts
	}
	for i := range terms {
		var err error
		if terms[i], err = implicit(terms[i], k); err != nil {
			return k, err
		}
	}
	return k, nil
}

// cases reads CASE, which works out nothing behind the branch that it takes.
func (r *reader) cases(c *pg.CaseExpr) (term, error) {
	var conditions []term
	var nodes []*pg.Node
	for _, arg := range c.GetArgs() {
		w := arg.GetCaseWhen()
		condition, err := r.when(c.GetArg(), w.GetExpr())
		if err != nil {
			return term{}, err
		}
		conditions, nodes = append(conditions, condition), append(nodes, w.GetResult())
	}
	if c.GetDefresult() != nil {
		nodes = append(nodes, c.GetDefresult())
	}
	results, k, err := r.alike(nodes)
	if err != nil {
		return term{}, err
	}
	return term{kind: k, eval: func(s *scope) (any, error) {
		for i, condition := range conditions {
			v, err := condition.eval(s)
			if err != nil {
				return nil, err
			}
			if v == true {
				return results[i].eval(s)
			}
		}
		if len(results) > len(conditions) {
			return results[len(conditions)].eval(s)
		}
		return nil, nil
	}}, nil
}

// when reads the condition of a branch; of is what CASE compares, nil for a CASE
// of conditions.
func (r *reader) when(of, n *pg.Node) (term, error) {
	condition, err := r.read(n)
	if err != nil {
		return term{}, err
	}
	if of == nil {
		return condition.as(bools)
	}
	compared, err := r.read(of)
	if err != nil {
		return term{}, err
	}
	if compared.kind == unknown {
		if compared, err = compared.as(texts); err != nil {
			return term{}, err
		}
	}
	return binary("=", compared, condition)
}

func (r *reader) coalesce(nodes []*pg.Node) (term, error) {
	terms, k, err := r.alike(nodes)
	if err != nil {
		return term{}, err
	}
	return term{kind: k, eval: func(s *scope) (any, error) {
		for _, t := range terms {
			if v, err := t.eval(s); err != nil || v != nil {
				return v, err
			}
		}
		return nil, nil
	}}, nil
}

// extreme reads GREATEST and LEAST, which pass over NULL.
func (r *reader) extreme(m *pg.MinMaxExpr) (term, error) {
	terms, k, err := r.alike(m.GetArgs())
	if err != nil {
		return term{}, err
	}
	if k == texts || k == others {
		return term{}, unsupported("the order of %s", k)
	}
	sign := 1
	if m.GetOp() == pg.MinMaxOp_IS_LEAST {
		sign = -1
	}
	return term{kind: k, eval: func(s *scope) (any, error) {
		var best any
		for _, t := range terms {
			v, err := t.eval(s)
			if err != nil {
				return nil, err
			}
			if v != nil && (best == nil || order(v, best)*sign > 0) {
				best = v
			}
		}
		return best, nil
	}}, nil
}
