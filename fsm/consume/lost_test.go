package consume_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/consume"
)

// lossy is a database whose COMMIT of the work is answered by an error, after or
// instead of taking effect.
type lossy struct {
	*pgxpool.Pool
	commits bool
}

func (l lossy) BeginTx(ctx context.Context, o pgx.TxOptions) (pgx.Tx, error) {
	tx, err := l.Pool.BeginTx(ctx, o)
	return lossyTx{tx, l.commits}, err
}

type lossyTx struct {
	pgx.Tx
	commits bool
}

func (l lossyTx) Commit(ctx context.Context) error {
	if l.commits {
		if err := l.Tx.Commit(ctx); err != nil {
			return err
		}
	} else if err := l.Tx.Rollback(ctx); err != nil {
		return err
	}
	return &pgconn.PgError{Severity: "FATAL", Code: "57P01", Message: "terminating connection"}
}

// The answer to a COMMIT is lost: the claim's row says whether it took effect.
func TestLostCommit(t *testing.T) {
	t.Parallel()
	c, db := newConsumer(t)
	c.DB = lossy{db, true}
	out, err := c.Consume(t.Context(), "k", message("k"), effect)
	require.NoError(t, err)
	require.Equal(t, consume.Done, out)
	require.Equal(t, 1, effects(t, db, "k"))

	both := []consume.Item{{Key: "b", Message: message("b")}, {Key: "c", Message: message("c")}}
	require.Equal(t, []consume.Result{{Outcome: consume.Done}, {Outcome: consume.Done}}, c.ConsumeBatch(t.Context(), both, effect))
	require.Equal(t, 1, effects(t, db, "c"))

	c.DB = lossy{db, false}
	for _, r := range c.ConsumeBatch(t.Context(), []consume.Item{{Key: "x", Message: message("x")}, {Key: "y", Message: message("y")}}, effect) {
		require.Equal(t, consume.Failed, r.Outcome)
		require.ErrorIs(t, r.Err, fsm.ErrUnknown)
	}
	require.Equal(t, 0, effects(t, db, "x"))
	state, _ := claim(t, db, "x")
	require.Equal(t, "failed", state, "certainly nothing was done, so it may come again at once")
}

// deaf is a database of which the answer to the first query, the claim, is lost.
type deaf struct{ *pgxpool.Pool }

func (d deaf) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	rows, err := d.Pool.Query(ctx, sql, args...)
	if err == nil {
		rows.Close() // it took effect
	}
	return noRows{rows}, err
}

type noRows struct{ pgx.Rows }

func (noRows) Next() bool { return false }
func (noRows) Err() error { return errBoom }

// The answer to the claim is lost: the claim is given back, and the message need not
// wait for the end of a lease that nobody knows of.
func TestLostClaim(t *testing.T) {
	t.Parallel()
	c, db := newConsumer(t)
	c.DB = deaf{db}
	out, err := c.Consume(t.Context(), "k", message("k"), never(t))
	require.ErrorIs(t, err, errBoom)
	require.Equal(t, consume.Failed, out)
	state, tries := claim(t, db, "k")
	require.Equal(t, "failed", state)
	require.Equal(t, 0, tries)
}
