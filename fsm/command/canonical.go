package command

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth is how deep a body may nest arrays and objects.
const maxDepth = 512

// canonicalJSON returns the one form of all texts that say the same: without
// space, strings with the fewest escapes, names sorted by their UTF-16 units as
// RFC 8785 has it. It departs from that RFC in numbers: those are exact decimals,
// not doubles, since 9007199254740993 and 9007199254740992 are two amounts. Equal
// numbers have one form: 1, 1.0, 1.00, 10e-1 are 1, and -0 is 0.
//
// A text that is no JSON, repeats a name, in the same case or another, nests more than
// maxDepth deep, or is not whole Unicode, is refused with ErrBody: nobody could say
// what it means.
func canonicalJSON(text []byte) ([]byte, error) {
	switch {
	case !utf8.Valid(text):
		return nil, fmt.Errorf("%w: it is not UTF-8", ErrBody)
	case !json.Valid(text): // stricter than the tokens of a Decoder
		return nil, fmt.Errorf("%w: its syntax is wrong, or it nests too deep", ErrBody)
	case halfSurrogate(text):
		return nil, fmt.Errorf("%w: it holds half a surrogate pair", ErrBody)
	}
	w := writer{dec: json.NewDecoder(bytes.NewReader(text))}
	w.dec.UseNumber()
	if err := w.value(0); err != nil {
		return nil, err
	}
	if len(w.mixed) == 0 {
		return w.out, nil
	}
	slices.SortFunc(w.mixed, func(a, b object) int { return a.start - b.start })
	return w.ordered(make([]byte, 0, len(w.out)), 0, len(w.out)), nil
}

// writer writes values in the order of the text, and notes which objects have another
// one. Those are put in order at the end, all at once: however deep a text nests, each
// byte of it is moved once.
type writer struct {
	dec   *json.Decoder
	out   []byte
	mixed []object
}

// object is one whose members were not in order, from brace to brace in writer.out.
type object struct {
	start, end int
	members    []member // in order
}

// member is a name with its value, from quote to comma in writer.out.
type member struct {
	name       string
	start, end int
}

// value reads one value and writes it.
func (w *writer) value(depth int) error {
	token, err := w.token()
	if err != nil {
		return err
	}
	switch t := token.(type) {
	case json.Delim:
		if depth == maxDepth {
			return fmt.Errorf("%w: it nests more than %d deep", ErrBody, maxDepth)
		}
		if t == '[' {
			return w.array(depth + 1)
		}
		return w.object(depth + 1)
	case string:
		w.out = appendString(w.out, t)
	case json.Number:
		n, err := canonicalNumber(t.String())
		if err != nil {
			return err
		}
		w.out = append(w.out, n...)
	case bool:
		w.out = strconv.AppendBool(w.out, t)
	default:
		w.out = append(w.out, "null"...)
	}
	return nil
}

func (w *writer) token() (json.Token, error) {
	token, err := w.dec.Token()
	if err == nil {
		return token, nil
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return nil, fmt.Errorf("%w: %w", ErrBody, err)
}

// array writes the elements up to the closing bracket.
func (w *writer) array(depth int) error {
	w.out = append(w.out, '[')
	for first := true; w.dec.More(); first = false {
		if !first {
			w.out = append(w.out, ',')
		}
		if err := w.value(depth); err != nil {
			return err
		}
	}
	w.out = append(w.out, ']')
	_, err := w.token()
	return err
}

// object writes the members up to the closing brace.
func (w *writer) object(depth int) error {
	o := object{start: len(w.out)}
	w.out = append(w.out, '{')
	for w.dec.More() {
		if len(o.members) > 0 {
			w.out = append(w.out, ',')
		}
		token, err := w.token()
		if err != nil {
			return err
		}
		m := member{start: len(w.out)}
		m.name, _ = token.(string) // valid JSON has nothing else there
		w.out = append(appendString(w.out, m.name), ':')
		if err := w.value(depth); err != nil {
			return err
		}
		m.end = len(w.out)
		o.members = append(o.members, m)
	}
	w.out = append(w.out, '}')
	o.end = len(w.out)
	if repeats(o.members) {
		return fmt.Errorf("%w: an object repeats a name, perhaps in another case", ErrBody)
	}
	if !slices.IsSortedFunc(o.members, byUnits) {
		slices.SortFunc(o.members, byUnits)
		w.mixed = append(w.mixed, o)
	}
	_, err := w.token()
	return err
}

// ordered appends a part of what was written, with the members of its objects in order.
func (w *writer) ordered(to []byte, start, end int) []byte {
	for {
		next, _ := slices.BinarySearchFunc(w.mixed, start, func(o object, at int) int { return o.start - at })
		if next == len(w.mixed) || w.mixed[next].start >= end {
			return append(to, w.out[start:end]...)
		}
		o := w.mixed[next]
		to = append(append(to, w.out[start:o.start]...), '{')
		for i, m := range o.members {
			if i > 0 {
				to = append(to, ',')
			}
			to = w.ordered(to, m.start, m.end)
		}
		to, start = append(to, '}'), o.end
	}
}

// repeats reports whether a name is there twice, in another case too: encoding/json
// reads "Amount" where "amount" is asked for, and of both the last, so that with them
// the order of names means something.
func repeats(members []member) bool {
	if len(members) < 2 {
		return false
	}
	names := make([]string, len(members))
	for i, m := range members {
		names[i] = strings.Map(folded, m.name)
	}
	slices.Sort(names)
	return len(slices.Compact(names)) < len(members)
}

// folded returns the least of the runes that are one but for their case, by Unicode's
// simple folding, as encoding/json has it: k, K and the Kelvin sign are K.
func folded(r rune) rune {
	for {
		next := unicode.SimpleFold(r)
		if next <= r { // around once
			return next
		}
		r = next
	}
}

// byUnits compares names by their UTF-16 units: as their runes, but that a pair begins
// with a surrogate, which is less than the last runes of one unit.
func byUnits(a, b member) int {
	for i, r := range a.name {
		if i == len(b.name) {
			return 1
		}
		if other, _ := utf8.DecodeRuneInString(b.name[i:]); r != other {
			return cmp.Or(cmp.Compare(firstUnit(r), firstUnit(other)), cmp.Compare(r, other))
		}
	}
	return cmp.Compare(len(a.name), len(b.name)) // a is how b begins
}

func firstUnit(r rune) rune {
	if high, _ := utf16.EncodeRune(r); high != utf8.RuneError {
		return high
	}
	return r
}

// appendString writes a string with the escapes of RFC 8785, section 3.2.2.2.
func appendString(out []byte, s string) []byte {
	out = append(out, '"')
	for _, r := range s {
		switch {
		case r == '"', r == '\\':
			out = append(out, '\\', byte(r))
		case r >= 0x20:
			out = utf8.AppendRune(out, r)
		case strings.ContainsRune("\b\t\n\f\r", r):
			out = append(out, '\\', "btn fr"[r-'\b'])
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return append(out, '"')
}

// canonicalNumber writes a JSON number as its digits without zeros at either end
// and, where there is one, a power of ten: -1.50 is -15e-1, 100 is 1e2.
func canonicalNumber(n string) (string, error) {
	digits, power, _ := strings.Cut(strings.ToLower(n), "e")
	digits, negative := strings.CutPrefix(digits, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	exponent := int64(0)
	if power != "" {
		var err error
		// 18 digits: so far from the ends of int64 that no sum below overflows.
		if exponent, err = strconv.ParseInt(power, 10, 64); err != nil || exponent > 1e18 || exponent < -1e18 {
			return "", fmt.Errorf("%w: a number has an exponent beyond all measure", ErrBody)
		}
	}
	digits = strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return "0", nil
	}
	exponent -= int64(len(fraction))
	short := strings.TrimRight(digits, "0")
	exponent += int64(len(digits) - len(short))
	if negative {
		short = "-" + short
	}
	if exponent == 0 {
		return short, nil
	}
	return short + "e" + strconv.FormatInt(exponent, 10), nil
}

// halfSurrogate reports whether an escape in a valid JSON text is one half of a
// surrogate pair without the other. A decoder reads all of those as U+FFFD, which
// would make different texts equal.
func halfSurrogate(text []byte) bool {
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		r, ok := unicodeEscape(text[i:])
		switch {
		case !ok:
			i++ // the escaped character
		case !utf16.IsSurrogate(r):
			i += 5
		default:
			second, ok := unicodeEscape(text[i+6:])
			if !ok || utf16.DecodeRune(r, second) == utf8.RuneError {
				return true
			}
			i += 11
		}
	}
	return false
}

// unicodeEscape reads \uXXXX at the start of text.
func unicodeEscape(text []byte) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(n), err == nil
}
