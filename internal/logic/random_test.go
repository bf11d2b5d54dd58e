package logic_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/pawl-go/pawl/internal/logic"
)

// env is one row with parameters of the small domain: nil is NULL.
type env struct {
	a, b, p *int
	ok      *bool
	t, u    *string
}

// expression is a random condition: its SQL, and its value by the rules of SQL
// as the test states them, apart from the package. nil is NULL.
type expression struct {
	sql  string
	eval func(env) *bool
}

// smallVars is the domain in which everything can be tried: a and @p from -2 to
// 2, b likewise or NULL, ok true, false or NULL, t two texts or NULL, u three.
func smallVars() ([]logic.Var, []string) {
	return []logic.Var{
			{Name: "a", Kind: logic.Int, Bits: 64}, {Name: "b", Kind: logic.Int, Bits: 32, Optional: true},
			{Name: "p", Param: true, Kind: logic.Int, Bits: 16}, {Name: "ok", Kind: logic.Bool, Optional: true},
			{Name: "t", Kind: logic.Text, Length: 2, Optional: true}, {Name: "u", Kind: logic.Text},
		}, []string{
			"a BETWEEN -2 AND 2", "b >= -2 AND b <= 2", "@p IN (-2, -1, 0, 1, 2)", "t IN ('x', 'yy', 'yyy')", "u = 'x' OR u = 'yy' OR length(u) = 0",
		}
}

// everyEnv calls f with every row of the domain.
func everyEnv(f func(env)) {
	ints := []int{-2, -1, 0, 1, 2}
	texts := []string{"x", "yy", ""}
	yes, no := true, false
	for i := range ints {
		for j := -1; j < len(ints); j++ {
			for k := range ints {
				for _, ok := range []*bool{nil, &yes, &no} {
					for x := -1; x < 2; x++ {
						for y := range texts {
							e := env{a: &ints[i], p: &ints[k], ok: ok, u: &texts[y]}
							if j >= 0 {
								e.b = &ints[j]
							}
							if x >= 0 {
								e.t = &texts[x]
							}
							f(e)
						}
					}
				}
			}
		}
	}
}

// number is a random linear term.
type number struct {
	sql  string
	eval func(env) *int
}

func randomNumber(r *rand.Rand) number {
	variables := []number{
		{"a", func(e env) *int { return e.a }}, {"b", func(e env) *int { return e.b }}, {"@p", func(e env) *int { return e.p }},
		{"length(t)", func(e env) *int { return count(e.t) }}, {"char_length(u)", func(e env) *int { return count(e.u) }},
	}
	n := variables[r.IntN(len(variables))]
	switch r.IntN(6) {
	case 0:
		c := r.IntN(7) - 3
		return number{fmt.Sprint(c), func(env) *int { return &c }}
	case 1, 2:
		c, m := r.IntN(5)-2, variables[r.IntN(len(variables))]
		return number{fmt.Sprintf("(%d * %s + %s)", c, n.sql, m.sql), func(e env) *int { return lift(n.eval(e), m.eval(e), func(x, y int) int { return c*x + y }) }}
	case 3:
		m := variables[r.IntN(len(variables))]
		return number{fmt.Sprintf("(%s - %s)", n.sql, m.sql), func(e env) *int { return lift(n.eval(e), m.eval(e), func(x, y int) int { return x - y }) }}
	case 4:
		return number{"coalesce(b, " + n.sql + ")", func(e env) *int {
			if e.b != nil {
				return e.b
			}
			return n.eval(e)
		}}
	}
	return n
}

func count(text *string) *int {
	if text == nil {
		return nil
	}
	n := len(*text)
	return &n
}

func lift[A, B any](x, y *A, f func(A, A) B) *B {
	if x == nil || y == nil {
		return nil
	}
	z := f(*x, *y)
	return &z
}

func randomExpression(r *rand.Rand, depth int) expression {
	if depth == 0 || r.IntN(4) == 0 {
		return randomAtom(r)
	}
	x, y := randomExpression(r, depth-1), randomExpression(r, depth-1)
	switch r.IntN(7) {
	case 0, 1:
		return expression{"(" + x.sql + " AND " + y.sql + ")", func(e env) *bool { return and(x.eval(e), y.eval(e)) }}
	case 2, 3:
		return expression{"(" + x.sql + " OR " + y.sql + ")", func(e env) *bool { return not(and(not(x.eval(e)), not(y.eval(e)))) }}
	case 4:
		return expression{"(NOT " + x.sql + ")", func(e env) *bool { return not(x.eval(e)) }}
	case 5:
		return expression{"((" + x.sql + ") = (" + y.sql + "))", func(e env) *bool { return lift(x.eval(e), y.eval(e), func(a, b bool) bool { return a == b }) }}
	}
	tests := []struct {
		words string
		holds func(*bool) bool
	}{
		{"IS TRUE", func(v *bool) bool { return v != nil && *v }}, {"IS NOT TRUE", func(v *bool) bool { return v == nil || !*v }},
		{"IS FALSE", func(v *bool) bool { return v != nil && !*v }}, {"IS UNKNOWN", func(v *bool) bool { return v == nil }},
		{"IS NOT NULL", func(v *bool) bool { return v != nil }},
	}
	test := tests[r.IntN(len(tests))]
	return expression{"((" + x.sql + ") " + test.words + ")", func(e env) *bool { v := test.holds(x.eval(e)); return &v }}
}

func randomAtom(r *rand.Rand) expression {
	l, m, o := randomNumber(r), randomNumber(r), randomNumber(r)
	compare := func(op string) expression {
		return expression{l.sql + " " + op + " " + m.sql, func(e env) *bool { return lift(l.eval(e), m.eval(e), func(x, y int) bool { return holds(op, x, y) }) }}
	}
	switch r.IntN(11) {
	case 0:
		return expression{"ok", func(e env) *bool { return e.ok }}
	case 1:
		op := []string{"=", "<>"}[r.IntN(2)]
		return expression{"t " + op + " u", func(e env) *bool { return lift(e.t, e.u, func(x, y string) bool { return (x == y) == (op == "=") }) }}
	case 2:
		text := []string{"x", "yy", "z", "", "yyy"}[r.IntN(5)]
		name, value := "t", func(e env) *string { return e.t }
		if r.IntN(2) == 0 {
			name, value = "u", func(e env) *string { return e.u }
		}
		return expression{name + " = '" + text + "'", func(e env) *bool { return lift(value(e), &text, func(x, y string) bool { return x == y }) }}
	case 3:
		return expression{"b IS NULL", func(e env) *bool { v := e.b == nil; return &v }}
	case 4:
		return expression{l.sql + " IN (" + m.sql + ", " + o.sql + ")", func(e env) *bool {
			same := func(x, y int) bool { return x == y }
			return not(and(not(lift(l.eval(e), m.eval(e), same)), not(lift(l.eval(e), o.eval(e), same))))
		}}
	case 5:
		return expression{l.sql + " BETWEEN " + m.sql + " AND " + o.sql, func(e env) *bool {
			return and(lift(l.eval(e), m.eval(e), func(x, y int) bool { return x >= y }), lift(l.eval(e), o.eval(e), func(x, y int) bool { return x <= y }))
		}}
	case 6:
		return expression{l.sql + " IS DISTINCT FROM " + m.sql, func(e env) *bool {
			x, y := l.eval(e), m.eval(e)
			v := (x == nil) != (y == nil) || x != nil && *x != *y
			return &v
		}}
	}
	return compare([]string{"=", "<>", "<", "<=", ">", ">="}[r.IntN(6)])
}

func holds(op string, x, y int) bool {
	switch op {
	case "=":
		return x == y
	case "<>":
		return x != y
	case "<":
		return x < y
	case "<=":
		return x <= y
	case ">":
		return x > y
	}
	return x >= y
}

func and(x, y *bool) *bool {
	no, yes := false, true
	switch {
	case x != nil && !*x || y != nil && !*y:
		return &no
	case x == nil || y == nil:
		return nil
	}
	return &yes
}

func not(x *bool) *bool {
	if x == nil {
		return nil
	}
	y := !*x
	return &y
}

func isTrue(x *bool) bool { return x != nil && *x }
