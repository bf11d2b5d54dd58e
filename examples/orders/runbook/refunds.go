package runbook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/examples/orders/shop"
	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/attempt"
	"github.com/pawl-go/pawl/gen/refund"
)

// Why a refund is not let go on. Nothing was done.
var (
	ErrOver       = errors.New("its provider call is over; another try has another number: release refund NUMBER NEW")
	ErrNotWaiting = errors.New("nothing was done: only a refund that is ABNORMAL, or whose provider call is stuck, waits to be released")
)

// resumeAttempt has a stuck attempt looked up again; the refund that waits with it
// is retried in the same transaction.
func resumeAttempt(id string) action {
	return func(ctx context.Context, pool *pgxpool.Pool, who fsm.Correction) (string, error) {
		return "the attempt is due again", fsm.RunTx(ctx, pool, fsm.TxPolicy{}, func(ctx context.Context, tx pgx.Tx) error {
			a, err := attempt.Get(ctx, tx, id)
			if err != nil {
				return err
			}
			if a.Kind != shop.RefundKind {
				return attempt.Resume(ctx, tx, id, who)
			}
			if err := lockRefund(ctx, tx, a.BusinessKey); err != nil && !errors.Is(err, fsm.ErrNotFound) {
				return err
			}
			if err := attempt.Resume(ctx, tx, id, who); err != nil {
				return err
			}
			_, err = retryRefund(ctx, tx, refund.Key(a.BusinessKey), who)
			if errors.Is(err, fsm.ErrNotFound) {
				return nil
			}
			return err
		})
	}
}

// releaseRefund lets a refund go on that waits for a person, and with it its
// attempt, if that waits too: under the key that it has, and looked up first.
func releaseRefund(number string) action {
	return func(ctx context.Context, pool *pgxpool.Pool, who fsm.Correction) (done string, err error) {
		err = fsm.RunTx(ctx, pool, fsm.TxPolicy{}, func(ctx context.Context, tx pgx.Tx) error {
			if err := lockRefund(ctx, tx, number); err != nil {
				return err
			}
			a, err := attempt.Find(ctx, tx, shop.RefundKind, number)
			resumed := err == nil && a.StuckAt != nil
			switch {
			case errors.Is(err, attempt.ErrNotFound): // the service starts one of what is sent
			case err != nil:
				return err
			case a.Completed():
				return ErrOver
			case resumed:
				if err := attempt.Resume(ctx, tx, a.ID, who); err != nil {
					return err
				}
			}
			retried, err := retryRefund(ctx, tx, refund.Key(number), who)
			switch {
			case err != nil:
				return err
			case !resumed && retried.Outcome != fsm.Applied:
				return fmt.Errorf("%w; it is %s", ErrNotWaiting, retried.State)
			}
			done = fmt.Sprintf("%s: the refund is %s, version %d", retried.Outcome, retried.State, retried.Version)
			return retried.Err()
		})
		return done, err
	}
}

// completeRefund settles a refund of which the provider told a person, and nobody
// else: without a call of ours there is no attempt to complete.
func completeRefund(number, what string) (action, error) {
	if what != "succeeded" && what != "closed" {
		return nil, fmt.Errorf("%w: want succeeded or closed", ErrUsage)
	}
	return func(ctx context.Context, pool *pgxpool.Pool, who fsm.Correction) (done string, err error) {
		service, err := shop.New(shop.Config{Pool: pool, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			return "", err
		}
		err = fsm.RunTx(ctx, pool, fsm.TxPolicy{}, func(ctx context.Context, tx pgx.Tx) error {
			was, is, err := service.SettleRefund(ctx, tx, number, what == "succeeded", who)
			if err != nil {
				return err
			}
			done = fmt.Sprintf("the refund is %s, version %d", is.Status, is.Version)
			if is.Status == refund.StateClosed {
				done += ": its money is promised still, and release refund NUMBER NEW gives it another try"
			}
			return audit{"refund", number, is.Version, "settle", string(was.Status), string(is.Status)}.write(ctx, tx, who)
		})
		return done, err
	}, nil
}

// lockRefund keeps the refund as it is until tx ends, so that the service cannot
// take its attempt for a stuck one while that is resumed.
func lockRefund(ctx context.Context, tx pgx.Tx, number string) error {
	var status string
	err := tx.QueryRow(ctx, "SELECT r.status FROM refunds AS r WHERE r.refund_no = $1 FOR NO KEY UPDATE", number).Scan(&status)
	if errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("refund: %w", fsm.ErrNotFound)
	}
	return err
}

// retryRefund fires retry, and notes it when it took effect.
func retryRefund(ctx context.Context, tx pgx.Tx, key refund.Key, who fsm.Correction) (refund.Result, error) {
	result, err := refund.Retry(ctx, tx, key, fsm.Actor(who.Actor), fsm.Reason(who.Reason))
	if err != nil || result.Outcome != fsm.Applied {
		return result, err
	}
	note := audit{"refund", string(key), result.Version, "retry", string(refund.StateAbnormal), string(result.State)}
	return result, note.write(ctx, tx, who)
}
