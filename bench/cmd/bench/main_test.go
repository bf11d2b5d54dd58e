package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	t.Parallel()
	s, err := parse(nil)
	require.NoError(t, err)
	require.Equal(t, 7, s.rounds)
	require.Equal(t, "out", s.out)
	require.NotZero(t, s.seed)
	require.True(t, s.wants("rows10m"))

	s, err = parse([]string{"-quick", "-seed", "5", "-skip", "rows10m,sweep", "-docs", "kept", "-set", "jit=off"})
	require.NoError(t, err)
	require.Equal(t, 3, s.rounds)
	require.Equal(t, 500*time.Millisecond, s.time)
	require.EqualValues(t, 5, s.seed)
	require.Equal(t, "kept", s.out)
	require.Equal(t, [][2]string{{"jit", "off"}}, s.set)
	require.False(t, s.wants("rows10m"))
	require.True(t, s.wants("compare"))

	s, err = parse([]string{"-only", "sweep", "-rounds", "2", "-time", "3s"})
	require.NoError(t, err)
	require.Equal(t, 2, s.rounds)
	require.True(t, s.wants("sweep"))
	require.False(t, s.wants("compare"))
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"fast"}, {"-only", "nothing"}, {"-skip", "sweep,"}, {"-set", "jit"}, {"-rounds", "some"}} {
		_, err := parse(args)
		require.Error(t, err, "%v", args)
	}
	require.Equal(t, 2, run([]string{"-only", "nothing"}))
}
