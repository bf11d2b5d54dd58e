// Package sleep waits between tries and rounds: for a time, for a wake-up, and never
// beyond the end of a context. How long is for its callers to say.
package sleep

import (
	"context"
	"time"
)

// For waits for d, or until ctx ends; not at all when it has ended already. The error is
// ctx's: nil says that ctx has not ended.
func For(ctx context.Context, d time.Duration) error { return Until(ctx, d, nil) }

// Until waits for d, for something that wake says, or until ctx ends; not at all when
// ctx has ended already. A nil wake says nothing. The error is ctx's: nil says that ctx
// has not ended.
func Until(ctx context.Context, d time.Duration, wake <-chan struct{}) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	case <-wake:
	}
	return ctx.Err()
}
