package inbox

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Retention says how long what has ended is kept. What waits, what is dead, and what
// is odd and was not closed by [Inbox.EndOdd], is kept for ever, and with a delivery
// in conflict the event that it contradicts and the body that first told of that.
type Retention struct {
	// Bodies is how long bodies are kept, which hold customers' data.
	Bodies time.Duration
	// Rows is how long events and deliveries are kept. An event that is told again
	// afterwards is new to the inbox, and known to the machine alone, so it is
	// longer than any provider repeats.
	Rows time.Duration
	// Archive has each batch of events put into fsm_inbox_archive by the statement
	// that takes it out of fsm_inbox. What is there is the user's: no call reads or
	// deletes it.
	Archive bool
	// Batch is how many rows one statement takes; 0 means 1,000.
	Batch int
}

// Swept is how many a sweep took.
type Swept struct{ Bodies, Events, Deliveries, Refusals int64 }

const (
	// openOdd are the deliveries that nobody has closed yet, and contested the events
	// that they contradict: few, and read once a statement.
	openOdd   = `d.verdicts && '{unreadable,conflict}' AND d.id::text NOT IN (` + closedOdd + `)`
	contested = `SELECT unnest(d.events) FROM fsm_deliveries d WHERE ` + openOdd

	// Live rows are passed over by the WHERE, and so never fill a page.
	dropBodies = `UPDATE fsm_deliveries d SET body = NULL WHERE d.id IN (
  SELECT k.id FROM fsm_deliveries k
  WHERE k.body IS NOT NULL AND k.received_at < now() - $1::interval
    AND k.id NOT IN (SELECT d.id FROM fsm_deliveries d WHERE ` + openOdd + `)
    AND NOT EXISTS (SELECT 1 FROM fsm_inbox i WHERE i.delivery_id = k.id
      AND (i.state IN ('received', 'parked', 'dead') OR i.id IN (` + contested + `)))
  ORDER BY k.received_at, k.id LIMIT $2 FOR UPDATE SKIP LOCKED)`

	// An ended event is never claimed again, so that nothing races for it; the
	// state is compared on the locked row all the same.
	dropEvents = `DELETE FROM fsm_inbox i WHERE i.id IN (
  SELECT k.id FROM fsm_inbox k
  WHERE k.state IN ('done', 'ignored', 'closed') AND k.ended_at < now() - $1::interval
    AND k.id NOT IN (` + contested + `)
  ORDER BY k.ended_at, k.id LIMIT $2 FOR UPDATE SKIP LOCKED)`

	archiveEvents = `WITH gone AS (` + dropEvents + ` RETURNING i.*)
INSERT INTO fsm_inbox_archive (id, provider, event_id, type, object, status, fingerprint, state, outcome, reason, attempts, received_at, ended_at)
SELECT g.id, g.provider, g.event_id, g.type, g.object, g.status, g.fingerprint, g.state, g.outcome, g.reason, g.attempts, g.received_at, g.ended_at
FROM gone g`

	dropDeliveries = `DELETE FROM fsm_deliveries d WHERE d.id IN (
  SELECT k.id FROM fsm_deliveries k
  WHERE k.recorded_at IS NOT NULL AND k.received_at < now() - $1::interval
    AND k.id NOT IN (SELECT d.id FROM fsm_deliveries d WHERE ` + openOdd + `)
    AND NOT EXISTS (SELECT 1 FROM fsm_inbox i WHERE i.delivery_id = k.id)
  ORDER BY k.received_at, k.id LIMIT $2 FOR UPDATE SKIP LOCKED)`

	dropRefusals = `DELETE FROM fsm_refused_deliveries r WHERE (r.provider, r.reason, r.day) IN (
  SELECT k.provider, k.reason, k.day FROM fsm_refused_deliveries k
  WHERE k.day < (now() AT TIME ZONE 'UTC' - $1::interval)::date LIMIT $2 FOR UPDATE SKIP LOCKED)`
)

// Sweep drops bodies and rows that are older than the retention, batch by batch,
// each in a transaction of its own, until none is left or ctx ends, and returns
// how many; with an error, those of the batches that were committed. Many may run
// at once. The errors: ErrConfig for times that are not positive, bodies kept
// longer than rows, or rows not longer than a provider repeats; and the
// database's.
func (i *Inbox) Sweep(ctx context.Context, keep Retention) (Swept, error) {
	var swept Swept
	if keep.Batch <= 0 {
		keep.Batch = page
	}
	if keep.Bodies <= 0 || keep.Rows < keep.Bodies {
		return swept, fmt.Errorf("%w: bodies are kept for some time, and rows not less long", ErrConfig)
	}
	for _, name := range i.names {
		if p := i.providers[name]; keep.Rows <= p.Repeats {
			return swept, fmt.Errorf("%w: provider %q repeats for as long as rows are kept", ErrConfig, name)
		}
	}
	events := dropEvents
	if keep.Archive {
		events = archiveEvents
	}
	for _, step := range []struct {
		sql   string
		age   time.Duration
		count *int64
	}{
		{dropBodies, keep.Bodies, &swept.Bodies}, {events, keep.Rows, &swept.Events},
		{dropDeliveries, keep.Rows, &swept.Deliveries}, {dropRefusals, keep.Rows, &swept.Refusals},
	} {
		if err := i.sweep(ctx, step.sql, step.age, keep.Batch, step.count); err != nil {
			return swept, stored("sweep", err)
		}
	}
	return swept, nil
}

func (i *Inbox) sweep(ctx context.Context, sql string, age time.Duration, batch int, count *int64) error {
	for {
		var n int64
		err := i.inTx(ctx, func(ctx context.Context, tx pgx.Tx) error {
			tag, err := tx.Exec(ctx, sql, age, batch)
			n = tag.RowsAffected()
			return err
		})
		if err != nil {
			return err
		}
		if *count += n; n < int64(batch) {
			return nil
		}
	}
}
