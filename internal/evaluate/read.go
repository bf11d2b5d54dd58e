package evaluate

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/oracle"
)

// scope is what an expression is evaluated in.
type scope struct {
	*Judge
	oracle.Context
}

// term is an expression whose type is known.
type term struct {
	kind kind
	eval func(*scope) (any, error)
	// quoted is the text of an unknown literal, nil for NULL.
	quoted *string
}

// constant is a term that is always the same.
func constant(k kind, v any) term {
	return term{kind: k, eval: func(*scope) (any, error) { return v, nil }}
}

// as gives a literal whose type is not known the type that it is needed as, and
// returns any other term as it is.
func (t term) as(k kind) (term, error) {
	switch {
	case t.kind != unknown:
		if k == bools && t.kind != bools {
			return term{}, failure(badTypes, "%s where a condition is needed", t.kind)
		}
		return t, nil
	case t.quoted == nil:
		return constant(k, nil), nil
	}
	v, err := parse(k, *t.quoted)
	if err != nil {
		return term{}, err
	}
	return constant(k, v), nil
}

// reader turns a parse tree into terms.
type reader struct {
	columns map[string]kind
	params  map[int32]*model.Param
	names   map[int32]string
}

// read reads one node.
func (r *reader) read(n *pg.Node) (term, error) {
	switch {
	case n.GetAConst() != nil:
		return literal(n.GetAConst())
	case n.GetColumnRef() != nil:
		return r.column(n.GetColumnRef())
	case n.GetParamRef() != nil:
		return r.param(n.GetParamRef())
	case n.GetAExpr() != nil:
		return r.operation(n.GetAExpr())
	case n.GetBoolExpr() != nil:
		return r.logic(n.GetBoolExpr())
	case n.GetNullTest() != nil:
		return r.nullTest(n.GetNullTest())
	case n.GetBooleanTest() != nil:
		return r.truthTest(n.GetBooleanTest())
	case n.GetCaseExpr() != nil:
		return r.cases(n.GetCaseExpr())
	case n.GetCoalesceExpr() != nil:
		return r.coalesce(n.GetCoalesceExpr().GetArgs())
	case n.GetMinMaxExpr() != nil:
		return r.extreme(n.GetMinMaxExpr())
	case n.GetTypeCast() != nil:
		return r.cast(n.GetTypeCast())
	case n.GetFuncCall() != nil:
		return r.call(n.GetFuncCall())
	}
	return term{}, unsupported("%s", construct(n))
}

// construct names a node that is not known.
func construct(n *pg.Node) string {
	name := "this form of SQL"
	m := n.ProtoReflect()
	if f := m.WhichOneof(m.Descriptor().Oneofs().ByName("node")); f != nil {
		name = string(f.Name())
	}
	return strings.ReplaceAll(name, "_", " ")
}

func (r *reader) all(nodes []*pg.Node) ([]term, error) {
	terms := make([]term, len(nodes))
	for i, n := range nodes {
		var err error
		if terms[i], err = r.read(n); err != nil {
			return nil, err
		}
	}
	return terms, nil
}

func (r *reader) column(c *pg.ColumnRef) (term, error) {
	name := ""
	if len(c.GetFields()) == 1 {
		name = c.GetFields()[0].GetString_().GetSval()
	}
	k, declared := r.columns[name]
	if !declared {
		return term{}, failure(noSuchColumn, "there is no column %q", name)
	}
	return term{kind: k, eval: func(s *scope) (any, error) {
		v := s.Row[name]
		if state, is := v.(string); is && k.integer() {
			return s.code(state)
		}
		return load(k, v)
	}}, nil
}

// code is what the status column holds for a state.
func (j *Judge) code(state string) (any, error) {
	s := j.machine.State(state)
	if s == nil {
		return nil, unsupported("the code of %q", state)
	}
	return int64(s.Code), nil
}

func (r *reader) param(p *pg.ParamRef) (term, error) {
	declared := r.params[p.GetNumber()]
	if declared == nil {
		return term{}, failure(noSuchColumn, "there is no parameter %q", r.names[p.GetNumber()])
	}
	k, name := kindOf(declared.Type), declared.Name
	return term{kind: k, eval: func(s *scope) (any, error) { return load(k, s.Params[name]) }}, nil
}

// logic reads AND, OR and NOT.
func (r *reader) logic(b *pg.BoolExpr) (term, error) {
	args, err := r.all(b.GetArgs())
	if err != nil {
		return term{}, err
	}
	for i := range args {
		if args[i], err = args[i].as(bools); err != nil {
			return term{}, err
		}
	}
	if b.GetBoolop() == pg.BoolExprType_NOT_EXPR {
		return term{kind: bools, eval: func(s *scope) (any, error) {
			v, err := args[0].eval(s)
			if truth, known := v.(bool); known {
				return !truth, err
			}
			return nil, err
		}}, nil
	}
	return junction(args, b.GetBoolop() == pg.BoolExprType_OR_EXPR), nil
}

// junction is AND of conditions, or OR: it stops at the first that decides.
func junction(args []term, decides bool) term {
	return term{kind: bools, eval: func(s *scope) (any, error) {
		var open bool
		for i, a := range args {
			v, err := a.eval(s)
			if err != nil {
				return nil, passed(err, args[i+1:], s, decides)
			}
			switch truth, known := v.(bool); {
			case !known:
				open = true
			case truth == decides:
				return decides, nil
			}
		}
		if open {
			return nil, nil
		}
		return !decides, nil
	}}
}

// passed is the failure of a condition, with a word on whether one of the rest decides
// without it.
func passed(err error, rest []term, s *scope, decides bool) error {
	f, fails := err.(*Failure) //nolint:errorlint // they are made here and wrapped by nobody
	if !fails || !slices.ContainsFunc(rest, func(a term) bool {
		v, err := a.eval(s)
		return err == nil && v == decides
	}) {
		return err
	}
	return &Failure{f.State, f.Message, f.Pos, true}
}

func (r *reader) nullTest(n *pg.NullTest) (term, error) {
	if n.GetArg().GetRowExpr() != nil {
		return term{}, unsupported("IS NULL of a row")
	}
	arg, err := r.read(n.GetArg())
	if err != nil {
		return term{}, err
	}
	if arg, err = arg.as(texts); err != nil {
		return term{}, err
	}
	wanted := n.GetNulltesttype() == pg.NullTestType_IS_NULL
	return term{kind: bools, eval: func(s *scope) (any, error) {
		v, err := arg.eval(s)
		return (v == nil) == wanted, err
	}}, nil
}

// truthTest reads IS TRUE, IS NOT FALSE, IS UNKNOWN and the like.
func (r *reader) truthTest(b *pg.BooleanTest) (term, error) {
	arg, err := r.read(b.GetArg())
	if err != nil {
		return term{}, err
	}
	if arg, err = arg.as(bools); err != nil {
		return term{}, err
	}
	return term{kind: bools, eval: func(s *scope) (any, error) {
		v, err := arg.eval(s)
		truth, known := v.(bool)
		switch b.GetBooltesttype() {
		case pg.BoolTestType_IS_TRUE:
			return known && truth, err
		case pg.BoolTestType_IS_NOT_TRUE:
			return !known || !truth, err
		case pg.BoolTestType_IS_FALSE:
			return known && !truth, err
		case pg.BoolTestType_IS_NOT_FALSE:
			return !known || truth, err
		case pg.BoolTestType_IS_UNKNOWN:
			return !known, err
		}
		return known, err
	}}, nil
}
