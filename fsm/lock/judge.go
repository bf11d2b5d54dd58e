package lock

import (
	"context"
	"errors"
	"reflect"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/fault"
)

// Judge reads what is to be decided on, in a statement after the lock, and returns
// what it found. An error ends the call, and nothing is done.
type Judge[T any] func(ctx context.Context, tx pgx.Tx) (T, error)

// Update writes what follows from the judgement and returns how many rows it
// changed. It compares what was judged and the fencing value in the UPDATE itself,
// and stores the value:
//
//	UPDATE accounts SET balance = $2, version = version + 1, fence = $3
//	WHERE id = $1 AND version = $4 AND fence < $3
//
// The fencing value keeps out holders that lost the lock before this one got it;
// the version, those that write in between the judgement and the update.
type Update[T any] func(ctx context.Context, tx pgx.Tx, judged T, fence int64) (rows int64, err error)

// LockJudgeUpdate acquires the lock, and in one READ COMMITTED transaction judges,
// updates and commits; then it releases the lock, and returns what was judged. It
// is right even where two hold the lock at once, after a holder stood still or at
// the moment of a switch: of their updates one changes the row, and the other
// finds none.
//
// With a Postgres locker on db the lock and the work share one transaction, and so
// one connection. The transaction is never repeated; fsm.Retryable tells whether
// the call may be.
//
// Errors: those of Locker, but that a lock which was lost after the COMMIT is
// none; ErrStale for an update of no rows; the functions' own; fsm.ErrNothingDone,
// and fsm.ErrUnknown when the COMMIT was lost: the same call again judges anew.
func LockJudgeUpdate[T any](ctx context.Context, locker Locker, db fsm.TxBeginner, name string, judge Judge[T], update Update[T]) (T, error) {
	var judged T
	committed := false
	err := within(ctx, locker, db, name, func(ctx context.Context, tx pgx.Tx, held Held) (err error) {
		if judged, err = judge(ctx, tx); err != nil {
			return err
		}
		if err := fault.At(ctx, PointJudged); err != nil {
			return err
		}
		rows, err := update(ctx, tx, judged, held.Fence())
		if err == nil && rows < 1 {
			err = ErrStale
		}
		return err
	}, func() { committed = true })
	if err != nil && !(committed && errors.Is(err, ErrLost)) {
		var none T
		return none, err
	}
	return judged, nil
}

type work func(ctx context.Context, tx pgx.Tx, held Held) error

// within runs fn in a transaction under the lock, and calls committed once that is.
func within(ctx context.Context, locker Locker, db fsm.TxBeginner, name string, fn work, committed func()) error {
	switch l := locker.(type) {
	case *FallbackLocker:
		return l.choose(ctx, func(chosen Locker, begun func()) error {
			return within(ctx, chosen, db, name, func(ctx context.Context, tx pgx.Tx, held Held) error {
				begun()
				return fn(ctx, tx, held)
			}, committed)
		})
	case *Postgres:
		if same(l.db, db) {
			err := l.WithTx(ctx, name, fn)
			if err == nil {
				committed()
			}
			return err
		}
	}
	return locker.With(ctx, name, func(ctx context.Context, held Held) error {
		err := fsm.RunTx(ctx, db, once, func(ctx context.Context, tx pgx.Tx) error { return fn(ctx, tx, held) })
		if err == nil {
			committed()
		}
		return err
	})
}

// same reports whether two are one; of what cannot be compared nobody knows.
func same(a, b fsm.TxBeginner) bool {
	if a == nil || b == nil || !reflect.TypeOf(a).Comparable() || !reflect.TypeOf(b).Comparable() {
		return false
	}
	return a == b
}
