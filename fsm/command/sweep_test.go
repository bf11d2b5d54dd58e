package command_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/command"
)

// age makes the records whose key is like pattern three days and more old.
const age = `UPDATE fsm_command SET created_at = created_at - interval '100 hours', claimed_at = claimed_at - interval '100 hours',
	lease_until = lease_until - interval '100 hours', done_at = done_at - interval '100 hours' WHERE key LIKE $1`

func TestSweepArchivesWhatIsOld(t *testing.T) {
	t.Parallel()
	pool := open(t)
	c, other := leased(), command.Command{Name: "other"}
	do := func(c *command.Command, key string, work command.Work) {
		t.Helper()
		_, _ = c.Do(t.Context(), pool, payment(key, `{}`), work)
	}
	do(&c, "old", pay)
	do(&c, "old, idle", never)
	do(&other, "old, of another command", pay)
	run(t, pool, age, "old%")
	do(&c, "young", pay)
	do(&c, "young, idle", never)

	moved, err := c.Sweep(t.Context(), pool, 0)
	require.NoError(t, err)
	require.Equal(t, 2, moved)
	const keys = `SELECT string_agg(key, '; ' ORDER BY key) FROM `
	require.Equal(t, "old, of another command; young; young, idle", ask[string](t, pool, keys+"fsm_command"))
	require.Equal(t, "old; old, idle", ask[string](t, pool, keys+"fsm_command_archive"))
	require.JSONEq(t, `{"paid":100}`, ask[string](t, pool, `SELECT convert_from(body, 'UTF8') FROM fsm_command_archive WHERE key = 'old'`))

	moved, err = c.Sweep(t.Context(), pool, 0)
	require.NoError(t, err)
	require.Zero(t, moved)
	c.Retention = -1
	_, err = c.Sweep(t.Context(), pool, 0)
	require.ErrorIs(t, err, fsm.ErrArgument)
}

// Unless told, a reply is replayed for three days, and the key is free afterwards.
func TestRetentionOfAReply(t *testing.T) {
	t.Parallel()
	pool := open(t)
	c := command.Command{Name: "pay"}
	_, err := c.Do(t.Context(), pool, payment("k", `{}`), pay)
	require.NoError(t, err)
	for _, tc := range []struct {
		older string
		moved int
	}{{"71 hours", 0}, {"2 hours", 1}} {
		run(t, pool, `UPDATE fsm_command SET created_at = created_at - $1::interval, claimed_at = claimed_at - $1::interval,
			lease_until = lease_until - $1::interval, done_at = done_at - $1::interval`, tc.older)
		moved, err := c.Sweep(t.Context(), pool, 0)
		require.NoError(t, err)
		require.Equal(t, tc.moved, moved, tc.older)
		if moved == 0 {
			again, err := c.Do(t.Context(), pool, payment("k", `{}`), never)
			require.NoError(t, err)
			require.True(t, again.Replayed)
		}
	}
	fresh, err := c.Do(t.Context(), pool, payment("k", `{"another":1}`), pay)
	require.NoError(t, err)
	require.False(t, fresh.Replayed)
}

// Pages full of records that stay, since their reply is young or they are locked,
// do not hide the old ones behind them.
func TestSweepPagesPastWhatStays(t *testing.T) {
	t.Parallel()
	pool := open(t)
	c := command.Command{Name: "pay"}
	for i := range 12 {
		_, err := c.Do(t.Context(), pool, payment(fmt.Sprint("k", i), `{}`), pay)
		require.NoError(t, err)
	}
	run(t, pool, age, "%")
	run(t, pool, `UPDATE fsm_command SET done_at = now() WHERE key IN ('k0', 'k1', 'k2', 'k3', 'k4')`)
	held, err := pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = held.Exec(t.Context(), `SELECT FROM fsm_command WHERE key IN ('k5', 'k6') FOR UPDATE`)
	require.NoError(t, err)
	moved, err := c.Sweep(t.Context(), pool, 2)
	require.NoError(t, err)
	require.Equal(t, 5, moved)
	require.NoError(t, held.Rollback(t.Context()))
	moved, err = c.Sweep(t.Context(), pool, 3)
	require.NoError(t, err)
	require.Equal(t, 2, moved)
}

// sweepRace holds an old record without a reply at work, lets sweep try its best,
// and returns how often the work was done when a duplicate came too.
func sweepRace(t *testing.T, sweep func(*command.Command, fsm.DB) error) int {
	pool := open(t)
	c := command.Command{Name: "pay", Wait: patience}
	_, err := c.Do(t.Context(), pool, payment("k", `{}`), never)
	require.Error(t, err)
	run(t, pool, age, "k")

	b := newBlocking()
	first := start(func() (command.Answer, error) { return c.Do(t.Context(), pool, payment("k", `{}`), b.then(pay)) })
	await(t, b.begun)
	swept := make(chan error, 1)
	go func() { swept <- sweep(&c, pool) }()
	endsOrWaits(t, pool, swept)
	close(b.goOn)
	require.NoError(t, await(t, first).err)
	require.NoError(t, await(t, swept))
	_, err = c.Do(t.Context(), pool, payment("k", `{}`), pay)
	require.NoError(t, err)
	return ledger(t, pool)
}

// endsOrWaits returns once the sweep has ended, which stays to be received, or a
// session waits for a lock, which must be the sweep.
func endsOrWaits(t *testing.T, pool *pgxpool.Pool, swept chan error) {
	t.Helper()
	for len(swept) == 0 && !ask[bool](t, pool, waiting, 1) {
		runtime.Gosched()
	}
}

func TestSweepPassesOverWhatIsAtWork(t *testing.T) {
	t.Parallel()
	require.Equal(t, 1, sweepRace(t, func(c *command.Command, db fsm.DB) error {
		_, err := c.Sweep(context.WithoutCancel(t.Context()), db, 0)
		return err
	}))
}

// A sweep that judges a record by its age and deletes it when it gets it forgets
// the reply that came meanwhile: what the staging catches.
func TestSweepByAgeAloneForgetsAReply(t *testing.T) {
	t.Parallel()
	require.Equal(t, 2, sweepRace(t, func(_ *command.Command, db fsm.DB) error {
		_, err := db.Exec(context.WithoutCancel(t.Context()), `DELETE FROM fsm_command WHERE created_at < now() - interval '72 hours'`)
		return err
	}))
}

// Sweeps in a tight loop beside duplicates, of records that are old and have no
// reply yet: every key is worked on once.
func TestSweepInALoopBesideDuplicates(t *testing.T) {
	t.Parallel()
	pool := open(t)
	c := leased()
	c.Wait = patience
	const keys = 20
	for i := range keys {
		_, err := c.Do(t.Context(), pool, payment(fmt.Sprint("k", i), `{}`), never)
		require.Error(t, err)
	}
	run(t, pool, age, "%")
	sweeping, stop := context.WithCancel(t.Context())
	var sweeps, calls sync.WaitGroup
	for range 2 {
		sweeps.Go(func() {
			for sweeping.Err() == nil {
				if _, err := c.Sweep(context.WithoutCancel(sweeping), pool, 3); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range keys {
		for n := range 4 {
			calls.Go(func() {
				r := payment(fmt.Sprint("k", i), `{}`)
				work := func(ctx context.Context, tx pgx.Tx) (command.Reply, error) {
					_, err := tx.Exec(ctx, `INSERT INTO ledger (ref, cents) VALUES ($1, 1)`, r.Key)
					return command.Reply{Status: 200}, err
				}
				var err error
				if n%2 == 0 {
					_, err = c.Do(t.Context(), pool, r, work)
				} else {
					_, err = c.DoLeased(t.Context(), pool, r, func(ctx context.Context, l *command.Lease) (command.Reply, error) {
						reply := command.Reply{Status: 200}
						return reply, fsm.RunTx(ctx, pool, fsm.TxPolicy{}, func(ctx context.Context, tx pgx.Tx) error {
							if _, err := work(ctx, tx); err != nil {
								return err
							}
							return l.CompleteTx(ctx, tx, reply)
						})
					})
				}
				if err != nil {
					require.ErrorIs(t, err, command.ErrInProgress)
				}
			})
		}
	}
	calls.Wait()
	stop()
	sweeps.Wait()
	require.Equal(t, keys, ledger(t, pool))
	require.Equal(t, keys, ask[int](t, pool, `SELECT count(DISTINCT ref) FROM ledger`))
	require.Equal(t, keys, ask[int](t, pool, `SELECT count(*) FROM fsm_command WHERE done_at IS NOT NULL`))
}
