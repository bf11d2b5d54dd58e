package evaluate

import (
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// literal is a constant as it is written.
func literal(c *pg.A_Const) (term, error) {
	switch {
	case c.GetIsnull():
		return term{kind: unknown, eval: func(*scope) (any, error) { return nil, nil }}, nil
	case c.GetBoolval() != nil:
		return constant(bools, c.GetBoolval().GetBoolval()), nil
	case c.GetIval() != nil:
		return constant(int4s, int64(c.GetIval().GetIval())), nil
	case c.GetFval() != nil:
		return number(c.GetFval().GetFval())
	case c.GetSval() != nil:
		text := c.GetSval().GetSval()
		return term{kind: unknown, quoted: &text, eval: func(*scope) (any, error) { return text, nil }}, nil
	}
	return term{}, unsupported("a bit string")
}

var decimalText = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$`)

// number is a constant that the grammar does not hold for an integer: a bigint
// where it is one, else a numeric.
func number(text string) (term, error) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return constant(int8s, n), nil
	}
	if !decimalText.MatchString(text) {
		return term{}, unsupported("the number %s", text)
	}
	r, _ := new(big.Rat).SetString(text)
	return constant(numerics, r), nil
}

const blanks = " \t\n\r\f\v"

// parse reads a text as a type.
func parse(k kind, text string) (any, error) {
	trimmed := strings.Trim(text, blanks)
	switch k {
	case texts:
		return text, nil
	case bools:
		return parseBool(strings.ToLower(trimmed))
	case int2s, int4s, int8s:
		return parseInt(k, trimmed)
	case numerics:
		if decimalText.MatchString(trimmed) {
			r, _ := new(big.Rat).SetString(trimmed)
			return r, nil
		}
		return nil, unsupported("the numeric %q", text)
	case float8s:
		if f, err := strconv.ParseFloat(trimmed, 64); err == nil && decimalText.MatchString(trimmed) && !math.IsInf(f, 0) {
			return f, nil
		}
		return nil, unsupported("the double precision %q", text)
	case uuids:
		return parseUUID(text)
	case dates:
		if t, err := time.Parse(dateForm, trimmed); err == nil {
			return dayOf(t), nil
		}
		return nil, unsupported("the date %q", text)
	case moments:
		return parseMoment(trimmed)
	case spans:
		return parseSpan(trimmed)
	}
	return nil, unsupported("the text %q as %s", text, k)
}

func parseBool(text string) (any, error) {
	if text != "" {
		for word, v := range map[string]bool{"true": true, "yes": true, "on": true, "1": true, "false": false, "no": false, "off": false, "0": false} {
			if strings.HasPrefix(word, text) && text != "o" {
				return v, nil
			}
		}
	}
	return nil, failure(badText, "invalid input syntax for type boolean")
}

var wholeText = regexp.MustCompile(`^[+-]?[0-9]+$`)

func parseInt(k kind, text string) (any, error) {
	if !wholeText.MatchString(text) {
		if strings.ContainsAny(text, "xXoObB_") {
			return nil, unsupported("the whole number %q", text) // later versions read more spellings
		}
		return nil, failure(badText, "invalid input syntax for type %s", k)
	}
	n, _ := new(big.Int).SetString(text, 10)
	return boundedBig(k, n)
}

var uuidText = regexp.MustCompile(`^([0-9a-f]{4}-?){7}[0-9a-f]{4}$`)

func parseUUID(text string) (any, error) {
	inner := strings.ToLower(text)
	if strings.HasPrefix(inner, "{") && strings.HasSuffix(inner, "}") {
		inner = inner[1 : len(inner)-1]
	}
	if !uuidText.MatchString(inner) {
		return nil, failure(badText, "invalid input syntax for type uuid")
	}
	h := strings.ReplaceAll(inner, "-", "")
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:], nil
}

var momentForms = []string{
	"2006-01-02 15:04:05.999999-07", "2006-01-02 15:04:05.999999-07:00", "2006-01-02 15:04:05.999999Z", "2006-01-02 15:04:05.999999",
	"2006-01-02T15:04:05.999999Z", "2006-01-02T15:04:05.999999-07:00", "2006-01-02 15:04-07", "2006-01-02 15:04", "2006-01-02",
}

// parseMoment reads a time as ISO writes it. One without a zone is of UTC.
func parseMoment(text string) (any, error) {
	for _, form := range momentForms {
		if t, err := time.Parse(form, text); err == nil {
			return t.UTC(), nil
		}
	}
	return nil, unsupported("the time %q", text)
}

var (
	spanPart  = regexp.MustCompile(`^\s*([+-]?[0-9]{1,9})\s*([a-z]+)\s*`)
	clockPart = regexp.MustCompile(`^\s*([+-]?)([0-9]{1,6}):([0-5][0-9])(?::([0-5][0-9]))?\s*$`)
)

// parseSpan reads an interval of whole units, and perhaps a time of day behind them.
func parseSpan(text string) (any, error) {
	var s span
	rest, seen := strings.ToLower(text), map[string]bool{}
	for {
		m := spanPart.FindStringSubmatch(rest)
		if m == nil {
			break
		}
		n, _ := strconv.ParseInt(m[1], 10, 64) // nine digits fit
		unit := strings.TrimSuffix(m[2], "s")
		if seen[unit] || !s.add(n, unit) {
			return nil, unsupported("the interval %q", text)
		}
		seen[unit], rest = true, rest[len(m[0]):]
	}
	if m := clockPart.FindStringSubmatch(rest); m != nil && !seen["hour"] && !seen["minute"] && !seen["second"] {
		hours, _ := strconv.ParseInt(m[2], 10, 64)
		minutes, _ := strconv.ParseInt(m[3], 10, 64)
		seconds, _ := strconv.ParseInt("0"+m[4], 10, 64)
		clock := (hours*3600 + minutes*60 + seconds) * 1_000_000
		if m[1] == "-" {
			clock = -clock
		}
		s.micros += clock
		return s, nil
	}
	if strings.TrimSpace(rest) != "" || len(seen) == 0 {
		return nil, unsupported("the interval %q", text)
	}
	return s, nil
}

// add adds a number of a unit, and reports whether it knows the unit.
func (s *span) add(n int64, unit string) bool {
	switch unit {
	case "year":
		s.months += 12 * n
	case "month", "mon":
		s.months += n
	case "week":
		s.days += 7 * n
	case "day", "d":
		s.days += n
	case "hour", "h":
		s.micros += n * 3600 * 1_000_000
	case "minute", "min":
		s.micros += n * 60 * 1_000_000
	case "second", "sec":
		s.micros += n * 1_000_000
	default:
		return false
	}
	return true
}
