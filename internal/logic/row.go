package logic

import (
	"math/big"
	"strconv"
)

// row is a linear form over the variables of a system, with integer
// coefficients: the sum of a[i]·x[i], plus c. As an inequality it says that the
// sum is at least zero, or above zero when strict; as an equality that it is
// zero. Rows are not changed once made.
type row struct {
	a      []*big.Int
	c      *big.Int
	strict bool
}

var (
	zero     = new(big.Int)
	one      = big.NewInt(1)
	minusOne = big.NewInt(-1)
)

func (r row) coef(i int) *big.Int {
	if i < len(r.a) {
		return r.a[i]
	}
	return zero
}

// constant reports whether no variable is left.
func (r row) constant() bool {
	for _, a := range r.a {
		if a.Sign() != 0 {
			return false
		}
	}
	return true
}

// holds reports whether a row without variables is a true inequality.
func (r row) holds() bool {
	return r.c.Sign() > 0 || r.c.Sign() == 0 && !r.strict
}

// combine returns p·r + q·s. Its constant is a number of its own; coefficients,
// most of which are zero in either row, are shared with r where they stay the same.
func combine(r, s row, p, q *big.Int) row {
	out := row{a: make([]*big.Int, max(len(r.a), len(s.a))), c: new(big.Int), strict: r.strict || s.strict}
	same := p.Cmp(one) == 0
	var t big.Int
	for i := range out.a {
		switch x, y := r.coef(i), s.coef(i); {
		case y.Sign() == 0 && (same || x.Sign() == 0):
			out.a[i] = x
		default:
			out.a[i] = new(big.Int).Mul(p, x)
			out.a[i].Add(out.a[i], t.Mul(q, y))
		}
	}
	out.c.Mul(p, r.c)
	out.c.Add(out.c, t.Mul(q, s.c))
	return out
}

// negated returns the form with all signs turned.
func (r row) negated() row {
	out := row{a: make([]*big.Int, len(r.a)), c: new(big.Int).Neg(r.c), strict: r.strict}
	for i, a := range r.a {
		if out.a[i] = a; a.Sign() != 0 {
			out.a[i] = new(big.Int).Neg(a)
		}
	}
	return out
}

// plus returns the form with d added to its constant.
func (r row) plus(d int64) row {
	return row{a: r.a, c: new(big.Int).Add(r.c, big.NewInt(d)), strict: r.strict}
}

// size is the work of handling the row once.
func (r row) size() int {
	return 1 + (len(r.a)+r.c.BitLen())/64
}

// content returns the greatest common divisor of the coefficients.
func (r row) content() *big.Int {
	g := new(big.Int)
	var abs big.Int
	for _, a := range r.a {
		switch {
		case a.Sign() == 0:
		case a.CmpAbs(one) == 0:
			return one
		default:
			g.GCD(nil, nil, g, abs.Abs(a))
		}
	}
	return g
}

// allInteger reports whether every variable of the row takes integers only.
func (r row) allInteger(integer []bool) bool {
	for i, a := range r.a {
		if a.Sign() != 0 && !integer[i] {
			return false
		}
	}
	return true
}

// tightened returns an inequality in lowest terms. Over integers the constant
// is rounded down to what the sum can reach, which also does away with strict.
func (r row) tightened(integer []bool) row {
	g := r.content()
	if g.Sign() == 0 {
		return r
	}
	whole := r.allInteger(integer)
	if whole && r.strict {
		r = r.plus(-1)
		r.strict = false
	}
	if g.Cmp(one) == 0 {
		return r
	}
	out := row{a: make([]*big.Int, len(r.a)), strict: r.strict}
	if whole {
		out.c = floorDiv(r.c, g)
	} else {
		// The constant must stay exact: divide by what is common to all.
		g = new(big.Int).GCD(nil, nil, g, new(big.Int).Abs(r.c))
		out.c = new(big.Int).Quo(r.c, g)
	}
	for i, a := range r.a {
		out.a[i] = new(big.Int).Quo(a, g)
	}
	return out
}

// at returns the value of the form at a point.
func (r row) at(point []*big.Rat) *big.Rat {
	sum := new(big.Rat).SetInt(r.c)
	var t big.Rat
	for i, a := range r.a {
		if a.Sign() != 0 && i < len(point) {
			t.SetInt(a)
			sum.Add(sum, t.Mul(&t, point[i]))
		}
	}
	return sum
}

// key is equal for forms with the same coefficients, and so is that of the
// opposite for one with all signs turned.
func (r row) key(opposite bool) string {
	var b []byte
	last := len(r.a)
	for last > 0 && r.a[last-1].Sign() == 0 {
		last--
	}
	for _, a := range r.a[:last] {
		if a.Sign() != 0 {
			sign := byte('+')
			if (a.Sign() < 0) != opposite {
				sign = '-'
			}
			b = append(b, sign)
			for _, word := range a.Bits() { // of the absolute value
				b = strconv.AppendUint(b, uint64(word), 36)
				b = append(b, '.')
			}
		}
		b = append(b, ' ')
	}
	return string(b)
}

func floorDiv(a, b *big.Int) *big.Int {
	q, m := new(big.Int).DivMod(a, b, new(big.Int))
	_ = m // Euclidean division by a positive number is the floor
	return q
}
