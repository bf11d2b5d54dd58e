package lock

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Holding returns the context for the function of a holder, for those who write a
// Locker: it ends with ctx, when lose is called, with that cause, and after the
// longest hold, with an ErrLost as its cause. lose may be called at any time and
// any number of times; the first counts. free is called when the function has
// returned.
func Holding(ctx context.Context, longest time.Duration) (inner context.Context, lose func(error), free func()) {
	inner, cancel := context.WithCancelCause(ctx)
	capped := time.AfterFunc(longest, func() {
		cancel(fmt.Errorf("%w: held for %v, which is the longest allowed", ErrLost, longest))
	})
	return inner, cancel, func() {
		capped.Stop()
		cancel(nil)
	}
}

// Outcome is what With returns of a function that returned err, before free is
// called: a lock that was lost is an error in any case.
func Outcome(inner context.Context, err error) error {
	cause := context.Cause(inner)
	switch {
	case !errors.Is(cause, ErrLost) || errors.Is(err, ErrLost):
		return err
	case err == nil:
		return cause
	}
	return fmt.Errorf("%w: %w", cause, err)
}
