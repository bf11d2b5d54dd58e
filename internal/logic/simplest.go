package logic

import "math/big"

// simplest returns the plainest number between two bounds, of which each may be
// missing or open: the integer nearest to zero, else, unless an integer is
// wanted, one with few binary digits, which a decimal and a double precision
// number can show exactly. It is nil when there is none.
func simplest(low, high *big.Rat, openLow, openHigh, integer bool) *big.Rat {
	above := func(x *big.Rat) bool {
		return low == nil || x.Cmp(low) > 0 || x.Cmp(low) == 0 && !openLow
	}
	below := func(x *big.Rat) bool {
		return high == nil || x.Cmp(high) < 0 || x.Cmp(high) == 0 && !openHigh
	}
	zero := new(big.Rat)
	if above(zero) && below(zero) {
		return zero
	}
	// A grid of 1, then of 1/2, 1/4 and so on.
	for digits := uint(0); digits <= 200; digits++ {
		var x *big.Rat
		if !above(zero) {
			x = onGrid(low, digits, openLow, false)
		} else {
			x = onGrid(high, digits, openHigh, true)
		}
		if above(x) && below(x) {
			return x
		}
		if integer {
			return nil
		}
		if low != nil && high != nil && low.Cmp(high) == 0 && above(low) && below(low) {
			return new(big.Rat).Set(low)
		}
	}
	return nil
}

// onGrid returns the multiple of 1/2^digits next to a bound: the least one at or
// above it, or the greatest one at or below it, and not the bound when open.
func onGrid(bound *big.Rat, digits uint, open, down bool) *big.Rat {
	num := new(big.Int).Lsh(bound.Num(), digits)
	q := floorDiv(num, bound.Denom())
	exact := new(big.Int).Mul(q, bound.Denom()).Cmp(num) == 0
	switch {
	case down && exact && open:
		q.Sub(q, one)
	case !down && (!exact || open):
		q.Add(q, one)
	}
	return new(big.Rat).SetFrac(q, new(big.Int).Lsh(one, digits))
}
