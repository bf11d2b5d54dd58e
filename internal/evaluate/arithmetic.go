package evaluate

import (
	"math"
	"math/big"
)

// bounds of the integer types.
var (
	lowest  = map[kind]int64{int2s: math.MinInt16, int4s: math.MinInt32, int8s: math.MinInt64}
	highest = map[kind]int64{int2s: math.MaxInt16, int4s: math.MaxInt32, int8s: math.MaxInt64}
)

// bounded refuses a whole number that its type does not hold.
func bounded(k kind, v int64) (any, error) {
	if v < lowest[k] || v > highest[k] {
		return nil, failure(outOfRange, "%s out of range", k)
	}
	return v, nil
}

// boundedBig is bounded for what an operation may have led to.
func boundedBig(k kind, v *big.Int) (any, error) {
	if !v.IsInt64() {
		return nil, failure(outOfRange, "%s out of range", k)
	}
	return bounded(k, v.Int64())
}

// prefix is an operator before a term.
func prefix(name string, arg term) (term, error) {
	switch {
	case name == "+" && arg.kind.number():
		return arg, nil
	case name == "-" && arg.kind.number():
		zero, err := implicit(constant(int2s, int64(0)), arg.kind)
		if err != nil {
			return term{}, err
		}
		if arg.kind == float8s {
			return strict1(float8s, func(v any) (any, error) { return -v.(float64), nil }, arg), nil
		}
		return arithmetic("-", zero, arg)
	}
	return term{}, unsupported("operator %s before %s", name, arg.kind)
}

// arithmetic is an operator between two numbers: of whole numbers as the wider of
// their types, else as numeric, or as double precision where one of them is.
func arithmetic(name string, left, right term) (term, error) {
	k, _ := common([]term{left, right})
	left, err := implicit(left, k)
	if err == nil {
		right, err = implicit(right, k)
	}
	if err != nil {
		return term{}, err
	}
	var f func(a, b any) (any, error)
	switch k {
	case numerics:
		f = decimals(name)
	case float8s:
		f = floats(name)
	default:
		f = integers(name, k)
	}
	if f == nil {
		return term{}, unsupported("%s %s %s", k, name, k)
	}
	return strict(k, f, left, right), nil
}

func integers(name string, k kind) func(a, b any) (any, error) {
	var f func(z, x, y *big.Int) *big.Int
	switch name {
	case "+":
		f = (*big.Int).Add
	case "-":
		f = (*big.Int).Sub
	case "*":
		f = (*big.Int).Mul
	case "/":
		f = (*big.Int).Quo
	case "%":
		f = (*big.Int).Rem
	default:
		return nil
	}
	return func(a, b any) (any, error) {
		if (name == "/" || name == "%") && b.(int64) == 0 {
			return nil, failure(divideByZero, "division by zero")
		}
		return boundedBig(k, f(new(big.Int), big.NewInt(a.(int64)), big.NewInt(b.(int64))))
	}
}

// decimals leaves division out, whose digits depend on how its operands are written.
func decimals(name string) func(a, b any) (any, error) {
	var f func(z, x, y *big.Rat) *big.Rat
	switch name {
	case "+":
		f = (*big.Rat).Add
	case "-":
		f = (*big.Rat).Sub
	case "*":
		f = (*big.Rat).Mul
	default:
		return nil
	}
	return func(a, b any) (any, error) { return f(new(big.Rat), a.(*big.Rat), b.(*big.Rat)), nil }
}

func floats(name string) func(a, b any) (any, error) {
	var f func(x, y float64) float64
	switch name {
	case "+":
		f = func(x, y float64) float64 { return x + y }
	case "-":
		f = func(x, y float64) float64 { return x - y }
	case "*":
		f = func(x, y float64) float64 { return x * y }
	case "/":
		f = func(x, y float64) float64 { return x / y }
	default:
		return nil
	}
	return func(a, b any) (any, error) {
		x, y := a.(float64), b.(float64)
		if name == "/" && y == 0 {
			return nil, failure(divideByZero, "division by zero")
		}
		z := f(x, y)
		switch {
		case math.IsInf(z, 0) && !math.IsInf(x, 0) && !math.IsInf(y, 0):
			return nil, failure(outOfRange, "value out of range: overflow")
		case z == 0 && name == "*" && x != 0 && y != 0, z == 0 && name == "/" && x != 0 && !math.IsInf(y, 0):
			return nil, failure(outOfRange, "value out of range: underflow")
		}
		return z, nil
	}
}
