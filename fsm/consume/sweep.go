package consume

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
)

// Sweep says what the sweep of a consumer takes.
type Sweep struct {
	// Retention is how long a key is remembered after its work was done, and a dead
	// letter after it was settled; from 1 ms, without a default. It must be longer
	// than the broker may take to deliver a message again, and than a person may
	// take to publish one again: a message whose key was swept is a new one.
	Retention time.Duration
	// Limit is the size of a page; 0 means 1,000, and more than 100,000 means 100,000.
	Limit int
	// Archive is given the keys of a page, in the transaction that deletes them, and
	// keeps them by an error; nil for nobody.
	Archive func(context.Context, pgx.Tx, []Swept) error
}

// Swept is a key that a sweep deletes.
type Swept struct {
	Key string
	// Done is when its work was done.
	Done time.Time
}

// sweepSQL deletes the oldest keys that are done. Their index holds no others, so a
// page is never full of keys that stay, and one that is locked is passed over. The time
// is the same for all of the statement, so that the index is read no further than to it.
const sweepSQL = `
WITH old AS (
  SELECT c.key
  FROM fsm_consumed AS c
  WHERE c.consumer = $1 AND c.state = 'done' AND c.changed_at < statement_timestamp() - $2::interval
  ORDER BY c.changed_at, c.key
  LIMIT $3
  FOR UPDATE SKIP LOCKED
)
DELETE FROM fsm_consumed AS c
USING old
WHERE c.consumer = $1 AND c.key = old.key
RETURNING c.key, c.changed_at`

const sweepLettersSQL = `
WITH old AS (
  SELECT d.id
  FROM fsm_dead_letters AS d
  WHERE d.consumer = $1 AND d.settled <> '' AND d.settled_at < statement_timestamp() - $2::interval
  ORDER BY d.settled_at, d.id
  LIMIT $3
  FOR UPDATE SKIP LOCKED
)
DELETE FROM fsm_dead_letters AS d
USING old
WHERE d.id = old.id`

// Sweep deletes the keys whose work was done longer ago than the retention, and the
// dead letters that were settled as long ago, page by page, each in a transaction of
// its own. It returns how many of both it deleted, also beside an error; 0 and nil
// when there was nothing. Keys that are in progress, have failed or are dead stay,
// and so does every open letter. As many sweeps at once as like to; they share the
// work.
func (c *Consumer) Sweep(ctx context.Context, s Sweep) (keys, letters int, err error) {
	if err := c.check(); err != nil {
		return 0, 0, err
	}
	if s.Retention < time.Millisecond {
		return 0, 0, fmt.Errorf("%w: the retention is under 1 ms", fsm.ErrArgument)
	}
	limit := int(fsm.SweepPage{Limit: s.Limit}.Size())
	keys, err = c.pages(ctx, limit, func(ctx context.Context, tx pgx.Tx) (int, error) {
		return c.sweepKeys(ctx, tx, s, limit)
	})
	if err != nil {
		return keys, 0, err
	}
	letters, err = c.pages(ctx, limit, func(ctx context.Context, tx pgx.Tx) (int, error) {
		tag, err := tx.Exec(ctx, sweepLettersSQL, c.Name, s.Retention, limit)
		return int(tag.RowsAffected()), told("sweep dead letters", err)
	})
	return keys, letters, err
}

// pages runs one page after the other until one is not full.
func (c *Consumer) pages(ctx context.Context, limit int, page func(context.Context, pgx.Tx) (int, error)) (total int, err error) {
	for {
		n := 0
		err := fsm.RunTx(ctx, c.DB, fsm.TxPolicy{}, func(ctx context.Context, tx pgx.Tx) error {
			var err error
			n, err = page(ctx, tx)
			return err
		})
		if err != nil {
			return total, err
		}
		if total += n; n < limit {
			return total, nil
		}
	}
}

// sweepKeys deletes one page of keys.
func (c *Consumer) sweepKeys(ctx context.Context, tx pgx.Tx, s Sweep, limit int) (int, error) {
	rows, _ := tx.Query(ctx, sweepSQL, c.Name, s.Retention, limit)
	swept, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Swept])
	if err != nil || len(swept) == 0 || s.Archive == nil {
		return len(swept), told("sweep", err)
	}
	return len(swept), s.Archive(ctx, tx, swept)
}
