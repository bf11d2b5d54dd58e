package storm

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func bigReport(name string, violations int) *Report {
	r := &Report{
		Name:  name,
		Money: Money{In: 123_456_789_012, Kept: 100_000_000_000, Owed: 23_456_789_012},
		Speed: Speed{Requests: 1_234_567, Took: 10 * time.Second, FirstP50: 1500 * time.Microsecond, FirstP99: time.Second},
	}
	for _, p := range promises {
		r.Promises = append(r.Promises, Promise{Name: p.name, Violations: violations, Examples: []string{strings.Repeat("x", 200)}})
	}
	for _, e := range events() {
		for _, c := range outcomeColumns {
			r.Outcomes = append(r.Outcomes, Outcome{e, c.outcome, 99_999})
		}
	}
	return r
}

func TestPrintFitsIn100Columns(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	require.NoError(t, Print(&b, Style{}, bigReport("pawl", 1_000_000), bigReport("check-then-act", 9_999_999)))
	for line := range strings.Lines(b.String()) {
		require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 100, line)
	}
	require.NotContains(t, b.String(), "\x1b")
	require.Contains(t, b.String(), "99,999")
	require.Contains(t, b.String(), "1,234,567,890.12")
	require.Contains(t, b.String(), "123,456\n") // requests a second
	require.Contains(t, b.String(), "1.5 / 1000.0")
	require.Contains(t, b.String(), "pawl broke promises 12,000,000 times")
}

func TestHeadingsOfOutcomesAreWhole(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	require.NoError(t, Print(&b, Style{}, bigReport("pawl", 0)))
	lines := strings.Split(b.String(), "\n")
	over, sub, figures := lines[3], lines[4], lines[5]
	require.Equal(t, []string{"Compensated", "GuardFailed", "Mismatched", "not", "not"}, strings.Fields(over))
	require.Equal(t, []string{"event", "Applied", "Replayed", "Ignored", "|", "Rejected", "|", "Stale", "|", "believed", "yet"}, strings.Fields(sub))
	// Each name ends where its figures do.
	ends := func(line, word string) int { return strings.Index(line, word) + len(word) }
	for i, name := range []string{"Applied", "Replayed", "Ignored", "Compensated", "Rejected", "GuardFailed", "Stale", "Mismatched", "believed", "yet"} {
		line := sub
		if strings.Contains(over, name) {
			line = over
		}
		end := ends(line, name)
		require.Equal(t, i+1, strings.Count(figures[:end], "99,999"), name)
		require.True(t, strings.HasSuffix(figures[:end], "99,999"), name)
	}
}

func TestPrintSaysWhenNothingWasBroken(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	require.NoError(t, Print(&b, Style{Color: true}, bigReport("pawl", 0), bigReport("check-then-act", 0)))
	require.Contains(t, b.String(), "\x1b[32mpawl kept every promise\x1b[0m")
	require.Contains(t, b.String(), "check-then-act broke none this time")
	require.NoError(t, Print(&b, Style{}))
}

func TestFigures(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 7: "7", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000", -999: "-999"} {
		require.Equal(t, want, thousands(n))
	}
	for n, want := range map[int64]string{0: "0.00", 5: "0.05", 123456: "1,234.56", -5: "-0.05", -123456: "-1,234.56"} {
		require.Equal(t, want, cents(n))
	}
	times := []time.Duration{4, 1, 3, 2, 5}
	require.Equal(t, time.Duration(3), percentile(times, 50))
	require.Equal(t, time.Duration(5), percentile(times, 100))
	require.Equal(t, time.Duration(4), times[0], "the caller's order stays")
	require.Zero(t, percentile(nil, 99))
}
