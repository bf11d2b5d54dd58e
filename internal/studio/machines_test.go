package studio

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// An excerpt has its line in the middle, and as many lines as there is room for.
func TestAnExcerptSurroundsItsLine(t *testing.T) {
	t.Parallel()
	var lines []sourceLine
	for i := range 10 {
		lines = append(lines, sourceLine{Number: i + 1})
	}
	for _, c := range []struct{ all, line, n, first, last int }{
		{10, 5, 3, 4, 6}, {10, 1, 3, 1, 3}, {10, 10, 3, 8, 10}, {10, 11, 3, 8, 10}, {10, 4, 7, 1, 7}, {2, 1, 5, 1, 2}, {1, 2, 5, 1, 1},
	} {
		got := surrounding(lines[:c.all], c.line, c.n)
		require.Equal(t, c.first, got[0].Number, "%+v", c)
		require.Equal(t, c.last, got[len(got)-1].Number, "%+v", c)
	}
	require.Empty(t, surrounding(nil, 1, 3))
}
