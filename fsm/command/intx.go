package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
)

// DB is where a command commits by itself: *pgxpool.Pool, *pgxpool.Conn,
// *pgx.Conn. A transaction is none; [Command.DoTx] takes one.
type DB interface {
	fsm.DB
	fsm.TxBeginner
}

// Work does a command in tx and returns its reply. It must do nothing outside tx,
// since it may run again when the database says so, and must not end tx. A reply
// that refuses is kept, and what was written in tx is not; an error, or a panic,
// rolls back all, and the next call does the work.
type Work func(ctx context.Context, tx pgx.Tx) (Reply, error)

// errGone says that a sweep took the record between two statements.
var errGone = errors.New("the record was archived meanwhile")

// Do does the command in one transaction: the claim, what work writes, and the
// reply commit together, or nothing does. When the process dies, its connection
// does too, and the next call does the work at once.
//
// It first commits, alone, what the key stands for, so that another request
// under the same key learns of its mismatch at once and not after the first. An
// equal request that comes meanwhile waits, Wait at most, and gets the reply.
// A waiting call holds a connection of db, though not one that the first needs.
//
// Errors are *Error: [ErrMismatch], [ErrInProgress] after the wait, [ErrReply],
// [ErrBody], [ErrTables], [fsm.ErrArgument], [fsm.ErrNothingDone], and
// [fsm.ErrUnknown] when the COMMIT was lost: the same call again does the work, or
// gets its reply. An error of work is wrapped. In all but ErrUnknown nothing was
// done.
func (c *Command) Do(ctx context.Context, db DB, r Request, work Work) (Answer, error) {
	return c.told(ctx, func() (Answer, error) { return c.do(ctx, db, &r, work) })
}

func (c *Command) do(ctx context.Context, db DB, r *Request, work Work) (Answer, error) {
	a, err := c.ask(ctx, r)
	if err == nil {
		err = c.need(db != nil && work != nil)
	}
	if err != nil {
		return Answer{}, err
	}
	for range maxRaces {
		rec, err := c.register(ctx, db, a, "", 0)
		if err != nil {
			return Answer{}, err
		}
		if answer, done, err := c.judge(a, rec); done || err != nil {
			return answer, err
		}
		answer, err := c.doLocked(ctx, db, a, rec, work)
		if errors.Is(err, errGone) {
			continue
		}
		if err != nil {
			return Answer{}, c.wrap(nil, err)
		}
		if !answer.Replayed {
			if err := at(ctx, PointCommitted); err != nil {
				return Answer{}, c.wrap(nil, err)
			}
		}
		return answer, nil
	}
	return Answer{}, c.wrap(fsm.ErrContended, nil)
}

// doLocked claims the record by its row lock and does the work.
func (c *Command) doLocked(ctx context.Context, db DB, a asked, known record, work Work) (Answer, error) {
	policy := c.Tx
	if policy.Options.IsoLevel == "" {
		policy.Options.IsoLevel = pgx.ReadCommitted
	}
	var answer Answer
	err := fsm.RunTx(ctx, db, policy, func(ctx context.Context, tx pgx.Tx) error {
		rec, err := c.lock(ctx, tx, known)
		if err != nil {
			return err
		}
		var done bool
		if answer, done, err = c.judge(a, rec); done || err != nil {
			return err
		}
		answer, err = c.doClaimed(ctx, tx, rec.id, work)
		return err
	})
	return answer, err
}

// DoTx is Do in a transaction of the caller's, who commits it: the answer is
// provisional until then. Nothing is committed beforehand, so another request
// under the same key waits like an equal one, as long as the transaction's
// lock_timeout allows, and is told of its mismatch after that. In a transaction
// that is not READ COMMITTED, a call that waited ends in a serialization failure.
// An error undoes what work wrote, and nothing else of the transaction, also one that
// says that ctx ended meanwhile: the caller may commit all the same.
func (c *Command) DoTx(ctx context.Context, tx fsm.DB, r Request, work Work) (Answer, error) {
	return c.told(ctx, func() (Answer, error) { return c.doTx(ctx, tx, &r, work) })
}

func (c *Command) doTx(ctx context.Context, tx fsm.DB, r *Request, work Work) (Answer, error) {
	if _, ok := tx.(fsm.TxBeginner); ok {
		return Answer{}, c.wrap(fsm.ErrArgument, errors.New("DoTx needs a transaction"))
	}
	a, err := c.ask(ctx, r)
	if err == nil {
		err = c.need(tx != nil && work != nil)
	}
	if err != nil {
		return Answer{}, err
	}
	for range maxRaces {
		rec, err := c.register(ctx, tx, a, "", 0)
		if err != nil {
			return Answer{}, err
		}
		answer, err := c.doRegistered(ctx, tx, a, rec, work)
		if errors.Is(err, errGone) {
			continue
		}
		if err != nil {
			return Answer{}, c.wrap(nil, err)
		}
		return answer, nil
	}
	return Answer{}, c.wrap(fsm.ErrContended, nil)
}

// doRegistered claims a record in the caller's transaction and does the work. One
// that is not fresh was left by a call that failed, or is Do's, which is at work.
func (c *Command) doRegistered(ctx context.Context, tx fsm.DB, a asked, rec record, work Work) (Answer, error) {
	if !rec.fresh {
		if answer, done, err := c.judge(a, rec); done || err != nil {
			return answer, err
		}
		known := rec
		if err := rec.scan(tx.QueryRow(ctx, lockSQL, rec.id)); err != nil {
			return Answer{}, c.claiming(err, known)
		}
		if answer, done, err := c.judge(a, rec); done || err != nil {
			return answer, err
		}
	}
	return c.doClaimed(ctx, tx, rec.id, work)
}

// lockSQL waits for whoever works on the record, and then reads what that left.
const lockSQL = `SELECT ` + columns + ` FROM fsm_command c WHERE c.id = $1 FOR NO KEY UPDATE OF c`

// The wait for the record's lock is the command's, that for any other lock
// whatever the session's is. The setting in between is a parking place.
const (
	limitWaitSQL = `SELECT set_config('fsm.lock_timeout', current_setting('lock_timeout'), true),
		set_config('lock_timeout', $1, true)`
	restoreWaitSQL = `SELECT set_config('lock_timeout', current_setting('fsm.lock_timeout'), true)`
)

// lock claims the record for tx, in one round trip. It returns errGone when there
// is no such record any more, and ErrInProgress when its lock is not to be had.
func (c *Command) lock(ctx context.Context, tx pgx.Tx, known record) (record, error) {
	var batch pgx.Batch
	batch.Queue(limitWaitSQL, c.wait())
	batch.Queue(lockSQL, known.id)
	batch.Queue(restoreWaitSQL)
	results := tx.SendBatch(ctx, &batch)
	var rec record
	_, err := results.Exec()
	if err == nil {
		err = rec.scan(results.QueryRow())
	}
	if closing := results.Close(); err == nil {
		err = closing
	}
	return rec, c.claiming(err, known)
}

// claiming is the error of a statement that claims the record, as it was known
// before: errGone when there is none any more. A lock that was not to be had in
// time is another call's, in progress.
func (c *Command) claiming(err error, known record) error {
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return errGone
	case sqlState(err) == lockNotAvailable:
		// Without the database's error: RunTx would take that for a reason to run again.
		return c.wrap(nil, &InProgressError{Since: known.claimedAt})
	}
	return c.own("claim", err)
}

// completeSQL keeps the reply of a record that this transaction holds.
const completeSQL = `
UPDATE fsm_command AS c
SET owner = '', lease_until = clock_timestamp(), done_at = clock_timestamp(),
	status = $2, headers = $3::text::jsonb, body = $4
WHERE c.id = $1 AND c.done_at IS NULL
RETURNING c.done_at`

// doClaimed does the work and keeps its reply, in a transaction that holds the
// record's lock. Once the work's savepoint is ended, the reply follows whatever
// becomes of ctx: in a transaction of the caller's the one may not stay without the
// other.
func (c *Command) doClaimed(ctx context.Context, tx fsm.DB, id int64, work Work) (Answer, error) {
	if err := at(ctx, PointClaimed); err != nil {
		return Answer{}, err
	}
	reply, k, err := c.inSavepoint(ctx, tx, work)
	if err != nil {
		return Answer{}, err
	}
	detached, cancel := outlive(context.WithoutCancel(ctx), ctx)
	defer cancel()
	if err := tx.QueryRow(detached, completeSQL, id, k.status, string(k.headers), k.body).Scan(&reply.At); err != nil {
		return Answer{}, c.own("keep the reply", err)
	}
	if err := at(ctx, PointDone); err != nil {
		return Answer{}, err
	}
	return Answer{Reply: reply}, nil
}

// inSavepoint does the work so that a refusal can be kept without what the work
// wrote before it said no, and even when its transaction is aborted, as by a
// CHECK that it ran into. With an error nothing of the work stays in tx: not of one
// whose reply cannot be kept, nor for a caller whose time is over by then.
func (c *Command) inSavepoint(ctx context.Context, tx fsm.DB, work Work) (reply Reply, k kept, err error) {
	inner, err := tx.Begin(ctx)
	if err != nil {
		return reply, k, fmt.Errorf("%w: savepoint: %w", fsm.ErrNothingDone, err)
	}
	defer func() {
		if back := rollback(ctx, inner); back != nil && err != nil {
			// tx can only be rolled back. Whether to run it again is for err to say.
			err = fmt.Errorf("%w; rolling back the work: %v", err, back)
		}
	}()
	if reply, err = work(ctx, inner); err != nil {
		return reply, k, err
	}
	if k, err = c.keep(&reply, false); err != nil {
		return reply, k, c.wrap(nil, err)
	}
	if err = ctx.Err(); err != nil {
		return reply, k, c.wrap(fsm.ErrNothingDone, err)
	}
	// pgx takes a savepoint for closed when its RELEASE was never sent, and rolls
	// back no more: so that one is sent whatever becomes of ctx.
	detached, cancel := outlive(context.WithoutCancel(ctx), ctx)
	defer cancel()
	end := inner.Commit
	if reply.Refused() {
		end = inner.Rollback
	}
	if err = end(detached); err != nil {
		err = fmt.Errorf("%w: end the work's savepoint: %w", fsm.ErrNothingDone, err)
	}
	return reply, k, err
}

// endTimeout bounds what is ended or given back when the caller's context may be
// over already.
const endTimeout = 5 * time.Second

// detach returns a context that does not end with ctx.
func detach(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
}

// outlive returns a child of parent that ends endTimeout after ctx does.
func outlive(parent, ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(parent)
	context.AfterFunc(ctx, func() {
		timer := time.NewTimer(endTimeout)
		defer timer.Stop()
		select {
		case <-timer.C:
			cancel()
		case <-longer.Done():
		}
	})
	return longer, cancel
}

// rollback goes back to a savepoint even when ctx has ended. pgx returns
// ErrTxClosed where nothing is left to do.
func rollback(ctx context.Context, savepoint pgx.Tx) error {
	ctx, cancel := detach(ctx)
	defer cancel()
	if err := savepoint.Rollback(ctx); err != nil && !errors.Is(err, pgx.ErrTxClosed) {
		return err
	}
	return nil
}
