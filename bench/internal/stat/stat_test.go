package stat_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/bench/internal/stat"
)

func TestOf(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		samples []float64
		want    stat.Summary
	}{
		{"none", nil, stat.Summary{}},
		{"one", []float64{3}, stat.Summary{N: 1, Median: 3, Low: 3, High: 3, Min: 3, Max: 3}},
		{"two", []float64{4, 2}, stat.Summary{N: 2, Median: 3, Low: 2.5, High: 3.5, Min: 2, Max: 4}},
		{"five", []float64{50, 10, 40, 20, 30}, stat.Summary{N: 5, Median: 30, Low: 20, High: 40, Min: 10, Max: 50}},
		{"an outlier", []float64{1, 1000, 1, 1, 1}, stat.Summary{N: 5, Median: 1, Low: 1, High: 1, Min: 1, Max: 1000}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, stat.Of(tc.samples))
		})
	}
}

func TestOfLeavesSamplesInTheirOrder(t *testing.T) {
	t.Parallel()
	samples := []float64{3, 1, 2}
	stat.Of(samples)
	require.Equal(t, []float64{3, 1, 2}, samples)
}

func TestRatiosAreOfTheSameRound(t *testing.T) {
	t.Parallel()
	// The second round was ten times as slow for both.
	require.Equal(t, []float64{2, 2}, stat.Ratios([]float64{100, 10}, []float64{50, 5}))
	require.Equal(t, []float64{3}, stat.Ratios([]float64{3, 4}, []float64{1}))
	require.Equal(t, []float64{2}, stat.Ratios([]float64{9, 4}, []float64{0, 2}))
	require.Empty(t, stat.Ratios(nil, []float64{1}))
}
