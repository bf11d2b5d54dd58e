package inbox

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
)

const (
	// Whoever owns the event holds its row from here to the COMMIT. The lock lets
	// other deliveries refer to the event.
	holdEvent = `SELECT i.id FROM fsm_inbox i WHERE i.id = $1 AND i.owner = $2 AND i.state = 'received' FOR NO KEY UPDATE`

	endEvent = `UPDATE fsm_inbox i SET state = $3, outcome = $4, reason = $5, owner = '', due_at = NULL, ended_at = clock_timestamp()
WHERE i.id = $1 AND i.owner = $2 AND i.state = 'received'`
)

// failure is what the third transaction writes on an event that was not
// processed.
type failure struct {
	claim
	state  State // Parked, Received when it is released, Ignored or Dead
	reason string
	wait   time.Duration
}

// process is the second transaction: the handler's work and the event's end, both
// or neither. With a failure the event is as it was, and still claimed.
func (i *Inbox) process(ctx context.Context, p *Provider, c claim) (Told, *failure) {
	told := Told{Event: c.id, Provider: p.Name, ID: c.event.ID}
	if c.attempts > i.MaxAttempts {
		return i.failed(told, c, Dead, "given up: its processing was interrupted too often")
	}
	event := c.event
	event.Attempt = c.attempts
	err := i.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		var id int64
		if err := tx.QueryRow(ctx, holdEvent, c.id, c.owner).Scan(&id); errors.Is(err, pgx.ErrNoRows) {
			return errLost
		} else if err != nil {
			return err
		}
		outcome, err := handled(ctx, p.Handle, tx, event)
		if err != nil {
			return err
		}
		state, verdict, reason := ended(outcome)
		if state == "" {
			return errVersion
		}
		told.State, told.Verdict, told.Outcome, told.Reason = state, verdict, outcome, reason
		tag, err := tx.Exec(ctx, endEvent, c.id, c.owner, state, string(outcome), reason)
		if err == nil && tag.RowsAffected() != 1 {
			return errLost
		}
		return err
	})
	if err == nil {
		return told, nil
	}
	told.Outcome = ""
	return i.failing(ctx, told, c, err)
}

// failing says what becomes of an event whose processing failed.
func (i *Inbox) failing(ctx context.Context, told Told, c claim, err error) (Told, *failure) {
	switch reason := reasonOf(err); {
	case errors.Is(err, errLost):
		return i.failed(told, c, Received, "") // settle compares the owner, writes nothing and reads what is true
	case errors.Is(err, ErrUnknownType):
		return i.failed(told, c, Ignored, "")
	case errors.Is(err, fsm.ErrUnknownWord), errors.Is(err, fsm.ErrArgument):
		return i.failed(told, c, Dead, reason)
	case ctx.Err() != nil:
		return i.failed(told, c, Received, "there was no time left")
	default:
		return i.failed(told, c, Parked, reason)
	}
}

func (i *Inbox) failed(told Told, c claim, state State, reason string) (Told, *failure) {
	f := failure{claim: c, state: state, reason: reason}
	told.State, told.Reason = state, reason
	switch state {
	case Parked:
		f.wait = i.backoff(c.attempts)
		told.Verdict = VerdictParked
	case Received:
		told.Verdict = VerdictDeferred
	default:
		told.Verdict = verdictOf(state)
	}
	return told, &f
}

// handled calls the handler. What a panic throws may hold the body, and so is
// not looked at.
func handled(ctx context.Context, handle Handler, tx pgx.Tx, e Event) (outcome fsm.Outcome, err error) {
	defer func() {
		if recover() != nil {
			err = errPanic
		}
	}()
	return handle(ctx, tx, e)
}
