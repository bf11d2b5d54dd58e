package logic

import (
	"math/big"
	"slices"
	"unicode/utf8"
)

// world gives each variable a value. Opaque values have none.
type world struct {
	*analysis
	classes []class    // one class each
	numbers []*big.Rat // of finite values that are not conditions
	facts   []bool
	texts   map[string]string // texts of values that are no literals, by number
	wanted  map[int]*big.Rat  // lengths that the solution asks for, by their place
}

// world makes the values of a solution. What the branch left open becomes a
// finite value, and false.
func (s *search) world(b *branch, point []*big.Rat, numbering map[int]int) world {
	w := world{analysis: s.analysis, classes: make([]class, len(s.slots)), numbers: make([]*big.Rat, len(s.slots)), facts: make([]bool, len(s.slots)), wanted: map[int]*big.Rat{}}
	for i := range s.slots {
		for _, c := range []class{finite, isNull, infinite, minusInfinite, nan} {
			if b.classes[i]&c != 0 {
				w.classes[i] = c
				break
			}
		}
		w.facts[i] = b.facts[i] == isTrue
		w.numbers[i] = s.fallback(i)
		if at, used := numbering[i]; used && at < len(point) {
			w.numbers[i] = point[at]
			if s.slots[i].length >= 0 {
				w.wanted[i] = point[at]
			}
		}
	}
	if s.ordered {
		w.moveAside(numbering)
	}
	w.texts = w.spellings()
	return w
}

// moveAside gives the literals that the solution does not speak of places of
// their own, above all texts.
func (w world) moveAside(numbering map[int]int) {
	above := new(big.Rat)
	for i, s := range w.slots {
		if s.Kind == Text && w.numbers[i].Cmp(above) > 0 {
			above = w.numbers[i]
		}
	}
	for i := w.wordSlot; i < len(w.slots); i++ {
		if _, used := numbering[i]; !used {
			above = new(big.Rat).Add(above, big.NewRat(1, 1))
			w.numbers[i] = above
		}
	}
}

// fallback is a value that a variable may have when nothing is asked of it.
func (a *analysis) fallback(place int) *big.Rat {
	return simplest(bounded(a.slots[place].low), bounded(a.slots[place].high), false, false, true)
}

func bounded(n *big.Int) *big.Rat {
	if n == nil {
		return nil
	}
	return new(big.Rat).SetInt(n)
}

func (w world) value(place int) amount {
	if c := w.classes[place]; c != finite {
		return amount{class: c}
	}
	return amount{class: finite, c: new(big.Rat).Mul(w.numbers[place], w.slots[place].unit)}
}

func (w world) literal(id int) amount {
	if w.ordered {
		return w.value(w.wordSlot + id)
	}
	return amount{class: finite, c: big.NewRat(int64(id)+1, 1)}
}

// verdict is the outcome of an evaluation.
type verdict struct {
	truth truth // every truth value that is possible
	// overflow says that PostgreSQL may raise an error instead.
	overflow bool
}

// evaluate works a condition out in three-valued logic, each part once.
func (w world) evaluate(c *cond, done map[*cond]verdict) verdict {
	if v, ok := done[c]; ok {
		return v
	}
	v := verdict{}
	kids := make([]verdict, 0, len(c.kids))
	for _, k := range c.kids {
		kv := w.evaluate(k, done)
		kids = append(kids, kv)
		v.overflow = v.overflow || kv.overflow
	}
	switch c.shape {
	case fixed:
		v.truth = c.set
	case fact:
		v.truth = w.fact(c.place)
	case compare:
		v.truth, v.overflow = w.relation(c)
	case nothing:
		places := c.left.places(nil)
		v.truth = w.null(places)
		if !w.unseen(places) {
			_, v.overflow = w.work(c.left)
		}
	case negation:
		v.truth = kids[0].truth.not()
	case conj:
		v.truth = lowest(kids)
	case disj:
		for i := range kids {
			kids[i].truth = kids[i].truth.not()
		}
		v.truth = lowest(kids).not()
	case same:
		v.truth = agreement(kids[0].truth, kids[1].truth)
	case member:
		if kids[0].truth&c.set != 0 {
			v.truth |= isTrue
		}
		if kids[0].truth&^c.set != 0 {
			v.truth |= isFalse
		}
	case either:
		if kids[0].truth&isTrue != 0 {
			v.truth |= kids[1].truth
		}
		if kids[0].truth&^isTrue != 0 {
			v.truth |= kids[2].truth
		}
	}
	done[c] = v
	return v
}

// null returns the set of answers to whether one of the variables is NULL, as
// isTrue and isFalse.
func (w world) null(places []int) truth {
	out := isFalse
	for _, p := range places {
		s := w.slots[p]
		switch {
		case !s.opaque && w.classes[p] == isNull, w.null(s.strict) == isTrue:
			return isTrue
		case s.opaque && s.classes&isNull != 0:
			out = isTrue | isFalse
		}
	}
	return out
}

func (w world) fact(place int) truth {
	null := w.null([]int{place})
	switch {
	case null == isTrue:
		return isUnknown
	case w.slots[place].opaque:
		return anything
	case w.facts[place]:
		return isTrue
	}
	return isFalse
}

// relation evaluates a comparison.
func (w world) relation(c *cond) (out truth, overflow bool) {
	places := c.right.places(c.left.places(nil))
	null := w.null(places)
	switch {
	case w.unseen(places) && null == isTrue:
		return isUnknown, false
	case w.unseen(places):
		return anything, false
	}
	left, over := w.work(c.left)
	right, tooOver := w.work(c.right)
	overflow = over || tooOver
	if null == isTrue {
		return isUnknown, overflow
	}
	l, r := left.class.rank(), right.class.rank()
	if left.class == finite && right.class == finite {
		l, r = left.c.Cmp(right.c), 0
	}
	if c.left.kind == Text && c.op != equals && l != r && !(w.free(left) && w.free(right)) {
		return isTrue | isFalse, overflow // the collation says
	}
	if c.op == equals && l == r || c.op == less && l < r || c.op == atMost && l <= r {
		return isTrue, overflow
	}
	return isFalse, overflow
}

// unseen reports whether one of the variables is an opaque value.
func (w world) unseen(places []int) bool {
	return slices.ContainsFunc(places, func(p int) bool { return w.slots[p].opaque })
}

// work computes a term, and reports whether an integer in it overflows.
func (w world) work(t *term) (value amount, overflow bool) {
	value = t.amount(measured{w}, func(t *term, a amount) { overflow = overflow || overflows(t, a) })
	return value, overflow
}

// free reports whether a text is one of ours, in whose order every collation
// agrees.
func (w world) free(a amount) bool {
	_, ours := w.texts[a.c.RatString()]
	return ours
}

// measured is a world with the lengths of its texts.
type measured struct{ world }

func (m measured) value(place int) amount {
	if n, known := m.length(place); known {
		return amount{class: finite, c: big.NewRat(int64(n), 1)}
	}
	return m.world.value(place)
}

// length returns the value of length(text) when that is what a variable is.
func (w world) length(place int) (int, bool) {
	of := w.slots[place].length
	if of < 0 || w.classes[of] != finite {
		return 0, false
	}
	text, ok := w.text(of)
	return utf8.RuneCountInString(text), ok
}

// lowest is AND: false below NULL below true.
func lowest(kids []verdict) truth {
	out := isTrue
	for _, k := range kids {
		var next truth
		for _, a := range []truth{isTrue, isFalse, isUnknown} {
			for _, b := range []truth{isTrue, isFalse, isUnknown} {
				if out&a == 0 || k.truth&b == 0 {
					continue
				}
				switch {
				case a == isFalse || b == isFalse:
					next |= isFalse
				case a == isUnknown || b == isUnknown:
					next |= isUnknown
				default:
					next |= isTrue
				}
			}
		}
		out = next
	}
	return out
}

// agreement is a = b of conditions.
func agreement(a, b truth) truth {
	var out truth
	if (a|b)&isUnknown != 0 {
		out |= isUnknown
	}
	if a&isTrue&b != 0 || a&isFalse&b != 0 {
		out |= isTrue
	}
	if a&isTrue != 0 && b&isFalse != 0 || a&isFalse != 0 && b&isTrue != 0 {
		out |= isFalse
	}
	return out
}
