package acceptance

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/relay"
	"github.com/pawl-go/pawl/gen/order"
)

// A transaction that was begun on a connection by hand is one of the caller's:
// an item that breaks the last statement undoes those of all others.
func TestABatchInATransactionBegunByHand(t *testing.T) {
	t.Parallel()
	s := open(t, key1, key2)
	pooled, err := s.pool.Acquire(t.Context())
	require.NoError(t, err)
	defer pooled.Release()
	bad := paying(key1, "P3", due)
	bad.Reason = "\x00"
	items := []order.PaymentSucceededItem{paying(key1, "P1", due), paying(key2, "P2", due), bad}
	for name, conn := range map[string]fsm.DB{"a connection": s.conn(), "a pool's connection": pooled} {
		t.Run(name, func(t *testing.T) {
			_, err := conn.Exec(t.Context(), "BEGIN")
			require.NoError(t, err)
			results, err := order.PaymentSucceededBatch(t.Context(), conn, items)
			require.ErrorIs(t, err, fsm.ErrNothingDone)
			require.Equal(t, "22021", sqlState(t, err))
			require.Equal(t, []string{"nothing was done", "nothing was done", "nothing was done"}, inShort(results))
			_, err = conn.Exec(t.Context(), "ROLLBACK")
			require.NoError(t, err)
			require.Equal(t, life{Row: "PENDING 1 0/0"}, s.life(key1))
			require.Equal(t, life{Row: "PENDING 1 0/0"}, s.life(key2))
		})
	}

	// Without BEGIN the same connection commits statement by statement.
	results, err := order.PaymentSucceededBatch(t.Context(), pooled, items)
	require.NoError(t, err)
	require.Equal(t, []string{"Applied PAID 2", "Applied PAID 2", "nothing was done"}, inShort(results))
}

// Rows of such a transaction are locked before the first statement, as in others.
func TestABatchLocksFirstInATransactionBegunByHand(t *testing.T) {
	t.Parallel()
	s := open(t, key1, key2)
	conn := s.conn()
	_, err := conn.Exec(t.Context(), "BEGIN")
	require.NoError(t, err)
	db := shownConn{&tracked{DB: conn}, conn}
	results, err := order.PaymentSucceededBatch(t.Context(), db, []order.PaymentSucceededItem{paying(key1, "P1", due), paying(key1, "P2", due)})
	require.NoError(t, err)
	require.Equal(t, []string{"Applied PAID 2", "Compensated PAID 2"}, inShort(results))
	require.Equal(t, []string{"OrderLockRows", "OrderPaymentSucceededBatch", "OrderPaymentSucceededBatch"}, db.names)
}

// shownConn is tracked that shows the connection below.
type shownConn struct {
	*tracked
	conn *pgx.Conn
}

func (c shownConn) Conn() *pgx.Conn { return c.conn }

// A privilege that is missing is missing for every item: the first statement
// ends the batch. A row that a policy refuses is that item's alone.
func TestABatchWithoutTheRight(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.insertOrders(1, 500)
	s.exec(`GRANT SELECT ON ALL TABLES IN SCHEMA public TO pg_monitor`)
	config := s.pool.Config()
	config.ConnConfig.RuntimeParams["role"] = "pg_monitor"
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	defer pool.Close()
	db := &tracked{DB: pool}
	results, err := order.PayBatch(t.Context(), db, payItems(1, 500))
	require.ErrorIs(t, err, fsm.ErrNothingDone)
	require.Equal(t, "42501", sqlState(t, err))
	require.Len(t, db.names, 1)
	for _, r := range results {
		require.ErrorIs(t, r.Err, fsm.ErrNothingDone)
	}

	s.exec(`GRANT ALL ON ALL TABLES IN SCHEMA public TO pg_monitor`)
	s.exec(`ALTER TABLE orders ENABLE ROW LEVEL SECURITY`)
	s.exec(`CREATE POLICY kept ON orders USING (true) WITH CHECK (order_id <> '` + string(keyOf(2)) + `')`)
	results, err = order.PayBatch(t.Context(), pool, payItems(1, 3))
	require.NoError(t, err)
	require.Equal(t, []string{"Applied PAYING 2", "nothing was done", "Applied PAYING 2"}, inShort(results))
	require.Equal(t, "42501", sqlState(t, results[1].Err))
}

// What would have to commit such a transaction refuses it, and leaves it as it is.
func TestNobodyCommitsATransactionBegunByHand(t *testing.T) {
	t.Parallel()
	s := open(t, key1)
	pooled, err := s.pool.Acquire(t.Context())
	require.NoError(t, err)
	defer pooled.Release()
	never := func(context.Context, pgx.Tx) error { t.Error("it ran"); return nil }
	type connection interface {
		fsm.DB
		fsm.TxBeginner
	}
	for name, conn := range map[string]connection{"a connection": s.conn(), "a pool's connection": pooled} {
		t.Run(name, func(t *testing.T) {
			_, err := conn.Exec(t.Context(), "BEGIN")
			require.NoError(t, err)
			_, err = order.Pay(t.Context(), conn, key1)
			require.NoError(t, err)
			_, err = order.Cancel(t.Context(), conn, key1, order.Then(func(ctx context.Context, tx pgx.Tx, _ order.Result) error { return never(ctx, tx) }))
			require.ErrorIs(t, err, fsm.ErrArgument)
			require.ErrorContains(t, err, "begun by hand")
			require.ErrorIs(t, fsm.RunTx(t.Context(), conn, fsm.TxPolicy{}, never), fsm.ErrArgument)
			decided := relay.Decision{Actor: "ann", Reason: "twice"}
			require.ErrorIs(t, relay.SetAside(t.Context(), conn, "order", string(key1), 1, decided), relay.ErrArgument)
			_, err = conn.Exec(t.Context(), "ROLLBACK")
			require.NoError(t, err)
			require.Equal(t, life{Row: "PENDING 1 0/0"}, s.life(key1))

			// Outside of one, the same connection serves.
			_, err = order.Pay(t.Context(), conn, key1, order.Then(func(context.Context, pgx.Tx, order.Result) error { return errEffect }))
			require.ErrorIs(t, err, errEffect)
		})
	}
	require.False(t, fsm.InTx((*pgxpool.Conn)(nil)) || fsm.InTx((*pgx.Conn)(nil)) || fsm.InTx(nil))
}
