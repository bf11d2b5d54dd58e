package load_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/bench/internal/contender"
	"github.com/pawl-go/pawl/bench/internal/load"
)

func orders(n int) []contender.Delivery {
	deliveries := make([]contender.Delivery, n)
	for i := range deliveries {
		deliveries[i].N = i + 1
	}
	return deliveries
}

func TestEachDeliveryIsMadeOnce(t *testing.T) {
	t.Parallel()
	var mutex sync.Mutex
	times := map[int]int{}
	call := func(_ context.Context, ds []contender.Delivery) (int, error) {
		mutex.Lock()
		defer mutex.Unlock()
		for _, d := range ds {
			times[d.N]++
		}
		return 1, nil
	}
	queue := load.Once(orders(1000))
	tally, err := load.Run(t.Context(), call, 7, queue, 16, time.Hour)
	require.NoError(t, err)
	require.EqualValues(t, 1000, tally.Calls)
	require.EqualValues(t, 143, tally.Moved) // 142 calls of 7 and one of 6
	require.Len(t, times, 1000)
	for n, made := range times {
		require.Equal(t, 1, made, "order %d", n)
	}
	require.Len(t, queue.Taken(), 1000)
	require.Positive(t, tally.Rate())
}

func TestWhoEndsAQueueGetsAllAnswers(t *testing.T) {
	t.Parallel()
	queue := load.Once(orders(1000))
	call := func(_ context.Context, ds []contender.Delivery) (int, error) {
		if ds[0].N == 100 {
			queue.End()
		}
		return 1, nil
	}
	tally, err := load.Run(t.Context(), call, 1, queue, 4, time.Hour)
	require.NoError(t, err)
	require.EqualValues(t, tally.Calls, len(queue.Taken()))
	require.Less(t, len(queue.Taken()), 1000)
}

func TestTimeEndsARoundQueue(t *testing.T) {
	t.Parallel()
	call := func(_ context.Context, ds []contender.Delivery) (int, error) { return 0, nil }
	tally, err := load.Run(t.Context(), call, 1, load.Round(orders(3)), 2, time.Millisecond)
	require.NoError(t, err)
	require.GreaterOrEqual(t, tally.Took, time.Millisecond)
}

func TestAnErrorEndsAll(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	call := func(ctx context.Context, ds []contender.Delivery) (int, error) {
		if ds[0].N == 5 {
			return 0, broken
		}
		<-ctx.Done()
		return 0, ctx.Err()
	}
	_, err := load.Run(t.Context(), call, 1, load.Once(orders(100)), 8, time.Hour)
	require.ErrorIs(t, err, broken)
}

func TestAStormTellsOfEachOrderOneToSevenTimes(t *testing.T) {
	t.Parallel()
	storm := load.Storm(rand.New(rand.NewPCG(1, 2)), orders(1000))
	times := map[int]int{}
	for _, d := range storm {
		times[d.N]++
	}
	require.Len(t, times, 1000)
	for n, told := range times {
		require.True(t, told >= 1 && told <= 7, "order %d was told of %d times", n, told)
	}
	require.InDelta(t, 4000, len(storm), 250)
	require.Len(t, load.Numbers(storm), 1000)
	require.NotEqual(t, storm[0].N, storm[1].N, "nothing is mixed")
}

func TestHot(t *testing.T) {
	t.Parallel()
	var got []int
	for _, d := range load.Hot(orders(2), 3) {
		got = append(got, d.N)
	}
	require.Equal(t, []int{1, 1, 1, 2, 2, 2}, got)
	require.Equal(t, []int64{1, 2}, load.Numbers(load.Hot(orders(2), 3)))
}
