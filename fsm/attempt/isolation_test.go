package attempt_test

import (
	"context"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/attempt"
)

// strict has the sessions of b default to an isolation level, as a server may.
func (b *bench) strict(level pgx.TxIsoLevel) {
	b.t.Helper()
	config := b.pool.Config()
	config.MaxConns = 12
	config.ConnConfig.RuntimeParams["default_transaction_isolation"] = string(level)
	pool, err := pgxpool.NewWithConfig(b.t.Context(), config)
	require.NoError(b.t, err)
	b.t.Cleanup(pool.Close)
	b.pool = pool
}

// behind makes a call while a transaction has touched the attempt, and commits that
// when the call waits for it.
func (b *bench) behind(id string, call func() error) error {
	b.t.Helper()
	tx, err := b.pool.Begin(b.t.Context())
	require.NoError(b.t, err)
	_, err = tx.Exec(b.t.Context(), `UPDATE fsm_attempts SET last_error = 'touched' WHERE id = $1`, id)
	require.NoError(b.t, err)
	told := make(chan error, 1)
	go func() { told <- call() }()
	b.waitsForLock()
	require.NoError(b.t, tx.Commit(b.t.Context()))
	return <-told
}

var strictLevels = []pgx.TxIsoLevel{pgx.RepeatableRead, pgx.Serializable}

// A database's default may be stricter than READ COMMITTED: whoever comes second
// gets the first one's attempt there too, and no serialization failure.
func TestStartAtStricterDefaults(t *testing.T) {
	t.Parallel()
	for _, level := range strictLevels {
		t.Run(string(level), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.strict(level)
			first, err := b.pool.Begin(t.Context())
			require.NoError(t, err)
			a, _, err := attempt.Start(t.Context(), first, b.kind, "r1", money{500})
			require.NoError(t, err)

			type answer struct {
				id      string
				started bool
				err     error
			}
			answers := make(chan answer, 1)
			go func() {
				got, started, err := attempt.Start(t.Context(), b.pool, b.kind, "r1", money{500})
				answers <- answer{got.ID, started, err}
			}()
			b.waitsForLock()
			require.NoError(t, first.Commit(t.Context()))
			require.Equal(t, answer{a.ID, false, nil}, <-answers)
			require.Equal(t, "started", b.notices())
		})
	}
}

func TestManyAtAStricterDefault(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.strict(pgx.RepeatableRead)
	const callers = 30
	ids, errs := make([]string, callers), make([]error, callers)
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			a, _, err := attempt.Start(t.Context(), b.pool, b.kind, "r1", money{500})
			ids[i], errs[i] = a.ID, err
		})
	}
	all.Wait()
	for i := range callers {
		require.NoError(t, errs[i])
		require.Equal(t, ids[0], ids[i])
	}
	for i := range callers {
		all.Go(func() { _, errs[i] = b.drive(ids[0]) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			require.ErrorIs(t, err, attempt.ErrBusy)
		}
	}
	require.Equal(t, []string{"r1 SUCCEEDED"}, b.done())
}

// Whatever commits by itself meets another transaction's change of its row: the
// claim, the record of an answer, the end of a round, and a person's command.
func TestRoundsAtStricterDefaults(t *testing.T) {
	t.Parallel()
	for _, level := range strictLevels {
		t.Run(string(level), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.strict(level)
			ask, answer := make(chan struct{}), error(nil)
			b.kind.Call = func(context.Context, attempt.Attempt) (attempt.Result, error) {
				ask <- struct{}{}
				<-ask
				return attempt.Result{}, answer
			}
			b.kind.Query = b.kind.Call
			round := func(id string) error { // touched at the claim, and after the answer
				told := make(chan error, 1)
				claimed := func() error {
					go func() { _, err := b.drive(id); told <- err }()
					select {
					case <-ask:
						return nil
					case err := <-told:
						return err
					}
				}
				require.NoError(t, b.behind(id, claimed))
				return b.behind(id, func() error { ask <- struct{}{}; return <-told })
			}
			a := b.start("r1")
			answer = attempt.ErrPending
			require.ErrorIs(t, round(a.ID), attempt.ErrPending, "put down")
			answer = nil
			require.NoError(t, round(a.ID), "recorded")
			require.Equal(t, []string{"r1 SUCCEEDED"}, b.done())

			stuck := b.start("r2")
			b.exec(`UPDATE fsm_attempts SET stuck_at = now(), due = NULL WHERE id = $1`, stuck.ID)
			require.NoError(t, b.behind(stuck.ID, func() error {
				return attempt.Resume(t.Context(), b.pool, stuck.ID, fsm.Correction{Actor: "ann", Reason: "the provider is back"})
			}))
			require.Equal(t, 1, b.count(`SELECT count(*) FROM fsm_audit`))
		})
	}
}

// In a transaction of the caller's the level is his, and the error says that the
// transaction may be run again.
func TestResumeInAStricterTransaction(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.start("r1")
	b.exec(`UPDATE fsm_attempts SET stuck_at = now(), due = NULL WHERE id = $1`, a.ID)
	tx, err := b.pool.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(context.Background()) }()
	_, err = tx.Exec(t.Context(), `SELECT count(*) FROM fsm_attempts`)
	require.NoError(t, err)
	b.exec(`UPDATE fsm_attempts SET last_error = 'touched' WHERE id = $1`, a.ID)
	err = attempt.Resume(t.Context(), tx, a.ID, fsm.Correction{Actor: "ann", Reason: "the provider is back"})
	require.True(t, fsm.Retryable(err), "%v", err)
	require.ErrorIs(t, err, fsm.ErrNothingDone)
}
