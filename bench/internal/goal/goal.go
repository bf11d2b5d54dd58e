// Package goal has the goals of the benchmark and judges a run by them.
package goal

import (
	"fmt"
	"strings"

	"github.com/pawl-go/pawl/bench/internal/compare"
	"github.com/pawl-go/pawl/bench/internal/contender"
	"github.com/pawl-go/pawl/bench/internal/result"
	"github.com/pawl-go/pawl/bench/internal/stat"
)

// goal is one of them. got is what the run has measured for it, nothing when it
// has not.
type goal struct {
	text   string
	want   float64
	atMost bool
	unit   string
	got    func(*result.All) (samples []float64, note string)
}

// The names of figures that goals look at.
const (
	PsqlRatio       = "a batch of 1,000 against the same statement in psql"
	RoundTrips      = "round trips of a duplicate"
	DuplicateXids   = "transactions that duplicates wrote"
	RowsRatio       = "the cost of a transition among many rows against few"
	MemoryRatio     = "the heap in the last three tenths of the transitions against the first three"
	NextTime        = "Next"
	NextAllocations = "Next, allocations"
	SweepTime       = "sweep of expired orders"
	SweepPayments   = "payments during the sweep"
)

var pawl, coalesced, usual = contender.Pawl().Name, contender.PawlCoalesced().Name, contender.Usual().Name

// goals are in the order in which they were set.
var goals = []goal{
	{"one call, first delivery, 8 callers: against one hand-written statement", 0.95, false, "×", ratio(compare.FirstNear, pawl, contender.Hand().Name)},
	{"one call, first delivery, 8 callers: against the usual transaction", 2, false, "×", ratio(compare.FirstNear, pawl, usual)},
	{"the same with 1 ms round trip", 3, false, "×", ratio(compare.FirstAway, pawl, usual)},
	{"duplicates, 8 callers: against a SELECT of row and fact", 0.75, false, "×", ratio(compare.ToldAgain, pawl, contender.Known().Name)},
	{"duplicates: round trips", 1, true, "a call", figure(RoundTrips)},
	{"duplicates: transactions that wrote", 0, true, "", figure(DuplicateXids)},
	{"coalesced, 512 callers, an event without facts", 100_000, false, "/s", rate(compare.PayMany, coalesced)},
	{"coalesced, 512 callers, with facts and outbox", 50_000, false, "/s", rate(compare.FirstMany, coalesced)},
	{"coalesced, 512 callers, without facts: against the usual transaction", 10, false, "×", ratio(compare.PayMany, coalesced, usual)},
	{"coalesced, 512 callers, with facts and outbox: against the usual transaction", 10, false, "×", ratio(compare.FirstMany, coalesced, usual)},
	{"a batch of 1,000: against the same statement in psql", 0.9, false, "×", figure(PsqlRatio)},
	{"one hot row, 64 callers: against the usual transaction", 5, false, "×", ratio(compare.OneHotOrder, pawl, usual)},
	{"one hot row, 64 callers, coalesced: against the usual transaction", 5, false, "×", ratio(compare.OneHotOrder, coalesced, usual)},
	{"10 million rows: cost against 10 thousand", 2, true, "×", figure(RowsRatio)},
	{"the service's heap over a million transitions", 1.1, true, "×", figure(MemoryRatio)},
	{"Next", 3, true, "ns", figure(NextTime)},
	{"Next: allocations", 0, true, "", figure(NextAllocations)},
	{"sweep of 100,000 expired orders, while payments go on", 5, true, "s", figure(SweepTime)},
}

// ratio is that of two contenders' rates under one load, round by round.
func ratio(load result.Load, of, against string) func(*result.All) ([]float64, string) {
	return func(a *result.All) ([]float64, string) {
		c, _ := a.Of(load)
		return stat.Ratios(c.Samples(of), c.Samples(against)), ""
	}
}

func rate(load result.Load, of string) func(*result.All) ([]float64, string) {
	return func(a *result.All) ([]float64, string) {
		c, _ := a.Of(load)
		return c.Samples(of), ""
	}
}

func figure(name string) func(*result.All) ([]float64, string) {
	return func(a *result.All) ([]float64, string) {
		f, _ := a.Figure(name)
		return f.Samples, f.Note
	}
}

// Judge judges a run by its medians. A goal for which nothing was measured is
// neither met nor missed.
func Judge(a *result.All) []result.Goal {
	judged := make([]result.Goal, len(goals))
	for i, g := range goals {
		samples, note := g.got(a)
		got := stat.Of(samples)
		judged[i] = result.Goal{Text: g.text, Want: g.want, AtMost: g.atMost, Unit: g.unit, Got: got, Note: note, Judged: got.N > 0}
		judged[i].Met = judged[i].Judged && (g.atMost && got.Median <= g.want || !g.atMost && got.Median >= g.want)
	}
	return judged
}

// Missed reports whether one of them is missed.
func Missed(goals []result.Goal) bool {
	for _, g := range goals {
		if g.Judged && !g.Met {
			return true
		}
	}
	return false
}

// Line is a goal with its figure, for people.
func Line(g result.Goal) string {
	word := "met   "
	switch {
	case !g.Judged:
		return "not run  " + g.Text
	case !g.Met:
		word = "missed"
	}
	bound := "at least"
	if g.AtMost {
		bound = "at most"
	}
	line := fmt.Sprintf("%s   %s: %s (%s to %s), goal %s %s", word, g.Text,
		amount(g.Got.Median, g.Unit), Number(g.Got.Low), Number(g.Got.High), bound, amount(g.Want, g.Unit))
	if g.Note != "" {
		line += "; " + g.Note
	}
	return line
}

func amount(v float64, unit string) string {
	return strings.TrimSpace(Number(v) + " " + unit)
}

// Number prints a number with about three digits, and thousands apart.
func Number(v float64) string {
	switch {
	case v == float64(int64(v)) && v < 1000 && v > -1000:
		return fmt.Sprintf("%d", int64(v))
	case v < 10:
		return fmt.Sprintf("%.2f", v)
	case v < 100:
		return fmt.Sprintf("%.1f", v)
	}
	digits := fmt.Sprintf("%.0f", v)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
