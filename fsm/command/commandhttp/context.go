package commandhttp

import (
	"context"
	"errors"
	"fmt"
	"net/http"

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
// what the handler writes there: see [command.Lease.CompleteTx], also for the context
// to use, since that of the request ends when the client hangs up. So the answer is
// written before, in the same run of the transaction.
//
// What the handler writes afterwards is another answer, from its first header on.
// Where tx was rolled back and runs again, that is the one to write and complete
// anew: the last completion counts, a refusal's like any. Where tx committed it has
// no effect, unless it is a failure: by a status of 500 or more, 408, 425 or 429 the
// handler says that tx was not committed, and the next request runs it again.
func CompleteTx(ctx context.Context, tx fsm.DB) error {
	r := runOf(ctx)
	if r.lease == nil {
		return fmt.Errorf("%w: there is no lease", fsm.ErrArgument)
	}
	r.recorder.WriteHeader(http.StatusOK)
	switch {
	case r.recorder.tooLarge:
		return fmt.Errorf("%w: %w", command.ErrReply, errTooLarge)
	case r.recorder.failed():
		return errors.New("a failure is not kept")
	}
	err := r.lease.CompleteTx(ctx, tx, r.recorder.reply())
	r.recorder.complete(err)
	return err
}
