package logic

import (
	"math/big"
	"unicode/utf8"
)

// maxText is more characters than any text has: PostgreSQL keeps less than 1 GiB
// in one value.
const maxText = 1 << 30

// measure returns the length of a text, or nil where the term is none whose
// length is understood.
func (a *analysis) measure(t *term) *term {
	switch {
	case t.form == null:
		return t
	case t.form == word || t.form == quoted:
		return &term{form: number, kind: Int, bits: 32, constant: big.NewRat(int64(utf8.RuneCountInString(t.text)), 1)}
	case t.form == choice:
		left, right := a.measure(t.left), a.measure(t.right)
		if left == nil || right == nil {
			return nil
		}
		return &term{form: choice, kind: Int, bits: 32, when: t.when, left: left, right: right}
	case t.form == variable && t.kind == Text && t.id < a.given:
		return a.value(a.lengthOf(t.id))
	}
	return nil
}

// lengthOf returns the place of a text variable's length. It is NULL where the
// text is.
func (a *analysis) lengthOf(place int) int {
	if at, known := a.lengths[place]; known {
		return at
	}
	s := newSlot(Var{Kind: Int, Bits: 32}, "length("+a.slots[place].text+")")
	s.length, s.within, s.strict = place, []int{place}, []int{place}
	s.low, s.high = zero, big.NewInt(maxText)
	if limit := a.slots[place].Length; limit > 0 {
		s.high = big.NewInt(int64(limit))
	}
	a.slots = append(a.slots, s)
	a.lengths[place] = len(a.slots) - 1
	return len(a.slots) - 1
}

// limits makes the lengths that matter where lengths are spoken of: those of
// texts with a limit, to which another text may be equal.
func (a *analysis) limits() {
	if len(a.lengths) == 0 {
		return
	}
	a.word("") // the only text of length 0
	for i, s := range a.slots[:a.given] {
		if s.Kind == Text && s.Length > 0 {
			a.lengthOf(i)
		}
	}
}

// now is the clock, which stands still for one call: a time that is finite.
func (a *analysis) now() *term {
	if a.clock < 0 {
		s := newSlot(Var{Name: "now()", Kind: Time}, "now()")
		s.low, s.high = big.NewInt(firstMicro+1), big.NewInt(lastMicro-1)
		a.slots = append(a.slots, s)
		a.clock = len(a.slots) - 1
	}
	return a.value(a.clock)
}

// implied is what the equality of a text says of lengths.
func (s *search) implied(l literal) []*formula {
	if l.sort != ofRelation || l.negative || l.relation.op != equals || l.relation.left.kind != Text {
		return nil
	}
	left, right := l.relation.left, l.relation.right
	if left.form == word {
		left, right = right, left
	}
	if left.form != variable || left.id >= s.given {
		return nil
	}
	length, measured := s.lengths[left.id]
	switch {
	case right.form == word:
		count := utf8.RuneCountInString(right.text)
		if limit := s.slots[left.id].Length; limit > 0 && count > limit {
			return []*formula{never}
		}
		if measured {
			return []*formula{related(s.long(length, count), true)}
		}
	case right.form == variable && measured:
		if other, known := s.lengths[right.id]; known {
			return []*formula{related(s.comparison(equals, s.value(length), s.value(other)), true)}
		}
	}
	return nil
}

// strained returns what lengths demand and a solution does not give, as a choice
// between two ways out of it; nil when there is nothing. That a text equals a
// literal, or another one, says something of its length, which the linear system
// knows nothing of; it is told when a solution needs it. Where texts are ordered,
// one that need not equal a literal had better not: its place among the others
// would be the collation's.
func (s *search) strained(b *branch, w world, numbering map[int]int) *formula {
	for p, slot := range s.slots[:s.given] {
		if slot.Kind != Text || w.classes[p] != finite {
			continue
		}
		if f := s.asLiteral(w, numbering, p); f != nil {
			return f
		}
		if _, used := numbering[p]; used && s.ordered {
			if f := s.byChance(b, w, p); f != nil {
				return f
			}
		}
		for q := range p {
			if f := s.asOther(w, numbering, p, q); f != nil {
				return f
			}
		}
	}
	return nil
}

// asLiteral holds the length of a text against the literals: it is that of an
// equal one, within the limit, and 0 for the empty text alone.
func (s *search) asLiteral(w world, numbering map[int]int, p int) *formula {
	length, asked := s.askedLength(numbering, p)
	limit := s.slots[p].Length
	if !asked && limit == 0 {
		return nil
	}
	for id, text := range s.spelled {
		same := w.literal(id).c.Cmp(w.numbers[p]) == 0
		count := utf8.RuneCountInString(text)
		switch {
		case same && limit > 0 && count > limit:
			return oneOf(related(s.is(p, text), false), never)
		case same && asked && w.numbers[length].Cmp(big.NewRat(int64(count), 1)) != 0:
			return oneOf(related(s.is(p, text), false), related(s.long(length, count), true))
		case !same && asked && count == 0 && w.numbers[length].Sign() == 0:
			return oneOf(related(s.long(length, 0), false), related(s.is(p, text), true))
		}
	}
	return nil
}

// byChance separates a text from a literal that nothing makes it equal to.
func (s *search) byChance(b *branch, w world, p int) *formula {
	for id, text := range s.spelled {
		if w.literal(id).c.Cmp(w.numbers[p]) != 0 {
			continue
		}
		if equal := related(s.is(p, text), true); s.judge(b, equal) == isUnknown {
			return oneOf(related(s.is(p, text), false), equal)
		}
	}
	return nil
}

// asOther holds the lengths of two equal texts against each other.
func (s *search) asOther(w world, numbering map[int]int, p, q int) *formula {
	if s.slots[q].Kind != Text || w.classes[q] != finite || w.numbers[p].Cmp(w.numbers[q]) != 0 {
		return nil
	}
	first, one := s.askedLength(numbering, p)
	second, two := s.askedLength(numbering, q)
	if first < 0 || second < 0 || !one && !two || one && two && w.numbers[first].Cmp(w.numbers[second]) == 0 {
		return nil
	}
	equal := s.comparison(equals, s.value(p), s.value(q))
	return oneOf(related(equal, false), related(s.comparison(equals, s.value(first), s.value(second)), true))
}

// askedLength returns the place of a text's length, -1 when it has none, and
// whether the solution gives it a value.
func (s *search) askedLength(numbering map[int]int, p int) (place int, asked bool) {
	place, known := s.lengths[p]
	if !known {
		return -1, false
	}
	_, asked = numbering[place]
	return place, asked
}

// is says that a text is a literal.
func (a *analysis) is(p int, text string) *cond {
	return a.comparison(equals, a.value(p), a.word(text))
}

// long says that a length is n.
func (a *analysis) long(length, n int) *cond {
	return a.comparison(equals, a.value(length), &term{form: number, kind: Int, bits: 32, constant: big.NewRat(int64(n), 1)})
}

// related says that a comparison of values that are not NULL is true, or false.
func related(c *cond, value bool) *formula {
	return &formula{lit: literal{sort: ofRelation, relation: c, negative: !value}}
}
