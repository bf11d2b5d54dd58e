package command_test

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/command"
	"github.com/pawl-go/pawl/internal/testdb"
)

// Two calls wait to take one command over; the one that comes second judges what
// the first made of it.
func TestTwoTakeOvers(t *testing.T) {
	t.Parallel()
	pool := open(t)
	c := leased()
	c.Wait = patience
	_, err := c.DoLeased(t.Context(), pool, payment("k", `{}`), neverLeased)
	require.Error(t, err)

	held, err := pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = held.Exec(t.Context(), `SELECT FROM fsm_command FOR UPDATE`)
	require.NoError(t, err)
	begun, goOn := make(chan struct{}, 2), make(chan struct{})
	results := make(chan result, 2)
	for range 2 {
		go func() {
			answer, err := c.DoLeased(t.Context(), pool, payment("k", `{}`), func(ctx context.Context, l *command.Lease) (command.Reply, error) {
				begun <- struct{}{}
				<-goOn
				return book(ctx, pool, l, "any")
			})
			results <- result{answer, err}
		}()
	}
	waitUntil(t, pool, waiting, 2)
	require.NoError(t, held.Rollback(t.Context()))
	await(t, begun)
	var busy *command.InProgressError
	require.ErrorAs(t, await(t, results).err, &busy)
	require.Greater(t, busy.Lease, c.Lease/2)
	require.LessOrEqual(t, busy.Lease, c.Lease, "who takes over has no longer a lease than the first")
	close(goOn)
	require.NoError(t, await(t, results).err)
	require.Empty(t, begun)
	require.Equal(t, 1, ledger(t, pool))
}

// A late owner that fails does not give back what is another's by now.
func TestLateOwnerReleasesNothing(t *testing.T) {
	t.Parallel()
	pool := open(t)
	c := leased()
	late, second := newBlocking(), newBlocking()
	first := start(func() (command.Answer, error) {
		return c.DoLeased(t.Context(), pool, payment("k", `{}`), func(ctx context.Context, _ *command.Lease) (command.Reply, error) {
			return command.Reply{}, errors.Join(late.wait(ctx), io.ErrUnexpectedEOF)
		})
	})
	await(t, late.begun)
	runOut(t, pool)
	taken := start(func() (command.Answer, error) {
		return c.DoLeased(t.Context(), pool, payment("k", `{}`), func(ctx context.Context, l *command.Lease) (command.Reply, error) {
			if err := second.wait(ctx); err != nil {
				return command.Reply{}, err
			}
			return book(ctx, pool, l, "second")
		})
	})
	await(t, second.begun)
	close(late.goOn)
	require.ErrorIs(t, await(t, first).err, io.ErrUnexpectedEOF)
	_, err := c.DoLeased(t.Context(), pool, payment("k", `{}`), neverLeased)
	require.ErrorIs(t, err, command.ErrInProgress)
	close(second.goOn)
	require.NoError(t, await(t, taken).err)
	require.Equal(t, 1, ledger(t, pool))
}

// A claim that was committed although its call was told of an error is nobody's:
// it is given back and not left to run out.
func TestClaimThatNobodyWasToldOf(t *testing.T) {
	t.Parallel()
	pool := open(t)
	c := leased()
	_, err := c.DoLeased(t.Context(), testdb.Deaf{Pool: pool}, payment("k", `{}`), neverLeased)
	require.ErrorIs(t, err, fsm.ErrNothingDone)
	_, err = c.DoLeased(t.Context(), pool, payment("k", `{}`), booking(pool, "second"))
	require.NoError(t, err)

	// And a take-over whose COMMIT was lost.
	_, err = c.DoLeased(t.Context(), pool, payment("other", `{}`), neverLeased)
	require.Error(t, err)
	_, err = c.DoLeased(t.Context(), losing{pool, true}, payment("other", `{}`), neverLeased)
	require.ErrorIs(t, err, fsm.ErrUnknown)
	_, err = c.DoLeased(t.Context(), pool, payment("other", `{}`), booking(pool, "second"))
	require.NoError(t, err)
	require.Equal(t, 2, ledger(t, pool))
}

// A record that a sweep archives between two statements of a call is made anew.
func TestRecordThatGoesMeanwhile(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(*command.Command, command.DB) (command.Answer, error){
		"in a transaction": func(c *command.Command, db command.DB) (command.Answer, error) {
			return c.Do(t.Context(), db, payment("k", `{}`), pay)
		},
		"leased": func(c *command.Command, db command.DB) (command.Answer, error) {
			return c.DoLeased(t.Context(), db, payment("k", `{}`), charge("any"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := open(t)
			c := leased()
			_, err := c.Do(t.Context(), pool, payment("k", `{}`), never)
			require.Error(t, err)
			got, err := do(&c, forgetful{pool, new(sync.Once)})
			require.NoError(t, err)
			require.False(t, got.Replayed)
		})
	}
}

// forgetful is a pool where records without a reply go before the first transaction
// begins.
type forgetful struct {
	*pgxpool.Pool
	once *sync.Once
}

func (f forgetful) BeginTx(ctx context.Context, o pgx.TxOptions) (tx pgx.Tx, err error) {
	f.once.Do(func() { _, err = f.Exec(ctx, `DELETE FROM fsm_command WHERE done_at IS NULL`) })
	if err != nil {
		return nil, err
	}
	return f.Pool.BeginTx(ctx, o)
}
