package layered

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// cheapest tries all positions up to a limit.
func cheapest(n, limit int, arcs []arc) (best int, found bool) {
	pos := make([]int, n)
	var try func(v int)
	try = func(v int) {
		if v == n {
			if cost, ok := price(pos, arcs); ok && (!found || cost < best) {
				best, found = cost, true
			}
			return
		}
		for pos[v] = 0; pos[v] <= limit; pos[v]++ {
			try(v + 1)
		}
	}
	try(0)
	return best, found
}

func price(pos []int, arcs []arc) (cost int, ok bool) {
	for _, a := range arcs {
		length := pos[a.to] - pos[a.from]
		if length < a.min {
			return 0, false
		}
		cost += a.weight * length
	}
	return cost, true
}

// The simplex finds what trying everything finds, for small systems of all
// shapes, disconnected ones among them.
func TestSolveIsOptimal(t *testing.T) {
	t.Parallel()
	seed := uint64(20261129)
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range 400 {
		n := 2 + r.IntN(4)
		var arcs []arc
		for range 1 + r.IntN(7) {
			from, to := r.IntN(n), r.IntN(n)
			if from > to {
				from, to = to, from
			}
			if from != to {
				arcs = append(arcs, arc{from: from, to: to, min: r.IntN(4) - 1, weight: r.IntN(4)})
			}
		}
		want, found := cheapest(n, 9, arcs)
		require.True(t, found)
		cost, ok := price(solve(n, arcs), arcs)
		require.True(t, ok, "%v", arcs)
		require.Equal(t, want, cost, "%v", arcs)
	}
}

func TestSolveRefusesACycle(t *testing.T) {
	t.Parallel()
	require.Nil(t, solve(2, []arc{{from: 0, to: 1, min: 1}, {from: 1, to: 0, min: 1}}))
	require.Empty(t, solve(0, nil))
	require.Len(t, solve(3, nil), 3)
}
