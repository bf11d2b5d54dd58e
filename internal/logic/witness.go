package logic

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// spellings gives every text value that is no literal a text of its own: plain
// letters, whose order is the same in every collation.
func (w world) spellings() map[string]string {
	literals := map[string]bool{}
	for id := range len(w.words) {
		literals[w.literal(id).c.RatString()] = true
	}
	var values []*big.Rat
	for i, s := range w.slots[:w.given] {
		if s.Kind == Text && w.classes[i] == finite && !literals[w.numbers[i].RatString()] {
			values = append(values, w.numbers[i])
		}
	}
	slices.SortFunc(values, (*big.Rat).Cmp)
	values = slices.CompactFunc(values, func(a, b *big.Rat) bool { return a.Cmp(b) == 0 })
	out := map[string]string{}
	next := 0
	for _, v := range values {
		text := letters(next, len(values)+len(w.words))
		for _, taken := w.words[text]; taken; _, taken = w.words[text] {
			next++
			text = letters(next, len(values)+len(w.words))
		}
		out[v.RatString()] = w.stretched(text, v)
		next++
	}
	return out
}

// longest is how long a text of a witness may be made.
const longest = 10_000

// stretched fills a text up to the length that the solution has for it, where a
// condition speaks of that: with its last letter, or another one where a literal
// is the same.
func (w world) stretched(text string, value *big.Rat) string {
	for i, s := range w.slots {
		n := w.wanted[i]
		if n == nil || w.classes[s.length] != finite || w.numbers[s.length].Cmp(value) != 0 {
			continue
		}
		if !n.IsInt() || n.Cmp(big.NewRat(longest, 1)) > 0 || n.Cmp(big.NewRat(int64(len(text)), 1)) <= 0 {
			continue
		}
		more := int(n.Num().Int64()) - len(text)
		for letter := range byte(26) {
			fill := 'a' + (text[len(text)-1]-'a'+letter)%26
			long := text + strings.Repeat(string(fill), more)
			if _, taken := w.words[long]; !taken {
				return long
			}
		}
	}
	return text
}

// letters returns the n-th text of as many letters as count texts need.
func letters(n, count int) string {
	var out []byte
	for ; count > 0; count /= 26 {
		out = append(out, byte('a'+n%26))
		n /= 26
	}
	slices.Reverse(out)
	return string(out)
}

// text returns the text that a variable has.
func (w world) text(place int) (string, bool) {
	key := w.numbers[place].RatString()
	if text, ok := w.texts[key]; ok {
		return text, true
	}
	for text, id := range w.words {
		if w.literal(id).c.RatString() == key {
			return text, true
		}
	}
	return "", false
}

// witness writes the values of the variables, those left out excepted. It
// reports false when one of them cannot be written exactly.
func (w world) witness(without map[int]bool) ([]Value, bool) {
	var out []Value
	for i, s := range w.slots {
		if without[i] || i >= w.given && i != w.clock {
			continue
		}
		text, ok := w.spell(i)
		if !ok {
			return nil, false
		}
		out = append(out, Value{Name: s.Name, Param: s.Param, SQL: text})
	}
	return out, true
}

// spell writes one value as a literal of its type.
func (w world) spell(place int) (string, bool) {
	switch w.classes[place] {
	case isNull:
		return "NULL", true
	case nan:
		return "'NaN'", true
	case infinite:
		return "'Infinity'", true
	case minusInfinite:
		return "'-Infinity'", true
	}
	s, n := w.slots[place], w.numbers[place]
	if len(s.Among) == 1 {
		switch s.Kind {
		case Int, Decimal, Float, Bool:
			return s.Among[0], true
		}
		return quote(s.Among[0]), true
	}
	value := new(big.Rat).Mul(n, s.unit)
	switch s.Kind {
	case Bool:
		return strconv.FormatBool(w.facts[place]), true
	case Text:
		text, ok := w.text(place)
		return spelled(text), ok && (s.Length == 0 || utf8.RuneCountInString(text) <= s.Length)
	case Int:
		return value.RatString(), value.IsInt()
	case Decimal:
		return decimal(value), terminates(value)
	case Float:
		_, exact := value.Float64()
		return decimal(value), exact
	case Date:
		return day(n.Num())
	case Time:
		return moment(n.Num())
	case UUID:
		digits := fmt.Sprintf("%032x", n.Num())
		return quote(strings.Join([]string{digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]}, "-")), true
	}
	return w.other(place), true
}

// spelled writes a text, and one that nobody would read to its end in short.
func spelled(text string) string {
	if last := len(text) - 1; last >= maxSpelled && strings.Trim(text[:last], text[last:]) == "" {
		return "repeat(" + quote(text[last:]) + ", " + strconv.Itoa(len(text)) + ")"
	}
	return quote(text)
}

// maxSpelled is how long a text is written out.
const maxSpelled = 40

// other writes a value of a type that is not known. A number is read by jsonb
// and by bytea alike, and equal where it should be.
func (w world) other(place int) string {
	var values []*big.Rat
	for i, s := range w.slots[:w.given] {
		if s.Kind == Other && w.classes[i] == finite {
			values = append(values, w.numbers[i])
		}
	}
	slices.SortFunc(values, (*big.Rat).Cmp)
	values = slices.CompactFunc(values, func(a, b *big.Rat) bool { return a.Cmp(b) == 0 })
	at, _ := slices.BinarySearchFunc(values, w.numbers[place], (*big.Rat).Cmp)
	return quote(strconv.Itoa(at + 1))
}

// terminates reports whether a number has an end in decimal digits.
func terminates(x *big.Rat) bool {
	_, exact := x.FloatPrec()
	return exact
}

// decimal writes a number with all its digits, as far as they end.
func decimal(x *big.Rat) string {
	digits, exact := x.FloatPrec()
	if !exact {
		return x.RatString()
	}
	return x.FloatString(digits)
}

const microsPerSecond = 1_000_000

// day writes a date of the years 1 to 9999, or an infinite one.
func day(n *big.Int) (string, bool) {
	switch {
	case n.Cmp(big.NewInt(lastDay)) == 0:
		return "'infinity'", true
	case n.Cmp(big.NewInt(firstDay)) == 0:
		return "'-infinity'", true
	}
	at := time.Unix(epoch.Unix()+n.Int64()*secondsPerDay, 0).UTC()
	return quote(at.Format("2006-01-02")), 1 <= at.Year() && at.Year() <= 9999
}

// moment writes a time likewise, in UTC.
func moment(n *big.Int) (string, bool) {
	switch {
	case n.Cmp(big.NewInt(lastMicro)) == 0:
		return "'infinity'", true
	case n.Cmp(big.NewInt(firstMicro)) == 0:
		return "'-infinity'", true
	}
	seconds, micros := new(big.Int).DivMod(n, big.NewInt(microsPerSecond), new(big.Int))
	at := time.Unix(epoch.Unix()+seconds.Int64(), micros.Int64()*1000).UTC()
	return quote(at.Format("2006-01-02 15:04:05.999999") + "+00"), 1 <= at.Year() && at.Year() <= 9999
}
