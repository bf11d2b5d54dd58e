package inbox

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
)

const (
	// A parked event is given up when it was tried often or long enough. The
	// owner is compared: who lost the event writes nothing on it.
	failEvent = `UPDATE fsm_inbox i SET state = j.state, reason = $4, owner = '',
  due_at = CASE WHEN j.state IN ('received', 'parked') THEN clock_timestamp() + $5::interval END,
  ended_at = CASE WHEN j.state IN ('received', 'parked') THEN NULL ELSE clock_timestamp() END
FROM (SELECT k.id, CASE WHEN $3::text = 'parked' AND (k.attempts >= $6 OR k.gives_up_at <= clock_timestamp())
    THEN 'dead' ELSE $3::text END AS state
  FROM fsm_inbox k WHERE k.id = $1) j
WHERE i.id = j.id AND i.owner = $2 AND i.state = 'received'
RETURNING i.state`

	readEvent = `SELECT i.state, i.outcome, i.reason FROM fsm_inbox i WHERE i.id = $1`

	recordDelivery = `UPDATE fsm_deliveries d SET verdicts = $2, recorded_at = now() WHERE d.id = $1`
)

// record is the third transaction: what came of a delivery, and of the events
// that could not be processed. It outlives the caller's context, but not the end.
func (i *Inbox) record(ctx context.Context, end time.Time, r *Receipt, failures []failure) error {
	ctx, cancel := detach(ctx, end)
	defer cancel()
	err := i.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		for _, f := range failures {
			if err := i.settle(ctx, tx, f, &r.Told[f.position]); err != nil {
				return err
			}
		}
		if r.Delivery == 0 { // a retry or a command
			return nil
		}
		verdicts := make([]string, len(r.Told))
		for n, t := range r.Told {
			verdicts[n] = string(t.Verdict)
		}
		_, err := tx.Exec(ctx, recordDelivery, r.Delivery, verdicts)
		return err
	})
	return stored("record", err)
}

// settle writes a failure, and corrects told by what is true now: after a COMMIT
// that was lost, the event may well be done.
func (i *Inbox) settle(ctx context.Context, tx pgx.Tx, f failure, told *Told) error {
	var state State
	err := tx.QueryRow(ctx, failEvent, f.id, f.owner, string(f.state), f.reason, f.wait, i.MaxAttempts).Scan(&state)
	if err == nil {
		if told.State = state; state == Dead {
			told.Verdict = VerdictDead
		}
		return nil
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	var outcome fsm.Outcome
	if err := tx.QueryRow(ctx, readEvent, f.id).Scan(&told.State, &outcome, &told.Reason); err != nil {
		return err
	}
	told.Verdict = verdictOf(told.State)
	if told.State == Done {
		_, told.Verdict, _ = ended(outcome)
		told.Outcome = outcome
	}
	return nil
}
