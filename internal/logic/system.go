package logic

import "math/big"

// status is how a search ended.
type status int

const (
	unsat status = iota
	sat
	unknown // the budget was spent
)

// system is a conjunction of linear equalities and inequalities over integer
// and dense variables. Its method is the Omega test (W. Pugh, "The Omega test:
// a fast and practical integer programming algorithm for dependence analysis",
// 1991) with Fourier-Motzkin elimination of the dense variables before it; both
// are exact.
type system struct {
	integer []bool
	equal   []row
	atLeast []row
	steps   *budget
	depth   int // of inexact eliminations
}

// solve returns a point that satisfies the system, with a value for each of
// its variables, when there is one.
func (s *system) solve() ([]*big.Rat, status) {
	for {
		if ok, fine := s.normalise(); !fine {
			return nil, unknown
		} else if !ok {
			return nil, unsat
		}
		if len(s.equal) == 0 {
			return s.eliminate()
		}
		if j := s.solvable(); j >= 0 {
			return s.substitute(j)
		}
		s.split()
	}
}

// normalise brings all rows to lowest terms, keeps the tightest of those with
// the same coefficients, and turns two that meet into an equality. It reports
// false, true for a contradiction, and fine = false when the budget is spent.
func (s *system) normalise() (ok, fine bool) {
	var equal, atLeast []row
	for _, r := range s.equal {
		if !s.steps.spend(r.size()) {
			return false, false
		}
		g := r.content()
		switch {
		case g.Sign() == 0 && r.c.Sign() != 0:
			return false, true
		case g.Sign() == 0:
		case new(big.Int).Rem(r.c, g).Sign() == 0:
			equal = append(equal, divided(r, g))
		case r.allInteger(s.integer):
			return false, true
		default:
			equal = append(equal, r)
		}
	}
	place := map[string]int{}
	for _, r := range s.atLeast {
		if !s.steps.spend(r.size()) {
			return false, false
		}
		r = r.tightened(s.integer)
		if r.constant() {
			if !r.holds() {
				return false, true
			}
			continue
		}
		key := r.key(false)
		i, seen := place[key]
		if !seen {
			place[key] = len(atLeast)
			atLeast = append(atLeast, r)
		} else if d := r.c.Cmp(atLeast[i].c); d < 0 || d == 0 && r.strict {
			atLeast[i] = r
		}
	}
	s.equal, s.atLeast = equal, nil
	taken := make([]bool, len(atLeast))
	for i, r := range atLeast {
		j, opposed := place[r.key(true)]
		if opposed {
			gap := new(big.Int).Add(r.c, atLeast[j].c)
			switch {
			case gap.Sign() < 0 || gap.Sign() == 0 && (r.strict || atLeast[j].strict):
				return false, true
			case gap.Sign() == 0 && !taken[i]:
				s.equal = append(s.equal, r)
				taken[i], taken[j] = true, true
			}
		}
		if !taken[i] {
			s.atLeast = append(s.atLeast, r)
		}
	}
	return true, true
}

func divided(r row, g *big.Int) row {
	if g.Cmp(one) == 0 {
		return r
	}
	out := row{a: make([]*big.Int, len(r.a)), c: new(big.Int).Quo(r.c, g)}
	for i, a := range r.a {
		out.a[i] = new(big.Int).Quo(a, g)
	}
	return out
}

// solvable looks for an equality that gives one variable by the others: a dense
// one, or an integer one with the coefficient 1 or -1. It moves that equality
// to the front and returns the variable, or -1.
func (s *system) solvable() int {
	for dense := range 2 {
		for i, r := range s.equal {
			for j, a := range r.a {
				if a.Sign() == 0 || s.integer[j] == (dense == 0) || dense == 1 && !(a.IsInt64() && (a.Int64() == 1 || a.Int64() == -1)) {
					continue
				}
				if dense == 1 && !r.allInteger(s.integer) {
					continue
				}
				s.equal[0], s.equal[i] = s.equal[i], s.equal[0]
				return j
			}
		}
	}
	return -1
}

// substitute solves the first equality for j, and the rest without j.
func (s *system) substitute(j int) ([]*big.Rat, status) {
	by := s.equal[0]
	rest := &system{integer: s.integer, steps: s.steps, depth: s.depth}
	scale := new(big.Int).Abs(by.coef(j))
	replace := func(r row) row {
		if r.coef(j).Sign() == 0 {
			return r
		}
		factor := new(big.Int).Neg(r.coef(j))
		if by.coef(j).Sign() < 0 {
			factor.Neg(factor)
		}
		out := combine(r, by, scale, factor)
		out.strict = r.strict
		return out
	}
	for _, r := range s.equal[1:] {
		rest.equal = append(rest.equal, replace(r))
	}
	for _, r := range s.atLeast {
		rest.atLeast = append(rest.atLeast, replace(r))
	}
	point, found := rest.solve()
	if found != sat {
		return nil, found
	}
	point[j] = new(big.Rat)
	value := by.at(point)
	point[j] = value.Neg(value.Quo(value, new(big.Rat).SetInt(by.coef(j))))
	return point[:len(s.integer)], sat
}

// split brings an equality of integers without a coefficient of 1 nearer to
// one, with a new variable: Pugh's reduction by symmetric remainders.
func (s *system) split() {
	r := s.equal[0]
	k := -1
	for i, a := range r.a {
		if a.Sign() != 0 && (k < 0 || a.CmpAbs(r.a[k]) < 0) {
			k = i
		}
	}
	m := new(big.Int).Abs(r.a[k])
	m.Add(m, one)
	n := len(s.integer)
	reduced := row{a: make([]*big.Int, n+1), c: remainder(r.c, m)}
	for i := range n {
		reduced.a[i] = remainder(r.coef(i), m)
	}
	reduced.a[n] = new(big.Int).Neg(m)
	s.integer = append(s.integer[:n:n], true)
	s.equal = append(s.equal, reduced)
}

// remainder returns a - m·floor(a/m + 1/2).
func remainder(a, m *big.Int) *big.Int {
	twice := new(big.Int).Lsh(a, 1)
	q := floorDiv(twice.Add(twice, m), new(big.Int).Lsh(m, 1))
	return q.Sub(a, q.Mul(q, m))
}
