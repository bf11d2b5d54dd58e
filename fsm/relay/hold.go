package relay

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/internal/alone"
)

// Hold is a key that is held up by its first message.
type Hold struct {
	Machine, Key string
	// Row is the first message's id in fsm_outbox; Version, Event and Topic are its.
	Row          int64
	Version      int64
	Event, Topic string
	// Waiting is how many messages wait, the first included.
	Waiting int64
	// Tries is how often it was tried, 0 where it is yet to be tried; Error is what
	// the publisher said last.
	Tries int
	Error string
	// Since is when the first try failed; Next is when it is tried again, nil
	// when it is parked, or held until a time that is infinite.
	Since time.Time
	Next  *time.Time
}

const readHolds = `SELECT h.machine, h.key, o.id, o.version, o.event, o.topic,
       (SELECT count(*) FROM fsm_outbox AS w WHERE w.machine = h.machine AND w.key = h.key),
       h.tries, h.error, h.since, CASE WHEN isfinite(h.next_at) THEN h.next_at END
FROM fsm_outbox_holds AS h
CROSS JOIN LATERAL (
  SELECT o.id, o.version, o.event, o.topic FROM fsm_outbox AS o
  WHERE o.machine = h.machine AND o.key = h.key ORDER BY o.id LIMIT 1
) AS o
ORDER BY h.next_at IS NOT NULL, h.since, h.id
LIMIT $1::integer`

// Holds returns keys that are held up, the parked ones first, then those that
// are so for longest, up to limit; 0 means 100. It is empty where all flows.
func Holds(ctx context.Context, db fsm.DB, limit int) ([]Hold, error) {
	if limit < 0 {
		return nil, fmt.Errorf("%w: limit is negative", ErrArgument)
	}
	rows, err := db.Query(ctx, readHolds, min(orElse(limit, 100), 1_000_000))
	if err != nil {
		return nil, told("read what is held", err)
	}
	holds, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Hold])
	if err != nil {
		return nil, told("read what is held", err)
	}
	return holds, nil
}

// Retry has the first message of a held key, parked or not, tried again at once,
// with all its tries before it. The error is ErrNotHeld, ErrArgument, ErrTables, or
// the database's. A relay that is at the key just now is waited for.
func Retry(ctx context.Context, db fsm.DB, machine, key string) error {
	if err := errors.Join(blank("machine", machine), blank("key", key)); err != nil {
		return err
	}
	n, err := alone.Exec(ctx, db, `UPDATE fsm_outbox_holds AS h SET tries = 0, next_at = now() WHERE h.machine = $1 AND h.key = $2`, machine, key)
	switch {
	case err != nil:
		return told("try again", err)
	case n == 0:
		return ErrNotHeld
	}
	return nil
}

// Decision says who sets a message aside, and why. Both are required.
type Decision struct {
	Actor, Reason string
}

const lockHold = `SELECT h.id FROM fsm_outbox_holds AS h WHERE h.machine = $1 AND h.key = $2 FOR NO KEY UPDATE SKIP LOCKED`

const moveAside = `WITH gone AS (
  DELETE FROM fsm_outbox AS o
  WHERE o.id = (SELECT min(f.id) FROM fsm_outbox AS f WHERE f.machine = $2 AND f.key = $3) AND o.id = $4
  RETURNING o.id, o.machine, o.key, o.version, o.event, o.topic, o.payload, o.at
)
INSERT INTO fsm_outbox_aside AS a (id, machine, key, version, event, topic, payload, at, tries, error, actor, reason, aside_at)
SELECT g.id, g.machine, g.key, g.version, g.event, g.topic, g.payload, g.at, h.tries, h.error, $5, $6, clock_timestamp()
FROM gone AS g CROSS JOIN fsm_outbox_holds AS h
WHERE h.id = $1
ON CONFLICT (id) DO UPDATE
SET machine = excluded.machine, key = excluded.key, version = excluded.version, event = excluded.event, topic = excluded.topic,
    payload = excluded.payload, at = excluded.at, tries = excluded.tries, error = excluded.error,
    actor = excluded.actor, reason = excluded.reason, aside_at = excluded.aside_at`

// SetAside moves the first message of a held key, whose row a person has looked
// at, to fsm_outbox_aside with that person's decision, undelivered, and lets those
// behind it go on. Nothing else in this package passes over a message. In a
// caller's transaction it is provisional until the COMMIT.
//
// The error is ErrNotHeld, ErrBusy while a relay tries just that key, ErrChanged
// when row is not the first any more, ErrArgument, ErrTables, fsm.ErrNothingDone,
// fsm.ErrUnknown when the COMMIT was lost, or the database's.
func SetAside(ctx context.Context, db fsm.DB, machine, key string, row int64, d Decision) error {
	if err := errors.Join(blank("machine", machine), blank("key", key), blank("actor", d.Actor), blank("reason", d.Reason)); err != nil {
		return err
	}
	begin := db.Begin
	_, theirs := db.(pgx.Tx)
	if own, ok := db.(fsm.TxBeginner); ok && !theirs {
		if fsm.InTx(db) {
			return fmt.Errorf("relay: %w: the connection is in a transaction that was begun by hand: pass a pgx.Tx", ErrArgument)
		}
		begin = func(ctx context.Context) (pgx.Tx, error) { return own.BeginTx(ctx, alone.ReadCommitted.Options) }
	}
	tx, err := begin(ctx)
	if err != nil {
		return fmt.Errorf("relay: %w: begin: %w", fsm.ErrNothingDone, err)
	}
	detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	return fsm.RunTx(detached, begun{tx}, fsm.TxPolicy{Attempts: 1}, func(_ context.Context, tx pgx.Tx) error {
		return setAside(ctx, tx, machine, key, row, d)
	})
}

// endTimeout bounds the COMMIT of a decision, which goes on when ctx ends.
const endTimeout = 10 * time.Second

func setAside(ctx context.Context, tx pgx.Tx, machine, key string, row int64, d Decision) error {
	var hold int64
	switch err := tx.QueryRow(ctx, lockHold, machine, key).Scan(&hold); {
	case errors.Is(err, pgx.ErrNoRows):
		return notLocked(ctx, tx, machine, key)
	case err != nil:
		return told("set aside", err)
	}
	// A later statement, whose snapshot has what was committed with the hold.
	tag, err := tx.Exec(ctx, moveAside, hold, machine, key, row, d.Actor, d.Reason)
	switch {
	case err != nil:
		return told("set aside", err)
	case tag.RowsAffected() == 0:
		return ErrChanged
	}
	if _, err := tx.Exec(ctx, settleHolds, []int64{hold}); err != nil {
		return told("set aside", err)
	}
	return nil
}

// notLocked tells a hold that is not there from one that is locked.
func notLocked(ctx context.Context, tx pgx.Tx, machine, key string) error {
	var there bool
	err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM fsm_outbox_holds AS h WHERE h.machine = $1 AND h.key = $2)`, machine, key).Scan(&there)
	switch {
	case err != nil:
		return told("set aside", err)
	case there:
		return ErrBusy
	}
	return ErrNotHeld
}
