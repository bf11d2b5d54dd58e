package command_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/command"
)

// The caller hangs up while the provider takes the money, and asks again: the work
// that is done is not done once more. (The reply was thrown away with the caller, and
// the claim given back.)
func TestLeasedCallerGone(t *testing.T) {
	t.Parallel()
	for name, work := range map[string]func(context.Context, *command.Lease) (command.Reply, error){
		"reply kept afterwards": charge("first"),
		"refusal":               func(context.Context, *command.Lease) (command.Reply, error) { return command.Reply{Status: 402}, nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := open(t)
			c := leased()
			var outcomes []command.Outcome
			c.Observe = func(_ context.Context, o command.Outcome) { outcomes = append(outcomes, o) }
			calls := 0
			for _, replayed := range []bool{false, true, true} {
				got, err := c.DoLeased(mayLeave(t), pool, payment("k", `{}`), func(ctx context.Context, l *command.Lease) (command.Reply, error) {
					calls++
					_ = leave(ctx)
					return work(ctx, l)
				})
				require.NoError(t, err)
				require.Equal(t, replayed, got.Replayed)
				require.False(t, got.At.IsZero())
			}
			require.Equal(t, 1, calls)
			require.Len(t, outcomes, 3)
			require.NotEqual(t, command.Failed, outcomes[0])
		})
	}
}

// A work that completes on a context of its own is done too, for a caller who is gone.
func TestLeasedCallerGoneAfterCompletion(t *testing.T) {
	t.Parallel()
	pool := open(t)
	c := leased()
	for _, replayed := range []bool{false, true} {
		got, err := c.DoLeased(mayLeave(t), pool, payment("k", `{}`), func(ctx context.Context, l *command.Lease) (command.Reply, error) {
			_ = leave(ctx)
			return book(context.WithoutCancel(ctx), pool, l, "first")
		})
		require.NoError(t, err)
		require.Equal(t, replayed, got.Replayed)
	}
	require.Equal(t, 1, ledger(t, pool))
}

// The claim is the work's for as long as it runs, whoever waits for it: the lease is
// renewed, so that a call that comes meanwhile does not do the work beside it.
func TestLeaseIsRenewedWithoutTheCaller(t *testing.T) {
	t.Parallel()
	pool := open(t)
	c := command.Command{Name: "pay", Lease: 900 * time.Millisecond, MaxLease: time.Hour}
	_, err := c.DoLeased(mayLeave(t), pool, payment("k", `{}`), func(ctx context.Context, l *command.Lease) (command.Reply, error) {
		_ = leave(ctx)
		for range 2 {
			until := ask[time.Time](t, pool, `SELECT lease_until FROM fsm_command`)
			waitUntil(t, pool, `SELECT lease_until > $1 FROM fsm_command`, until)
		}
		return charge("first")(ctx, l)
	})
	require.NoError(t, err)
}

// Without the caller, too, a lease that is lost is not completed.
func TestLateOwnerWithoutTheCallerCompletesNothing(t *testing.T) {
	t.Parallel()
	pool := open(t)
	c := leased()
	_, err := c.DoLeased(mayLeave(t), pool, payment("k", `{}`), func(ctx context.Context, l *command.Lease) (command.Reply, error) {
		_ = leave(ctx)
		run(t, pool, `UPDATE fsm_command SET owner = 'another', fence = fence + 1`)
		return charge("late")(ctx, l)
	})
	require.ErrorIs(t, err, command.ErrLeaseLost)
	require.True(t, ask[bool](t, pool, `SELECT done_at IS NULL AND owner = 'another' FROM fsm_command`))
}
