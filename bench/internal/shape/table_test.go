package shape

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/bench/internal/meter"
)

func TestMarkdown(t *testing.T) {
	t.Parallel()
	costs := []Cost{
		{Shape: Shape{Name: Generated, Trips: [2]int{1, 1}}, First: []float64{100, 200}, Again: []float64{50, 100},
			PerFirst: meter.Counts{WALRecords: 15, WALBytes: 1700, Buffers: 50}, PerAgain: meter.Counts{Buffers: 16}, Wrong: []string{"", ""}},
		{Shape: Shape{Name: "other", Trips: [2]int{1, 2}, Silent: true}, First: []float64{50, 100}, Wrong: []string{"", "says nothing"}},
	}
	text := Markdown(costs)
	require.Contains(t, text, "| generated | 1.00 | 1.00 – 1.00 | 1.00 | 1.00 – 1.00 | 1, 1 | 15.0 | 1700 | 50.0 | 0 | 16.0 | 2 of 2 |\n")
	require.Contains(t, text, "| other | 0.50 | 0.50 – 0.50 |  |  | 1, 2 | 0.0 | 0 | 0.0 | | | 1 of 2 |\n")
	require.Contains(t, text, "- other: the same number, another amount: says nothing.")
	require.Contains(t, text, "took 150 µs for a first delivery and 75 µs for a duplicate")
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "|") {
			require.Equal(t, 13, strings.Count(line, "|"), line)
		}
	}
}

func TestModesMarkdown(t *testing.T) {
	t.Parallel()
	require.Contains(t, ModesMarkdown([]ModeCost{
		{pgx.QueryExecModeCacheStatement, []float64{100}, []float64{50}}, {pgx.QueryExecModeExec, []float64{200}, []float64{75}},
	}), "| exec | 2.00 | 2.00 – 2.00 | 1.50 | 1.50 – 1.50 |\n")
}
