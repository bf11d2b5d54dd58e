package inbox_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/inbox"
)

// timed is a pool that remembers until when its last transaction may take.
type timed struct {
	*pgxpool.Pool
	deadline *time.Time
}

func (p timed) BeginTx(ctx context.Context, o pgx.TxOptions) (pgx.Tx, error) {
	*p.deadline, _ = ctx.Deadline()
	return p.Pool.BeginTx(ctx, o)
}

// Recording what came of a delivery waits for a lock: the provider is answered within
// its limit all the same, and comes again.
func TestRecordingKeepsTheLimit(t *testing.T) {
	t.Parallel()
	const limit = 2 * time.Second
	var deadline time.Time
	var held pgx.Tx
	var b *bench
	b = newBench(t, func(c *inbox.Config) {
		c.Pool = timed{c.Pool.(*pgxpool.Pool), &deadline}
		c.Providers[0].Limit = limit
		c.Providers[0].Handle = func(ctx context.Context, _ pgx.Tx, _ inbox.Event) (fsm.Outcome, error) {
			var err error
			if held, err = b.pool.Begin(t.Context()); err != nil {
				return "", err
			}
			_, err = held.Exec(ctx, `SELECT FROM fsm_deliveries FOR UPDATE`)
			return fsm.Applied, err
		}
	})
	n := told("evt_1", "paid", "p1", total)
	latest := time.Now().Add(limit)
	r, err := b.Receive(t.Context(), "stripe", b.signed(n.body()), n.body())
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Equal(t, http.StatusServiceUnavailable, r.Answer.Status)
	require.NotNil(t, held)
	require.NoError(t, held.Rollback(t.Context()))
	require.WithinRange(t, deadline, latest.Add(-limit/5), latest.Add(limit/2), "with what a slow machine does before the clock runs")
	require.Equal(t, inbox.VerdictDuplicate, b.deliver(n).Verdict, "what was processed stays so")
}
