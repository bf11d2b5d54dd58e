package command_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/jackc/pgx/v5"
	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/command"
)

// A lease is renewed for as long as the work takes: its end moves on twice, past
// where the claim put it.
func TestLeaseIsRenewed(t *testing.T) {
	t.Parallel()
	pool := open(t)
	c := command.Command{Name: "pay", Lease: 900 * time.Millisecond, MaxLease: time.Hour}
	_, err := c.DoLeased(t.Context(), pool, payment("k", `{}`), func(ctx context.Context, l *command.Lease) (command.Reply, error) {
		for range 2 {
			until := ask[time.Time](t, pool, `SELECT lease_until FROM fsm_command`)
			waitUntil(t, pool, `SELECT lease_until > $1 FROM fsm_command`, until)
			require.True(t, ask[bool](t, pool, `SELECT lease_until <= clock_timestamp() + interval '900 ms' FROM fsm_command`), "and by no more than a lease")
		}
		return book(ctx, pool, l, "first")
	})
	require.NoError(t, err)
	require.Equal(t, 1, ledger(t, pool))
}

// The work's context ends when the lease is lost, with that as the cause; and so
// does the call, whatever the work says.
func TestWorkIsToldOfTheLoss(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name     string
		maxLease time.Duration
		lose     string
		why      string // told at once, and not when the lease is over
	}{
		{"another owner", time.Hour, `UPDATE fsm_command SET owner = 'another', fence = fence + 1`, "another call took it over"},
		{"record archived", time.Hour, `DELETE FROM fsm_command`, "another call took it over"},
		{"renewed long enough", time.Millisecond, ``, "it was renewed for 1ms, and no longer"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			pool := open(t)
			c := command.Command{Name: "pay", Lease: 1500 * time.Millisecond, MaxLease: tc.maxLease}
			_, err := c.DoLeased(t.Context(), pool, payment("k", `{}`), func(ctx context.Context, l *command.Lease) (command.Reply, error) {
				run(t, pool, tc.lose)
				await(t, ctx.Done())
				require.ErrorIs(t, context.Cause(ctx), command.ErrLeaseLost)
				require.ErrorContains(t, context.Cause(ctx), tc.why)
				return command.Reply{Status: 200}, nil
			})
			require.ErrorIs(t, err, command.ErrLeaseLost)
		})
	}
}

// A lease that cannot be renewed, since the database does not answer, is over when
// it is over.
func TestLeaseThatCannotBeRenewedEnds(t *testing.T) {
	t.Parallel()
	pool := open(t)
	c := command.Command{Name: "pay", Lease: 300 * time.Millisecond, MaxLease: time.Hour}
	_, err := c.DoLeased(t.Context(), pool, payment("k", `{}`), func(ctx context.Context, _ *command.Lease) (command.Reply, error) {
		held, err := pool.Begin(t.Context()) // every renewal finds the row locked
		require.NoError(t, err)
		defer func() { require.NoError(t, held.Rollback(t.Context())) }()
		_, err = held.Exec(t.Context(), `SELECT FROM fsm_command FOR UPDATE`)
		require.NoError(t, err)
		await(t, ctx.Done())
		require.ErrorIs(t, context.Cause(ctx), command.ErrLeaseLost)
		return command.Reply{}, ctx.Err()
	})
	require.ErrorIs(t, err, command.ErrLeaseLost)
}

// Once the reply is kept in an open transaction nobody can take the command over,
// and the lease's end means nothing: a slow COMMIT is no loss.
func TestCompletionOutlastsTheLease(t *testing.T) {
	t.Parallel()
	pool := open(t)
	c := command.Command{Name: "pay", Lease: 90 * time.Millisecond, MaxLease: time.Hour, Wait: -1}
	_, err := c.DoLeased(t.Context(), pool, payment("k", `{}`), func(ctx context.Context, l *command.Lease) (command.Reply, error) {
		reply := command.Reply{Status: 200}
		return reply, fsm.RunTx(ctx, pool, fsm.TxPolicy{}, func(ctx context.Context, tx pgx.Tx) error {
			if err := l.CompleteTx(ctx, tx, reply); err != nil {
				return err
			}
			waitUntil(t, pool, `SELECT lease_until < clock_timestamp() - interval '100 ms' FROM fsm_command`)
			_, err := c.DoLeased(t.Context(), pool, payment("k", `{}`), neverLeased)
			require.ErrorIs(t, err, command.ErrInProgress)
			return ctx.Err()
		})
	})
	require.NoError(t, err)
}
