package fsm

import (
	"context"
	"database/sql"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// fakeExecutor writes statements down, and fails those it is told to.
type fakeExecutor struct {
	SQLExecutor
	log  []string
	fail map[string]error
}

type affected int64

func (affected) LastInsertId() (int64, error)   { return 0, errTest }
func (n affected) RowsAffected() (int64, error) { return int64(n), nil }

func (x *fakeExecutor) ExecContext(ctx context.Context, query string, _ ...any) (sql.Result, error) {
	if err := ctx.Err(); err != nil { // as database/sql does
		return nil, err
	}
	x.log = append(x.log, query)
	return affected(3), x.fail[query]
}

func TestSQLTxSavepointsNest(t *testing.T) {
	t.Parallel()
	x := &fakeExecutor{}
	root := SQLTx(x)
	first, err := root.Begin(t.Context())
	require.NoError(t, err)
	inner, err := first.Begin(t.Context())
	require.NoError(t, err)
	second, err := root.Begin(t.Context())
	require.NoError(t, err)
	require.NoError(t, second.Commit(t.Context()))
	require.NoError(t, inner.Rollback(t.Context()))
	require.NoError(t, first.Commit(t.Context()))
	require.Equal(t, []string{
		"SAVEPOINT fsm_1", "SAVEPOINT fsm_2", "SAVEPOINT fsm_3", // no two of one name
		"RELEASE SAVEPOINT fsm_3",
		"ROLLBACK TO SAVEPOINT fsm_2", "RELEASE SAVEPOINT fsm_2",
		"RELEASE SAVEPOINT fsm_1",
	}, x.log)
}

func TestSQLTxClosedSavepoint(t *testing.T) {
	t.Parallel()
	for _, end := range []func(pgx.Tx, context.Context) error{pgx.Tx.Commit, pgx.Tx.Rollback} {
		x := &fakeExecutor{}
		tx, err := SQLTx(x).Begin(t.Context())
		require.NoError(t, err)
		require.NoError(t, end(tx, t.Context()))
		sent := len(x.log)

		require.ErrorIs(t, tx.Commit(t.Context()), pgx.ErrTxClosed)
		require.ErrorIs(t, tx.Rollback(t.Context()), pgx.ErrTxClosed)
		_, err = tx.Begin(t.Context())
		require.ErrorIs(t, err, pgx.ErrTxClosed)
		_, err = tx.Exec(t.Context(), "SELECT 1")
		require.ErrorIs(t, err, pgx.ErrTxClosed)
		rows, err := tx.Query(t.Context(), "SELECT 1")
		require.ErrorIs(t, err, pgx.ErrTxClosed)
		require.ErrorIs(t, rows.Err(), pgx.ErrTxClosed)
		require.ErrorIs(t, tx.QueryRow(t.Context(), "SELECT 1").Scan(), pgx.ErrTxClosed)
		require.Len(t, x.log, sent, "nothing is sent any more")
	}
}

func TestSQLTxFailures(t *testing.T) {
	t.Parallel()
	x := &fakeExecutor{fail: map[string]error{"SAVEPOINT fsm_1": errTest, "RELEASE SAVEPOINT fsm_2": errTest, "ROLLBACK TO SAVEPOINT fsm_3": errTest, "bad": errTest}}
	root := SQLTx(x)
	_, err := root.Begin(t.Context())
	require.ErrorIs(t, err, errTest)

	tx, err := root.Begin(t.Context())
	require.NoError(t, err)
	require.ErrorIs(t, tx.Commit(t.Context()), errTest)
	require.ErrorIs(t, tx.Rollback(t.Context()), errTest, "it was rolled back, yet could not be released")
	require.Contains(t, x.log, "ROLLBACK TO SAVEPOINT fsm_2", "a savepoint that was not released can be rolled back")

	tx, err = root.Begin(t.Context())
	require.NoError(t, err)
	require.ErrorIs(t, tx.Rollback(t.Context()), errTest)
	require.NotContains(t, x.log, "RELEASE SAVEPOINT fsm_3", "what could not be undone is not kept")

	_, err = root.Exec(t.Context(), "bad")
	require.ErrorIs(t, err, errTest)
}

func TestSQLTxRunsACallWithThen(t *testing.T) {
	t.Parallel()
	x := &fakeExecutor{}
	_, err := fire(t.Context(), SQLTx(x), answers("Applied"), Then(func(ctx context.Context, tx pgx.Tx, _ Result[state, row]) error {
		tag, err := tx.Exec(ctx, "\n  update\tstock SET n = n - 1")
		require.Equal(t, "UPDATE 3", tag.String())
		require.Equal(t, int64(3), tag.RowsAffected())
		return err
	}))
	require.NoError(t, err)
	require.Equal(t, []string{"SAVEPOINT fsm_1", "\n  update\tstock SET n = n - 1", "RELEASE SAVEPOINT fsm_1"}, x.log)
}

// The inner call wraps the transaction anew, so its savepoint has the name of
// the outer one; the outer rollback must find its own.
func TestSQLTxWrappedTwice(t *testing.T) {
	t.Parallel()
	x := &fakeExecutor{}
	fails := Then(func(context.Context, pgx.Tx, Result[state, row]) error { return errTest })
	_, err := fire(t.Context(), SQLTx(x), answers("Applied"), Then(func(ctx context.Context, _ pgx.Tx, _ Result[state, row]) error {
		_, err := fire(ctx, SQLTx(x), answers("Applied"), fails)
		return err
	}))
	require.ErrorIs(t, err, errTest)
	require.Equal(t, []string{
		"SAVEPOINT fsm_1", "SAVEPOINT fsm_1",
		"ROLLBACK TO SAVEPOINT fsm_1", "RELEASE SAVEPOINT fsm_1",
		"ROLLBACK TO SAVEPOINT fsm_1", "RELEASE SAVEPOINT fsm_1",
	}, x.log)
}

func TestSQLTxLeavesTheTransactionToItsOwner(t *testing.T) {
	t.Parallel()
	x := &fakeExecutor{}
	tx, ok := SQLTx(x).(pgx.Tx)
	require.True(t, ok)
	require.ErrorIs(t, tx.Commit(t.Context()), ErrUnsupported)
	require.ErrorIs(t, tx.Rollback(t.Context()), ErrUnsupported)
	tag, err := tx.Exec(t.Context(), "")
	require.NoError(t, err, "and it is still open")
	require.Equal(t, int64(3), tag.RowsAffected())
}

func TestSQLTxUnsupported(t *testing.T) {
	t.Parallel()
	tx, err := SQLTx(&fakeExecutor{}).Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.CopyFrom(t.Context(), pgx.Identifier{"t"}, []string{"c"}, pgx.CopyFromRows(nil))
	require.ErrorIs(t, err, ErrUnsupported)
	_, err = tx.Prepare(t.Context(), "name", "SELECT 1")
	require.ErrorIs(t, err, ErrUnsupported)
	batch := &pgx.Batch{}
	batch.Queue("SELECT 1")
	_, err = tx.SendBatch(t.Context(), batch).Exec()
	require.ErrorIs(t, err, ErrUnsupported)
	objects := tx.LargeObjects()
	_, err = objects.Create(t.Context(), 0)
	require.ErrorIs(t, err, pgx.ErrTxClosed)
	_, err = objects.Open(t.Context(), 1, pgx.LargeObjectModeRead)
	require.ErrorIs(t, err, pgx.ErrTxClosed)
	require.ErrorIs(t, objects.Unlink(t.Context(), 1), pgx.ErrTxClosed)
	require.Nil(t, tx.Conn())
}
