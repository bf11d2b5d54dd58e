package attempt

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm/fault"
	"github.com/pawl-go/pawl/fsm/internal/alone"
)

// errTooLate ends the rounds of an attempt that may not be sent any more.
var errTooLate = errors.New("the provider does not know the call, and it is too late to send it under the same key")

const stepSQL = `UPDATE fsm_attempts AS a
SET leased_until = clock_timestamp() + $4::interval, due = clock_timestamp() + $4::interval
WHERE a.id = $1 AND a.owner = $2 AND a.fence = $3 AND a.state = 'STARTED' AND a.completed_at IS NULL`

const passSQL = `INSERT INTO fsm_attempt_steps AS s (attempt_id, position, name, data, fence, at)
VALUES ($1, $2, $3, $4::json, $5, clock_timestamp())`

// steps passes the steps that are left. An attempt that was ever sent has passed
// all that it will.
func (r *round) steps(ctx context.Context) error {
	if r.a.State != Started || r.a.Sends > 0 {
		return nil
	}
	for i, passed := range r.a.Steps {
		if i >= len(r.kind.Steps) || r.kind.Steps[i].Name != passed.Name {
			return fmt.Errorf("%w: step %d was %s", ErrSteps, i+1, passed.Name)
		}
	}
	for i := len(r.a.Steps); i < len(r.kind.Steps); i++ {
		if err := r.step(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// step passes one: its work and the recovery point commit together, or neither.
func (r *round) step(ctx context.Context, i int) error {
	step := r.kind.Steps[i]
	var passed Passed
	err := r.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, stepSQL, r.a.ID, r.owner, r.a.Fence, r.policy.Lease)
		if err != nil {
			return dbError("step", err)
		}
		if tag.RowsAffected() == 0 {
			return ErrLost
		}
		left, err := step.Do(ctx, tx, r.a)
		if err != nil {
			return err
		}
		passed = Passed{Name: step.Name}
		var data *string
		if left != nil {
			if passed.Data, err = canonical("what the step leaves", left); err != nil {
				return err
			}
			text := string(passed.Data)
			data = &text
		}
		if _, err := tx.Exec(ctx, passSQL, r.a.ID, i+1, step.Name, data, r.a.Fence); err != nil {
			return dbError("step", err)
		}
		return fault.At(ctx, PointStep)
	})
	if err != nil {
		return err
	}
	r.a.Steps = append(r.a.Steps, passed)
	r.kind.notify(r.a.ID, WasStepped, nil)
	return nil
}

// ask gets the provider's word: of an attempt that was never sent by sending it,
// of any other by looking it up first.
func (r *round) ask(ctx context.Context) (Result, error) {
	if r.a.State == Started {
		return r.send(ctx)
	}
	if r.kind.RepeatIsQuery {
		return r.resend(ctx, errors.New("the outcome is not known"))
	}
	if err := r.renew(ctx); err != nil {
		return Result{}, err
	}
	result, err := r.bounded(ctx, r.kind.Query)
	r.kind.notify(r.a.ID, WasQueried, err)
	if !errors.Is(err, ErrNotThere) {
		return result, err
	}
	return r.resend(ctx, err)
}

// resend sends what was sent before, under the same key, while the provider
// remembers keys.
func (r *round) resend(ctx context.Context, why error) (Result, error) {
	const inTimeSQL = `SELECT coalesce(a.first_sent_at + $2::interval > clock_timestamp(), true) FROM fsm_attempts AS a WHERE a.id = $1`
	var inTime bool
	if err := r.db.QueryRow(ctx, inTimeSQL, r.a.ID, r.policy.ResendFor).Scan(&inTime); err != nil {
		return Result{}, dbError("resend", err)
	}
	if !inTime {
		return Result{}, fmt.Errorf("%w: %w", errTooLate, why)
	}
	return r.send(ctx)
}

const sendSQL = `UPDATE fsm_attempts AS a
SET state = 'SENT', sends = a.sends + 1,
  first_sent_at = CASE WHEN a.state = 'STARTED' THEN clock_timestamp() ELSE coalesce(a.first_sent_at, clock_timestamp()) END,
  leased_until = clock_timestamp() + $4::interval, due = clock_timestamp() + $4::interval
WHERE a.id = $1 AND a.owner = $2 AND a.fence = $3 AND a.state NOT IN ('SUCCEEDED', 'REFUSED')
RETURNING ` + selected

// send commits that the call is sent, and then sends it.
func (r *round) send(ctx context.Context) (Result, error) {
	a, err := one(ctx, r.db, nil, sendSQL, r.a.ID, r.owner, r.a.Fence, r.policy.Lease)
	if errors.Is(err, pgx.ErrNoRows) {
		return Result{}, ErrLost
	}
	if err != nil {
		return Result{}, fmt.Errorf("%w: %w", ErrNotSent, dbError("send", err))
	}
	before := r.a.State
	r.a = a
	if err = fault.At(ctx, PointSent); err != nil {
		err = fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	var result Result
	if err == nil {
		result, err = r.bounded(ctx, r.kind.Call)
	}
	if errors.Is(err, ErrNotThere) { // not a word for a call; nothing is known
		err = fmt.Errorf("call: %s", err.Error())
	}
	if errors.Is(err, ErrNotSent) {
		r.a.State = before // what was known before is all that is known
		if before != Started {
			r.a.State = Unknown
		}
	}
	r.kind.notify(a.ID, WasSent, err)
	return result, err
}

const renewSQL = `UPDATE fsm_attempts AS a
SET leased_until = clock_timestamp() + $4::interval, due = clock_timestamp() + $4::interval
WHERE a.id = $1 AND a.owner = $2 AND a.fence = $3`

// renew makes the lease last for one call more.
func (r *round) renew(ctx context.Context) error {
	n, err := alone.Exec(ctx, r.db, renewSQL, r.a.ID, r.owner, r.a.Fence, r.policy.Lease)
	if err != nil {
		return dbError("renew", err)
	}
	if n == 0 {
		return ErrLost
	}
	return nil
}

// bounded calls the provider for at most CallTimeout. A panic becomes an error,
// since the call may have been done before it.
func (r *round) bounded(ctx context.Context, call func(context.Context, Attempt) (Result, error)) (result Result, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.policy.CallTimeout)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			result, err = Result{}, fmt.Errorf("the call panicked: %v", p)
		}
	}()
	return call(ctx, r.a)
}

// judge is the state that the provider's word makes of the attempt.
func (r *round) judge(err error) State {
	switch {
	case err == nil:
		return Succeeded
	case errors.Is(err, ErrRefused):
		return Refused
	case errors.Is(err, ErrPending):
		return Sent
	case errors.Is(err, ErrNotSent) && r.a.State == Started:
		return Started
	}
	return Unknown
}

const recordSQL = `UPDATE fsm_attempts AS a
SET state = $4, ref = $5, result = $6::json, code = $7, last_error = '', answered_at = clock_timestamp(),
  leased_until = clock_timestamp() + $8::interval, due = clock_timestamp() + $8::interval
WHERE a.id = $1 AND a.owner = $2 AND a.fence = $3 AND a.state NOT IN ('SUCCEEDED', 'REFUSED')
RETURNING ` + selected

// record commits the provider's answer, so that the provider need not be asked
// again however often the business change fails.
func (r *round) record(ctx context.Context, state State, result Result, refusal error) error {
	ctx, cancel := detach(ctx)
	defer cancel()
	var refused *RefusedError
	code := ""
	if errors.As(refusal, &refused) {
		code = clip(refused.Code, maxCode)
	}
	if state == Refused {
		result = Result{}
	}
	var data *string
	if result.Data != nil {
		text := string(result.Data)
		data = &text
	}
	a, err := one(ctx, r.db, nil, recordSQL, r.a.ID, r.owner, r.a.Fence, state, result.Ref, data, code, r.policy.Lease)
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrLost
	}
	if err != nil {
		return dbError("record", err)
	}
	r.a = a
	what := WasSucceeded
	if state == Refused {
		what = WasRefused
	}
	r.kind.notify(a.ID, what, refusal)
	return nil
}
