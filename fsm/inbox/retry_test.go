package inbox_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/inbox"
)

// Events that wait for a locked row, and are due first, do not hold up one that does not.
func TestRetryPassesLockedRows(t *testing.T) {
	t.Parallel()
	good := make(chan struct{})
	b := newBench(t, handling(func(ctx context.Context, tx pgx.Tx, e inbox.Event) (fsm.Outcome, error) {
		switch {
		case e.Attempt == 1:
			return "", inbox.ErrTooEarly
		case strings.HasPrefix(e.ID, "evt_locked"):
			_, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock_shared(17)`)
			return fsm.Applied, err
		}
		close(good)
		return fsm.Applied, nil
	}), func(c *inbox.Config) { c.Providers[0].Limit = 20 * time.Second })
	for _, id := range []string{"evt_locked_1", "evt_locked_2", "evt_locked_3", "evt_good"} {
		require.Equal(t, inbox.VerdictParked, b.deliver(told(id, "paid", "p_"+id, total)).Verdict)
	}
	b.later()
	held, err := b.pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = held.Exec(t.Context(), `SELECT pg_advisory_xact_lock(17)`)
	require.NoError(t, err)
	tried := make(chan int)
	go func() { tried <- b.retry() }()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	select {
	case <-good: // while the others wait
	case <-ctx.Done():
		require.Fail(t, "the good one waits behind those of the locked row")
	}
	require.NoError(t, held.Rollback(t.Context()))
	require.Equal(t, 4, <-tried)
	require.Len(t, b.list(inbox.Done), 4)
}

// An event has twice the provider's limit on its second try, and half of the lease in
// the end.
func TestRetryPatience(t *testing.T) {
	t.Parallel()
	left := map[int]time.Duration{}
	b := newBench(t, handling(func(ctx context.Context, _ pgx.Tx, e inbox.Event) (fsm.Outcome, error) {
		if deadline, ok := ctx.Deadline(); ok {
			left[e.Attempt] = time.Until(deadline)
		}
		return "", inbox.ErrTooEarly
	}), func(c *inbox.Config) {
		c.Lease = 100 * time.Second
		c.Providers[0].Limit, c.Providers[0].Margin = 15*time.Second, 5*time.Second
	})
	b.deliver(told("evt_1", "paid", "p1", total))
	for range 4 {
		b.later()
		n, err := (&inbox.Retry{Inbox: b.Inbox, Workers: 1}).Once(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, n)
	}
	for attempt, want := range map[int]time.Duration{1: 10 * time.Second, 2: 30 * time.Second, 3: 50 * time.Second, 5: 50 * time.Second} {
		require.InDelta(t, want, left[attempt], float64(5*time.Second), attempt)
	}
	event := b.list(inbox.Parked)[0]
	_, err := b.Replay(t.Context(), event.ID, "ada", "now")
	require.NoError(t, err)
	require.InDelta(t, 50*time.Second, left[1], float64(5*time.Second), "a person's replay has all the time")
}
