package logic

import (
	"math/big"
	"regexp"
	"strings"
	"time"
)

// Days and microseconds are counted from the first of January 2000, as
// PostgreSQL does; its limits are in src/include/datatype/timestamp.h. One step
// beyond each end stands for the infinity there.
const (
	firstDay   = -2451545 - 1
	lastDay    = 2145031948 + 1
	firstMicro = -211813488000000000 - 1
	lastMicro  = 9223371331200000000
)

var epoch = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)

const secondsPerDay = 24 * 60 * 60

// maxDigits is how long a number may be to be reckoned with.
const maxDigits = 60

var (
	wholeText   = regexp.MustCompile(`^[+-]?[0-9]+$`)
	decimalText = regexp.MustCompile(`^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,2})?$`)
	dateText    = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`)
	timeText    = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?(Z|[+-][0-9]{2}(:[0-9]{2})?)$`)
	uuidText    = regexp.MustCompile(`^([0-9a-f]{32}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$`)
)

// literal reads a quoted literal as a type. It is nil for a spelling that is not
// understood here, whatever PostgreSQL makes of it.
func (a *analysis) literal(kind Kind, text string) *term {
	if kind == Text {
		return a.word(text)
	}
	text = strings.ToLower(strings.Trim(text, " "))
	switch kind {
	case Int:
		if wholeText.MatchString(text) {
			return numeral(text)
		}
	case Decimal, Float:
		if t := numeral(text); t != nil && kind == Decimal {
			t.kind = Decimal
			return t
		} else if t != nil {
			return rounded(t)
		}
	case Date:
		if day, err := time.Parse("2006-01-02", text); err == nil && dateText.MatchString(text) && day.Year() >= 1 {
			return constant(Date, (day.Unix()-epoch.Unix())/secondsPerDay)
		}
		return endless(Date, text, firstDay, lastDay)
	case Time:
		return instant(text)
	case UUID:
		if uuidText.MatchString(text) {
			n, _ := new(big.Int).SetString(strings.ReplaceAll(text, "-", ""), 16)
			return &term{form: number, kind: UUID, constant: new(big.Rat).SetInt(n)}
		}
	}
	return nil
}

func constant(kind Kind, n int64) *term {
	return &term{form: number, kind: kind, constant: big.NewRat(n, 1)}
}

func endless(kind Kind, text string, first, last int64) *term {
	switch text {
	case "infinity":
		return constant(kind, last)
	case "-infinity":
		return constant(kind, first)
	}
	return nil
}

func instant(text string) *term {
	spelling := strings.ToUpper(text)
	if !timeText.MatchString(spelling) {
		return endless(Time, text, firstMicro, lastMicro)
	}
	spelling = strings.Replace(spelling, " ", "T", 1)
	for _, layout := range []string{"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z07"} {
		if at, err := time.Parse(layout, spelling); err == nil && at.Year() >= 1 {
			// Duration has no room for the difference.
			micros := (at.Unix()-epoch.Unix())*1_000_000 + int64(at.Nanosecond()/1000)
			return constant(Time, micros)
		}
	}
	return nil
}

// numeral reads a number as PostgreSQL's grammar does: the smallest of integer,
// bigint and numeric that holds it. It is nil for what is no plain number.
func numeral(text string) *term {
	if !decimalText.MatchString(text) || len(text) > maxDigits {
		return nil
	}
	value, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil
	}
	t := &term{form: number, kind: Decimal, constant: value}
	if wholeText.MatchString(text) && value.Num().IsInt64() {
		t.kind, t.bits = Int, 64
		if n := value.Num().Int64(); n == int64(int32(n)) {
			t.bits = 32
		}
	}
	return t
}

// rounded returns a number as double precision, or nil when it is out of range.
func rounded(t *term) *term {
	near, _ := t.constant.Float64()
	value := new(big.Rat).SetFloat64(near)
	if value == nil || value.Sign() != t.constant.Sign() {
		return nil
	}
	return &term{form: number, kind: Float, constant: value}
}
