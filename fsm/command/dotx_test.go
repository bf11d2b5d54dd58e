package command_test

import (
	"context"
	"errors"
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
