package logic

import (
	"math"
	"math/big"
	"slices"
)

// slot is a variable of an analysis: one that was given, or an opaque value.
type slot struct {
	Var
	text   string // as people write it
	opaque bool
	// untyped says that the type of an opaque value is not known.
	untyped bool
	// strict are the variables whose NULL makes an opaque value NULL.
	strict []int
	// within are the variables that an opaque value is made of.
	within []int
	// length is the text variable whose length the value is, or -1.
	length int
	// unit is what one step of the solver's variable stands for.
	unit    *big.Rat
	integer bool
	// low and high are bounds in steps; nil is none.
	low, high *big.Int
	classes   class
}

// analysis is the common ground of all questions.
type analysis struct {
	slots   []slot
	given   int // the first slots are the caller's
	byName  map[string]int
	opaques map[string]int
	words   map[string]int
	spelled []string // the literals by their numbers
	// lengths has the place of the length of a text variable.
	lengths map[int]int
	clock   int // the place of now(), or -1
	// compared are the comparisons of plain values that were made.
	compared map[comparison]*cond
	// ordered says that texts are compared by order, so that literals cannot be
	// given places among them beforehand.
	ordered bool
	// patterns are the opaque conditions that match a variable with a pattern.
	patterns map[int]pattern
	wordSlot int // the first literal's slot when ordered
	parts    int
	assume   []*cond
	guards   []*cond
	exact    formulas
	loose    formulas
}

func newAnalysis(vars []Var) *analysis {
	a := &analysis{
		given: len(vars), byName: map[string]int{}, opaques: map[string]int{}, words: map[string]int{},
		lengths: map[int]int{}, clock: -1, compared: map[comparison]*cond{}, patterns: map[int]pattern{},
	}
	for i, v := range vars {
		text := v.Name
		if v.Param {
			text = "@" + v.Name
		}
		if _, twice := a.byName[text]; !twice {
			a.byName[text] = i
		}
		a.slots = append(a.slots, newSlot(v, text))
	}
	return a
}

// newSlot says how a variable's values are counted.
func newSlot(v Var, text string) slot {
	s := slot{Var: v, text: text, length: -1, unit: big.NewRat(1, 1), classes: finite}
	if v.Optional {
		s.classes |= isNull
	}
	switch v.Kind {
	case Int:
		s.integer = true
		s.low, s.high = intRange(v.Bits)
	case Decimal:
		if v.Precision > 0 && v.Precision <= maxPrecision && v.Scale >= 0 && v.Scale <= v.Precision {
			s.integer = true
			s.unit.SetFrac(one, power10(v.Scale))
			s.high = new(big.Int).Sub(power10(v.Precision), one)
			s.low = new(big.Int).Neg(s.high)
			if !v.Finite {
				s.classes |= nan
			}
		}
	case Date:
		s.integer, s.low, s.high = true, big.NewInt(firstDay), big.NewInt(lastDay)
	case Time:
		s.integer, s.low, s.high = true, big.NewInt(firstMicro), big.NewInt(lastMicro)
	case UUID:
		s.integer, s.low = true, zero
		s.high = new(big.Int).Sub(new(big.Int).Lsh(one, 128), one)
	}
	return s
}

// maxPrecision is PostgreSQL's limit of numeric(p,s).
const maxPrecision = 1000

func power10(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// intRange returns the least and the greatest integer of a width. They are
// shared, and not to be changed.
func intRange(bits int) (low, high *big.Int) {
	r := intRanges[width(bits)]
	return r[0], r[1]
}

var intRanges = map[int][2]*big.Int{
	16: {big.NewInt(math.MinInt16), big.NewInt(math.MaxInt16)},
	32: {big.NewInt(math.MinInt32), big.NewInt(math.MaxInt32)},
	64: {big.NewInt(math.MinInt64), big.NewInt(math.MaxInt64)},
}

func width(bits int) int {
	if bits == 16 || bits == 32 {
		return bits
	}
	return 64
}

// grow counts a new part of an expression, and reports whether there is room.
func (a *analysis) grow() bool {
	a.parts++
	return a.parts <= maxTerms
}

// word returns a text literal, with one number for equal ones.
func (a *analysis) word(text string) *term {
	id, known := a.words[text]
	if !known {
		id = len(a.words)
		a.words[text] = id
		a.spelled = append(a.spelled, text)
	}
	return &term{form: word, kind: Text, text: text, id: id}
}

// opaque returns the place of the value that a text stands for.
func (a *analysis) opaque(text string, kind Kind, bits int, within, strict []int) int {
	if place, known := a.opaques[text]; known {
		return place
	}
	s := newSlot(Var{Kind: kind, Bits: bits, Optional: true}, text)
	s.opaque = true
	s.within, s.strict = within, strict
	a.slots = append(a.slots, s)
	a.opaques[text] = len(a.slots) - 1
	return len(a.slots) - 1
}

// conditions calls f once for every condition of the analysis.
func (a *analysis) conditions(f func(*cond)) {
	seen := map[*cond]bool{}
	for _, c := range slices.Concat(a.assume, a.guards) {
		c.walk(seen, f)
	}
}

// settle decides, once all expressions are read, which values each variable may
// have, and gives text literals their places.
func (a *analysis) settle() {
	var comparisons []*cond
	a.conditions(func(c *cond) {
		if c.shape != compare {
			return
		}
		comparisons = append(comparisons, c)
		a.ordered = a.ordered || c.left.kind == Text && c.op != equals
		if !c.left.simple() || !c.right.simple() {
			for _, p := range c.right.places(c.left.places(nil)) {
				a.widen(p)
			}
		}
	})
	// Where only order matters, NaN and the infinities are no more than large or
	// small numbers. Where arithmetic is done, or a bound is set by the type, they
	// are not, nor is what such a variable is compared with.
	for changed := true; changed; {
		changed = false
		for _, c := range comparisons {
			places := c.right.places(c.left.places(nil))
			if slices.ContainsFunc(places, func(p int) bool { return a.slots[p].classes&special != 0 }) {
				for _, p := range places {
					changed = a.widen(p) || changed
				}
			}
		}
	}
	a.limits()
	a.wordSlot = len(a.slots)
	if a.ordered {
		for range a.words {
			a.slots = append(a.slots, newSlot(Var{Kind: Text}, ""))
		}
	}
	a.exact = formulas{analysis: a, exact: true, made: map[want]*formula{}}
	a.loose = formulas{analysis: a, made: map[want]*formula{}}
}

// widen lets a numeric variable be NaN or infinite, and reports whether that is
// news.
func (a *analysis) widen(place int) bool {
	s := &a.slots[place]
	if s.Kind != Decimal || s.untyped || s.Finite || s.classes&nan != 0 {
		return false
	}
	s.classes |= special
	return true
}
