package consume_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/consume"
	"github.com/pawl-go/pawl/fsm/fault"
)

// duplicate starts another delivery of a key, and returns when it waits for a lock.
func duplicate(t *testing.T, c *consume.Consumer, db *pgxpool.Pool, key string, handle consume.Handler) <-chan consume.Outcome {
	t.Helper()
	ended := make(chan consume.Outcome, 1)
	go func() {
		out, _ := c.Consume(t.Context(), key, message(key), handle)
		ended <- out
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	ask := time.NewTicker(time.Millisecond)
	defer ask.Stop()
	for waits := false; !waits; {
		select {
		case out := <-ended:
			require.FailNow(t, "it did not wait", out)
		case <-ask.C:
		}
		require.NoError(t, db.QueryRow(ctx, `
			SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`).Scan(&waits))
	}
	return ended
}

// A duplicate that comes between the mark and the COMMIT waits for how that ends.
func TestDuplicateAtTheCommit(t *testing.T) {
	t.Parallel()
	c, db := newConsumer(t)
	var second <-chan consume.Outcome
	ctx := fault.With(t.Context(), consume.Handled, func(context.Context) error {
		second = duplicate(t, c, db, "k", never(t))
		return nil
	})
	out, err := c.Consume(ctx, "k", message("k"), effect)
	require.NoError(t, err)
	require.Equal(t, consume.Done, out)
	require.Equal(t, consume.Duplicate, <-second)
	require.Equal(t, 1, effects(t, db, "k"))
}

// Where that work is rolled back instead, the duplicate finds the claim, which its
// owner is about to release, or is fast enough to find it released and does the work.
func TestDuplicateAtTheRollback(t *testing.T) {
	t.Parallel()
	c, db := newConsumer(t)
	var second <-chan consume.Outcome
	ctx := fault.With(t.Context(), consume.Handled, func(context.Context) error {
		second = duplicate(t, c, db, "k", effect)
		return errBoom
	})
	out, err := c.Consume(ctx, "k", message("k"), effect)
	require.Equal(t, errBoom, err)
	require.Equal(t, consume.Failed, out)
	if got := <-second; got != consume.Done {
		require.Equal(t, consume.InProgress, got)
		out, err = c.Consume(t.Context(), "k", message("k"), effect)
		require.NoError(t, err)
		require.Equal(t, consume.Done, out)
	}
	require.Equal(t, 1, effects(t, db, "k"))
}

// A message that is requeued and published at once comes before the COMMIT that frees
// its key: it waits for it, and is handled.
func TestRequeuedComesBeforeTheCommit(t *testing.T) {
	t.Parallel()
	c, db := newConsumer(t)
	letter := killLetter(t, c, "k")
	var second <-chan consume.Outcome
	_, err := c.Requeue(t.Context(), letter.ID, who, func(context.Context, pgx.Tx, consume.Message) error {
		second = duplicate(t, c, db, "k", effect)
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, consume.Done, <-second)
	require.Equal(t, 1, effects(t, db, "k"))
}
