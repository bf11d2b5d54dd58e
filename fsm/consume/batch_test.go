package consume_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/consume"
)

// The report: one duplicate in a batch aborts the fresh ones.
func TestDuplicateInABatch(t *testing.T) {
	t.Parallel()
	c, db := newConsumer(t)
	out, err := c.Consume(t.Context(), "old", message("old"), effect)
	require.NoError(t, err)
	require.Equal(t, consume.Done, out)
	items := []consume.Item{
		{Key: "b", Message: message("b")},
		{Key: "old", Message: message("old")},
		{Key: "bad", Message: message("bad")},
		{Key: "a", Message: message("a")},
		{Key: "b", Message: message("b")},
		{Key: "", Message: message("none")},
		{Key: "bad", Message: message("bad")},
		{Key: "old", Message: message("old")},
		{Key: "swallows", Message: message("swallows")},
		{Key: "c", Message: message("c")},
	}
	results := c.ConsumeBatch(t.Context(), items, func(ctx context.Context, tx pgx.Tx, m consume.Message) error {
		if string(m.Payload) == "bad" {
			_, err := tx.Exec(ctx, `SELECT 1/0`)
			return err
		}
		if string(m.Payload) == "swallows" {
			_, _ = tx.Exec(ctx, `SELECT 1/0`) // and has spoiled its transaction
			return nil
		}
		return effect(ctx, tx, m)
	})
	var outcomes []consume.Outcome
	for _, r := range results {
		outcomes = append(outcomes, r.Outcome)
	}
	require.Equal(t, []consume.Outcome{
		consume.Done, consume.Duplicate, consume.Failed, consume.Done, consume.Duplicate,
		consume.Dead, consume.InProgress, consume.Duplicate, consume.Failed, consume.Done,
	}, outcomes)
	for _, key := range []string{"a", "b", "c", "old"} {
		require.Equal(t, 1, effects(t, db, key), key)
	}
	require.Equal(t, 4, effects(t, db, ""))

	naiveTable(t, db)
	require.True(t, naiveSeen(t, db, "old"))
	_, err = db.Exec(t.Context(), `INSERT INTO naive (key) VALUES ('a'), ('old'), ('c')`)
	require.Error(t, err)
	require.True(t, naiveSeen(t, db, "a"), "the naive batch lost the fresh ones")
}

// A batch whose COMMIT one message spoils is handled message by message.
func TestBadItemAtCommit(t *testing.T) {
	t.Parallel()
	c, db := newConsumer(t)
	_, err := db.Exec(t.Context(), `
		CREATE TABLE parents (key text PRIMARY KEY);
		ALTER TABLE effects ADD CONSTRAINT effects_parent FOREIGN KEY (key) REFERENCES parents DEFERRABLE INITIALLY DEFERRED;
		INSERT INTO parents VALUES ('a'), ('c')`)
	require.NoError(t, err)
	var items []consume.Item
	for _, key := range []string{"a", "b", "c"} {
		items = append(items, consume.Item{Key: key, Message: message(key)})
	}
	results := c.ConsumeBatch(t.Context(), items, effect)
	require.Equal(t, consume.Result{Outcome: consume.Done}, results[0])
	require.Equal(t, consume.Failed, results[1].Outcome)
	require.ErrorIs(t, results[1].Err, fsm.ErrNothingDone)
	require.Equal(t, consume.Result{Outcome: consume.Done}, results[2])
	require.Equal(t, 2, effects(t, db, ""))
}

// A serialization failure or a deadlock is no fault of the message: its transaction is
// run again, alone and in a batch, and uses up no try.
func TestSerializationFailure(t *testing.T) {
	t.Parallel()
	c, db := newConsumer(t)
	for _, keys := range [][]string{{"a"}, {"b", "c", "d"}} {
		runs := 0
		var items []consume.Item
		for _, key := range keys {
			items = append(items, consume.Item{Key: key, Message: message(key)})
		}
		results := c.ConsumeBatch(t.Context(), items, func(ctx context.Context, tx pgx.Tx, m consume.Message) error {
			if runs++; runs == len(keys) {
				_, err := tx.Exec(ctx, `DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40001'; END $$`)
				return err
			}
			return effect(ctx, tx, m)
		})
		for i, r := range results {
			require.Equal(t, consume.Result{Outcome: consume.Done}, r)
			require.Equal(t, 1, effects(t, db, keys[i]))
			_, tries := claim(t, db, keys[i])
			require.Equal(t, 1, tries)
		}
		require.Equal(t, 2*len(keys), runs)
	}
}

// Two batches that hold the same keys in opposite order, in a loop, do not deadlock
// and have each effect once.
func TestBatchesThatMeet(t *testing.T) {
	t.Parallel()
	c, db := newConsumer(t)
	own, err := pgxpool.NewWithConfig(t.Context(), db.Config())
	require.NoError(t, err)
	c.DB = own
	const rounds, size = 20, 10
	done := make(chan error, 2)
	for worker := range 2 {
		go func() {
			for round := range rounds {
				items := make([]consume.Item, size)
				for i := range items {
					n := i
					if worker == 1 {
						n = size - 1 - i
					}
					key := strconv.Itoa(round) + "/" + strconv.Itoa(n)
					items[i] = consume.Item{Key: key, Message: message(key)}
				}
				for _, r := range c.ConsumeBatch(t.Context(), items, effect) {
					if r.Outcome == consume.Failed {
						done <- r.Err
						return
					}
				}
			}
			done <- nil
		}()
	}
	require.NoError(t, <-done)
	require.NoError(t, <-done)
	require.Equal(t, rounds*size, effects(t, db, ""))
	own.Close() // and now what its connections counted is told
	var tries, deadlocks int
	require.NoError(t, db.QueryRow(t.Context(), `
		SELECT max(c.tries), (SELECT d.deadlocks FROM pg_stat_database AS d WHERE d.datname = current_database())
		FROM fsm_consumed AS c`).Scan(&tries, &deadlocks))
	require.Equal(t, 1, tries)
	require.Zero(t, deadlocks)
}
