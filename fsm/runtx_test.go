package fsm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// attempt gives the errors in turn, nil after the last one.
func attempt(db *fakeDB, errs ...error) func(context.Context, pgx.Tx) error {
	return func(context.Context, pgx.Tx) error {
		db.log = append(db.log, "fn")
		if len(errs) == 0 {
			return nil
		}
		err := errs[0]
		errs = errs[1:]
		return err
	}
}

// waits is a policy that writes its waits down instead of waiting.
func waits(attempts int) (TxPolicy, *[]time.Duration) {
	var log []time.Duration
	return TxPolicy{Attempts: attempts, Wait: func(_ context.Context, d time.Duration) error {
		log = append(log, d)
		return nil
	}}, &log
}

func TestRunTxRepeatsWhatIsRetryable(t *testing.T) {
	t.Parallel()
	db := &fakeDB{}
	p, log := waits(0)
	p.Options.IsoLevel = pgx.Serializable
	require.NoError(t, RunTx(t.Context(), db, p, attempt(db, server("ERROR", "40001"), &CallError{"order", "pay", ErrContended, nil})))
	require.Equal(t, []string{
		"serializable", "begin", "fn", "rollback",
		"serializable", "begin", "fn", "rollback",
		"serializable", "begin", "fn", "commit",
	}, db.log)
	require.Len(t, *log, 2)
	require.LessOrEqual(t, (*log)[0], 10*time.Millisecond)
	require.LessOrEqual(t, (*log)[1], 20*time.Millisecond)
}

func TestRunTxGivesUpAfterItsAttempts(t *testing.T) {
	t.Parallel()
	for attempts, want := range map[int]int{-1: 5, 0: 5, 1: 1, 3: 3} {
		db := &fakeDB{commitErr: server("ERROR", "40001")}
		p, log := waits(attempts)
		err := RunTx(t.Context(), db, p, attempt(db))
		require.ErrorIs(t, err, db.commitErr)
		require.ErrorIs(t, err, ErrNothingDone)
		require.True(t, Retryable(err), "the caller may go on trying")
		require.ErrorContains(t, err, fmt.Sprintf("after %d attempts: ", want))
		require.Len(t, *log, want-1)
		require.Len(t, db.log, 4*want)
	}
}

func TestRunTxRepeatsNothingElse(t *testing.T) {
	t.Parallel()
	unknown := &CallError{"order", "pay", ErrUnknown, io.EOF}
	for _, c := range []struct {
		name          string
		db            fakeDB
		fn, want, not error
		end           string
	}{
		{"an error of fn", fakeDB{}, errTest, errTest, ErrUnknown, "rollback"},
		{"an unknown outcome in fn", fakeDB{}, unknown, unknown, ErrNothingDone, "rollback"},
		{"a lost commit", fakeDB{commitErr: io.EOF}, nil, ErrUnknown, ErrNothingDone, "commit"},
		{"a commit refused", fakeDB{commitErr: server("ERROR", "23505")}, nil, ErrNothingDone, ErrUnknown, "commit"},
		{"a commit of a failed transaction", fakeDB{commitErr: pgx.ErrTxCommitRollback}, nil, ErrNothingDone, ErrUnknown, "commit"},
		{"no begin", fakeDB{beginErr: io.EOF}, nil, ErrNothingDone, ErrUnknown, "begin"},
	} {
		p, log := waits(9)
		err := RunTx(t.Context(), &c.db, p, attempt(&c.db, c.fn))
		require.ErrorIs(t, err, c.want, c.name)
		require.NotErrorIs(t, err, c.not, c.name)
		require.Equal(t, c.end, c.db.log[len(c.db.log)-1], c.name)
		require.Empty(t, *log, c.name)
	}
}

func TestRunTxWhenFnEndsTheTransaction(t *testing.T) {
	t.Parallel()
	p, log := waits(9)
	err := RunTx(t.Context(), &fakeDB{}, p, func(ctx context.Context, tx pgx.Tx) error { return tx.Commit(ctx) })
	require.ErrorIs(t, err, ErrUnknown)
	require.Empty(t, *log)
}

func TestRunTxWhenTheContextEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	db := &fakeDB{}
	p := TxPolicy{Wait: func(ctx context.Context, _ time.Duration) error { cancel(); return ctx.Err() }}
	err := RunTx(ctx, db, p, attempt(db, server("ERROR", "40P01")))
	require.ErrorIs(t, err, context.Canceled)
	require.True(t, Retryable(err), "the last failure is told too")
	require.Equal(t, []string{"", "begin", "fn", "rollback"}, db.log, "in a wait")

	ctx, cancel = context.WithCancel(t.Context())
	db = &fakeDB{}
	err = RunTx(ctx, db, p, func(context.Context, pgx.Tx) error { cancel(); return nil })
	require.ErrorIs(t, err, ErrNothingDone)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, []string{"", "begin", "rollback"}, db.log, "before COMMIT")
}

func TestRunTxRollsBackAPanic(t *testing.T) {
	t.Parallel()
	db := &fakeDB{}
	require.PanicsWithValue(t, "fn", func() {
		_ = RunTx(t.Context(), db, TxPolicy{}, func(context.Context, pgx.Tx) error { panic("fn") })
	})
	require.Equal(t, []string{"", "begin", "rollback"}, db.log)
}

func TestBackoffStaysInItsBounds(t *testing.T) {
	t.Parallel()
	for _, p := range []TxPolicy{
		{},
		{Base: 1, Max: math.MaxInt64},
		{Base: time.Hour, Max: 24 * time.Hour},
		{Base: time.Hour, Max: time.Minute},
		{Base: 3, Max: 1000},
		{Base: math.MaxInt64, Max: math.MaxInt64},
		{Base: -1, Max: -1},
	} {
		base, limit := p.Base, p.Max
		if base <= 0 {
			base = 10 * time.Millisecond
		}
		if limit <= 0 {
			limit = time.Second
		}
		for n := 1; n <= 100; n++ {
			want := new(big.Int).Lsh(big.NewInt(int64(base)), uint(n-1))
			if most := big.NewInt(int64(limit)); want.Cmp(most) > 0 {
				want = most
			}
			require.Equal(t, want.Int64(), int64(p.bound(n)), "%v, attempt %d", p, n)
			d := p.backoff(n)
			require.GreaterOrEqual(t, d, time.Duration(0))
			require.LessOrEqual(t, int64(d), want.Int64())
		}
	}
}

func TestBackoffReachesBothEndsOfItsRange(t *testing.T) {
	t.Parallel()
	seen := [3]bool{}
	p := TxPolicy{Base: 2, Max: 2}
	for range 1000 { // each end is missed with probability (2/3)^1000
		seen[p.backoff(1)] = true
	}
	require.Equal(t, [3]bool{true, true, true}, seen)
}

func TestRunTxWaitsByItself(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		db := &fakeDB{}
		require.NoError(t, RunTx(t.Context(), db, TxPolicy{Base: time.Hour, Max: time.Hour}, attempt(db, server("ERROR", "40001"))))
		require.LessOrEqual(t, time.Since(start), time.Hour)

		ctx, cancel := context.WithTimeout(t.Context(), 0)
		defer cancel()
		err := RunTx(ctx, db, TxPolicy{}, attempt(db, server("ERROR", "40001")))
		require.True(t, errors.Is(err, context.DeadlineExceeded))
	})
}

// joined begins savepoints of a transaction where RunTx asks for a transaction.
type joined struct{ pgx.Tx }

func (j joined) BeginTx(ctx context.Context, _ pgx.TxOptions) (pgx.Tx, error) { return j.Begin(ctx) }

func TestRunTxTakesATransactionThatMakesSavepoints(t *testing.T) {
	t.Parallel()
	db := &fakeDB{}
	p, _ := waits(2)
	tx := joined{&fakeTx{db: db}}
	require.NoError(t, RunTx(t.Context(), tx, p, attempt(db, &CallError{"order", "pay", ErrContended, nil})))
	require.Equal(t, []string{"savepoint 1", "fn", "rollback 1", "savepoint 1", "fn", "commit 1"}, db.log)
}
