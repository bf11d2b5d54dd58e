package edge

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

func TestMeasure(t *testing.T) {
	t.Parallel()
	costs, err := Measure(t.Context(), testdb.URL(t), rand.New(rand.NewPCG(1, 0)), Size{Rounds: 2, Rows: 20})
	require.NoError(t, err)
	require.Len(t, costs, 3)
	for _, c := range costs {
		require.Len(t, c.Single, 2, c.Way)
		require.Len(t, c.Set, 2, c.Way)
		require.Positive(t, c.Single[0], c.Way)
	}
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	require.Equal(t, "| the check of edges | µs a row, a statement each | × | µs a row, one statement | × |\n| --- | --: | --: | --: | --: |\n"+
		"| none | 40.0 (30.0 – 50.0) | 1.00 | 10.0 (10.0 – 10.0) | 1.00 |\n"+
		"| in WHEN | 100.0 (75.0 – 125.0) | 2.50 | 11.0 (11.0 – 11.0) | 1.10 |\n",
		Markdown([]Cost{{"none", []float64{20, 40, 60}, []float64{10, 10, 10}}, {"in WHEN", []float64{50, 100, 150}, []float64{11, 11, 11}}}))
}
