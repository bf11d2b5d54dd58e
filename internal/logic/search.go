package logic

import "slices"

// search looks for values of the variables that make a formula true: a tableau
// over the formula, with the linear system of each branch solved as it grows.
type search struct {
	*analysis
	steps *budget
	// accept is asked about each solution; the search goes on until it agrees.
	accept func(world) bool
	// cut is set when a branch was left because the budget was spent.
	cut bool
	// found counts the solutions that were not accepted.
	found int
}

// branch is what is assumed on one path of the search.
type branch struct {
	classes   []class
	facts     []truth // isTrue, isFalse, or 0 where it does not matter
	relations []entered
	open      []*formula // alternatives still to be chosen from
}

// entered is a comparison of a branch, of sides that are finite, with their
// difference as rowOf takes it. No variable of a finite side changes its class.
type entered struct {
	literal
	difference amount
}

func (b *branch) clone() *branch {
	return &branch{
		classes: slices.Clone(b.classes), facts: slices.Clone(b.facts),
		relations: slices.Clone(b.relations), open: slices.Clone(b.open),
	}
}

// run reports whether a solution was accepted.
func (s *search) run(f *formula) bool {
	b := &branch{classes: make([]class, len(s.slots)), facts: make([]truth, len(s.slots))}
	for i, slot := range s.slots {
		b.classes[i] = slot.classes
	}
	return s.explore(b, []*formula{f})
}

// explore adds formulas to a branch and follows it to its ends.
func (s *search) explore(b *branch, todo []*formula) bool {
	grown := len(b.relations)
	for {
		if !s.assert(b, todo) {
			return false
		}
		if todo = s.forced(b); todo == nil {
			break
		}
	}
	if s.steps.left < 0 {
		s.cut = true
		return false
	}
	if len(b.open) > 0 && len(b.relations) == grown {
		return s.divide(b)
	}
	// Most contradictions show before all alternatives are chosen.
	point, numbering, status := s.solve(b)
	switch {
	case status == unsat:
		return false
	case status == unknown:
		s.cut = true
		return false
	case len(b.open) > 0:
		return s.divide(b)
	}
	if !s.steps.spend(1 + s.parts/16) {
		s.cut = true
		return false
	}
	w := s.world(b, point, numbering)
	if strained := s.strained(b, w, numbering); strained != nil {
		b.open = append(b.open, strained)
		return s.divide(b)
	}
	if s.accept(w) {
		return true
	}
	s.found++
	return false
}

// divide follows each alternative of the shortest choice.
func (s *search) divide(b *branch) bool {
	best := 0
	for i, f := range b.open {
		if len(f.kids) < len(b.open[best].kids) {
			best = i
		}
	}
	choice := b.open[best]
	rest := slices.Delete(slices.Clone(b.open), best, best+1)
	for _, way := range choice.kids {
		next := b.clone()
		next.open = slices.Clone(rest)
		if !s.steps.spend(len(b.classes)/8 + len(rest) + 1) {
			s.cut = true
			return false
		}
		if s.explore(next, []*formula{way}) {
			return true
		}
	}
	return false
}

// assert takes formulas apart into the branch. It reports whether they do not
// evidently contradict it.
func (s *search) assert(b *branch, todo []*formula) bool {
	for len(todo) > 0 {
		f := todo[len(todo)-1]
		todo = todo[: len(todo)-1 : len(todo)-1]
		if !s.steps.spend(1) {
			s.cut = true
			return false
		}
		switch f.join {
		case all:
			for i := len(f.kids) - 1; i >= 0; i-- {
				todo = append(todo, f.kids[i])
			}
		case some:
			if len(f.kids) == 0 {
				return false
			}
			b.open = append(b.open, f)
		default:
			if more, ok := s.add(b, f.lit); !ok {
				return false
			} else if more != nil {
				b.open = append(b.open, more)
			}
			todo = append(todo, s.implied(f.lit)...)
		}
	}
	return true
}

// add enters a literal. Where a variable's class must be known first, it returns
// the choice of classes.
func (s *search) add(b *branch, l literal) (more *formula, ok bool) {
	switch l.sort {
	case ofNothing:
		return nil, false
	case ofClass:
		b.classes[l.place] &= l.class
		return nil, b.classes[l.place] != 0
	case ofFact:
		want := isFalse
		if l.value {
			want = isTrue
		}
		if b.facts[l.place] == want.not() {
			return nil, false
		}
		b.facts[l.place] = want
		return nil, true
	}
	if place, undecided := s.unclassed(b, l.relation); undecided {
		var ways []*formula
		for _, c := range []class{finite, nan, infinite, minusInfinite} {
			if b.classes[place]&c != 0 {
				ways = append(ways, allOf(ofClasses(place, c), &formula{lit: l}))
			}
		}
		return oneOf(ways...), true
	}
	switch s.judge(b, &formula{lit: l}) {
	case isTrue:
		return nil, true
	case isFalse:
		return nil, false
	}
	if !s.steps.spend(l.relation.left.weight() + l.relation.right.weight()) {
		s.cut = true
		return nil, false
	}
	left, right := s.sides(b, l.relation)
	if left.class == finite && right.class == finite {
		b.relations = append(b.relations, entered{l, difference(left, right)})
		return nil, true
	}
	return nil, compared(l.relation.op, left.class, right.class) != l.negative
}

func (s *search) sides(b *branch, c *cond) (left, right amount) {
	scene := symbols{s.analysis, b.classes}
	return c.left.amount(scene, unchecked), c.right.amount(scene, unchecked)
}

// unclassed returns a variable of the comparison of which it is open whether it
// is finite.
func (s *search) unclassed(b *branch, c *cond) (int, bool) {
	for _, p := range c.right.places(c.left.places(nil)) {
		if k := b.classes[p] &^ isNull; k&special != 0 && k&(k-1) != 0 {
			return p, true
		}
	}
	return 0, false
}

// forced drops the alternatives that are met, and returns those that the branch
// leaves no choice about; nil when there are none.
func (s *search) forced(b *branch) []*formula {
	var out, open []*formula
	for _, f := range b.open {
		var ways []*formula
		met := false
		for _, k := range f.kids {
			if !s.steps.spend(1) {
				return nil
			}
			switch s.judge(b, k) {
			case isTrue:
				met = true
			case isUnknown:
				ways = append(ways, k)
			}
		}
		switch {
		case met:
		case len(ways) == 0:
			return []*formula{never}
		case len(ways) == 1:
			out = append(out, ways[0])
		case len(ways) < len(f.kids):
			open = append(open, &formula{join: some, kids: ways})
		default:
			open = append(open, f)
		}
	}
	b.open = open
	return out
}

// judge returns what the branch says of a formula at a glance.
func (s *search) judge(b *branch, f *formula) truth {
	if f.join == some {
		if len(f.kids) == 0 {
			return isFalse
		}
		return isUnknown
	}
	if f.join == all {
		out := isTrue
		for _, k := range f.kids {
			switch s.judge(b, k) {
			case isFalse:
				return isFalse
			case isUnknown:
				out = isUnknown
			}
		}
		return out
	}
	l := f.lit
	switch l.sort {
	case ofClass:
		switch have := b.classes[l.place]; {
		case have&l.class == 0:
			return isFalse
		case have&^l.class == 0:
			return isTrue
		}
	case ofFact:
		switch have := b.facts[l.place]; {
		case have == 0:
		case (have == isTrue) == l.value:
			return isTrue
		default:
			return isFalse
		}
	case ofNothing:
		return isFalse
	case ofRelation:
		for _, had := range b.relations {
			if had.relation == l.relation {
				if had.negative == l.negative {
					return isTrue
				}
				return isFalse
			}
		}
	}
	return isUnknown
}
