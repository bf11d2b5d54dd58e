package evaluate

import (
	"math/big"
	"time"
)

// span is an interval.
type span struct {
	months, days int64
	micros       int64
}

const microsOfDay = 24 * 60 * 60 * 1_000_000

// length is what intervals are compared by: a month has 30 days, a day 24 hours.
func (s span) length() *big.Int {
	n := new(big.Int).Add(new(big.Int).Mul(big.NewInt(s.months), big.NewInt(30)), big.NewInt(s.days))
	return n.Add(n.Mul(n, big.NewInt(microsOfDay)), big.NewInt(s.micros))
}

func (s span) negated() span { return span{-s.months, -s.days, -s.micros} }

// earliest and latest bound what a timestamptz holds.
var (
	earliest = time.Date(-4713, 11, 24, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(294277, 1, 1, 0, 0, 0, 0, time.UTC)
)

// after adds an interval: months first, to the end of a month that has no such day,
// then days, then the rest.
func (s span) after(t time.Time) (any, error) {
	year, month, d := t.Date()
	if s.months != 0 {
		first := time.Date(year, month+time.Month(s.months), 1, 0, 0, 0, 0, time.UTC)
		last := first.AddDate(0, 1, -1).Day()
		year, month, d = first.Year(), first.Month(), min(d, last)
	}
	clock := t.Sub(time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC))
	sum := time.Date(year, month, d+int(s.days), 0, 0, 0, 0, time.UTC).Add(clock)
	if sum = later(sum, s.micros); sum.Before(earliest) || !sum.Before(latest) {
		return nil, failure(noSuchTime, "timestamp out of range")
	}
	return sum, nil
}

// later adds microseconds, more of them than a time.Duration holds.
func later(t time.Time, micros int64) time.Time {
	return time.Unix(t.Unix()+micros/1_000_000, int64(t.Nanosecond())+micros%1_000_000*1000).UTC()
}

// between is the interval from one time to another, in days and the rest.
func between(from, to time.Time) span {
	micros := (to.Unix()-from.Unix())*1_000_000 + int64(to.Nanosecond()-from.Nanosecond())/1000
	return span{days: micros / microsOfDay, micros: micros % microsOfDay}
}

// calendar is an operator that has to do with times, dates or intervals.
func calendar(name string, left, right term) (term, error) {
	type pair struct {
		left  kind
		name  string
		right kind
	}
	l, r := left.kind, right.kind
	if l.integer() && r == dates && name == "+" {
		left, right, l, r = right, left, r, l
	}
	if l == spans && r == moments && name == "+" {
		left, right, l, r = right, left, r, l
	}
	if l == dates && r == moments && name == "-" {
		var err error
		if left, err = implicit(left, moments); err != nil {
			return term{}, err
		}
		l = moments
	}
	if l == moments && r == dates && name == "-" {
		var err error
		if right, err = implicit(right, moments); err != nil {
			return term{}, err
		}
		r = moments
	}
	if l == dates && (r == int2s || r == int4s) {
		switch name {
		case "+":
			return strict(dates, func(a, b any) (any, error) { return dated(a.(day) + day(b.(int64))) }, left, right), nil
		case "-":
			return strict(dates, func(a, b any) (any, error) { return dated(a.(day) - day(b.(int64))) }, left, right), nil
		}
	}
	switch (pair{l, name, r}) {
	case pair{moments, "+", spans}:
		return strict(moments, func(a, b any) (any, error) { return b.(span).after(a.(time.Time)) }, left, right), nil
	case pair{moments, "-", spans}:
		return strict(moments, func(a, b any) (any, error) { return b.(span).negated().after(a.(time.Time)) }, left, right), nil
	case pair{moments, "-", moments}:
		return strict(spans, func(a, b any) (any, error) { return between(b.(time.Time), a.(time.Time)), nil }, left, right), nil
	case pair{dates, "-", dates}:
		return strict(int4s, func(a, b any) (any, error) { return int64(a.(day) - b.(day)), nil }, left, right), nil
	}
	return term{}, unsupported("%s %s %s", left.kind, name, right.kind)
}

// lastDay is the last that a date holds, 5874897-12-31.
const lastDay, firstDay = day(2145031948), day(-2440588)

func dated(d day) (any, error) {
	if d < firstDay || d > lastDay {
		return nil, failure(noSuchTime, "date out of range")
	}
	return d, nil
}
