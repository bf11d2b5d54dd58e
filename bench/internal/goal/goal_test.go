package goal_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/bench/internal/compare"
	"github.com/pawl-go/pawl/bench/internal/goal"
	"github.com/pawl-go/pawl/bench/internal/result"
)

// find is the judged goal whose text begins so.
func find(t *testing.T, goals []result.Goal, text string) result.Goal {
	t.Helper()
	for _, g := range goals {
		if strings.HasPrefix(g.Text, text) {
			return g
		}
	}
	require.Fail(t, "no such goal", text)
	return result.Goal{}
}

// run is a run in which one comparison and one figure were measured.
func run(pawl, usual []float64, next float64) *result.All {
	a := &result.All{Comparisons: []result.Comparison{{Load: compare.FirstNear, Rows: []result.Row{
		{Contender: "Pawl", Samples: pawl}, {Contender: "usual transaction", Samples: usual},
	}}}}
	a.Add(result.Figure{Name: goal.NextTime, Unit: "ns", Samples: []float64{next}, Note: "on average"})
	return a
}

func TestJudge(t *testing.T) {
	t.Parallel()
	const against = "one call, first delivery, 8 callers: against the usual"
	for _, tc := range []struct {
		name        string
		pawl, usual []float64
		next        float64
		first, ns   bool
	}{
		{"just met", []float64{200, 400, 600}, []float64{100, 200, 300}, 3, true, true},
		{"just missed", []float64{199, 398, 1200}, []float64{100, 200, 300}, 3.01, false, false},
		{"by rounds, not by medians", []float64{100, 900, 1000}, []float64{500, 400, 100}, 1, true, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			judged := goal.Judge(run(tc.pawl, tc.usual, tc.next))
			first, next := find(t, judged, against), find(t, judged, "Next")
			require.True(t, first.Judged && next.Judged)
			require.Equal(t, tc.first, first.Met)
			require.Equal(t, tc.ns, next.Met)
			require.Equal(t, !tc.first || !tc.ns, goal.Missed(judged))
		})
	}
}

func TestWhatWasNotMeasuredIsNeitherMetNorMissed(t *testing.T) {
	t.Parallel()
	judged := goal.Judge(&result.All{})
	require.Len(t, judged, 18)
	require.False(t, goal.Missed(judged))
	for _, g := range judged {
		require.False(t, g.Met)
		require.Equal(t, "not run  "+g.Text, goal.Line(g))
	}
}

// The page says what the goals are.
func TestThePageHasTheGoals(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/bench.md")
	require.NoError(t, err)
	var rows strings.Builder
	for _, g := range goal.Judge(&result.All{}) {
		bound := "at least "
		if g.AtMost {
			bound = "at most "
		}
		rows.WriteString("| " + g.Text + " | " + bound + strings.TrimSpace(goal.Number(g.Want)+" "+g.Unit) + " |\n")
	}
	require.Contains(t, string(page), "| goal | |\n| --- | --- |\n"+rows.String()+"\n")
}

func TestLine(t *testing.T) {
	t.Parallel()
	judged := goal.Judge(run([]float64{150, 170, 190}, []float64{100, 100, 100}, 2))
	require.Equal(t, "missed   one call, first delivery, 8 callers: against the usual transaction: 1.70 × (1.60 to 1.80), goal at least 2 ×",
		goal.Line(find(t, judged, "one call, first delivery, 8 callers: against the usual")))
	require.Equal(t, "met      Next: 2 ns (2 to 2), goal at most 3 ns; on average", goal.Line(find(t, judged, "Next")))
}

func TestNumber(t *testing.T) {
	t.Parallel()
	for want, v := range map[string]float64{
		"0": 0, "2": 2, "0.95": 0.95, "9.99": 9.99, "12.3": 12.345, "999": 999, "100": 100.2, "1,000": 1000, "52,341": 52341.4, "1,234,567": 1234567,
	} {
		require.Equal(t, want, goal.Number(v))
	}
}
