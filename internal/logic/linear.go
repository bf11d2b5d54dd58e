package logic

import "math/big"

// bound is an integer as a term without a width of its own.
func bound(n *big.Int) *term {
	return &term{form: number, kind: Decimal, constant: new(big.Rat).SetInt(n)}
}

// symbols is the scene of a search: every variable stands for itself, in steps
// of its unit, unless it is known not to be finite.
type symbols struct {
	*analysis
	classes []class
}

func (s symbols) value(place int) amount {
	if c := s.classes[place]; c&special == c && c != 0 {
		return amount{class: c}
	}
	return amount{class: finite, parts: []part{{place, s.slots[place].unit}}, c: ratZero}
}

func (s symbols) literal(id int) amount {
	if s.ordered {
		return s.value(s.wordSlot + id)
	}
	return amount{class: finite, c: big.NewRat(int64(id)+1, 1)}
}

// difference is that of two sides that are finite: right - left.
func difference(l, r amount) amount { return added(r, l, ratMinusOne) }

// rowOf turns a finite amount into integers. numbering gives each variable its
// place in the system, and is asked in the order of the variables, so that one
// question always has one witness.
func rowOf(a amount, numbering func(int) int) row {
	common := one // the least denominator of all
	share := func(x *big.Rat) {
		if x.IsInt() {
			return
		}
		g := new(big.Int).GCD(nil, nil, common, x.Denom())
		common = g.Mul(common, g.Quo(x.Denom(), g))
	}
	share(a.c)
	for _, p := range a.parts {
		share(p.coef)
	}
	whole := func(x *big.Rat) *big.Int {
		if common == one {
			return x.Num()
		}
		n := new(big.Int).Mul(x.Num(), common)
		return n.Quo(n, x.Denom())
	}
	out := row{c: whole(a.c)}
	for _, p := range a.parts {
		if p.coef.Sign() == 0 {
			continue
		}
		i := numbering(p.place)
		for len(out.a) <= i {
			out.a = append(out.a, zero)
		}
		out.a[i] = whole(p.coef)
	}
	return out
}

// compared returns the truth of a comparison whose sides are not both finite.
func compared(op operator, l, r class) bool {
	switch a, b := l.rank(), r.rank(); op {
	case equals:
		return a == b
	case less:
		return a < b
	default:
		return a <= b
	}
}

// overflows reports whether an integer is out of its width.
func overflows(t *term, a amount) bool {
	if t.kind != Int {
		return false
	}
	low, high := intRange(t.bits)
	return !a.c.IsInt() || a.c.Num().Cmp(low) < 0 || a.c.Num().Cmp(high) > 0
}

// unchecked is for sums that nobody asks about.
func unchecked(*term, amount) {}
