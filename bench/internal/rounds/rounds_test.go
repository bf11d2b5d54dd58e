package rounds_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/bench/internal/rounds"
)

func run(t *testing.T, seed uint64) (samples [][]float64, order []int) {
	t.Helper()
	samples, err := rounds.Run(rand.New(rand.NewPCG(seed, 0)), 20, 3, func(round, i int) (float64, error) {
		order = append(order, i)
		return float64(100*i + round), nil
	})
	require.NoError(t, err)
	return samples, order
}

func TestEachIsMeasuredOnceARound(t *testing.T) {
	t.Parallel()
	samples, order := run(t, 1)
	require.Len(t, samples, 3)
	for i, of := range samples {
		require.Len(t, of, 20)
		for round, sample := range of {
			require.Equal(t, float64(100*i+round), sample)
		}
	}
	first := map[int]bool{}
	for round := range slices.Chunk(order, 3) {
		require.ElementsMatch(t, []int{0, 1, 2}, round)
		first[round[0]] = true
	}
	require.Len(t, first, 3, "the order is always the same")
}

func TestTheSeedGivesTheOrder(t *testing.T) {
	t.Parallel()
	_, a := run(t, 7)
	_, b := run(t, 7)
	require.Equal(t, a, b)
}

func TestAnErrorEndsIt(t *testing.T) {
	t.Parallel()
	broken, calls := errors.New("broken"), 0
	_, err := rounds.Run(rand.New(rand.NewPCG(1, 1)), 5, 2, func(int, int) (float64, error) {
		calls++
		return 0, broken
	})
	require.ErrorIs(t, err, broken)
	require.ErrorContains(t, err, "round 1")
	require.Equal(t, 1, calls)
}
