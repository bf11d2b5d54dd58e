package attempt

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/fault"
	"github.com/pawl-go/pawl/fsm/internal/alone"
)

// Drive takes an attempt one round on, due or not, and returns it as it is then.
// The round claims the attempt, passes the steps that are left, looks the call up
// if it was ever sent, sends it if it is not there, records the answer, and
// completes it with the business change. Any part may be the last of a round;
// the next one goes on from there. Every round counts towards Policy.MaxRounds, one
// that was not due like any: where requests drive attempts, let each drive the one
// that its Start has started, and a [Completer] the rest.
//
// nil: the attempt is completed, now or before. [UnfinishedError]: another round
// will be due, or a person has to decide. ErrBusy: somebody else drives it.
// ErrStuck: it waits for a person already. ErrLost: this round took longer than
// its lease and somebody else took over; nothing was recorded after that.
// ErrNotFound, ErrArgument; a database's error, after which the lease runs out
// and the next round takes over.
//
// When ctx ends during Call or Query, what is known by then is still recorded.
// Drive is safe for concurrent use, in one process and in many.
func Drive(ctx context.Context, db Pool, kind *Kind, id string) (Attempt, error) {
	if err := kind.check(); err != nil {
		return Attempt{}, err
	}
	if err := idOK(id); err != nil {
		return Attempt{}, err
	}
	r := &round{db: db, kind: kind, policy: kind.Policy.filled(), owner: rand.Text()}
	if err := r.claim(ctx, id); err != nil || r.a.Completed() {
		return r.a, err
	}
	err := r.run(ctx)
	if errors.Is(err, ErrLost) {
		kind.notify(id, WasLost, err)
	}
	return r.a, err
}

// round is one owner's work on one attempt. Whatever it writes compares owner and
// fence in the same statement.
type round struct {
	db     Pool
	kind   *Kind
	policy Policy
	owner  string
	a      Attempt
}

// claimSQL makes this round the owner. Due is put behind the lease, so that a
// crash is found by who asks for what is due. The row is locked first, to read
// truly whether an owner was there before.
const claimSQL = `WITH locked AS (
  SELECT a.id, a.owner
  FROM fsm_attempts AS a
  WHERE a.id = $1 AND a.kind = $2 AND a.completed_at IS NULL AND a.stuck_at IS NULL
    AND a.leased_until <= clock_timestamp()
  FOR NO KEY UPDATE
)
UPDATE fsm_attempts AS a
SET owner = $3, fence = a.fence + 1, rounds = a.rounds + 1,
  leased_until = clock_timestamp() + $4::interval, due = clock_timestamp() + $4::interval
FROM locked
WHERE a.id = locked.id
RETURNING ` + selected + `, locked.owner <> ''`

// leftSQL says how long a lease has yet to run, in seconds; less than 0 when
// nobody has one.
const leftSQL = `SELECT greatest(extract(epoch FROM a.leased_until - clock_timestamp()), -1)::float8
FROM fsm_attempts AS a
WHERE a.id = $1 AND a.owner <> ''`

// claim makes this round the owner and reads the attempt. It returns nil without
// a claim when the attempt is completed.
func (r *round) claim(ctx context.Context, id string) error {
	var takenOver bool
	a, err := one(ctx, r.db, []any{&takenOver}, claimSQL, id, r.kind.Name, r.owner, r.policy.Lease)
	if errors.Is(err, pgx.ErrNoRows) {
		return r.notClaimed(ctx, id)
	}
	if err != nil {
		r.abandon(ctx, id, err)
		return dbError("claim", err)
	}
	r.a = a
	if takenOver {
		r.kind.notify(id, WasTakenOver, nil)
	}
	return nil
}

const abandonSQL = `UPDATE fsm_attempts AS a
SET owner = '', rounds = a.rounds - 1, leased_until = '-infinity', due = clock_timestamp()
WHERE a.id = $1 AND a.owner = $2`

// abandon gives back a claim that may be there although its answer is not, since
// the connection broke or the caller left: no round was begun. Where it cannot, the
// lease runs out.
func (r *round) abandon(ctx context.Context, id string, err error) {
	if pgconn.SafeToRetry(err) {
		return // nothing was sent
	}
	ctx, cancel := detach(ctx)
	defer cancel()
	_, _ = alone.Exec(ctx, r.db, abandonSQL, id, r.owner) // the claim's own error is told
}

// notClaimed says why an attempt was not to be had.
func (r *round) notClaimed(ctx context.Context, id string) (err error) {
	if r.a, err = Get(ctx, r.db, id); err != nil {
		return err
	}
	switch {
	case r.a.Kind != r.kind.Name:
		return fmt.Errorf("%w: the attempt is of another kind", ErrArgument)
	case r.a.Completed():
		return nil
	case r.a.StuckAt != nil:
		return ErrStuck
	}
	var left float64
	switch err := r.db.QueryRow(ctx, leftSQL, id).Scan(&left); {
	case err != nil && !errors.Is(err, pgx.ErrNoRows):
		return dbError("claim", err)
	}
	return &BusyError{Left: time.Duration(max(left, 0) * float64(time.Second))}
}

// run does what is left to do, and puts the attempt down where it ends early.
func (r *round) run(ctx context.Context) error {
	if err := fault.At(ctx, PointStarted); err != nil {
		return r.putDown(ctx, r.a.State, err, false)
	}
	if r.a.Rounds > r.policy.MaxRounds { // rounds that ended by a crash
		return r.putDown(ctx, r.a.State, errors.New("too many rounds ended nothing"), true)
	}
	if !r.a.State.Answered() {
		if err := r.answer(ctx); err != nil {
			return err
		}
	}
	return r.complete(ctx)
}

// answer passes the steps and gets the provider's answer, until it is recorded.
func (r *round) answer(ctx context.Context) error {
	result, err := Result{}, r.steps(ctx)
	if err == nil {
		result, err = r.ask(ctx)
	} else if !errors.Is(err, ErrRefused) && !errors.Is(err, ErrLost) {
		return r.putDown(ctx, r.a.State, err, false)
	}
	if errors.Is(err, ErrLost) {
		return err
	}
	state := r.judge(err)
	if ferr := fault.At(ctx, PointAnswered); ferr != nil {
		state, err = Unknown, ferr
	}
	if !state.Answered() {
		return r.putDown(ctx, state, err, errors.Is(err, errTooLate))
	}
	return r.record(ctx, state, result.storable(), err)
}

const finishSQL = `UPDATE fsm_attempts AS a
SET completed_at = clock_timestamp(), due = NULL, owner = '', leased_until = '-infinity', last_error = ''
WHERE a.id = $1 AND a.owner = $2 AND a.fence = $3 AND a.completed_at IS NULL AND a.state IN ('SUCCEEDED', 'REFUSED')
RETURNING a.completed_at`

// complete commits the business change together with the attempt's end.
func (r *round) complete(ctx context.Context) error {
	if err := fault.At(ctx, PointRecorded); err != nil {
		return r.putDown(ctx, r.a.State, err, false)
	}
	a := r.a
	err := r.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		a = r.a
		a.LastError = ""
		switch err := tx.QueryRow(ctx, finishSQL, a.ID, r.owner, a.Fence).Scan(&a.CompletedAt); {
		case errors.Is(err, pgx.ErrNoRows):
			return ErrLost
		case err != nil:
			return dbError("complete", err)
		}
		if err := r.kind.Complete(ctx, tx, a); err != nil {
			return err
		}
		return fault.At(ctx, PointCompleting)
	})
	switch {
	case errors.Is(err, ErrLost):
		return err
	case err != nil:
		return r.putDown(ctx, r.a.State, err, false)
	}
	r.a = a
	r.kind.notify(a.ID, WasCompleted, nil)
	return fault.At(ctx, PointCompleted)
}

// inTx runs fn in a transaction, for no longer than the lease.
func (r *round) inTx(ctx context.Context, fn func(context.Context, pgx.Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, r.policy.Lease)
	defer cancel()
	return fsm.RunTx(ctx, r.db, alone.ReadCommitted, fn)
}

const putDownSQL = `UPDATE fsm_attempts AS a
SET state = $4, last_error = $5, owner = '', leased_until = '-infinity',
  due = CASE WHEN $6 THEN NULL ELSE clock_timestamp() + $7::interval END,
  stuck_at = CASE WHEN $6 THEN clock_timestamp() END
WHERE a.id = $1 AND a.owner = $2 AND a.fence = $3 AND a.completed_at IS NULL
RETURNING ` + selected

// putDown ends the round without an end of the attempt: it notes state and cause,
// lets go of the lease and says when the next round is due, or that a person has
// to look. It returns an UnfinishedError, or ErrLost, or the database's error.
func (r *round) putDown(ctx context.Context, state State, cause error, stuck bool) error {
	ctx, cancel := detach(ctx)
	defer cancel()
	stuck = stuck || r.a.Rounds >= r.policy.MaxRounds
	wait := r.policy.wait(r.a.Rounds)
	a, err := one(ctx, r.db, nil, putDownSQL, r.a.ID, r.owner, r.a.Fence, state, causeText(cause), stuck, wait)
	if errors.Is(err, pgx.ErrNoRows) {
		return r.gone(ctx, cause)
	}
	if err != nil {
		return errors.Join(dbError("put down", err), cause)
	}
	r.a = a
	what := WasPutOff
	if stuck {
		what, wait = WasStuck, 0
	}
	r.kind.notify(a.ID, what, cause)
	return &UnfinishedError{State: state, Wait: wait, Stuck: stuck, Err: cause}
}

// gone says why the row is this round's no more: somebody took it over, or this
// round's own COMMIT was lost on the way back and has completed it.
func (r *round) gone(ctx context.Context, cause error) error {
	a, err := Get(ctx, r.db, r.a.ID)
	if err != nil {
		return errors.Join(err, cause)
	}
	fence := r.a.Fence
	r.a = a
	if a.Completed() && a.Fence == fence {
		r.kind.notify(a.ID, WasCompleted, nil)
		return nil
	}
	return fmt.Errorf("%w: %w", ErrLost, cause)
}
