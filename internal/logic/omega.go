package logic

import "math/big"

// maxSplinters is how deep the inexact eliminations of one system may nest.
const maxSplinters = 12

// eliminate solves a system of inequalities alone, one variable after another.
func (s *system) eliminate() ([]*big.Rat, status) {
	j, exact := s.choose()
	if j < 0 {
		point := make([]*big.Rat, len(s.integer))
		for i := range point {
			point[i] = new(big.Rat)
		}
		return point, sat
	}
	if exact {
		return s.without(j, false)
	}
	// The dark shadow has points above which there surely is an integer.
	if point, found := s.without(j, true); found != unsat {
		return point, found
	}
	if shadow := s.shadow(j, false); shadow == nil {
		return nil, unknown
	} else if _, found := shadow.solve(); found != sat {
		return nil, found
	}
	return s.splinters(j)
}

// choose picks the variable to eliminate: dense ones first, then where the
// elimination is exact, then where it makes the fewest rows. It returns -1 when
// no variable is left.
func (s *system) choose() (best int, exact bool) {
	best = -1
	bestRank, bestCost := 0, 0
	for j := range s.integer {
		lower, upper, unitLower, unitUpper := 0, 0, true, true
		for _, r := range s.atLeast {
			switch a := r.coef(j); a.Sign() {
			case 1:
				lower++
				unitLower = unitLower && a.Cmp(one) == 0
			case -1:
				upper++
				unitUpper = unitUpper && a.CmpAbs(one) == 0
			}
		}
		if lower+upper == 0 {
			continue
		}
		rank := 2
		switch {
		case !s.integer[j]:
			rank = 0
		case lower == 0 || upper == 0 || unitLower || unitUpper:
			rank = 1
		}
		cost := lower*upper - lower - upper
		if best < 0 || rank < bestRank || rank == bestRank && cost < bestCost {
			best, bestRank, bestCost = j, rank, cost
		}
	}
	return best, bestRank < 2
}

// without solves the shadow of the system on the other variables, then gives j
// a value between its bounds.
func (s *system) without(j int, dark bool) ([]*big.Rat, status) {
	shadow := s.shadow(j, dark)
	if shadow == nil {
		return nil, unknown
	}
	point, found := shadow.solve()
	if found != sat {
		return nil, found
	}
	point = point[:len(s.integer)]
	point[j] = s.between(j, point)
	if point[j] == nil {
		return nil, unknown // a mistake of ours must not become an answer
	}
	return point, sat
}

// shadow projects the system along j. It is nil when the budget is spent.
func (s *system) shadow(j int, dark bool) *system {
	out := &system{integer: s.integer, steps: s.steps, depth: s.depth}
	var lower, upper []row
	for _, r := range s.atLeast {
		switch r.coef(j).Sign() {
		case 0:
			out.atLeast = append(out.atLeast, r)
		case 1:
			lower = append(lower, r)
		case -1:
			upper = append(upper, r)
		}
	}
	for _, l := range lower {
		for _, u := range upper {
			if !s.steps.spend(l.size() + u.size()) {
				return nil
			}
			a, b := l.coef(j), new(big.Int).Neg(u.coef(j))
			r := combine(l, u, b, a)
			if dark {
				// b·β ≥ a·α + (a-1)(b-1) leaves room for an integer.
				room := new(big.Int).Sub(a, one)
				r.c.Sub(r.c, room.Mul(room, new(big.Int).Sub(b, one)))
			}
			out.atLeast = append(out.atLeast, r)
		}
	}
	return out
}

// splinters tries the places near a lower bound where an integer can hide
// between the shadows.
func (s *system) splinters(j int) ([]*big.Rat, status) {
	if s.depth >= maxSplinters {
		return nil, unknown
	}
	largest := new(big.Int)
	for _, r := range s.atLeast {
		if a := r.coef(j); a.Sign() < 0 && a.CmpAbs(largest) > 0 {
			largest.Abs(a)
		}
	}
	for _, r := range s.atLeast {
		b := r.coef(j)
		if b.Sign() <= 0 {
			continue
		}
		// i runs from 0 to (largest·b - largest - b) / largest.
		last := new(big.Int).Mul(largest, b)
		last.Sub(last, largest)
		last.Sub(last, b)
		last = floorDiv(last, largest)
		for i := new(big.Int); i.Cmp(last) <= 0; i.Add(i, one) {
			if !s.steps.spend(len(s.atLeast) + 1) {
				return nil, unknown
			}
			near := row{a: r.a, c: new(big.Int).Sub(r.c, i)}
			part := &system{integer: s.integer, equal: []row{near}, atLeast: s.atLeast, steps: s.steps, depth: s.depth + 1}
			if point, found := part.solve(); found != unsat {
				return point, found
			}
		}
	}
	return nil, unsat
}

// between returns a simple value for j within its bounds at the point, or nil
// when there is none.
func (s *system) between(j int, point []*big.Rat) *big.Rat {
	var low, high *big.Rat
	var openLow, openHigh bool
	for _, r := range s.atLeast {
		a := r.coef(j)
		if a.Sign() == 0 {
			continue
		}
		point[j] = new(big.Rat)
		bound := r.at(point)
		bound.Neg(bound.Quo(bound, new(big.Rat).SetInt(a)))
		if a.Sign() > 0 {
			if low == nil || bound.Cmp(low) > 0 || bound.Cmp(low) == 0 && r.strict {
				low, openLow = bound, r.strict
			}
		} else if high == nil || bound.Cmp(high) < 0 || bound.Cmp(high) == 0 && r.strict {
			high, openHigh = bound, r.strict
		}
	}
	return simplest(low, high, openLow, openHigh, s.integer[j])
}
