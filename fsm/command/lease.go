package command

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
)

// Lease is a claim that DoLeased works under. It is safe for concurrent use, but
// for CompleteTx.
type Lease struct {
	command *Command
	db      DB
	id      int64
	owner   string
	fence   int64
	// until is when the lease ends for sure, by this process's clock: counted
	// from before the statement that set it, so that it is never after the
	// database's. The goroutine that renews owns it.
	until time.Time
	// completing says that a transaction may hold the record, and with it keep
	// everybody else out, whatever the lease says.
	completing atomic.Bool
}

// Fence returns a number that is greater than that of every earlier owner of this
// command. A business row that keeps the greatest it has seen, in an UPDATE with
// WHERE fence <= this one, is safe from an owner who does not know yet that it is
// late.
func (l *Lease) Fence() int64 { return l.fence }

// completeLeaseSQL compares owner and fence where it keeps the reply: a late owner
// updates no row.
const completeLeaseSQL = `
UPDATE fsm_command AS c
SET done_at = clock_timestamp(), status = $4, headers = $5::text::jsonb, body = $6
WHERE c.id = $1 AND c.owner = $2 AND c.fence = $3 AND c.done_at IS NULL
RETURNING c.done_at`

// CompleteTx keeps the reply in tx, the transaction of what the work writes, and
// so makes both one. It holds the record from then on: nobody takes the command
// over while tx is open.
//
// It returns [ErrLeaseLost] when the lease was taken over, and [ErrReply] for a
// reply that cannot be kept; tx must then be rolled back. Headers that cannot be kept,
// since they hold control characters or are over 16 KiB together, are left out of what
// is replayed. A second call is late as well. The error of tx's COMMIT is the work's to return.
//
// The context that the work was given ends with its caller, and tx with it. Where
// something was done outside that must not be done again, begin tx, and complete, on
// a bounded context made by [context.WithoutCancel].
func (l *Lease) CompleteTx(ctx context.Context, tx fsm.DB, reply Reply) error {
	if _, ok := tx.(fsm.TxBeginner); ok || tx == nil {
		return l.command.wrap(fsm.ErrArgument, errors.New("CompleteTx needs a transaction"))
	}
	_, err := l.complete(ctx, tx, reply)
	return err
}

func (l *Lease) complete(ctx context.Context, tx fsm.DB, reply Reply) (Reply, error) {
	c := l.command
	k, err := c.keep(&reply, true)
	if err != nil {
		return Reply{}, c.wrap(nil, err)
	}
	l.completing.Store(true)
	err = tx.QueryRow(ctx, completeLeaseSQL, l.id, l.owner, l.fence, k.status, string(k.headers), k.body).Scan(&reply.At)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return Reply{}, c.wrap(ErrLeaseLost, nil)
	case err != nil:
		return Reply{}, c.own("keep the reply", err)
	}
	if err := at(ctx, PointDone); err != nil {
		return Reply{}, err
	}
	return reply, nil
}

// finish makes sure, after the work, that its reply is kept: by the work's own
// transaction, or else by one of its own.
func (l *Lease) finish(ctx context.Context, reply Reply) (Reply, error) {
	if l.completing.Load() {
		return l.completed(ctx)
	}
	policy := fsm.TxPolicy{Options: pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, Wait: l.command.Tx.Wait}
	var kept Reply
	err := fsm.RunTx(ctx, l.db, policy, func(ctx context.Context, tx pgx.Tx) (err error) {
		kept, err = l.complete(ctx, tx, reply)
		return err
	})
	return kept, err
}

// mineSQL reads the record if this is its owner, still or to the end.
const mineSQL = `SELECT ` + columns + ` FROM fsm_command c WHERE c.id = $1 AND c.owner = $2 AND c.fence = $3`

// completed reads what the work's own transaction kept. A work that says it is
// done although that transaction was rolled back has failed.
func (l *Lease) completed(ctx context.Context) (Reply, error) {
	var rec record
	err := rec.scan(l.db.QueryRow(ctx, mineSQL, l.id, l.owner, l.fence))
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return Reply{}, ErrLeaseLost
	case err != nil:
		return Reply{}, fmt.Errorf("%w: read the reply: %w", fsm.ErrUnknown, err)
	case rec.doneAt == nil:
		return Reply{}, fmt.Errorf("%w: the transaction with the reply was not committed", fsm.ErrNothingDone)
	}
	return rec.reply()
}

// releaseSQL gives a claim back, if it is still the owner's and nothing is kept.
const releaseSQL = `
UPDATE fsm_command AS c SET owner = '', lease_until = clock_timestamp()
WHERE c.id = $1 AND c.owner = $2 AND c.fence = $3 AND c.done_at IS NULL`

// release lets the next call do the work at once. When that fails, the lease runs
// out by itself. A COMMIT that was lost on its way is waited for: it holds the row.
func (l *Lease) release(ctx context.Context) {
	ctx, cancel := detach(ctx)
	defer cancel()
	_, _ = l.db.Exec(ctx, releaseSQL, l.id, l.owner, l.fence)
}
