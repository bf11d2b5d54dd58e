package logic_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/logic"
)

// Over a small domain every row can be tried, and every answer must be the one
// found so: nothing may be left undecided.
func TestAnswersAreThoseOfTryingEveryRow(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	vars, assume := smallVars()
	for range 250 {
		var exprs []expression
		for range 1 + r.IntN(3) {
			exprs = append(exprs, randomExpression(r, 2))
		}
		var sql []string
		for _, x := range exprs {
			sql = append(sql, x.sql)
		}
		got := logic.Analyse(vars, assume, guards(sql...))

		n := len(exprs)
		gap, possible, alone := false, make([]bool, n), make([]bool, n)
		together := map[[2]int]bool{}
		everyEnv(func(e env) {
			var trueOnes []int
			for i, x := range exprs {
				if isTrue(x.eval(e)) {
					trueOnes = append(trueOnes, i)
				}
			}
			if len(trueOnes) == 0 {
				gap = true
				return
			}
			alone[trueOnes[0]] = true
			for k, i := range trueOnes {
				possible[i] = true
				for _, j := range trueOnes[k+1:] {
					together[[2]int{i, j}] = true
				}
			}
		})
		require.Equal(t, answer(gap), got.Gap.Answer, "gap of %q: %+v", sql, got.Gap)
		for i := range n {
			require.Equal(t, answer(!possible[i]), got.Never[i].Answer, "never %d of %q: %+v", i, sql, got.Never[i])
			require.Equal(t, answer(possible[i] && !alone[i]), got.Shadowed[i].Answer, "shadowed %d of %q: %+v", i, sql, got.Shadowed[i])
			for j := i + 1; j < n; j++ {
				require.Equal(t, answer(together[[2]int{i, j}]), overlap(got, i, j), "overlap %d %d of %q: %+v", i, j, sql, got.Overlaps)
			}
		}
	}
}

func answer(b bool) logic.Answer {
	if b {
		return yes
	}
	return no
}
