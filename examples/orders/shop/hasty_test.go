package shop

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/lock"
)

// taken is a locker whose lock is free after a while, for as long as it is wanted.
type taken time.Duration

func (free taken) With(ctx context.Context, name string, fn func(context.Context, lock.Held) error) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Duration(free)):
		return fn(ctx, lock.NewHeld(name, 1))
	}
}

// A lock is waited for a third of the time that is left, and held for as long as
// the work takes. The time is the test's own.
func TestHastyWaitsForAThirdOfTheTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		left, free   time.Duration // none left: without a deadline
		held         bool
		waited, ends time.Duration
	}{
		{"taken for long", 6 * time.Second, time.Minute, false, 2 * time.Second, 2 * time.Second},
		{"free in time", 6 * time.Second, time.Second, true, time.Second, 5 * time.Second},
		{"without a deadline", 0, time.Minute, true, time.Minute, 64 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				if c.left > 0 {
					ctx, cancel = context.WithTimeout(t.Context(), c.left)
				}
				defer cancel()
				began, held := time.Now(), false
				err := hasty{taken(c.free)}.With(ctx, "order:1", func(ctx context.Context, _ lock.Held) error {
					held = true
					require.Equal(t, c.waited, time.Since(began))
					<-time.After(4 * time.Second)
					return ctx.Err()
				})
				require.Equal(t, c.held, held)
				require.Equal(t, c.ends, time.Since(began))
				if c.held {
					require.NoError(t, err)
				} else {
					require.ErrorIs(t, err, context.Canceled)
				}
			})
		})
	}
}
