package fsm

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// endTimeout bounds how long a rollback or a RELEASE may take, which do not
// listen to the caller's context.
const endTimeout = 5 * time.Second

// commit ends tx and returns the kind and the cause of a failure, nil twice
// when there is none. The caller rolls tx back afterwards in any case.
func commit(ctx context.Context, tx pgx.Tx, savepoint bool) (kind, err error) {
	if err := ctx.Err(); err != nil {
		return ErrNothingDone, err
	}
	if savepoint {
		// pgx takes a savepoint for closed when its RELEASE was never sent, and
		// rolls back no more: the writes would stay in the caller's transaction.
		detached, cancel := detach(ctx)
		defer cancel()
		ctx = detached
	}
	switch err := tx.Commit(ctx); {
	case err == nil:
		return nil, nil
	case errors.Is(err, pgx.ErrTxClosed):
		return ErrUnknown, err // somebody else ended it, and not always by a rollback
	default:
		return kindOf(err), err
	}
}

// rollback ends the transaction even when ctx has ended. After a commit it
// does nothing.
func rollback(ctx context.Context, tx pgx.Tx) {
	ctx, cancel := detach(ctx)
	defer cancel()
	_ = tx.Rollback(ctx) // the transaction's own error has been returned already
}

// detach returns a context that does not end with ctx.
func detach(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
}
