package storm

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/gen/order"
)

func TestScriptIsTheSameForTheSameSeed(t *testing.T) {
	t.Parallel()
	require.Equal(t, fmt.Sprint(*NewScript(200, 5)), fmt.Sprint(*NewScript(200, 5)))
	require.NotEqual(t, fmt.Sprint(*NewScript(200, 5)), fmt.Sprint(*NewScript(200, 6)))
}

func TestScriptHasSomethingOfEverything(t *testing.T) {
	t.Parallel()
	s := NewScript(60, 1)
	require.GreaterOrEqual(t, s.Orders(), 60)
	require.LessOrEqual(t, s.Orders(), 61)
	var names []string
	for _, st := range s.stories {
		names = append(names, st.name)
	}
	for _, p := range plots {
		require.Contains(t, names, p.name)
	}
}

func TestCallbacksAreToldOneToSixTimes(t *testing.T) {
	t.Parallel()
	s := NewScript(2000, 3)
	var callbacks, deliveries, stripe int
	seen := map[int]bool{}
	for _, st := range s.stories {
		for _, step := range st.steps {
			if !step.callback() {
				continue
			}
			n := step.copies + step.late
			seen[n] = true
			callbacks++
			deliveries += n
			if step.stripe {
				stripe++
			}
		}
	}
	for n := range 8 {
		require.Equal(t, n >= 1 && n <= 6, seen[n], "delivered %d times", n)
	}
	require.InDelta(t, 3, float64(deliveries)/float64(callbacks), 0.15)
	require.InDelta(t, 0.5, float64(stripe)/float64(callbacks), 0.1)
}

// What customers paid is known before the storm, whoever wins its races, and in
// every way to end it is kept or owed back.
func TestMoneyInIsKnownBeforehand(t *testing.T) {
	t.Parallel()
	s := NewScript(500, 11)
	raced := 0
	for _, st := range s.stories {
		var ins []int64
		for _, w := range outcomesOf(st, s.purchases) {
			var in, kept, owed int64
			for _, i := range st.orders {
				o := w.orders[i]
				in, kept = in+o.in, kept+o.paid-o.promised
			}
			for _, d := range w.dues {
				owed += d.amount
			}
			require.Equal(t, in, kept+owed, st.name)
			ins = append(ins, in)
		}
		require.Len(t, slices.Compact(ins), 1, st.name)
		if len(ins) > 1 {
			raced++
		}
	}
	require.Positive(t, raced)
}

func TestForgersUseNumbersOfTheirOwn(t *testing.T) {
	t.Parallel()
	s := NewScript(300, 2)
	honestly, tricked := map[string]bool{}, 0
	for _, st := range s.stories {
		for _, step := range st.steps {
			if step.event == order.EventPaymentSucceeded && step.trick == honest {
				honestly[step.number] = true
			}
		}
	}
	for _, st := range s.stories {
		for _, step := range st.steps {
			if step.trick == forged || step.trick == outdated {
				tricked++
				require.False(t, honestly[step.number], step.number)
			}
		}
	}
	require.Positive(t, tricked)
}

func TestDisorderKeepsAllAndBringsStoriesTogether(t *testing.T) {
	t.Parallel()
	s := NewScript(300, 4)
	disordered := func(seed uint64) []task {
		tasks := s.tasks(wavePayments)
		disorder(tasks, len(s.stories), rand.New(rand.NewPCG(seed, 0)))
		return tasks
	}
	tasks := disordered(1)
	require.Equal(t, tasks, disordered(1))
	require.NotEqual(t, tasks, disordered(2))

	count := func(tasks []task) map[action]int {
		n := map[action]int{}
		for _, t := range tasks {
			n[t.action]++
		}
		return n
	}
	require.Equal(t, count(s.tasks(wavePayments)), count(tasks))

	last, near, far := map[int]int{}, 0, 0
	for i, task := range tasks {
		if before, ok := last[task.story]; ok && i-before <= defaultWorkers {
			near++
		} else if ok {
			far++
		}
		last[task.story] = i
	}
	require.Greater(t, near, far)
	require.Positive(t, far)
}
