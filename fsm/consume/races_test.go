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

// duplicate starts a further delivery of a key, and returns when it waits for a lock.
func duplicate(t *testing.T, c *consume.Consumer, db *pgxpool.Pool, key string, handle consume.Handler) <-chan consume.Outcome {
	t.Helper()
	return waiting(t, db, func() consume.Outcome {
		out, _ := c.Consume(t.Context(), key, message(key), handle)
		return out
	})
}

// waiting starts a call, and returns when a session waits for a lock.
func waiting[R any](t *testing.T, db *pgxpool.Pool, call func() R) <-chan R {
	t.Helper()
	return waitingTo(t, db, 1, call)
}

// waitingTo starts a call, and returns when so many sessions wait for locks.
func waitingTo[R any](t *testing.T, db *pgxpool.Pool, sessions int, call func() R) <-chan R {
	t.Helper()
	ended := make(chan R, 1)
	go func() { ended <- call() }()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	ask := time.NewTicker(time.Millisecond)
	defer ask.Stop()
	for waits := false; !waits; {
		select {
		case out := <-ended:
			require.FailNow(t, "it did not wait", "%v", out)
		case <-ask.C:
		}
		require.NoError(t, db.QueryRow(ctx, `
			SELECT count(*) >= $1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`, sessions).Scan(&waits))
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

// Two people requeue one letter at once, both while it is held: it is published once,
// and the other is told that it is settled.
func TestRequeuedByTwo(t *testing.T) {
	t.Parallel()
	c, db := newConsumer(t)
	letter := killLetter(t, c, "k")
	held, err := db.Begin(t.Context())
	require.NoError(t, err)
	_, err = held.Exec(t.Context(), `SELECT FROM fsm_dead_letters FOR UPDATE`)
	require.NoError(t, err)
	published := make(chan string, 2)
	requeue := func() error {
		_, err := c.Requeue(t.Context(), letter.ID, who, func(_ context.Context, _ pgx.Tx, m consume.Message) error {
			published <- string(m.Payload)
			return nil
		})
		return err
	}
	first := waiting(t, db, requeue)
	second := waitingTo(t, db, 2, requeue)
	require.NoError(t, held.Rollback(t.Context()))
	errs := []error{<-first, <-second}
	if errs[0] != nil {
		errs[0], errs[1] = errs[1], errs[0]
	}
	require.NoError(t, errs[0])
	require.ErrorIs(t, errs[1], consume.ErrNoLetter)
	require.Len(t, published, 1)
	out, err := c.Consume(t.Context(), "k", message("k"), effect)
	require.NoError(t, err)
	require.Equal(t, consume.Done, out)
}

// Claims are made in the order of their keys, whatever that of the items: a batch that
// waits for the first key has not touched the last one, so two batches do not deadlock.
func TestClaimsAreMadeInOrder(t *testing.T) {
	t.Parallel()
	c, db := newConsumer(t)
	held, err := db.Begin(t.Context())
	require.NoError(t, err)
	_, err = held.Exec(t.Context(), `
		INSERT INTO fsm_consumed (consumer, key, state, owner, tries, lease_until, changed_at)
		VALUES ('shipping', 'a', 'claimed', 'another', 1, now(), now())`)
	require.NoError(t, err)
	batch := waiting(t, db, func() []consume.Result {
		return c.ConsumeBatch(t.Context(), []consume.Item{{Key: "z", Message: message("z")}, {Key: "a", Message: message("a")}}, effect)
	})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	out, err := c.Consume(ctx, "z", message("z"), effect)
	require.NoError(t, err, "the last key is free")
	require.Equal(t, consume.Done, out)
	require.NoError(t, held.Rollback(t.Context()))
	require.Equal(t, []consume.Result{{Outcome: consume.Duplicate}, {Outcome: consume.Done}}, <-batch)
	require.Equal(t, 2, effects(t, db, ""))
}
