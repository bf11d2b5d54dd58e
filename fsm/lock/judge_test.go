package lock_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/fault"
	"github.com/pawl-go/pawl/fsm/lock"
	"github.com/pawl-go/pawl/internal/testdb"
)

// account is what is judged.
type account struct{ balance, version int }

func judge(ctx context.Context, tx pgx.Tx) (a account, err error) {
	err = tx.QueryRow(ctx, `SELECT balance, version FROM accounts WHERE id = 1`).Scan(&a.balance, &a.version)
	return a, err
}

// take takes one from the balance, guarded.
func take(ctx context.Context, tx pgx.Tx, a account, fence int64) (int64, error) {
	tag, err := tx.Exec(ctx, `UPDATE accounts SET balance = $1, version = version + 1, fence = $3
		WHERE id = 1 AND version = $2 AND fence < $3`, a.balance-1, a.version, fence)
	return tag.RowsAffected(), err
}

// naiveTake writes what was judged, and trusts the lock.
func naiveTake(ctx context.Context, tx pgx.Tx, a account, _ int64) (int64, error) {
	tag, err := tx.Exec(ctx, `UPDATE accounts SET balance = $1 WHERE id = 1`, a.balance-1)
	return tag.RowsAffected(), err
}

// fencedTake compares the fencing value alone, versionedTake the version alone.
func fencedTake(ctx context.Context, tx pgx.Tx, a account, fence int64) (int64, error) {
	tag, err := tx.Exec(ctx, `UPDATE accounts SET balance = $1, fence = $2 WHERE id = 1 AND fence < $2`, a.balance-1, fence)
	return tag.RowsAffected(), err
}

func versionedTake(ctx context.Context, tx pgx.Tx, a account, _ int64) (int64, error) {
	tag, err := tx.Exec(ctx, `UPDATE accounts SET balance = $1, version = version + 1 WHERE id = 1 AND version = $2`, a.balance-1, a.version)
	return tag.RowsAffected(), err
}

func balance(t *testing.T, pool *pgxpool.Pool) int {
	t.Helper()
	return count(t, pool, `SELECT balance FROM accounts WHERE id = 1`)
}

func TestLockJudgeUpdate(t *testing.T) {
	t.Parallel()
	pool := open(t, testdb.WithMaxConns(1)) // so the lock and the work share a connection
	l := postgres(t, pool, lasting)
	for want := 100; want > 97; want-- {
		a, err := lock.LockJudgeUpdate(t.Context(), l, pool, name, judge, take)
		require.NoError(t, err)
		require.Equal(t, want, a.balance)
	}
	require.Equal(t, 97, balance(t, pool))
	require.Equal(t, 3, count(t, pool, `SELECT fence FROM accounts`))
}

// With a locker on another database the work has a transaction of its own.
func TestLockJudgeUpdateOnAnotherDatabase(t *testing.T) {
	t.Parallel()
	pool := open(t)
	for range 3 {
		_, err := lock.LockJudgeUpdate(t.Context(), postgres(t, open(t), lasting), pool, "another name", judge,
			func(ctx context.Context, tx pgx.Tx, a account, _ int64) (int64, error) {
				return naiveTake(ctx, tx, a, 0)
			})
		require.NoError(t, err)
	}
	require.Equal(t, 97, balance(t, pool))
}

func TestLockJudgeUpdateFails(t *testing.T) {
	t.Parallel()
	pool := open(t)
	l := postgres(t, pool, lasting)
	noRow := func(ctx context.Context, tx pgx.Tx, _ account, _ int64) (int64, error) {
		_, err := tx.Exec(ctx, `UPDATE accounts SET balance = 0`) // which is rolled back
		return 0, err
	}
	_, err := lock.LockJudgeUpdate(t.Context(), l, pool, name, judge, noRow)
	require.ErrorIs(t, err, lock.ErrStale)
	_, err = lock.LockJudgeUpdate(t.Context(), l, pool, name, judge, func(context.Context, pgx.Tx, account, int64) (int64, error) { return 1, errBusiness })
	require.ErrorIs(t, err, errBusiness)
	_, err = lock.LockJudgeUpdate(t.Context(), l, pool, name, func(context.Context, pgx.Tx) (account, error) { return account{}, errBusiness }, take)
	require.ErrorIs(t, err, errBusiness)
	_, err = lock.LockJudgeUpdate(fault.With(t.Context(), lock.PointJudged, fault.Fail), l, pool, name, judge, take)
	require.ErrorIs(t, err, fault.ErrInjected)
	require.Equal(t, 100, balance(t, pool))
	_, release := hold(t, l, name)
	_, err = lock.LockJudgeUpdate(t.Context(), postgres(t, pool, impatient), pool, name, judge, take)
	require.ErrorIs(t, err, lock.ErrNotAcquired)
	require.NoError(t, release())
}

// What is judged after the wait is what the holder before left, though the
// database's own default is another level. A judgement in a REPEATABLE READ
// transaction that took the lock by hand is of before the wait.
func TestJudgesAfterTheWait(t *testing.T) {
	t.Parallel()
	pool := open(t)
	_, err := pool.Exec(t.Context(), `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = ''repeatable read''', current_database()); END $$`)
	require.NoError(t, err)
	pool.Reset()

	l := postgres(t, pool, lasting)
	judged := make(chan int, 2)
	inside, goOn := make(chan struct{}), make(chan struct{})
	first := func(ctx context.Context, tx pgx.Tx) (account, error) {
		close(inside)
		<-goOn
		return judge(ctx, tx)
	}
	done := make(chan error, 3)
	go func() {
		_, err := lock.LockJudgeUpdate(t.Context(), l, pool, name, first, take)
		done <- err
	}()
	<-inside
	go func() {
		a, err := lock.LockJudgeUpdate(t.Context(), postgres(t, pool, lasting), pool, name, judge, take)
		judged <- a.balance
		done <- err
	}()
	awaitWaiter(t, pool)
	naive, err := pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = naive.Exec(t.Context(), `SELECT 1`) // its snapshot
	require.NoError(t, err)
	close(goOn)
	for range 2 {
		require.NoError(t, <-done)
	}
	require.Equal(t, 99, <-judged)
	_, err = naive.Exec(t.Context(), `SELECT pg_advisory_xact_lock($1::int, 1)`, lock.Class)
	require.NoError(t, err)
	a, err := judge(t.Context(), naive)
	require.NoError(t, err)
	require.Equal(t, 100, a.balance, "the naive one judges what was")
	require.NoError(t, naive.Rollback(t.Context()))
	require.Equal(t, 98, balance(t, pool))
}

// alone gives the lock to whoever asks, as at the moment of a switch.
type alone struct{ fence int64 }

func (l alone) With(ctx context.Context, name string, fn func(context.Context, lock.Held) error) error {
	return fn(ctx, lock.NewHeld(name, l.fence))
}

// Two hold the lock at once. Whichever writes first, one alone does, in either
// order of their fencing values. Who trusts the lock loses an update, and so does who
// compares the fencing value alone and is the later of the two.
func TestTwoHoldersAtOnce(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name          string
		update        lock.Update[account]
		first, second int64
		want          int
		stale         bool
	}{
		{"the later holder writes first", take, 2, 1, 99, true},
		{"the earlier holder writes between", take, 1, 2, 99, true},
		{"naive", naiveTake, 1, 2, 99, false}, // two took one each
		{"fencing value alone", fencedTake, 1, 2, 99, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			pool := open(t)
			between := fault.With(t.Context(), lock.PointJudged, func(ctx context.Context) error {
				_, err := lock.LockJudgeUpdate(t.Context(), alone{tc.first}, pool, name, judge, tc.update)
				return err
			})
			_, err := lock.LockJudgeUpdate(between, alone{tc.second}, pool, name, judge, tc.update)
			if tc.stale {
				require.ErrorIs(t, err, lock.ErrStale)
			} else {
				require.NoError(t, err)
			}
			require.Equal(t, tc.want, balance(t, pool))
		})
	}
}

// A holder of before that reads and writes late, and finds its own version right,
// is kept out by its fencing value alone; one that compares the version is not.
func TestLateHolderIsKeptOut(t *testing.T) {
	t.Parallel()
	pool := open(t)
	_, err := lock.LockJudgeUpdate(t.Context(), alone{7}, pool, name, judge, take)
	require.NoError(t, err)
	for _, fence := range []int64{6, 7} {
		_, err = lock.LockJudgeUpdate(t.Context(), alone{fence}, pool, name, judge, take)
		require.ErrorIs(t, err, lock.ErrStale)
	}
	require.Equal(t, 99, balance(t, pool))
	_, err = lock.LockJudgeUpdate(t.Context(), alone{6}, pool, name, judge, versionedTake)
	require.NoError(t, err)
	require.Equal(t, 98, balance(t, pool), "the version alone")
}

// A lock that is lost after the commit is no error: the update was guarded.
func TestLostAfterCommit(t *testing.T) {
	t.Parallel()
	pool := open(t)
	l := lostAtEnd{}
	_, err := lock.LockJudgeUpdate(t.Context(), l, pool, name, judge, take)
	require.NoError(t, err)
	require.Equal(t, 99, balance(t, pool))
}

type lostAtEnd struct{}

func (lostAtEnd) With(ctx context.Context, name string, fn func(context.Context, lock.Held) error) error {
	if err := fn(ctx, lock.NewHeld(name, 1)); err != nil {
		return err
	}
	return lock.ErrLost
}

// A lock lost before the commit undoes what was done.
func TestLostBeforeCommit(t *testing.T) {
	t.Parallel()
	pool := open(t)
	l := postgres(t, pool, lock.Config{Wait: time.Minute, MaxHold: time.Millisecond})
	_, err := lock.LockJudgeUpdate(t.Context(), l, pool, name, func(ctx context.Context, tx pgx.Tx) (account, error) {
		a, err := judge(t.Context(), tx)
		<-ctx.Done()
		return a, err
	}, take)
	require.ErrorIs(t, err, lock.ErrLost)
	require.Equal(t, 100, balance(t, pool))
}
