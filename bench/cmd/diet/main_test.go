package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	t.Parallel()
	s, err := parse(nil)
	require.NoError(t, err)
	require.NotZero(t, s.seed)
	require.Equal(t, 10_000, s.due.Rows)

	s, err = parse([]string{"-quick", "-seed", "7", "-only", "shapes"})
	require.NoError(t, err)
	require.EqualValues(t, 7, s.seed)
	require.Equal(t, "shapes", s.only)
	require.Equal(t, 1000, s.due.Rows)
	// Every round has orders of its own.
	require.LessOrEqual(t, s.due.Rounds*(s.due.Calls+s.due.Calls/5), s.due.Rows)
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"all"}, {"-only", "hot"}, {"-seed", "x"}} {
		_, err := parse(args)
		require.Error(t, err, "%v", args)
	}
	require.Equal(t, 2, run([]string{"-only", "hot"}))
}
