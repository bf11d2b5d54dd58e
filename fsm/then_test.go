package fsm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

func TestThenRunsOnAppliedAlone(t *testing.T) {
	t.Parallel()
	for _, o := range Outcomes() {
		db := &fakeDB{}
		r, err := fire(t.Context(), db, answers(string(o)), then(db, nil))
		require.NoError(t, err)
		require.Equal(t, o, r.Outcome)
		if o == Applied {
			require.Equal(t, []string{"begin", "then", "commit"}, db.log)
		} else {
			require.Equal(t, []string{"begin", "commit"}, db.log, o)
		}
	}
}

func TestThenSharesTheTransactionOfTheStatement(t *testing.T) {
	t.Parallel()
	s := answers("Applied")
	r, err := fire(t.Context(), &fakeDB{}, s, Then(func(_ context.Context, tx pgx.Tx, r Result[state, row]) error {
		require.Same(t, tx, s.dbs[0])
		require.Equal(t, Result[state, row]{Machine: "order", Event: "pay", Outcome: Applied, State: "PAID", Version: 2, Row: row{"k"}}, r)
		return nil
	}))
	require.NoError(t, err)
	require.Equal(t, int64(2), r.Version)
}

func TestNoThenIsNoTransaction(t *testing.T) {
	t.Parallel()
	db := &fakeDB{}
	_, err := fire(t.Context(), db, answers("Applied"), Then[state, row](nil))
	require.NoError(t, err)
	require.Empty(t, db.log)
}

func TestTheLastThenCounts(t *testing.T) {
	t.Parallel()
	db := &fakeDB{}
	_, err := fire(t.Context(), db, answers("Applied"), then(db, errTest), then(db, nil))
	require.NoError(t, err)
	require.Equal(t, []string{"begin", "then", "commit"}, db.log)
}

func TestThenErrorRollsBack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err       error
		retryable bool
	}{
		{errTest, false},
		{fmt.Errorf("stock: %w", server("ERROR", "40001")), true},
		{fmt.Errorf("stock: %w", server("ERROR", "23514")), false},
	} {
		db := &fakeDB{}
		r, err := fire(t.Context(), db, answers("Applied"), then(db, c.err))
		require.Zero(t, r)
		require.ErrorIs(t, err, c.err)
		require.EqualError(t, err, "order pay: then: "+c.err.Error())
		require.NotErrorIs(t, err, ErrUnknown)
		require.Equal(t, c.retryable, Retryable(err))
		require.Equal(t, []string{"begin", "then", "rollback"}, db.log)
	}
}

func TestPanicsRollBackAndGoOn(t *testing.T) {
	t.Parallel()
	db := &fakeDB{}
	require.PanicsWithValue(t, "then", func() {
		_, _ = fire(t.Context(), db, answers("Applied"), Then(func(context.Context, pgx.Tx, Result[state, row]) error {
			panic("then")
		}))
	})
	require.Equal(t, []string{"begin", "rollback"}, db.log)

	db = &fakeDB{}
	require.PanicsWithValue(t, "run", func() {
		_, _ = Fire(t.Context(), db, pay, []Option{then(db, nil)}, nil, func(context.Context, DB, *Call) (reply, error) {
			panic("run")
		})
	})
	require.Equal(t, []string{"begin", "rollback"}, db.log)
}

func TestAFailedStatementRollsBack(t *testing.T) {
	t.Parallel()
	for _, s := range []*script{{err: pgx.ErrNoRows}, {err: errTest}, answers("UnknownState"), answers("BadArgument amount"), answers(answerRaced)} {
		db := &fakeDB{}
		_, err := fire(t.Context(), db, s, then(db, nil))
		require.Error(t, err)
		require.Equal(t, []string{"begin", "rollback"}, db.log)
	}
}

func TestBeginFails(t *testing.T) {
	t.Parallel()
	db := &fakeDB{beginErr: io.ErrUnexpectedEOF}
	s := answers("Applied")
	_, err := fire(t.Context(), db, s, then(db, nil))
	require.ErrorIs(t, err, ErrNothingDone, "even when BEGIN was lost")
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.NotErrorIs(t, err, ErrUnknown)
	require.Zero(t, s.runs)
	require.Equal(t, []string{"begin"}, db.log)
}

func TestCommitFails(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err, kind error
		retryable bool
	}{
		{io.ErrUnexpectedEOF, ErrUnknown, false},
		{context.Canceled, ErrUnknown, false}, // what pgx returns once COMMIT was sent
		{server("FATAL", "57P01"), ErrUnknown, false},
		{server("ERROR", "40001"), ErrNothingDone, true},
		{server("ERROR", "23505"), ErrNothingDone, false}, // a deferred constraint
		{pgx.ErrTxCommitRollback, ErrNothingDone, false},
		{unsent{errTest}, ErrNothingDone, true},
	} {
		db := &fakeDB{commitErr: c.err}
		r, err := fire(t.Context(), db, answers("Applied"), then(db, nil))
		require.Zero(t, r)
		require.ErrorIs(t, err, c.kind, c.err)
		require.ErrorIs(t, err, c.err)
		require.Equal(t, c.retryable, Retryable(err), c.err)
		require.Equal(t, []string{"begin", "then", "commit"}, db.log)
	}
}

func TestThenThatEndsTheTransactionLeavesTheOutcomeUnknown(t *testing.T) {
	t.Parallel()
	for _, end := range []func(pgx.Tx, context.Context) error{pgx.Tx.Commit, pgx.Tx.Rollback} {
		_, err := fire(t.Context(), &fakeDB{}, answers("Applied"), Then(func(ctx context.Context, tx pgx.Tx, _ Result[state, row]) error {
			bounded, cancel := context.WithTimeout(ctx, endTimeout)
			defer cancel()
			return end(tx, bounded)
		}))
		require.ErrorIs(t, err, ErrUnknown)
		require.ErrorIs(t, err, pgx.ErrTxClosed)
		require.False(t, Retryable(err))
	}
}

func TestAContextThatEndsBeforeCommitRollsBack(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*fakeDB) DB{
		"pool":      func(d *fakeDB) DB { return d },
		"savepoint": func(d *fakeDB) DB { return &fakeTx{db: d} },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		d := &fakeDB{}
		_, err := fire(ctx, open(d), answers("Applied"), Then(func(context.Context, pgx.Tx, Result[state, row]) error {
			cancel()
			return nil
		}))
		require.ErrorIs(t, err, ErrNothingDone, name)
		require.ErrorIs(t, err, context.Canceled)
		require.Len(t, d.log, 2)
		require.Contains(t, []string{"rollback", "rollback 1"}, d.log[1], "by a context that has not ended")
	}
}

func TestASavepointIsReleasedEvenWhenTheContextEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	d := &fakeDB{onCommit: cancel}
	_, err := fire(ctx, &fakeTx{db: d}, answers("Applied"), then(d, nil))
	require.NoError(t, err)
	require.Equal(t, []string{"savepoint 1", "then", "commit 1"}, d.log)

	ctx, cancel = context.WithCancel(t.Context())
	d = &fakeDB{onCommit: cancel}
	_, err = fire(ctx, d, answers("Applied"), then(d, nil))
	require.NoError(t, err)
	require.Equal(t, []string{"begin", "then", "commit with a dead context"}, d.log, "a real COMMIT listens to the caller")
}

func TestASavepointThatCannotBeReleased(t *testing.T) {
	t.Parallel()
	d := &fakeDB{commitErr: server("ERROR", "25P02")}
	_, err := fire(t.Context(), &fakeTx{db: d}, answers("Applied"), then(d, nil))
	require.ErrorIs(t, err, ErrNothingDone, "the transaction was aborted already")
	var call *CallError
	require.True(t, errors.As(err, &call))
	require.Equal(t, d.commitErr, call.Err)
}
