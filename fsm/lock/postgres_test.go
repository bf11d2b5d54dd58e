package lock_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/fault"
	"github.com/pawl-go/pawl/fsm/lock"
	"github.com/pawl-go/pawl/internal/testdb"
)

func TestOneAtATime(t *testing.T) {
	t.Parallel()
	pool := open(t)
	lockers := []*lock.Postgres{postgres(t, pool, lasting), postgres(t, pool, lasting)} // as if of two processes
	var inside, ran atomic.Int32
	var last atomic.Int64
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			err := lockers[i%2].With(t.Context(), name, func(_ context.Context, held lock.Held) error {
				if n := inside.Add(1); n != 1 {
					t.Errorf("%d at once", n)
				}
				if before := last.Swap(held.Fence()); before >= held.Fence() {
					t.Errorf("fence %d after %d", held.Fence(), before)
				}
				ran.Add(1)
				inside.Add(-1)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 20, ran.Load())
	require.Zero(t, advisory(t, pool))
}

func TestErrorsAndPanicsRelease(t *testing.T) {
	t.Parallel()
	pool := open(t)
	l := postgres(t, pool, impatient)
	for range 2 {
		err := l.With(t.Context(), name, func(_ context.Context, held lock.Held) error {
			require.Equal(t, name, held.Name())
			require.Equal(t, 1, advisory(t, pool))
			return errBusiness
		})
		require.Equal(t, errBusiness, err)
		require.Panics(t, func() {
			_ = l.With(t.Context(), name, func(context.Context, lock.Held) error { panic("bug") })
		})
		err = l.With(fault.With(t.Context(), lock.PointAcquired, fault.Fail), name, never(t))
		require.ErrorIs(t, err, fault.ErrInjected)
	}
	require.NoError(t, l.With(t.Context(), name, nothing))
	require.Zero(t, advisory(t, pool))
	require.Zero(t, pool.Stat().AcquiredConns())
}

// Waiting has a bound, in this process and beside it, and leaves nothing behind.
func TestWaitIsBounded(t *testing.T) {
	t.Parallel()
	pool := open(t)
	l := postgres(t, pool, impatient)
	_, release := hold(t, l, name)
	for _, waiting := range []*lock.Postgres{l, postgres(t, pool, impatient)} {
		require.ErrorIs(t, waiting.With(t.Context(), name, never(t)), lock.ErrNotAcquired)
		require.NoError(t, waiting.With(t.Context(), "another", nothing))
	}
	require.NoError(t, release())
	require.NoError(t, l.With(t.Context(), name, nothing))
}

// Callers of one process wait without connections, and the wait for a connection
// is part of the wait.
func TestWaitersOfOneProcessNeedNoConnections(t *testing.T) {
	t.Parallel()
	pool := open(t, testdb.WithMaxConns(2))
	l := postgres(t, pool, lasting)
	_, release := hold(t, l, name)
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			if err := l.With(t.Context(), name, nothing); err != nil {
				t.Error(err)
			}
		})
	}
	require.Equal(t, 1, count(t, pool, `SELECT 1`), "the second connection is free")
	_, releaseOther := hold(t, l, "another")
	require.ErrorIs(t, postgres(t, pool, impatient).With(t.Context(), "third", never(t)), lock.ErrNotAcquired)
	require.NoError(t, releaseOther())
	require.NoError(t, release())
	wg.Wait()
}

// A session's advisory lock, taken and freed through a pool, is freed on another
// session, or not at all: it stays. A transaction's goes with it.
func TestPoolOfTwoLeaksNothing(t *testing.T) {
	t.Parallel()
	pool := open(t, testdb.WithMaxConns(2))
	ctx := t.Context()
	first, err := pool.Acquire(ctx)
	require.NoError(t, err)
	_, err = pool.Exec(ctx, `SELECT pg_advisory_lock(1)`) // on the second session
	require.NoError(t, err)
	second, err := pool.Acquire(ctx)
	require.NoError(t, err)
	first.Release()
	var freed bool
	require.NoError(t, pool.QueryRow(ctx, `SELECT pg_advisory_unlock(1)`).Scan(&freed)) // on the first
	require.False(t, freed, "the naive one leaks")
	second.Release()

	l, other := postgres(t, pool, lasting), postgres(t, pool, lasting)
	var wg sync.WaitGroup
	for range 10 {
		for _, l := range []*lock.Postgres{l, other} {
			wg.Go(func() {
				if err := l.With(ctx, name, nothing); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	require.Zero(t, advisory(t, pool))
	require.NoError(t, postgres(t, pool, impatient).With(ctx, name, nothing))
}

// The function takes a connection of the pool and keeps it past the lock's end. A
// lock that went back to the pool with its connection is then out of reach: its
// unlock goes to another session, and is refused. Ours keeps its connection.
func TestTheConnectionIsKeptWithTheLock(t *testing.T) {
	t.Parallel()
	pool := open(t, testdb.WithMaxConns(2))
	ctx := t.Context()
	var kept *pgxpool.Conn
	keep := func(ctx context.Context, _ lock.Held) (err error) {
		kept, err = pool.Acquire(ctx)
		return err
	}
	var freed bool
	naive := func() {
		_, err := pool.Exec(ctx, `SELECT pg_advisory_lock($1::int, 1)`, lock.Class)
		require.NoError(t, err)
		require.NoError(t, keep(ctx, lock.Held{}))
		require.NoError(t, pool.QueryRow(ctx, `SELECT pg_advisory_unlock($1::int, 1)`, lock.Class).Scan(&freed))
	}
	naive()
	require.False(t, freed)
	require.Equal(t, 1, advisory(t, pool), "the naive one leaks")
	require.NoError(t, kept.QueryRow(ctx, `SELECT pg_advisory_unlock($1::int, 1)`, lock.Class).Scan(&freed))
	require.True(t, freed)
	kept.Release()

	l := postgres(t, pool, lasting)
	require.NoError(t, l.With(ctx, name, keep))
	require.Zero(t, advisory(t, pool))
	kept.Release()
	require.NoError(t, l.With(ctx, name, nothing))
}

// The lock goes with its connection: the holder learns of it and the next has it.
func TestLostConnectionIsTold(t *testing.T) {
	t.Parallel()
	pool := open(t)
	l := postgres(t, pool, lock.Config{Wait: time.Minute, MaxHold: time.Hour, Check: 5 * time.Millisecond})
	err := l.With(t.Context(), name, func(ctx context.Context, _ lock.Held) error {
		require.Equal(t, 1, count(t, pool, cutHolders))
		<-ctx.Done()
		require.ErrorIs(t, context.Cause(ctx), lock.ErrLost)
		return ctx.Err()
	})
	require.ErrorIs(t, err, lock.ErrLost)
	require.ErrorIs(t, err, context.Canceled)

	unwatched := postgres(t, pool, lasting) // whose end tells
	err = unwatched.With(t.Context(), name, func(context.Context, lock.Held) error {
		_, err := pool.Exec(t.Context(), cutHolders)
		return err
	})
	require.ErrorIs(t, err, lock.ErrLost)
}

// A lock is held for no longer than is allowed.
func TestMaxHold(t *testing.T) {
	t.Parallel()
	pool := open(t)
	l := postgres(t, pool, lock.Config{Wait: time.Minute, MaxHold: time.Millisecond})
	until := func(ctx context.Context) error {
		<-ctx.Done()
		require.ErrorIs(t, context.Cause(ctx), lock.ErrLost)
		return nil // as if it had not looked
	}
	err := l.With(t.Context(), name, func(ctx context.Context, _ lock.Held) error { return until(ctx) })
	require.ErrorIs(t, err, lock.ErrLost)
	err = l.WithTx(t.Context(), name, func(ctx context.Context, tx pgx.Tx, _ lock.Held) error {
		_, err := tx.Exec(t.Context(), `UPDATE accounts SET balance = 0`)
		require.NoError(t, err)
		return until(ctx)
	})
	require.ErrorIs(t, err, lock.ErrLost)
	require.Equal(t, 100, count(t, pool, `SELECT balance FROM accounts`))
}

func TestInTx(t *testing.T) {
	t.Parallel()
	pool := open(t)
	in := func(level pgx.TxIsoLevel, wait time.Duration) (was string, err error) {
		tx, err := pool.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: level})
		require.NoError(t, err)
		defer func() { require.NoError(t, tx.Rollback(t.Context())) }()
		_, err = tx.Exec(t.Context(), `SET LOCAL lock_timeout = '1234ms'`)
		require.NoError(t, err)
		if _, err = lock.InTx(t.Context(), tx, name, wait); err == nil {
			require.NoError(t, tx.QueryRow(t.Context(), `SHOW lock_timeout`).Scan(&was))
		}
		return was, err
	}
	was, err := in(pgx.ReadCommitted, time.Minute)
	require.NoError(t, err)
	require.Equal(t, "1234ms", was, "the caller's own is put back")
	_, err = in(pgx.ReadCommitted, 1000*time.Hour)
	require.NoError(t, err)
	for _, level := range []pgx.TxIsoLevel{pgx.RepeatableRead, pgx.Serializable} {
		_, err = in(level, time.Minute)
		require.ErrorIs(t, err, lock.ErrIsolation)
	}
	for _, wait := range []time.Duration{0, -time.Second, time.Microsecond} {
		_, err = in(pgx.ReadCommitted, wait)
		require.ErrorIs(t, err, fsm.ErrArgument)
	}
}

func TestArguments(t *testing.T) {
	t.Parallel()
	for _, c := range []lock.Config{{}, {MaxHold: -1}, {MaxHold: 1, Wait: -1}, {MaxHold: 1, Check: -1}} {
		_, err := lock.NewPostgres(nil, c)
		require.ErrorIs(t, err, fsm.ErrArgument)
	}
	l := postgres(t, nil, lasting)
	for _, bad := range []string{"", "sesame\x00", "sesame\n", "sesame\xff", strings.Repeat("sesame", 2000)} {
		err := l.With(t.Context(), bad, never(t))
		require.ErrorIs(t, err, fsm.ErrArgument)
		require.NotContains(t, err.Error(), "sesame")
	}
	require.NoError(t, lock.CheckName(strings.Repeat("é", 128)))
}

func TestMissingSequence(t *testing.T) {
	t.Parallel()
	err := postgres(t, testdb.New(t), lasting).With(t.Context(), name, never(t))
	require.ErrorIs(t, err, lock.ErrUnavailable)
	require.ErrorIs(t, err, lock.ErrTables)
	require.ErrorContains(t, err, "`fsmgen tables lock`")
}

// Waiters that give up leave no goroutine behind.
func TestGateLeavesNothing(t *testing.T) { // counts goroutines, so not parallel
	before := goleak.IgnoreCurrent()
	var g lock.Gate
	leave, err := g.Enter(t.Context(), name)
	require.NoError(t, err)
	ctx, cancel := context.WithCancelCause(t.Context())
	errs := make(chan error, 50)
	for range cap(errs) {
		go func() {
			_, err := g.Enter(ctx, name)
			errs <- err
		}()
	}
	cancel(lock.ErrNotAcquired)
	for range cap(errs) {
		require.ErrorIs(t, <-errs, lock.ErrNotAcquired)
	}
	leave()
	goleak.VerifyNone(t, before)
	again, err := g.Enter(t.Context(), name)
	require.NoError(t, err)
	again()
}
