package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
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
// A text that is no JSON, repeats a name, nests more than maxDepth deep, or is
// not whole Unicode, is refused with ErrBody: nobody could say what it means.
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
	return w.out, nil
}

type writer struct {
	dec *json.Decoder
	out []byte
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

// member is a name and its value, written.
type member struct {
	name  string
	units []uint16
	value []byte
}

// object writes the members, sorted, up to the closing brace.
func (w *writer) object(depth int) error {
	var members []member
	before := w.out
	for w.dec.More() {
		token, err := w.token()
		if err != nil {
			return err
		}
		name, _ := token.(string) // valid JSON has nothing else there
		w.out = nil
		if err := w.value(depth); err != nil {
			return err
		}
		members = append(members, member{name, utf16.Encode([]rune(name)), w.out})
	}
	slices.SortFunc(members, func(a, b member) int { return slices.Compare(a.units, b.units) })
	out := append(before, '{')
	for i, m := range members {
		if i > 0 {
			if m.name == members[i-1].name {
				return fmt.Errorf("%w: an object repeats a name", ErrBody)
			}
			out = append(out, ',')
		}
		out = append(append(appendString(out, m.name), ':'), m.value...)
	}
	w.out = append(out, '}')
	_, err := w.token()
	return err
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
