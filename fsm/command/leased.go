package command

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/fsm"
)

// LeasedWork does a command under a lease and returns its reply. Its context ends
// when the lease is lost, with [ErrLeaseLost] as the cause.
//
// It may commit what it likes on the way. What must not happen twice belongs in
// one transaction with the reply: call [Lease.CompleteTx] in it, with the reply
// that is then returned too. A LeasedWork that does not call it has the reply kept
// in a transaction of its own, after it returned, also when ctx has ended by then and
// the lease is not lost: the work is done.
type LeasedWork func(ctx context.Context, lease *Lease) (Reply, error)

// DoLeased does the command under a claim that is committed first, so that an
// outside system can be called without a transaction being open. The claim has a
// lease, renewed while work runs, for a caller who is gone too, by a goroutine that
// ends before DoLeased does. After a crash the
// command stays in progress until the lease runs out, and the next call takes it
// over; the outside system may then be called again, and should be given a key of
// its own, such as the command's.
//
// db must be safe for concurrent use, as a pool is; a single connection is refused
// with [fsm.ErrArgument], like a Lease of zero or less. An equal request that
// comes meanwhile gets [ErrInProgress] at once, another one under the same key
// [ErrMismatch]. An error or a panic of work gives the claim back, if it is still
// this call's, and the next call does the work at once; [ErrLeaseLost] when it is
// not. [fsm.ErrUnknown] says that the COMMIT with the reply was lost. Other errors
// are those of [Command.Do].
func (c *Command) DoLeased(ctx context.Context, db DB, r Request, work LeasedWork) (Answer, error) {
	return c.told(ctx, func() (Answer, error) { return c.doLeased(ctx, db, &r, work) })
}

func (c *Command) doLeased(ctx context.Context, db DB, r *Request, work LeasedWork) (Answer, error) {
	a, err := c.ask(ctx, r)
	if err == nil {
		err = c.need(db != nil && work != nil)
	}
	if err != nil {
		return Answer{}, err
	}
	if err := c.checkLease(db); err != nil {
		return Answer{}, c.wrap(fsm.ErrArgument, err)
	}
	l, replayed, err := c.claim(ctx, db, a)
	if l == nil || err != nil {
		return replayed, err
	}
	reply, err := l.run(ctx, work)
	if err != nil {
		return Answer{}, c.wrap(nil, err)
	}
	if err := at(ctx, PointCommitted); err != nil {
		return Answer{}, c.wrap(nil, err)
	}
	return Answer{Reply: reply}, nil
}

func (c *Command) checkLease(db DB) error {
	switch db.(type) {
	case *pgx.Conn, *pgxpool.Conn:
		return errors.New("a lease is renewed beside the work, which needs a pool")
	}
	if c.Lease < time.Microsecond {
		return errors.New("the lease is not positive")
	}
	return nil
}

// claim returns a lease of the command, or the reply of an earlier call.
func (c *Command) claim(ctx context.Context, db DB, a asked) (*Lease, Answer, error) {
	for range maxRaces {
		l := &Lease{command: c, db: db, owner: rand.Text(), until: time.Now().Add(c.Lease)}
		rec, err := c.register(ctx, db, a, l.owner, c.Lease)
		if err != nil {
			l.abandon(ctx, a)
			return nil, Answer{}, err
		}
		if rec.fresh {
			l.id, l.fence = rec.id, rec.fence
			return l, Answer{}, nil
		}
		if answer, done, err := c.judge(a, rec); done || err != nil {
			return nil, answer, err
		}
		answer, err := c.takeOver(ctx, db, a, rec, l)
		if errors.Is(err, errGone) {
			continue
		}
		if err != nil {
			l.abandon(ctx, a)
			return nil, Answer{}, err
		}
		if answer.Replayed {
			return nil, answer, nil
		}
		return l, Answer{}, nil
	}
	return nil, Answer{}, c.wrap(fsm.ErrContended, nil)
}

// abandonSQL gives back a claim of which nobody was told.
const abandonSQL = `
UPDATE fsm_command AS c SET owner = '', lease_until = clock_timestamp()
WHERE c.scope = $1 AND c.command = $2 AND c.key = $3 AND c.owner = $4 AND c.done_at IS NULL`

// abandon gives back a claim that may have been committed although its call failed,
// as when a connection breaks. Otherwise it finds none.
func (l *Lease) abandon(ctx context.Context, a asked) {
	ctx, cancel := detach(ctx)
	defer cancel()
	_, _ = l.db.Exec(ctx, abandonSQL, a.Scope, l.command.Name, a.Key, l.owner) // otherwise the lease runs out
}

// claimSQL gives a record that this transaction has locked, and judged free, to an
// owner. The fence comes from a sequence and is drawn under the row's lock: it is
// greater than that of every earlier owner, also of a record that was archived.
const claimSQL = `
UPDATE fsm_command AS c
SET owner = $2, fence = nextval('fsm_command_fence'), claimed_at = clock_timestamp(),
	lease_until = clock_timestamp() + $3::bigint * interval '1 microsecond'
WHERE c.id = $1
RETURNING c.fence`

// takeOver claims a record whose earlier claim was given back or ran out, for l.
// Somebody else may have been faster, and then may even be done.
func (c *Command) takeOver(ctx context.Context, db DB, a asked, known record, l *Lease) (Answer, error) {
	var answer Answer
	var expired bool
	policy := fsm.TxPolicy{Options: pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, Wait: c.Tx.Wait}
	err := fsm.RunTx(ctx, db, policy, func(ctx context.Context, tx pgx.Tx) error {
		rec, err := c.lock(ctx, tx, known)
		if err != nil {
			return err
		}
		var done bool
		if answer, done, err = c.judge(a, rec); done || err != nil {
			return err
		}
		l.id, l.until, expired = rec.id, time.Now().Add(c.Lease), rec.expired
		return c.own("take over", tx.QueryRow(ctx, claimSQL, rec.id, l.owner, c.Lease.Microseconds()).Scan(&l.fence))
	})
	switch {
	case errors.Is(err, errGone):
		return Answer{}, err
	case err != nil:
		return Answer{}, c.wrap(nil, err)
	case expired && !answer.Replayed:
		c.observe(ctx, TakenOver)
	}
	return answer, nil
}

// run does the work under the lease, and gives the claim back unless a reply is
// kept: deferred, so that a panic does too.
func (l *Lease) run(ctx context.Context, work LeasedWork) (reply Reply, err error) {
	kept := false
	defer func() {
		if !kept {
			l.release(ctx)
		}
	}()
	working, held, stop := l.renewing(ctx)
	defer stop()
	if err := at(working, PointClaimed); err != nil {
		return Reply{}, err
	}
	if reply, err = work(working, l); err == nil {
		// The work is done: a caller who is gone asks again, and is to find its reply.
		finishing, cancel := outlive(held, ctx)
		defer cancel()
		reply, err = l.finish(finishing, reply)
	}
	if err != nil {
		if cause := context.Cause(held); errors.Is(cause, ErrLeaseLost) && !errors.Is(err, ErrLeaseLost) {
			err = fmt.Errorf("%w: %w", cause, err)
		}
		return Reply{}, err
	}
	kept = true
	return reply, nil
}
