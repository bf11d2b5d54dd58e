package consume_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/consume"
)

// deliver consumes the keys as one batch again and again, as a broker does: without
// those that were acknowledged, and after the lease of a process that died. It returns
// the last outcome of each key.
func deliver(t *testing.T, c *consume.Consumer, db *pgxpool.Pool, keys []string, handle consume.Handler) map[string]consume.Outcome {
	t.Helper()
	last := map[string]consume.Outcome{}
	for range 10 {
		var items []consume.Item
		for _, key := range keys {
			if !last[key].Ack() {
				items = append(items, consume.Item{Key: key, Message: message(key)})
			}
		}
		if len(items) == 0 {
			break
		}
		results := make(chan []consume.Result, 1)
		go func() { // which a handler may end
			defer close(results)
			results <- c.ConsumeBatch(t.Context(), items, handle)
		}()
		for i, r := range <-results {
			last[items[i].Key] = r.Outcome
		}
		endLeases(t, db)
	}
	return last
}

// One message of a batch hangs, kills its process, or loses its connection, each time.
// With a single try for each message, the others are done, and it alone is given up.
func TestBadOneInABatch(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]consume.Handler{
		"hangs": func(ctx context.Context, _ pgx.Tx, _ consume.Message) error {
			<-ctx.Done()
			return ctx.Err()
		},
		"kills": func(context.Context, pgx.Tx, consume.Message) error {
			runtime.Goexit() // nothing behind the handler runs
			return nil
		},
		"disconnects": func(ctx context.Context, tx pgx.Tx, _ consume.Message) error {
			_, err := tx.Exec(ctx, `SELECT pg_terminate_backend(pg_backend_pid())`)
			return err
		},
		"fails": failing,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, db := newConsumer(t)
			c.Tries = 1
			if name == "hangs" {
				c.Lease = 2 * time.Second
			}
			last := deliver(t, c, db, []string{"a", "b", "bad", "c", "d"}, func(ctx context.Context, tx pgx.Tx, m consume.Message) error {
				if string(m.Payload) == "bad" {
					return bad(ctx, tx, m)
				}
				return effect(ctx, tx, m)
			})
			require.Equal(t, consume.Dead, last["bad"])
			for _, key := range []string{"a", "b", "c", "d"} {
				require.Contains(t, []consume.Outcome{consume.Done, consume.Duplicate}, last[key], key) // a dead process told nobody
				require.Equal(t, 1, effects(t, db, key), key)
				_, tries := claim(t, db, key)
				require.Equal(t, 1, tries, key)
			}
			letters, err := c.Letters(t.Context(), 0, 0)
			require.NoError(t, err)
			require.Len(t, letters, 1)
			require.Equal(t, "bad", letters[0].Key)
			require.Equal(t, 1, letters[0].Tries)
		})
	}
}

// A batch that takes longer than its lease, without any bad message, costs no try.
func TestSlowBatch(t *testing.T) {
	t.Parallel()
	c, db := newConsumer(t)
	c.Lease, c.Tries = 2*time.Second, 1
	slow := true
	last := deliver(t, c, db, []string{"a", "b", "c"}, func(ctx context.Context, tx pgx.Tx, m consume.Message) error {
		if slow && string(m.Payload) == "b" {
			slow = false
			<-ctx.Done()
			return ctx.Err()
		}
		return effect(ctx, tx, m)
	})
	require.Equal(t, map[string]consume.Outcome{"a": consume.Done, "b": consume.Done, "c": consume.Done}, last)
	require.Equal(t, 3, effects(t, db, ""))
}

// A message that was tried before is handled behind those that were not.
func TestLeastTriedFirst(t *testing.T) {
	t.Parallel()
	c, db := newConsumer(t)
	_, err := c.Consume(t.Context(), "twice", message("twice"), failing)
	require.Equal(t, errBoom, err)
	_, err = c.Consume(t.Context(), "twice", message("twice"), failing)
	require.Equal(t, errBoom, err)
	_, err = c.Consume(t.Context(), "once", message("once"), failing)
	require.Equal(t, errBoom, err)
	var order []string
	last := deliver(t, c, db, []string{"twice", "once", "new"}, func(_ context.Context, _ pgx.Tx, m consume.Message) error {
		order = append(order, string(m.Payload))
		return nil
	})
	require.Equal(t, map[string]consume.Outcome{"twice": consume.Done, "once": consume.Done, "new": consume.Done}, last)
	require.Equal(t, []string{"new", "once", "twice"}, order)
}

// What time is left to a call decides what is begun: the rest comes again, untried.
func TestNotBegun(t *testing.T) {
	t.Parallel()
	c, db := newConsumer(t)
	for _, key := range []string{"a", "b"} {
		_, err := c.Consume(t.Context(), key, message(key), failing)
		require.Equal(t, errBoom, err)
	}
	c.Lease = 200 * time.Millisecond
	results := c.ConsumeBatch(t.Context(), []consume.Item{{Key: "a", Message: message("a")}, {Key: "b", Message: message("b")}},
		func(ctx context.Context, _ pgx.Tx, _ consume.Message) error {
			<-ctx.Done()
			return ctx.Err()
		})
	for _, r := range results {
		require.Equal(t, consume.Failed, r.Outcome)
		require.ErrorIs(t, r.Err, context.DeadlineExceeded)
	}
	_, tries := claim(t, db, "b")
	require.Equal(t, 1, tries, "and no try was counted")
}

// A process that is told to stop amid a batch gives it back, to be shared again.
func TestStoppedBatch(t *testing.T) {
	t.Parallel()
	c, db := newConsumer(t)
	ctx, stop := context.WithCancel(t.Context())
	results := c.ConsumeBatch(ctx, []consume.Item{{Key: "a", Message: message("a")}, {Key: "b", Message: message("b")}},
		func(ctx context.Context, _ pgx.Tx, _ consume.Message) error {
			stop()
			<-ctx.Done()
			return ctx.Err()
		})
	for i, key := range []string{"a", "b"} {
		require.Equal(t, consume.Failed, results[i].Outcome)
		require.ErrorIs(t, results[i].Err, context.Canceled)
		state, tries := claim(t, db, key)
		require.Equal(t, "failed", state)
		require.Equal(t, 0, tries)
	}
}
