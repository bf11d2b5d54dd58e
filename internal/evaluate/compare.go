package evaluate

import (
	"cmp"
	"math"
	"math/big"
	"time"
)

// comparisons have what each operator wants of the order of two values.
var comparisons = map[string]func(order int) bool{
	"=":  func(order int) bool { return order == 0 },
	"<>": func(order int) bool { return order != 0 },
	"!=": func(order int) bool { return order != 0 },
	"<":  func(order int) bool { return order < 0 },
	"<=": func(order int) bool { return order <= 0 },
	">":  func(order int) bool { return order > 0 },
	">=": func(order int) bool { return order >= 0 },
}

// comparison compares two terms as the type that both have in common.
func comparison(test func(order int) bool, left, right term) (term, error) {
	left, right, err := together("=", left, right)
	if err != nil {
		return term{}, err
	}
	k, ok := common([]term{left, right})
	if !ok {
		return term{}, unsupported("a comparison of %s with %s", left.kind, right.kind)
	}
	switch k {
	case others, unknown:
		return term{}, unsupported("a comparison of %s", k)
	case texts:
		if test(-1) != test(1) { // texts are equal or not wherever they are; their order is the database's
			return term{}, unsupported("the order of texts")
		}
	}
	if left, err = implicit(left, k); err == nil {
		right, err = implicit(right, k)
	}
	if err != nil {
		return term{}, err
	}
	return strict(bools, func(a, b any) (any, error) { return test(order(a, b)), nil }, left, right), nil
}

// order compares two values of one kind.
func order(a, b any) int {
	switch a := a.(type) {
	case bool:
		switch {
		case a == b:
			return 0
		case a:
			return 1
		}
		return -1
	case int64:
		return cmp.Compare(a, b.(int64))
	case *big.Rat:
		return a.Cmp(b.(*big.Rat))
	case float64:
		return compareFloats(a, b.(float64))
	case string:
		return cmp.Compare(a, b.(string))
	case time.Time:
		return a.Compare(b.(time.Time))
	case day:
		return cmp.Compare(a, b.(day))
	case span:
		return a.length().Cmp(b.(span).length())
	}
	return 0
}

// compareFloats has NaN equal to itself and above all others, as PostgreSQL has.
func compareFloats(a, b float64) int {
	switch {
	case math.IsNaN(a) && math.IsNaN(b):
		return 0
	case math.IsNaN(a):
		return 1
	case math.IsNaN(b):
		return -1
	}
	return cmp.Compare(a, b)
}

// common is the type that several terms are made, as CASE and COALESCE need: of
// the numbers the widest, of a date and a time the time. Literals go with the rest.
func common(terms []term) (kind, bool) {
	k := unknown
	for _, t := range terms {
		switch {
		case t.kind == unknown, t.kind == k:
		case k == unknown:
			k = t.kind
		case k.number() && t.kind.number():
			k = max(k, t.kind)
		case k == moments && t.kind == dates, k == dates && t.kind == moments:
			k = moments
		default:
			return unknown, false
		}
	}
	return k, true
}

// implicit makes a term of a type that its own goes into without being asked.
func implicit(t term, k kind) (term, error) {
	t, err := t.as(k)
	switch {
	case err != nil || t.kind == k:
		return t, err
	case t.kind.integer() && k.integer():
		return term{kind: k, eval: t.eval}, nil
	case t.kind.integer() && k == numerics:
		return strict1(k, func(v any) (any, error) { return new(big.Rat).SetInt64(v.(int64)), nil }, t), nil
	case t.kind.integer() && k == float8s:
		return strict1(k, func(v any) (any, error) { return float64(v.(int64)), nil }, t), nil
	case t.kind == numerics && k == float8s:
		return strict1(k, func(v any) (any, error) { f, _ := v.(*big.Rat).Float64(); return f, nil }, t), nil
	case t.kind == dates && k == moments:
		return strict1(k, func(v any) (any, error) { return v.(day).time(), nil }, t), nil
	}
	return term{}, unsupported("%s as %s", t.kind, k)
}
