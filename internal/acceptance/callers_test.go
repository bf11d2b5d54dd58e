package acceptance

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

const (
	callers  = 64
	poolSize = 16
)

// takeStock is what hangs on a payment: stock down, points up.
func takeStock(ctx context.Context, tx pgx.Tx, r order.Result) error {
	if _, err := tx.Exec(ctx, `UPDATE shop_stock SET quantity = quantity - $2 WHERE sku = $1 AND quantity >= $2`,
		r.Row.Sku, r.Row.Quantity); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `INSERT INTO shop_points (order_id, kind, customer_id, points) VALUES ($1, 'paid', $2, $3)`,
		string(r.Row.OrderID), r.Row.CustomerID, r.Row.TotalCents)
	return err
}

// All callers wait for one row, which a session holds until they do; then they go.
func TestManyCallersOfOneEvent(t *testing.T) {
	t.Parallel()
	s := open(t)
	pool, connections := samePool(s), ownConnections(s)
	plain := func(a act) act { return a }
	payment, pay := paid(key1, "P1", due, order.Then(takeStock)), event(order.Pay, key1, order.Then(takeStock))
	paidOnce := life{"PAID 2 100/0", "payment_succeeded:PENDING>PAID", "P1=Applied", "order_paid"}
	payingOnce := life{Row: "PAYING 2 0/0", History: "pay:PENDING>PAYING"}
	naively := life{Row: "PAID 2 100/0"}
	for _, tc := range []struct {
		name         string
		dbs          []fsm.DB
		waiters      int
		way          func(act) act
		call         act
		first, other string
		life         life
		effects      string
	}{
		{"a fact, over a pool", pool, poolSize, plain, payment, "Applied PAID 2", "Replayed PAID 2", paidOnce, "9 1"},
		{"a fact, over connections", connections, callers, plain, payment, "Applied PAID 2", "Replayed PAID 2", paidOnce, "9 1"},
		{"a fact, in callers' transactions", connections, callers, inTransaction, payment, "Applied PAID 2", "Replayed PAID 2", paidOnce, "9 1"},
		{"an event, over a pool", pool, poolSize, plain, pay, "Applied PAYING 2", "Replayed PAYING 2", payingOnce, "9 1"},
		{"an event, over connections", connections, callers, plain, pay, "Applied PAYING 2", "Replayed PAYING 2", payingOnce, "9 1"},
		{"an event, in callers' transactions", connections, callers, inTransaction, pay, "Applied PAYING 2", "Replayed PAYING 2", payingOnce, "9 1"},
		{"naive", connections, callers, plain, snapshotFallback(key1, "P1"), "Applied PAID 2", "Replayed PENDING 1", naively, "10 0"},
	} {
		t.Run(tc.name, func(t *testing.T) { // one after another, on the same connections
			s := &shop{t, s.pool}
			s.again(key1)
			s.exec(`INSERT INTO shop_stock VALUES ('tea', 10) ON CONFLICT (sku) DO UPDATE SET quantity = 10`)
			held := s.begin(pgx.TxOptions{})
			_, err := held.Exec(t.Context(), `SELECT FROM orders FOR NO KEY UPDATE`)
			require.NoError(t, err)
			var calls []<-chan answer
			for _, db := range tc.dbs {
				calls = append(calls, start(t.Context(), db, tc.way(tc.call)))
			}
			waitUntilWaiting(t, s.pool, tc.waiters, calls[0])
			require.NoError(t, held.Rollback(t.Context()))

			got := map[string]int{}
			for _, done := range calls {
				a := finish(t, done)
				require.NoError(t, a.err)
				got[a.told]++
			}
			require.Equal(t, map[string]int{tc.first: 1, tc.other: callers - 1}, got)
			require.Equal(t, tc.life, s.life(key1))
			require.Equal(t, tc.effects, s.text(`SELECT concat_ws(' ', (SELECT quantity FROM shop_stock), (SELECT count(*) FROM shop_points))`))
		})
	}
}

// samePool is one pool for all callers.
func samePool(s *shop) []fsm.DB {
	config := s.pool.Config()
	config.MaxConns = poolSize
	pool := newPool(s.t, config)
	dbs := make([]fsm.DB, callers)
	for i := range dbs {
		dbs[i] = pool
	}
	return dbs
}

// ownConnections is a connection for each caller.
func ownConnections(s *shop) []fsm.DB {
	dbs := make([]fsm.DB, callers)
	for i := range dbs {
		dbs[i] = s.conn()
	}
	return dbs
}

// inTransaction makes the call in a transaction of the caller's.
func inTransaction(a act) act {
	return func(ctx context.Context, db fsm.DB) (string, error) {
		tx, err := db.Begin(ctx)
		if err != nil {
			return "", err
		}
		defer func() { _ = tx.Rollback(context.Background()) }()
		got, err := a(ctx, tx)
		if err != nil {
			return "", err
		}
		return got, tx.Commit(ctx)
	}
}
