package logic

import (
	"math/big"
	"slices"
)

// solve finds values for the variables of a branch's comparisons. numbering maps
// variables to their places in the point.
func (s *search) solve(b *branch) (point []*big.Rat, numbering map[int]int, found status) {
	numbering = map[int]int{}
	sys := &system{steps: s.steps}
	number := func(place int) int {
		i, known := numbering[place]
		if !known {
			i = len(numbering)
			numbering[place] = i
			sys.integer = append(sys.integer, s.slots[place].integer)
		}
		return i
	}
	var apart []row
	for _, l := range b.relations {
		if !s.steps.spend(l.relation.left.weight() + l.relation.right.weight()) {
			return nil, nil, unknown
		}
		s.enter(sys, &apart, l.literal, rowOf(l.difference, number))
	}
	s.bounds(sys, numbering)
	s.distinctWords(&apart, numbering)
	point, found = s.separate(sys, apart)
	return point, numbering, found
}

// enter adds a comparison, as right - left, to the system.
func (s *search) enter(sys *system, apart *[]row, l literal, r row) {
	switch {
	case l.relation.op == equals && !l.negative:
		sys.equal = append(sys.equal, r)
	case l.relation.op == equals:
		*apart = append(*apart, r)
	case l.negative:
		back := r.negated() // right < left, or right <= left
		back.strict = l.relation.op == atMost
		sys.atLeast = append(sys.atLeast, back)
	default:
		r.strict = l.relation.op == less
		sys.atLeast = append(sys.atLeast, r)
	}
}

// bounds adds what the types allow.
func (s *search) bounds(sys *system, numbering map[int]int) {
	for place := range s.slots {
		i, used := numbering[place]
		if !used {
			continue
		}
		unit := make([]*big.Int, i+1)
		for k := range unit {
			unit[k] = zero
		}
		unit[i] = one
		if low := s.slots[place].low; low != nil {
			sys.atLeast = append(sys.atLeast, row{a: unit, c: new(big.Int).Neg(low)})
		}
		if high := s.slots[place].high; high != nil {
			sys.atLeast = append(sys.atLeast, row{a: unit, c: new(big.Int).Neg(high)}.negated())
		}
	}
}

// distinctWords keeps text literals apart that have no fixed places.
func (s *search) distinctWords(apart *[]row, numbering map[int]int) {
	if !s.ordered {
		return
	}
	for p := s.wordSlot; p < len(s.slots); p++ {
		for q := s.wordSlot; q < p; q++ {
			i, first := numbering[p]
			j, second := numbering[q]
			if first && second {
				r := row{a: slices.Repeat([]*big.Int{zero}, max(i, j)+1), c: zero}
				r.a[i], r.a[j] = one, minusOne
				*apart = append(*apart, r)
			}
		}
	}
}

// separate solves the system so that none of the forms is zero. A form that is
// zero at a solution is tried on either side of it.
func (s *search) separate(sys *system, apart []row) ([]*big.Rat, status) {
	point, found := (&system{integer: sys.integer, equal: sys.equal, atLeast: sys.atLeast, steps: s.steps}).solve()
	if found != sat {
		return nil, found
	}
	for i, r := range apart {
		if r.at(point).Sign() != 0 {
			continue
		}
		if !s.steps.spend(len(apart) + len(sys.atLeast)) {
			return nil, unknown
		}
		rest := append(append([]row(nil), apart[:i]...), apart[i+1:]...)
		sides := []row{r, r.negated()}
		worst := unsat
		for _, side := range sides {
			side.strict = true
			half := &system{integer: sys.integer, steps: s.steps, equal: sys.equal, atLeast: append(sys.atLeast[:len(sys.atLeast):len(sys.atLeast)], side)}
			point, found := s.separate(half, rest)
			if found == sat {
				return point, sat
			}
			if found == unknown {
				worst = unknown
			}
		}
		return nil, worst
	}
	return point, sat
}
