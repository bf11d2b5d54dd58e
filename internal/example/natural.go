package example

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-go/pawl/internal/model"
)

// wish is what the natural values of a variable hang on: a column, with its
// default where nothing has touched it yet or without any where it is set, or a
// parameter of a call before which some facts were told.
type wish struct {
	column    *model.Column
	untouched bool
	set       bool
	param     *model.Param
	told      int
}

// wished makes a variable once.
func (f *Finder) wished(w wish, v func() symbol) symbol {
	made, there := f.variables[w]
	if !there {
		made = keyed(v())
		f.variables[w] = made
	}
	return made
}

// ofColumn is the variable of a column before the first call.
func (f *Finder) ofColumn(c *model.Column, untouched bool) symbol {
	return f.wished(wish{column: c, untouched: untouched}, func() symbol {
		values := distinct(natural(c.Name, c.Type, 0), c.Type, f.machine.Table.Columns, nil, c.Name)
		literal, plain := plainDefault(c)
		switch {
		case !plain:
		case untouched:
			values = append([]string{literal}, values...)
		default:
			values = append(values, literal)
		}
		return symbol{Var: variable(c.Name, c.Type, c.Optional), people: c.Name, typ: c.Type, natural: values}
	})
}

// ofSet is the variable of a column that a call sets.
func (f *Finder) ofSet(c *model.Column) symbol {
	return f.wished(wish{column: c, set: true}, func() symbol {
		return symbol{Var: variable(c.Name, c.Type, c.Optional), people: c.Name, typ: c.Type}
	})
}

// ofParam is the variable of a parameter; told is how many calls of its event
// came before, where each must tell a fact of its own.
func (f *Finder) ofParam(e *model.Event, p *model.Param, told int) symbol {
	return f.wished(wish{param: p, told: told}, func() symbol {
		v := argument(e, p)
		v.Param = false // it has a name of its own in each call
		return symbol{Var: v, people: "@" + p.Name, typ: p.Type, natural: distinct(natural(p.Name, p.Type, told), p.Type, f.machine.Table.Columns, e.Params, "@"+p.Name)}
	})
}

// plainDefault returns a column's default where it is a plain literal.
func plainDefault(c *model.Column) (string, bool) {
	if c.Default == nil {
		return "", false
	}
	text := strings.TrimSpace(c.Default.Source)
	return text, plainLiteral.MatchString(text)
}

var plainLiteral = regexp.MustCompile(`^(?i:-?[0-9]+(\.[0-9]+)?|'[^'\\]*'|true|false)$`)

// natural returns the values that a column or parameter of that name had better
// have, as literals. from is how many of the first to leave out of those that
// are numbered.
func natural(name string, t model.Type, from int) []string {
	var out []string
	numbers := func(f func(n int) string) []string {
		for n := from + 1; n <= from+3; n++ {
			out = append(out, f(n))
		}
		return out
	}
	switch t.Kind {
	case model.KindText:
		return numbers(func(n int) string { return quote(labelled(name, n, t.Length)) })
	case model.KindUUID:
		return numbers(func(n int) string { return quote("00000000-0000-4000-8000-" + pad(n, 12)) })
	case model.KindInt16, model.KindInt32:
		return rotated([]string{"1", "2", "3", "10", "100", "0"}, from)
	case model.KindNumeric:
		values := []string{"100", "10", "1", "1000", "0.5", "0.05", "0"}
		return rotated(slices.DeleteFunc(values, func(text string) bool { return !fits(text, t) }), from)
	case model.KindInt64, model.KindFloat64:
		return rotated([]string{"100", "10", "1", "1000", "0"}, from)
	case model.KindBool:
		return []string{"false", "true"}
	case model.KindTime:
		for _, after := range []time.Duration{-time.Hour, time.Hour, -25 * time.Hour, 25 * time.Hour, -40 * day, 40 * day, -400 * day, 400 * day} {
			out = append(out, moment(clock.Add(after)))
		}
		return out
	case model.KindDate:
		for _, after := range []int{0, -1, 1, -40, 40, -400, 400} {
			out = append(out, quote(clock.AddDate(0, 0, after).Format(time.DateOnly)))
		}
		return out
	case model.KindBytes:
		return []string{`'\x01'`}
	}
	return []string{"'{}'"}
}

// distinct puts numbers before the natural values of a column or, with @, a
// parameter that no other column of the table and no other parameter of its event
// begins with, so that a statement which takes one for the other is seen: the
// first one keeps what it has, the n-th after it tries 100 + n, 10 + n and 1 + n.
// Only those of like types count; one that the type does not take is left out.
func distinct(values []string, t model.Type, columns []*model.Column, params []*model.Param, name string) []string {
	n, kind := 0, magnitude(t)
	if params == nil && !slices.ContainsFunc(columns, func(c *model.Column) bool { return c.Name == name }) {
		return values // the key's, which nothing else is told by
	}
	for _, c := range columns {
		if c.Name == name {
			break
		}
		if magnitude(c.Type) == kind {
			n++
		}
	}
	for _, p := range params {
		if "@"+p.Name == name {
			break
		}
		if magnitude(p.Type) == kind {
			n++
		}
	}
	var own []string
	for m := kind; m > 0 && n > 0; m /= 10 {
		if text := strconv.Itoa(m + n); m+n <= math.MaxInt16 && fits(text, t) {
			own = append(own, text)
		}
	}
	return append(own, values...)
}

// magnitude groups the types whose natural values are alike; 0 for what is no number.
func magnitude(t model.Type) int {
	switch t.Kind {
	case model.KindInt16, model.KindInt32:
		return 1
	case model.KindInt64, model.KindFloat64, model.KindNumeric:
		return 100
	}
	return 0
}

// fits reports whether a plain number is one of a numeric type.
func fits(text string, t model.Type) bool {
	whole, decimals, _ := strings.Cut(text, ".")
	return t.Precision == 0 || len(decimals) <= t.Scale && (len(whole) <= t.Precision-t.Scale || whole == "0")
}

const day = 24 * time.Hour

// rotated begins with the n-th value.
func rotated(values []string, n int) []string {
	n %= len(values)
	return append(values[n:len(values):len(values)], values[:n]...)
}

// labelled is the n-th text that a column or parameter has, within the length.
func labelled(name string, n, length int) string {
	number := strconv.Itoa(n)
	if text := []rune(name + "-" + number); length == 0 || len(text) <= length {
		return string(text)
	}
	if length <= len(number) {
		return number[len(number)-length:]
	}
	return string([]rune(name)[:min(len([]rune(name)), length-len(number))]) + number
}

func pad(n, width int) string {
	text := strconv.Itoa(n)
	return strings.Repeat("0", max(0, width-len(text))) + text
}

// clock is Now.
var clock = time.Date(2026, time.January, 15, 12, 0, 0, 0, time.UTC)

// moment writes a time as a literal.
func moment(at time.Time) string {
	return quote(at.UTC().Format("2006-01-02 15:04:05.999999") + "+00")
}

// span is an interval that follows now() with a sign.
var span = regexp.MustCompile(`(?i)^\s*([+-])\s*interval\s*'\s*([0-9]{1,5})\s*(microsecond|millisecond|second|minute|hour|day|week)s?\s*'`)

var units = map[string]time.Duration{
	"microsecond": time.Microsecond, "millisecond": time.Millisecond, "second": time.Second, "minute": time.Minute, "hour": time.Hour,
}

func later(at time.Time, n int, unit string) time.Time {
	switch unit { // a Duration has no room for many of these
	case "day":
		return at.AddDate(0, 0, n)
	case "week":
		return at.AddDate(0, 0, 7*n)
	}
	return at.Add(time.Duration(n) * units[unit])
}

// nowAnd writes now() as a constant, together with an interval that is added to
// it or taken from it; rest is then what is left of the part behind it. A day
// has 24 hours, as in UTC.
func nowAnd(behind []model.Part) (sql, rest string) {
	at := clock
	if len(behind) > 0 && behind[0].Kind == model.Text {
		if found := span.FindStringSubmatch(behind[0].Text); found != nil {
			n, _ := strconv.Atoi(found[2])
			if found[1] == "-" {
				n = -n
			}
			at = later(at, n, strings.ToLower(found[3]))
			rest = behind[0].Text[len(found[0]):]
			if rest == "" {
				rest = " "
			}
		}
	}
	return moment(at) + "::timestamptz", rest
}

// Natural is the first value that a column or parameter of that name had better
// have, where nothing is asked of it. told is how many values of its own came before.
func Natural(name string, t model.Type, told int) Value {
	return value(name, natural(name, t, told)[0], t)
}
