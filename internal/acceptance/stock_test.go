package acceptance

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

// reserve takes the order's pieces when its customer goes to pay. The ledger's key
// is the order and the kind of move, so that it happens once.
func reserve(ctx context.Context, tx pgx.Tx, r order.Result) error {
	const sql = `
WITH taken AS (
  UPDATE shop_stock AS s SET quantity = s.quantity - $2 WHERE s.sku = $3 AND s.quantity >= $2 RETURNING s.sku
)
INSERT INTO shop_stock_moves (order_id, kind, sku, quantity) SELECT $1, 'reserved', t.sku, -$2::bigint FROM taken AS t`
	tag, err := tx.Exec(ctx, sql, string(r.Row.OrderID), int64(r.Row.Quantity), r.Row.Sku)
	if err == nil && tag.RowsAffected() == 0 {
		return errEffect
	}
	return err
}

// giveBack returns what the ledger says was taken for the order, be it nothing, and
// returns it once.
func giveBack(ctx context.Context, tx pgx.Tx, r order.Result) error {
	const sql = `
WITH back AS (
  INSERT INTO shop_stock_moves (order_id, kind, sku, quantity)
  SELECT m.order_id, 'returned', m.sku, -m.quantity FROM shop_stock_moves AS m WHERE m.order_id = $1 AND m.kind = 'reserved'
  ON CONFLICT (order_id, kind) DO NOTHING
  RETURNING sku, quantity
)
UPDATE shop_stock AS s SET quantity = s.quantity + b.quantity FROM back AS b WHERE s.sku = b.sku`
	_, err := tx.Exec(ctx, sql, string(r.Row.OrderID))
	return err
}

// looksFirst is the cancellation that others had: it reads whether anything is to be
// returned, and then cancels what it has read of.
func looksFirst(key order.Key) act {
	return func(ctx context.Context, db fsm.DB) (string, error) {
		var status string
		if err := db.QueryRow(ctx, `SELECT status FROM orders WHERE order_id = $1`, string(key)).Scan(&status); err != nil {
			return "", err
		}
		if _, err := db.Exec(ctx, `UPDATE orders SET status = 'CANCELLED', version = version + 1, deadline_at = NULL WHERE order_id = $1`, string(key)); err != nil {
			return "", err
		}
		if status == string(order.StatePaying) {
			if _, err := db.Exec(ctx, `UPDATE shop_stock SET quantity = quantity + 1`); err != nil {
				return "", err
			}
		}
		return "Applied CANCELLED", nil
	}
}

// An order is cancelled while its pieces are being taken, before they are, and twice:
// what is in stock is always what the ledger leaves of ten.
func TestStockOfACancelledOrder(t *testing.T) {
	t.Parallel()
	s := open(t)
	pay, cancel := event(order.Pay, key1, order.Then(reserve)), event(order.Cancel, key1, order.Then(giveBack))
	for _, tc := range []struct {
		name          string
		given         []act
		winner, loser act
		told          string
		stock, moves  string
	}{
		{"cancelled while pieces are taken", nil, pay, cancel, "Applied CANCELLED 3", "10", "reserved -1, returned 1"},
		{"taken while it is cancelled", nil, cancel, pay, "Rejected CANCELLED 2", "10", ""},
		{"cancelled twice at once", []act{pay}, cancel, cancel, "Replayed CANCELLED 3", "10", "reserved -1, returned 1"},
		{"taken twice at once", nil, pay, pay, "Replayed PAYING 2", "9", "reserved -1"},
		{"naive: cancelled while pieces are taken", nil, pay, looksFirst(key1), "Applied CANCELLED", "9", "reserved -1"},
	} {
		t.Run(tc.name, func(t *testing.T) { // one after another, in one database
			s := &shop{t, s.pool}
			s.again(key1)
			s.exec(`DELETE FROM shop_stock_moves`)
			s.exec(`INSERT INTO shop_stock VALUES ('tea', 10) ON CONFLICT (sku) DO UPDATE SET quantity = 10`)
			s.must(tc.given...)
			got := s.race(tc.winner, tc.loser)
			require.NoError(t, got.err)
			require.Equal(t, tc.told, got.told)
			require.Equal(t, tc.stock, s.text(`SELECT quantity::text FROM shop_stock`))
			require.Equal(t, tc.moves, s.text(`SELECT COALESCE(string_agg(kind || ' ' || quantity, ', ' ORDER BY kind), '') FROM shop_stock_moves`))
		})
	}

	// The naive one cancelled twice would return the pieces twice: the table's edges
	// do not let it.
	s.again(key1)
	s.exec(`DELETE FROM shop_stock_moves`)
	s.exec(`UPDATE shop_stock SET quantity = 10`)
	s.must(pay)
	got := s.race(looksFirst(key1), looksFirst(key1))
	require.ErrorContains(t, got.err, "no edge leads from CANCELLED")
	require.Equal(t, "10", s.text(`SELECT quantity::text FROM shop_stock`))
}
