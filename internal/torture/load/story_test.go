package load

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/gen/order"
)

// A story comes from the seed and the order's number alone.
func TestStoriesAreRepeated(t *testing.T) {
	t.Parallel()
	require.Equal(t, storyOf(7, 12), storyOf(7, 12))
	require.NotEqual(t, storyOf(7, 12).lead, storyOf(8, 12).lead)
	require.NotEqual(t, OrderKey(7, 12), OrderKey(7, 13))
	require.NotEqual(t, OrderKey(7, 12), OrderKey(8, 12))
}

// Together the stories call all that there is a verb for, make each callback come once to
// six times, and have what the documents of the trial promise.
func TestStoriesHaveEverything(t *testing.T) {
	t.Parallel()
	all := verbs()
	called, times := map[string]int{}, map[string]int{}
	var foreign, mismatched, second, stale int
	for n := range 2000 {
		s := storyOf(3, n)
		delivered := map[step]int{}
		paid := params{}
		for _, list := range [][]step{s.lead, s.echo} {
			for _, step := range list {
				require.Contains(t, all, step.verb)
				if strings.HasPrefix(step.verb, "order ") {
					require.Equal(t, OrderKey(3, step.order), step.key, "an effect is of the order whose row moves")
				}
				called[step.verb]++
				delivered[step]++
				if step.expects {
					stale++
				}
				if step.verb != "order payment_succeeded" {
					continue
				}
				switch {
				case step.key != s.key:
					foreign++
					require.Equal(t, OrderKey(3, n^1), step.key, "of the order in the same group")
				case strings.HasPrefix(step.p.no, "S-"):
					second++
				case paid.no == step.p.no && paid.cents != step.p.cents:
					mismatched++
				case strings.HasPrefix(step.p.no, "P-"):
					paid = step.p
				}
			}
		}
		for step, n := range delivered {
			times[step.verb] = max(times[step.verb], n)
		}
	}
	for _, unused := range []string{"order expire", "refund close"} { // a deadline's, and nobody's
		require.Zero(t, called[unused])
		called[unused]++
	}
	for verb := range all {
		require.Positive(t, called[verb], verb)
	}
	for _, n := range []int{foreign, mismatched, second, stale} {
		require.Positive(t, n)
	}
	require.GreaterOrEqual(t, times["order payment_succeeded"], 5)
	require.LessOrEqual(t, times["order payment_succeeded"], 6)
	require.GreaterOrEqual(t, len(called), len(order.Events()))
}

// Bundles of a run have no order in common.
func TestBundlesAreApart(t *testing.T) {
	t.Parallel()
	seen := map[int]bool{}
	for bundle := range 50 {
		short, long := Orders(1, bundle, true), Orders(1, bundle, false)
		require.Less(t, len(short), len(long))
		require.Zero(t, len(short)%groupOrders)
		for _, n := range long {
			require.False(t, seen[n])
			seen[n] = true
		}
	}
}
