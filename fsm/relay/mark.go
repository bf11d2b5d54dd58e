package relay

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/internal/alone"
)

// keepSent moves rows to those that were sent. A row that a person put into the
// outbox once more is there already.
const keepSent = `WITH gone AS (
  DELETE FROM fsm_outbox AS o WHERE o.id = ANY ($1::bigint[])
  RETURNING o.id, o.machine, o.key, o.version, o.event, o.topic, o.payload, o.at
)
INSERT INTO fsm_outbox_sent AS s (id, machine, key, version, event, topic, payload, at, sent_at)
SELECT g.id, g.machine, g.key, g.version, g.event, g.topic, g.payload, g.at, clock_timestamp()
FROM gone AS g
ORDER BY g.id
ON CONFLICT (id) DO UPDATE
SET machine = excluded.machine, key = excluded.key, version = excluded.version, event = excluded.event,
    topic = excluded.topic, payload = excluded.payload, at = excluded.at, sent_at = excluded.sent_at`

const discardSent = `DELETE FROM fsm_outbox AS o WHERE o.id = ANY ($1::bigint[])`

// holdKeys holds keys up: $1 are the rows that were not taken, $2 to $6 their
// machines, keys, tries, errors and waits in microseconds, negative for parked.
// The first row of a held key always points at its hold; the foreign key sees to
// it that no row points at a hold that is gone, and so waits for nobody.
const holdKeys = `WITH failed AS MATERIALIZED (
  SELECT f.id, f.machine, f.key, f.tries, f.error, CASE WHEN f.wait >= 0 THEN clock_timestamp() + f.wait * interval '1 microsecond' END AS next_at
  FROM unnest($1::bigint[], $2::text[], $3::text[], $4::integer[], $5::text[], $6::bigint[]) AS f(id, machine, key, tries, error, wait)
), held AS (
  INSERT INTO fsm_outbox_holds AS h (machine, key, tries, error, since, next_at)
  SELECT f.machine, f.key, f.tries, f.error, clock_timestamp(), f.next_at FROM failed AS f ORDER BY f.machine, f.key
  ON CONFLICT (machine, key) DO UPDATE
  SET tries = excluded.tries, error = excluded.error, next_at = excluded.next_at,
      since = CASE WHEN excluded.tries = 1 THEN excluded.since ELSE h.since END
  RETURNING h.id, h.machine, h.key
)
UPDATE fsm_outbox AS o
SET hold = h.id
FROM failed AS f JOIN held AS h ON h.machine = f.machine AND h.key = f.key
WHERE o.id = f.id`

// settleHolds ends the holds $1, none of whose rows failed this time. Where rows
// are left it stays, due at once, and the first of them points at it: so one
// relay takes the rest, batch by batch.
const settleHolds = `WITH rest AS MATERIALIZED (
  SELECT h.id AS hold, (SELECT o.id FROM fsm_outbox AS o WHERE o.machine = h.machine AND o.key = h.key ORDER BY o.id LIMIT 1) AS head
  FROM fsm_outbox_holds AS h
  WHERE h.id = ANY ($1::bigint[])
), pointed AS (
  UPDATE fsm_outbox AS o SET hold = r.hold FROM rest AS r WHERE o.id = r.head AND o.hold IS DISTINCT FROM r.hold
), kept AS (
  UPDATE fsm_outbox_holds AS h SET tries = 0, error = '', next_at = clock_timestamp()
  FROM rest AS r WHERE h.id = r.hold AND r.head IS NOT NULL
)
DELETE FROM fsm_outbox_holds AS h USING rest AS r WHERE h.id = r.hold AND r.head IS NULL`

// endEmpty ends the holds $1 if no row is left, since a person deleted them say.
const endEmpty = `DELETE FROM fsm_outbox_holds AS h
WHERE h.id = ANY ($1::bigint[]) AND NOT EXISTS (SELECT FROM fsm_outbox AS o WHERE o.machine = h.machine AND o.key = h.key)`

// mark writes down what came of a batch.
func (r *Relay) mark(ctx context.Context, tx pgx.Tx, results []result) error {
	var sent, settled, empty []int64
	var failed failures
	for _, res := range results {
		for _, m := range res.messages[:res.sent] {
			sent = append(sent, m.Row)
		}
		switch {
		case res.failure != nil:
			failed.add(res.failure, r.waitAfter(res.failure))
		case res.sent > 0 && res.hold != 0:
			settled = append(settled, res.hold)
		case len(res.messages) == 0:
			empty = append(empty, res.hold)
		}
	}
	if len(sent) > 0 {
		statement := keepSent
		if r.Discard {
			statement = discardSent
		}
		if _, err := tx.Exec(ctx, statement, sent); err != nil {
			return told("mark what was sent", err)
		}
	}
	if len(failed.ids) > 0 {
		if _, err := tx.Exec(ctx, holdKeys, failed.ids, failed.machines, failed.keys, failed.tries, failed.errors, failed.waits); err != nil {
			return told("hold up what was not taken", err)
		}
	}
	if len(settled) > 0 {
		if _, err := tx.Exec(ctx, settleHolds, settled); err != nil {
			return told("end what was held up", err)
		}
	}
	if len(empty) > 0 {
		if _, err := tx.Exec(ctx, endEmpty, empty); err != nil {
			return told("end holds of nothing", err)
		}
	}
	return nil
}

// waitAfter is how long a key waits, negative for one that is parked.
func (r *Relay) waitAfter(f *PublishError) time.Duration {
	switch {
	case f.Parked:
		return -time.Microsecond
	case r.Backoff != nil:
		return max(0, r.Backoff(f.Tries))
	}
	return backoff(f.Tries)
}

// failures are the columns of holdKeys.
type failures struct {
	ids                    []int64
	machines, keys, errors []string
	tries                  []int32
	waits                  []int64
}

func (f *failures) add(e *PublishError, wait time.Duration) {
	f.ids = append(f.ids, e.Message.Row)
	f.machines = append(f.machines, e.Message.Machine)
	f.keys = append(f.keys, e.Message.Key)
	f.tries = append(f.tries, int32(min(e.Tries, maxTries)))
	f.errors = append(f.errors, storable(e.Err))
	f.waits = append(f.waits, min(wait, maxWait).Microseconds())
}

const (
	maxTries = 1_000_000_000
	maxWait  = 10 * 365 * 24 * time.Hour
)

// pointBehind has rows $1 of held keys point at the holds, so that they are not
// looked at again and again. Neither the row nor the hold is waited for: others
// may be about to take one or to end the other.
const pointBehind = `UPDATE fsm_outbox AS o
SET hold = f.hold
FROM (
  SELECT w.id, h.id AS hold
  FROM fsm_outbox AS w
  JOIN fsm_outbox_holds AS h ON h.machine = w.machine AND h.key = w.key
  WHERE w.id = ANY ($1::bigint[]) AND w.hold IS NULL
  FOR UPDATE OF w SKIP LOCKED FOR KEY SHARE OF h SKIP LOCKED
) AS f
WHERE o.id = f.id`

// setBehind is a transaction of its own: a batch's would keep others waiting that
// end a hold.
func (r *Relay) setBehind(ctx context.Context, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	return fsm.RunTx(ctx, r.DB, alone.ReadCommitted, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, pointBehind, ids); err != nil {
			return told("pass over what is held", err)
		}
		return nil
	})
}
