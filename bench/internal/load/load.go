// Package load tells a contender of orders, by many callers at once.
package load

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pawl-go/pawl/bench/internal/contender"
)

// Queue hands out deliveries to many callers, in their order.
type Queue struct {
	deliveries []contender.Delivery
	round      bool
	taken      atomic.Int64
	ended      atomic.Bool
}

// Once is a queue that ends.
func Once(deliveries []contender.Delivery) *Queue { return &Queue{deliveries: deliveries} }

// Round is a queue that begins anew at its end.
func Round(deliveries []contender.Delivery) *Queue {
	return &Queue{deliveries: deliveries, round: true}
}

// End lets nobody take more.
func (q *Queue) End() { q.ended.Store(true) }

// next is up to n deliveries, none at the end.
func (q *Queue) next(n int) []contender.Delivery {
	if q.ended.Load() {
		return nil
	}
	have := int64(len(q.deliveries))
	from := q.taken.Add(int64(n)) - int64(n)
	switch {
	case have == 0:
		return nil
	case q.round:
		from %= have
	case from >= have:
		return nil
	}
	return q.deliveries[from:min(from+int64(n), have)]
}

// Taken is what was handed out so far, of a queue that ends.
func (q *Queue) Taken() []contender.Delivery {
	return q.deliveries[:min(q.taken.Load(), int64(len(q.deliveries)))]
}

// Tally is what a load came to.
type Tally struct {
	// Calls are the deliveries that were answered.
	Calls, Moved int64
	Took         time.Duration
}

// Rate is deliveries a second.
func (t Tally) Rate() float64 {
	if t.Took <= 0 {
		return 0
	}
	return float64(t.Calls) / t.Took.Seconds()
}

// Run lets callers call until the time is over or the queue has ended, and returns
// when all have their answers. The first error ends it.
func Run(ctx context.Context, call contender.Caller, size int, queue *Queue, callers int, d time.Duration) (Tally, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var calls, moved atomic.Int64
	var wait sync.WaitGroup
	started := time.Now()
	for range callers {
		wait.Go(func() {
			for ctx.Err() == nil && time.Since(started) < d {
				deliveries := queue.next(size)
				if len(deliveries) == 0 {
					return
				}
				n, err := call(ctx, deliveries)
				if err != nil {
					cancel(err)
					return
				}
				calls.Add(int64(len(deliveries)))
				moved.Add(int64(n))
			}
		})
	}
	wait.Wait()
	tally := Tally{calls.Load(), moved.Load(), time.Since(started)}
	return tally, context.Cause(ctx)
}

// Storm tells of each order 1 to 7 times, 4 on average, and mixes what comes
// within a window of orders.
func Storm(random *rand.Rand, orders []contender.Delivery) []contender.Delivery {
	const window = 64
	var storm []contender.Delivery
	for len(orders) > 0 {
		n := min(window, len(orders))
		from := len(storm)
		for _, d := range orders[:n] {
			for range 1 + random.IntN(7) {
				storm = append(storm, d)
			}
		}
		part := storm[from:]
		random.Shuffle(len(part), func(i, j int) { part[i], part[j] = part[j], part[i] })
		orders = orders[n:]
	}
	return storm
}

// Hot tells of one order after the other, times times each.
func Hot(orders []contender.Delivery, times int) []contender.Delivery {
	hot := make([]contender.Delivery, 0, len(orders)*times)
	for _, d := range orders {
		for range times {
			hot = append(hot, d)
		}
	}
	return hot
}

// Numbers are those of the orders, each once.
func Numbers(deliveries []contender.Delivery) []int64 {
	var numbers []int64
	seen := make(map[int]bool, len(deliveries))
	for _, d := range deliveries {
		if !seen[d.N] {
			seen[d.N] = true
			numbers = append(numbers, int64(d.N))
		}
	}
	return numbers
}
