package shop

import (
	"context"
	"errors"
	"time"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/lock"
)

// turn is how a callback came by the lock of its order.
type turn string

const (
	turnHeld  turn = "held"  // it was settled under the lock
	turnLate  turn = "late"  // others held the lock, or time was up: settled without
	turnAway  turn = "away"  // locks were not available: settled without
	turnLost  turn = "lost"  // the lock was lost meanwhile; what was settled holds
	turnWrong turn = "wrong" // the locker cannot be used like this: settled without
)

// inTurn settles a notice under the lock of its order, so that the many tellings
// of one payment come to the database one after the other, and not as many waiters
// on one row.
//
// The lock orders callers and judges nothing. Whatever becomes of it, the notice
// is settled: without the lock when that was not to be had (a nil locker has none),
// and with the result that the machine and the ledger gave when the lock was lost
// on the way. So no callback is lost with Redis, and two at once do no harm. settle
// works under the request's context and not the holder's for the same reason: to
// break off half way for the sake of a lock would only make the provider come again.
func (s *Service) inTurn(ctx context.Context, locker lock.Locker, orderID string, settle func() (fsm.Outcome, error)) (fsm.Outcome, error) {
	if locker == nil {
		return settle()
	}
	var (
		outcome fsm.Outcome
		err     error
		settled bool
	)
	locked := locker.With(ctx, "order:"+orderID, func(context.Context, lock.Held) error {
		settled = true
		outcome, err = settle()
		return nil
	})
	s.took(ctx, locked, settled)
	if !settled {
		return settle()
	}
	return outcome, err
}

// took counts and logs how the lock was come by. settled says that the locker
// has run what it was given.
func (s *Service) took(ctx context.Context, err error, settled bool) {
	t := turnWrong
	switch {
	case err == nil:
		t = turnHeld
	case settled: // ErrLost, or a release that went wrong
		t = turnLost
	case errors.Is(err, lock.ErrUnavailable):
		t = turnAway
	case errors.Is(err, lock.ErrNotAcquired), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		t = turnLate
	}
	s.counters.turn(t)
	if err != nil {
		s.log.WarnContext(ctx, "the lock of an order was not had, or not to the end", "turn", string(t), "error", err)
	}
}

// hasty is a locker that waits for no more than a third of the time that the
// caller's context leaves: a provider waits for its answer, and what was not
// settled in time is settled later.
type hasty struct{ lock.Locker }

// With is lock.Locker's. Who waited too long gets context.Canceled.
func (h hasty) With(ctx context.Context, name string, fn func(context.Context, lock.Held) error) error {
	by, bounded := ctx.Deadline()
	if !bounded {
		return h.Locker.With(ctx, name, fn)
	}
	waiting, giveUp := context.WithCancel(ctx)
	defer giveUp()
	patience := time.AfterFunc(time.Until(by)/3, giveUp)
	defer patience.Stop()
	return h.Locker.With(waiting, name, func(ctx context.Context, held lock.Held) error {
		patience.Stop() // what is held is not given up
		return fn(ctx, held)
	})
}
