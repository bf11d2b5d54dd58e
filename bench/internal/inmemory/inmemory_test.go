package inmemory

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/bench/internal/goal"
	"github.com/pawl-go/pawl/gen/order"
)

func TestTheArrayIsTheMachine(t *testing.T) {
	t.Parallel()
	for s, state := range order.States() {
		for e, event := range order.Events() {
			next := order.Next(state, event)
			if len(next) == 0 {
				require.EqualValues(t, 255, arrayOf[s][e], "%s, %s", state, event)
				continue
			}
			require.Equal(t, next[0], order.States()[arrayOf[s][e]], "%s, %s", state, event)
		}
	}
}

// All are asked the same, and so answer the same.
func TestTheQuestionsAgree(t *testing.T) {
	t.Parallel()
	able := [len(asked)]bool{true, true, true, true, true, true, false, false}
	looplabs := looplabs()
	machines, triggers := statelesses()
	for i, at := range asked {
		require.Equal(t, able[i], len(order.Next(at.state, at.event)) > 0, at)
		require.Equal(t, able[i], arrayOf[numbered[i].state][numbered[i].event] != 255, at)
		require.Equal(t, able[i], looplabs[i].Can(string(at.event)), at)
		fires, err := machines[i].CanFire(triggers[i])
		require.NoError(t, err)
		require.Equal(t, able[i], fires, at)
	}
}

func TestEveryQuestionHasItsFigures(t *testing.T) {
	figures, err := Run(rand.New(rand.NewPCG(1, 1)), 2, time.Microsecond)
	require.NoError(t, err)
	require.Len(t, figures, 2*len(questions()))
	require.Equal(t, goal.NextTime, figures[0].Name)
	require.Equal(t, goal.NextAllocations, figures[1].Name)
	for i, f := range figures {
		require.Len(t, f.Samples, 2)
		if i%2 == 0 {
			require.Positive(t, f.Samples[0], f.Name)
		}
	}
}
