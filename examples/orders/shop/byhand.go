package shop

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/attempt"
	"github.com/pawl-go/pawl/gen/db"
	"github.com/pawl-go/pawl/gen/refund"
)

// Why a refund is not settled by hand. Nothing was done.
var (
	ErrSettled = errors.New("the refund is settled already")
	ErrCalled  = errors.New("its call to the provider is not over")
)

// providerPerson is who tells what a person found out, as ledger and cases name it.
const providerPerson = "person"

// SettleRefund settles a refund as the callback would have that never came: whole,
// where the money was given back, or closed. The order, the ledger and the refund
// take it as they take a callback, under the person's name, in tx; a callback that
// comes after all is told again. It returns the refund before and after.
//
// A refund with a call to the provider that is not over is left to that: ErrCalled.
// One that is SUCCEEDED or CLOSED is ErrSettled, one that does not exist
// fsm.ErrNotFound, and what the order refuses a *fsm.RefusedError; after any error
// tx must be rolled back.
func (s *Service) SettleRefund(ctx context.Context, tx pgx.Tx, number string, given bool, by fsm.Correction) (was, is refund.Row, err error) {
	if was, err = lockedRefund(ctx, tx, refund.Key(number)); err != nil {
		return was, is, err
	}
	n, want := notice{ID: "refund/" + number, Type: refundClosed}, refund.StateClosed
	if given {
		n.Type, want = refundSucceeded, refund.StateSucceeded
	}
	n.Data.OrderID, n.Data.PaymentNo = was.OrderID, was.PaymentNo
	n.Data.RefundNo, n.Data.AmountCents = number, was.AmountCents
	outcome, _, err := s.settle(ctx, savepoint(tx), origin{providerPerson, n.ID}, n, fsm.Actor(by.Actor), fsm.Reason(by.Reason))
	if err != nil {
		return was, is, err
	}
	if is, err = refund.Get(ctx, tx, was.RefundNo); err == nil && is.Status != want {
		err = &fsm.RefusedError{Outcome: outcome}
	}
	return was, is, err
}

// lockedRefund is a refund that a person may settle, as it stays until tx ends: the
// locks are those of whoever settles it, and of whoever starts its call.
func lockedRefund(ctx context.Context, tx pgx.Tx, key refund.Key) (refund.Row, error) {
	row, err := refund.Get(ctx, tx, key)
	if err != nil {
		return row, err
	}
	q := db.New(tx)
	if err := q.ShopOrderLock(ctx, db.ShopOrderLockParams{OrderID: row.OrderID}); err != nil {
		return row, err
	}
	if err := q.ShopRefundLock(ctx, db.ShopRefundLockParams{RefundNo: string(key)}); err != nil {
		return row, err
	}
	if row, err = refund.Get(ctx, tx, key); err != nil {
		return row, err
	}
	if row.Status == refund.StateSucceeded || row.Status == refund.StateClosed {
		return row, fmt.Errorf("%w: it is %s", ErrSettled, row.Status)
	}
	switch a, err := attempt.Find(ctx, tx, RefundKind, string(key)); {
	case errors.Is(err, attempt.ErrNotFound), errors.Is(err, attempt.ErrSpent):
	case err != nil:
		return row, err
	case !a.Completed():
		return row, fmt.Errorf("%w: it looks up by itself, and once it is stuck a person can complete attempt %s", ErrCalled, a.ID)
	}
	return row, nil
}
