package logic

import (
	"math/big"
)

// form is what a term is made of.
type form int

const (
	number   form = iota // a constant of a numeric kind, a date, a time, a uuid
	word                 // a text literal
	variable             // a column, a parameter, or an opaque value
	sum                  // left + right
	multiple             // left times the constant
	quoted               // a literal that takes its type from what it meets
	null                 // NULL
	choice               // left where the condition is true, else right
)

// term is an expression that has a value.
type term struct {
	form        form
	kind        Kind
	bits        int      // of an Int
	constant    *big.Rat // of number and multiple
	text        string   // of word and quoted
	id          int      // of variable: its place; of word: its number
	left, right *term
	when        *cond // of choice
	size        int   // how many parts arithmetic has
	// untyped says of a variable that its type is not known, so that it cannot
	// be compared with anything exactly.
	untyped bool
}

// simple reports whether a term is one value, not arithmetic.
func (t *term) simple() bool {
	return t.form == number || t.form == word || t.form == variable
}

// weight is the work of computing a term once.
func (t *term) weight() int { return 1 + t.size/4 }

// places adds the variables of a term, each once.
func (t *term) places(into []int) []int {
	switch {
	case t == nil:
		return into
	case t.form == variable:
		for _, v := range into {
			if v == t.id {
				return into
			}
		}
		return append(into, t.id)
	}
	return t.right.places(t.left.places(into))
}

// class says what a variable's value is: NULL, or which sort of number. Of other
// kinds a value that is not NULL is finite.
type class uint8

const (
	isNull class = 1 << iota
	finite
	nan
	infinite
	minusInfinite
)

// special is every numeric value without a place among the numbers.
const special = nan | infinite | minusInfinite

// amount is the value of a term: NULL, one of special, or a finite linear form,
// the sum of parts and c. Its numbers are not changed once it is made.
type amount struct {
	class class
	parts []part // in the order of places, each once
	c     *big.Rat
}

// part is a variable with its coefficient.
type part struct {
	place int
	coef  *big.Rat
}

// Numbers that amounts share.
var (
	ratZero     = new(big.Rat)
	ratOne      = big.NewRat(1, 1)
	ratMinusOne = big.NewRat(-1, 1)
)

// scene gives the variables their values, or stands for them.
type scene interface {
	value(place int) amount
	literal(id int) amount
}

// amount works a term out as PostgreSQL computes: NaN swallows all, and opposite
// infinities give NaN. grown is called with every finite sum and multiple.
func (t *term) amount(s scene, grown func(*term, amount)) amount {
	switch t.form {
	case variable:
		return s.value(t.id)
	case word:
		return s.literal(t.id)
	case sum:
		l, r := t.left.amount(s, grown), t.right.amount(s, grown)
		switch {
		case l.class == isNull || r.class == isNull:
			return amount{class: isNull}
		case l.class == nan || r.class == nan || l.class|r.class == infinite|minusInfinite:
			return amount{class: nan}
		case l.class != finite:
			return l
		case r.class != finite:
			return r
		}
		out := added(l, r, ratOne)
		grown(t, out)
		return out
	case multiple:
		l := t.left.amount(s, grown)
		switch sign := t.constant.Sign(); {
		case l.class == finite:
			out := added(amount{c: ratZero}, l, t.constant)
			grown(t, out)
			return out
		case l.class == isNull:
			return l
		case l.class == nan || sign == 0:
			return amount{class: nan}
		case sign < 0:
			return amount{class: l.class ^ (infinite | minusInfinite)}
		default:
			return l
		}
	}
	c := t.constant
	if c == nil {
		c = ratZero
	}
	return amount{class: finite, c: c}
}

// added returns l + by·r.
func added(l, r amount, by *big.Rat) amount {
	out := amount{class: finite, parts: make([]part, 0, len(l.parts)+len(r.parts)), c: l.c}
	if r.c.Sign() != 0 {
		out.c = new(big.Rat).Mul(r.c, by)
		out.c.Add(out.c, l.c)
	}
	at := 0
	for _, p := range r.parts {
		for ; at < len(l.parts) && l.parts[at].place < p.place; at++ {
			out.parts = append(out.parts, l.parts[at])
		}
		if by != ratOne {
			p.coef = new(big.Rat).Mul(p.coef, by)
		}
		if at < len(l.parts) && l.parts[at].place == p.place {
			p.coef = new(big.Rat).Add(p.coef, l.parts[at].coef)
			at++
		}
		out.parts = append(out.parts, p)
	}
	out.parts = append(out.parts, l.parts[at:]...)
	return out
}

// rank orders the classes as PostgreSQL does: NaN is equal to itself and above
// all else.
func (c class) rank() int {
	switch c {
	case minusInfinite:
		return -1
	case infinite:
		return 1
	case nan:
		return 2
	}
	return 0
}
