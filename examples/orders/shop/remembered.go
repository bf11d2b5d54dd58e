package shop

import (
	"context"
	"sync"
	"time"
)

// remembered is a question that costs something, with its last answer: however many
// ask, it is asked once a second, and by one at a time. It is safe for concurrent use.
type remembered struct {
	ask func(context.Context) error

	mu    sync.Mutex
	round *round // the one under way, or the last; nil before the first
}

// round is one time that the question is asked. Its fields but done are there to read
// once done is closed.
type round struct {
	done chan struct{}
	at   time.Time // when the answer came
	err  error
}

const (
	// fresh is how long an answer counts.
	fresh = time.Second
	// askTime bounds the question, which nobody's giving up ends: others wait for it.
	askTime = 2 * time.Second
)

// answer returns the answer, by a clock; the error is the question's, or the caller's
// who did not wait for it.
func (q *remembered) answer(ctx context.Context, now func() time.Time) error {
	r := q.current(ctx, now)
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return unready("the database does not answer", ctx.Err())
	}
}

// current is the round whose answer counts: one under way, the last where it is
// fresh, or a new one. A clock that was put back makes no answer last longer.
func (q *remembered) current(ctx context.Context, now func() time.Time) *round {
	q.mu.Lock()
	defer q.mu.Unlock()
	if r := q.round; r != nil {
		select {
		case <-r.done:
			if age := now().Sub(r.at); age >= 0 && age < fresh {
				return r
			}
		default:
			return r
		}
	}
	r := &round{done: make(chan struct{})}
	q.round = r
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTime)
	go func() {
		defer cancel()
		defer close(r.done)
		r.err = q.ask(ctx)
		r.at = now()
	}()
	return r
}
