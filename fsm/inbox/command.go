package inbox

import (
	"context"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"
)

const (
	lockEvent = `SELECT i.state, i.attempts, i.provider FROM fsm_inbox i WHERE i.id = $1 FOR NO KEY UPDATE`

	replayEvent = `UPDATE fsm_inbox i SET state = 'received', owner = $2, due_at = clock_timestamp() + $3::interval,
  gives_up_at = clock_timestamp() + $4::interval, attempts = 1, ended_at = NULL
FROM fsm_deliveries d WHERE d.id = i.delivery_id AND i.id = $1` + returnWaiting

	closeEvent = `UPDATE fsm_inbox i SET state = 'closed', owner = '', due_at = NULL, ended_at = clock_timestamp() WHERE i.id = $1`

	// What an audit row says is closed: those rows hold no state of their own. The
	// table has what people did, and so is small.
	closedOdd = `SELECT a.key FROM fsm_audit a WHERE a.machine = 'fsm_deliveries' AND a.action = 'close'`

	lockOdd = `SELECT d.provider, COALESCE(d.verdicts && '{unreadable,conflict}', false) FROM fsm_deliveries d WHERE d.id = $1 FOR NO KEY UPDATE`

	// Of an unreadable body there may be many deliveries: one look is enough.
	closeOdd = `INSERT INTO fsm_audit (machine, key, version, action, from_status, to_status, actor, reason, at)
SELECT 'fsm_deliveries', k.id::text, 0, 'close', 'open', 'closed', $2, $3, clock_timestamp()
FROM fsm_deliveries d JOIN fsm_deliveries k ON k.id = d.id
  OR d.verdicts = '{unreadable}' AND k.verdicts = '{unreadable}' AND k.provider = d.provider AND k.digest = d.digest
WHERE d.id = $1 AND k.id::text NOT IN (` + closedOdd + `)`

	auditEvent = `INSERT INTO fsm_audit (machine, key, version, action, from_status, to_status, actor, reason, at)
VALUES ('fsm_inbox', $1, $2, $3, $4, $5, $6, $7, clock_timestamp())`
)

// Replay processes a parked or dead event at once, with tries as at first, and
// says what came of it. It leaves a row in fsm_audit with who did so, and why,
// both required, in the transaction that claims the event: a crash afterwards
// leaves the event to [Retry].
//
// The errors: fsm.ErrArgument, fsm.ErrNotFound, ErrProvider when the event's
// provider is not this inbox's, a [StateError], and the database's. Two replays
// at once are one: the other gets a StateError.
func (i *Inbox) Replay(ctx context.Context, event int64, actor, reason string) (Told, error) {
	var w waiting
	err := i.command(ctx, event, actor, reason, "replay", Received, func(ctx context.Context, tx pgx.Tx) error {
		w = waiting{claim: claim{owner: newOwner()}}
		return w.scan(tx.QueryRow(ctx, replayEvent, event, w.owner, i.Lease, i.GiveUpAfter))
	})
	if err != nil {
		return Told{}, err
	}
	return i.work(ctx, w, i.Lease/2)
}

// End closes a parked or dead event without processing it, since a person has
// settled it in another way, or it is of no interest any more. It leaves a row in
// fsm_audit, as Replay does, and has its errors.
func (i *Inbox) End(ctx context.Context, event int64, actor, reason string) error {
	return i.command(ctx, event, actor, reason, "end", Closed, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, closeEvent, event)
		return err
	})
}

// EndOdd closes a delivery of [Odd], since a person has looked at it and done what
// there is to do, and with an unreadable one those of the same body. From then on
// the sweep takes it as any other. It leaves a row in fsm_audit, machine
// fsm_deliveries and action close, which is what says that it is closed.
//
// The errors: fsm.ErrArgument, fsm.ErrNotFound, ErrProvider, ErrNotOdd, and the
// database's.
func (i *Inbox) EndOdd(ctx context.Context, delivery int64, actor, reason string) error {
	if err := checkWho(actor, reason); err != nil {
		return err
	}
	err := i.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		var (
			provider string
			odd      bool
		)
		if err := tx.QueryRow(ctx, lockOdd, delivery).Scan(&provider, &odd); err != nil {
			return missing(err)
		}
		if i.providers[provider] == nil {
			return fmt.Errorf("%w: %q", ErrProvider, provider)
		}
		if !odd {
			return fmt.Errorf("%w: delivery %d", ErrNotOdd, delivery)
		}
		tag, err := tx.Exec(ctx, closeOdd, delivery, actor, reason)
		if err == nil && tag.RowsAffected() == 0 {
			return fmt.Errorf("%w: delivery %d was closed before", ErrNotOdd, delivery)
		}
		return err
	})
	return stored("end", err)
}

// checkWho refuses a command without somebody and a reason.
func checkWho(actor, reason string) error {
	if err := checkText("actor", actor, 1, 256); err != nil {
		return err
	}
	return checkText("reason", reason, 1, 2048)
}

// command judges the locked event, changes it, and leaves the audit row.
func (i *Inbox) command(ctx context.Context, event int64, actor, reason, action string, to State, change func(context.Context, pgx.Tx) error) error {
	if err := checkWho(actor, reason); err != nil {
		return err
	}
	err := i.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		var (
			from     State
			attempts int64
			provider string
		)
		if err := tx.QueryRow(ctx, lockEvent, event).Scan(&from, &attempts, &provider); err != nil {
			return missing(err)
		}
		if i.providers[provider] == nil {
			return fmt.Errorf("%w: %q", ErrProvider, provider)
		}
		if from != Parked && from != Dead {
			return &StateError{Event: event, State: from}
		}
		if err := change(ctx, tx); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, auditEvent, strconv.FormatInt(event, 10), attempts, action, string(from), string(to), actor, reason)
		return err
	})
	return stored(action, err)
}
