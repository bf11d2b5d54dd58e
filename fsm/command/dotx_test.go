package command_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/command"
)

func TestDoTx(t *testing.T) {
	t.Parallel()
	pool := open(t)
	c := command.Command{Name: "pay"}
	in := func(work command.Work, end func(pgx.Tx) error) (command.Answer, error) {
		t.Helper()
		tx, err := pool.Begin(t.Context())
		require.NoError(t, err)
		answer, err := c.DoTx(t.Context(), tx, payment("k", `{}`), work)
		require.NoError(t, end(tx))
		return answer, err
	}
	commit := func(tx pgx.Tx) error { return tx.Commit(t.Context()) }
	rollback := func(tx pgx.Tx) error { return tx.Rollback(t.Context()) }

	_, err := in(pay, rollback)
	require.NoError(t, err)
	require.Zero(t, ledger(t, pool), "rolled back with the caller's transaction")

	boom := errors.New("boom")
	_, err = in(func(ctx context.Context, tx pgx.Tx) (command.Reply, error) {
		_, err := pay(ctx, tx)
		return command.Reply{}, errors.Join(err, boom)
	}, commit)
	require.ErrorIs(t, err, boom)
	require.Zero(t, ledger(t, pool), "the work is undone, and the transaction is the caller's to commit")

	got, err := in(pay, commit)
	require.NoError(t, err)
	require.False(t, got.Replayed)
	got, err = in(never, commit)
	require.NoError(t, err)
	require.True(t, got.Replayed)
	require.Equal(t, 1, ledger(t, pool))

	_, err = c.DoTx(t.Context(), pool, payment("k", `{}`), never)
	require.ErrorIs(t, err, fsm.ErrArgument, "a pool is no transaction")
}

// In the caller's transaction the loser waits for the winner's insert, which
// returns nothing to it, and reads the reply by a later statement.
func TestDoTxDuplicateWaits(t *testing.T) {
	t.Parallel()
	pool := open(t)
	c := command.Command{Name: "pay"}
	winner, err := pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = c.DoTx(t.Context(), winner, payment("k", `{}`), pay)
	require.NoError(t, err)
	loser, err := pool.Begin(t.Context())
	require.NoError(t, err)
	second := start(func() (command.Answer, error) { return c.DoTx(t.Context(), loser, payment("k", `{}`), never) })
	waitUntil(t, pool, waiting, 1)
	require.NoError(t, winner.Commit(t.Context()))
	got := await(t, second)
	require.NoError(t, got.err)
	require.True(t, got.Replayed)
	require.NoError(t, loser.Commit(t.Context()))
	require.Equal(t, 1, ledger(t, pool))
}

// A database/sql transaction does as well.
func TestDoTxThroughDatabaseSQL(t *testing.T) {
	t.Parallel()
	pool := open(t)
	db := sqlDB(t, pool)
	c := command.Command{Name: "pay"}
	for _, replayed := range []bool{false, true} {
		tx, err := db.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		got, err := c.DoTx(t.Context(), fsm.SQLTx(tx), payment("k", `{}`), pay)
		require.NoError(t, err)
		require.Equal(t, replayed, got.Replayed)
		require.NoError(t, tx.Commit())
	}
	require.Equal(t, 1, ledger(t, pool))
}

// The caller's time is up while the work ends, and the transaction goes on under
// another context: the call said that nothing was done, so nothing may stay, and the
// same call afterwards works once. So it is where the reply cannot be kept.
func TestDoTxErrorLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reply command.Reply
		leave bool
		want  error
	}{
		"time is up":                 {command.Reply{Status: 201}, true, fsm.ErrNothingDone},
		"time is up, refused":        {command.Reply{Status: 409}, true, fsm.ErrNothingDone},
		"status that is not kept":    {command.Reply{Status: 100}, false, command.ErrReply},
		"body that is over the size": {command.Reply{Status: 201, Body: make([]byte, command.DefaultMaxReply+1)}, false, command.ErrReply},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := open(t)
			c := command.Command{Name: "pay"}
			for range 2 {
				tx, err := pool.Begin(t.Context())
				require.NoError(t, err)
				_, err = c.DoTx(mayLeave(t), tx, payment("k", `{}`), func(ctx context.Context, tx pgx.Tx) (command.Reply, error) {
					_, err := pay(ctx, tx)
					if tc.leave {
						_ = leave(ctx)
					}
					return tc.reply, err
				})
				require.ErrorIs(t, err, tc.want)
				require.NoError(t, tx.Commit(t.Context()), "the rest of the transaction is the caller's")
				require.Zero(t, ledger(t, pool))
			}
			tx, err := pool.Begin(t.Context())
			require.NoError(t, err)
			got, err := c.DoTx(t.Context(), tx, payment("k", `{}`), pay)
			require.NoError(t, err)
			require.False(t, got.Replayed)
			require.NoError(t, tx.Commit(t.Context()))
			require.Equal(t, 1, ledger(t, pool))
		})
	}
}

// leaving is a transaction whose caller's context ends at the moment when a savepoint
// of it is to be ended.
type leaving struct {
	pgx.Tx
	leave context.CancelFunc
}

func (l leaving) Begin(ctx context.Context) (pgx.Tx, error) {
	inner, err := l.Tx.Begin(ctx)
	return leavingPoint{inner, l.leave}, err
}

type leavingPoint struct {
	pgx.Tx
	leave context.CancelFunc
}

func (l leavingPoint) Commit(ctx context.Context) error {
	l.leave()
	return l.Tx.Commit(ctx)
}

func (l leavingPoint) Rollback(ctx context.Context) error {
	l.leave()
	return l.Tx.Rollback(ctx)
}

// A moment later it is too late to stop: what the work did and its reply stay
// together, and so does a refusal without what the work did.
func TestDoTxGoesOnToItsReply(t *testing.T) {
	t.Parallel()
	for status, effects := range map[int]int{201: 1, 409: 0} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			t.Parallel()
			pool := open(t)
			c := command.Command{Name: "pay"}
			for _, replayed := range []bool{false, true} {
				tx, err := pool.Begin(t.Context())
				require.NoError(t, err)
				ctx, cancel := context.WithCancel(t.Context())
				got, err := c.DoTx(ctx, leaving{tx, cancel}, payment("k", `{}`), func(ctx context.Context, tx pgx.Tx) (command.Reply, error) {
					_, err := pay(ctx, tx)
					return command.Reply{Status: status}, err
				})
				cancel()
				require.NoError(t, err)
				require.Equal(t, status, got.Status)
				require.Equal(t, replayed, got.Replayed)
				require.NoError(t, tx.Commit(t.Context()))
				require.Equal(t, effects, ledger(t, pool))
			}
		})
	}
}
