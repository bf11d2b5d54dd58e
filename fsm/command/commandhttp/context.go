package commandhttp

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/command"
)

type contextKey struct{}

// run is one run of a handler.
type run struct {
	tx       pgx.Tx
	lease    *command.Lease
	recorder *recorder
}

func runOf(ctx context.Context) run {
	r, _ := ctx.Value(contextKey{}).(run)
	return r
}

// Tx returns the transaction that a handler's work belongs in, which commits with
// its reply. It is false outside of the middleware, and where that is Leased.
func Tx(ctx context.Context) (pgx.Tx, bool) {
	tx := runOf(ctx).tx
	return tx, tx != nil
}

// Lease returns the lease that a handler works under, where the middleware is
// Leased; otherwise it is false.
func Lease(ctx context.Context) (*command.Lease, bool) {
	l := runOf(ctx).lease
	return l, l != nil
}

// CompleteTx keeps the answer that the handler has written so far, in tx, beside
// what the handler writes there: see [command.Lease.CompleteTx]. Later writes to
// the answer have no effect, but for one: when tx is not committed, the handler
// says so by a status of 500 or more, and the next request runs it again.
func CompleteTx(ctx context.Context, tx fsm.DB) error {
	r := runOf(ctx)
	switch {
	case r.lease == nil:
		return fmt.Errorf("%w: there is no lease", fsm.ErrArgument)
	case r.recorder.tooLarge:
		return fmt.Errorf("%w: %w", command.ErrReply, errTooLarge)
	case r.recorder.failed():
		return errors.New("a failure is not kept")
	}
	if err := r.lease.CompleteTx(ctx, tx, r.recorder.reply()); err != nil {
		return err
	}
	r.recorder.sealed = true
	return nil
}
