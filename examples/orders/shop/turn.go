package shop

import (
	"context"
	"errors"

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

// settleInTurn settles a notice under the lock of its order, so that the many
// tellings of one payment come to the database one after the other, and not as
// many waiters on one row.
//
// The lock orders callers and judges nothing. Whatever becomes of it, the notice
// is settled: without the lock when that was not to be had, and with the result
// that the machine and the ledger gave when the lock was lost on the way. So no
// callback is lost with Redis, and two at once do no harm. The context is the
// request's and not the holder's for the same reason: to break off half way for
// the sake of a lock would only make the provider come again.
func (s *Service) settleInTurn(ctx context.Context, from origin, n notice) (fsm.Outcome, error) {
	if s.lock == nil {
		return s.settle(ctx, from, n)
	}
	var (
		outcome fsm.Outcome
		err     error
		settled bool
	)
	locked := s.lock.With(ctx, "order:"+n.Data.OrderID, func(context.Context, lock.Held) error {
		settled = true
		outcome, err = s.settle(ctx, from, n)
		return nil
	})
	s.took(locked, settled)
	if !settled {
		return s.settle(ctx, from, n)
	}
	return outcome, err
}

// took counts and logs how the lock was come by. settled says that the locker
// has run what it was given.
func (s *Service) took(err error, settled bool) {
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
		s.log.Warn("the lock of an order", "turn", string(t), "error", err)
	}
}
