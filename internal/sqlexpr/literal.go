package sqlexpr

import (
	"encoding/json"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// literal judges a quoted literal that is read as a type, and returns false
// after reporting that it cannot be. Any other value is fine.
func (t *typer) literal(v typed, typ string) bool {
	if v.text == nil {
		return true
	}
	if t.catalog.kind(typ).category == "D" && slices.ContainsFunc(strings.Fields(*v.text), clockWord) {
		t.add(v.at, Volatile, *v.text, "'%s' is the server's clock; write now(), which is the clock that the caller injects", *v.text)
		return false
	}
	if says := unreadable(*v.text, typ); says != "" {
		t.add(v.at, Unreadable, *v.text, "%s cannot be read as %s; write %s", v.words, spoken(typ), says)
		return false
	}
	return true
}

// whole has the bits of the integer types.
var whole = map[string]int{"int2": 16, "int4": 32, "int8": 64}

var (
	wholeText   = regexp.MustCompile(`^[+-]?[0-9]+$`)
	decimalText = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?$`)
	uuidText    = regexp.MustCompile(`^([0-9a-fA-F]{4}-?){7}[0-9a-fA-F]{4}$`)
	isoText     = regexp.MustCompile(`^([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[ T]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.[0-9]+)?)?)?(?: ?(?:[zZ]|[+-][0-9]{2}(?::?[0-9]{2})?))?$`)
	// wider are spellings of numbers that later versions of PostgreSQL read, or
	// that the C library does.
	wider = regexp.MustCompile(`^[+-]?(0[xob].*|[0-9][0-9_.e+-]*_[0-9_.e+-]*)$`)
)

func isWhole(number string) bool { return wholeText.MatchString(number) }

// unreadable says what would be read as the type, of a text that PostgreSQL
// certainly cannot; it is empty for any other, and for types that it does not
// know.
func unreadable(text, typ string) string {
	trimmed := strings.ToLower(strings.Trim(text, " \t\n\r\f\v"))
	switch typ {
	case "int2", "int4", "int8":
		return unreadableWhole(trimmed, whole[typ])
	case "numeric", "float4", "float8":
		return unreadableNumber(trimmed)
	case "bool":
		if !literalFits(text, Boolean) {
			return "true or false"
		}
	case "uuid":
		if inner, braced := strings.CutPrefix(text, "{"); braced {
			text = strings.TrimSuffix(inner, "}")
			if text == inner {
				text = ""
			}
		}
		if !uuidText.MatchString(text) {
			return "32 hexadecimal digits, as in '123e4567-e89b-42d3-a456-426614174000'"
		}
	case "date", "timestamptz", "timestamp":
		return unreadableDay(trimmed, typ)
	case "time", "timetz", "interval":
		if !strings.ContainsAny(trimmed, "0123456789") && !strings.Contains(trimmed, "allballs") && !(typ == "interval" && strings.Contains(trimmed, "inf")) {
			return map[bool]string{true: "an interval, as in '30 minutes'", false: "a time, as in '12:30:00'"}[typ == "interval"]
		}
	case "json", "jsonb":
		if !json.Valid([]byte(text)) {
			return `JSON, as in '{"a": 1}', and a text in it in double quotes: '"x"'`
		}
	case "bytea":
		if !bytesText(text) {
			return `bytes in hexadecimal, as in '\xdeadbeef'`
		}
	default:
		if element(typ) != "" && !(strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[")) {
			return "an array in braces, as in '{a,b}'"
		}
	}
	return ""
}

func unreadableWhole(text string, bits int) string {
	if wider.MatchString(text) {
		return ""
	}
	_, err := strconv.ParseInt(strings.TrimPrefix(text, "+"), 10, bits)
	if err == nil && wholeText.MatchString(text) {
		return ""
	}
	highest := new(big.Int).Lsh(big.NewInt(1), uint(bits-1))
	return "a whole number from -" + highest.String() + " to " + highest.Sub(highest, big.NewInt(1)).String()
}

func unreadableNumber(text string) string {
	word := strings.TrimLeft(text, "+-")
	if decimalText.MatchString(text) || wider.MatchString(text) || word == "nan" || word == "inf" || word == "infinity" {
		return ""
	}
	return "a number, as in '12.5'"
}

// unreadableDay judges a text as a date with or without a time. PostgreSQL reads
// dates in very many ways; what is refused is a text without any digit, which
// has no day, and an ISO date whose day or time does not exist.
func unreadableDay(text, typ string) string {
	example := "a time, as in '2026-01-31 12:30:00+00'"
	if typ == "date" {
		example = "a date, as in '2026-01-31'"
	}
	if !strings.ContainsAny(text, "0123456789") {
		if strings.Contains(text, "inf") || strings.Contains(text, "epoch") {
			return ""
		}
		return example
	}
	m := isoText.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	part := func(i int) int { n, _ := strconv.Atoi(m[i]); return n }
	year, month, day := part(1), part(2), part(3)
	hour, minute, second := part(4), part(5), part(6)
	last := time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
	if year < 1 || month < 1 || month > 12 || day < 1 || day > last ||
		hour > 24 || minute > 59 || second > 60 || hour == 24 && minute+second > 0 {
		return example
	}
	return ""
}

// bytesText reports whether a text may be bytes, in either of their formats.
func bytesText(text string) bool {
	if digits, hex := strings.CutPrefix(text, `\x`); hex {
		digits = strings.Join(strings.Fields(digits), "")
		return len(digits)%2 == 0 && strings.Trim(digits, "0123456789abcdefABCDEF") == ""
	}
	octal := regexp.MustCompile(`^\\(\\|[0-3][0-7][0-7])`)
	for text != "" {
		if text[0] != '\\' {
			text = text[1:]
			continue
		}
		escape := octal.FindString(text)
		if escape == "" {
			return false
		}
		text = text[len(escape):]
	}
	return true
}

// tooLong reports whether a text has more characters than there is room for,
// other than spaces at its end, which are cut off.
func tooLong(text string, size int) bool {
	return utf8.RuneCountInString(strings.TrimRight(text, " ")) > size
}

// overflows reports whether a number has more digits before the point, after it
// is rounded, than numeric(precision, scale) holds.
func overflows(text string, precision, scale int) bool {
	text = strings.ToLower(strings.TrimSpace(text))
	if !decimalText.MatchString(text) || strings.Contains(text, "e") || len(text) > 1100 {
		return strings.Contains(text, "inf")
	}
	n, ok := new(big.Rat).SetString(text)
	if !ok {
		return false
	}
	rounded, _ := new(big.Rat).SetString(n.Abs(n).FloatString(scale))
	limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(precision-scale)), nil)
	return rounded.Cmp(new(big.Rat).SetInt(limit)) >= 0
}
