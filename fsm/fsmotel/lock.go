package fsmotel

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/pawl-go/pawl/fsm/lock"
)

// Locker is l, counted and timed under a name of its own: how requests for a lock
// ended, how long they waited and how long it was held. Ask for single locks through
// it; lock.LockJudgeUpdate shares one connection with the lock only for the locker itself.
//
// A request ends as held; lost, when the lock was not held to the end; busy, when
// others held it for too long; unavailable; cancelled, when the caller left; refused,
// for a name that cannot be; panicked, when the function did. The counts of held, lost and unavailable are there from the start.
func (t *Telemetry) Locker(name string, l lock.Locker) lock.Locker {
	w := &locker{Locker: l, t: t, name: name}
	for _, end := range []string{"held", "lost", "unavailable"} {
		w.count(context.Background(), end, 0)
	}
	return w
}

type locker struct {
	lock.Locker
	t    *Telemetry
	name string
}

func (w *locker) count(ctx context.Context, end string, n int64) {
	l := labels{metric: "locks", a: w.name, b: end}
	w.t.locks.Add(ctx, n, w.t.set(l, func() []attribute.KeyValue {
		return []attribute.KeyValue{lockKey.String(l.a), endKey.String(l.b)}
	}))
}

// With is lock.Locker's.
func (w *locker) With(ctx context.Context, name string, fn func(context.Context, lock.Held) error) error {
	asked := time.Now()
	var got time.Time
	of := w.t.set(labels{metric: "lock", a: w.name}, func() []attribute.KeyValue { return []attribute.KeyValue{lockKey.String(w.name)} })
	end := "panicked"
	defer func() {
		if got.IsZero() {
			w.t.lockWait.Record(ctx, time.Since(asked).Seconds(), of)
		} else {
			w.t.lockHold.Record(ctx, time.Since(got).Seconds(), of)
		}
		w.count(ctx, end, 1)
	}()
	err := w.Locker.With(ctx, name, func(ctx context.Context, held lock.Held) error {
		got = time.Now()
		w.t.lockWait.Record(ctx, got.Sub(asked).Seconds(), of)
		return fn(ctx, held)
	})
	end = endOf(err, !got.IsZero())
	return err
}

// endOf says how a request for a lock ended. Any other error of the function is none
// of the lock's.
func endOf(err error, ran bool) string {
	switch {
	case ran && errors.Is(err, lock.ErrLost):
		return "lost"
	case ran:
		return "held"
	case errors.Is(err, lock.ErrNotAcquired):
		return "busy"
	case errors.Is(err, lock.ErrUnavailable):
		return "unavailable"
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "cancelled"
	}
	return "refused"
}
