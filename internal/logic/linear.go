package logic

import (
	"maps"
	"math/big"
	"slices"
)

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
	return amount{class: finite, coef: map[int]*big.Rat{place: s.slots[place].unit}, c: new(big.Rat)}
}

func (s symbols) literal(id int) amount {
	if s.ordered {
		return s.value(s.wordSlot + id)
	}
	return amount{class: finite, c: big.NewRat(int64(id)+1, 1)}
}

// difference is that of two sides that are finite: right - left.
func difference(l, r amount) amount { return added(r, l, big.NewRat(-1, 1)) }

// rowOf turns a finite amount into integers. numbering gives each variable its
// place in the system.
func rowOf(a amount, numbering func(int) int) row {
	common := new(big.Int).Set(a.c.Denom())
	for _, x := range a.coef {
		g := new(big.Int).GCD(nil, nil, common, x.Denom())
		common.Mul(common, new(big.Int).Quo(x.Denom(), g))
	}
	whole := func(x *big.Rat) *big.Int {
		n := new(big.Int).Mul(x.Num(), common)
		return n.Quo(n, x.Denom())
	}
	out := row{c: whole(a.c)}
	// In order, so that one question always has one witness.
	for _, place := range slices.Sorted(maps.Keys(a.coef)) {
		x := a.coef[place]
		if x.Sign() == 0 {
			continue
		}
		i := numbering(place)
		for len(out.a) <= i {
			out.a = append(out.a, zero)
		}
		out.a[i] = whole(x)
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
