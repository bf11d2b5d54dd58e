// Package rounds runs the parts of a comparison in turn, so that what a machine
// does meanwhile meets all of them.
package rounds

import (
	"fmt"
	"math/rand/v2"
)

// Run measures n things rounds times each. In a round each is measured once, in
// an order that random gives anew. Sample [i][r] is that of thing i in round r.
// The first error ends it.
func Run(random *rand.Rand, rounds, n int, measure func(round, i int) (float64, error)) ([][]float64, error) {
	samples := make([][]float64, n)
	for round := range rounds {
		for _, i := range random.Perm(n) {
			sample, err := measure(round, i)
			if err != nil {
				return nil, fmt.Errorf("round %d: %w", round+1, err)
			}
			samples[i] = append(samples[i], sample)
		}
	}
	return samples, nil
}
