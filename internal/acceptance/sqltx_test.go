package acceptance

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

// sqlDB is the database as database/sql shows it.
func (s *shop) sqlDB() *sql.DB {
	s.t.Helper()
	db := stdlib.OpenDB(*s.pool.Config().ConnConfig)
	s.t.Cleanup(func() { require.NoError(s.t, db.Close()) })
	return db
}

// Every kind of call in a transaction of database/sql, which its owner ends.
func TestDatabaseSQL(t *testing.T) {
	t.Parallel()
	s := open(t)
	sqlDB := s.sqlDB()
	for _, commits := range []bool{true, false} {
		s.again(key2)
		tx, err := sqlDB.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		db := fsm.SQLTx(tx)
		for _, step := range []struct {
			told string
			call act
		}{
			{"Applied PENDING 1", created(newOrder(key1), fsm.At(noon), fsm.Actor("ann"))},
			{"Replayed PENDING 1", created(newOrder(key1))},
			{"Applied PAYING 2", event(order.Pay, key1)},
			{"Replayed PAYING 2", event(order.Pay, key1)},
			{"Compensated PAYING 2", paid(key1, "P0", 99)},
			{"Applied PAID 3", paid(key1, "P1", due, fsm.At(noon), order.Then(func(ctx context.Context, tx pgx.Tx, r order.Result) error {
				tag, err := tx.Exec(ctx, `INSERT INTO shop_points (order_id, kind, customer_id, points) VALUES ($1, 'paid', $2, $3)`,
					string(r.Row.OrderID), r.Row.CustomerID, r.Row.TotalCents)
				require.EqualValues(t, 1, tag.RowsAffected())
				return err
			}))},
			{"Replayed PAID 3", paid(key1, "P1", due)},
			{"Mismatched PAID 3", paid(key1, "P1", 99)},
			{"Rejected PAID 3", event(order.Cancel, key1)},
			{"Ignored PAID 3", event(order.Expire, key1)},
			{"GuardFailed PAID 3", refund(key1, "R1", 101)},
			{"Stale PAID 3", refund(key1, "R1", 60, expect(1))},
			{"Applied PAID 4", refund(key1, "R1", 60, expect(3))},
			{"Applied SHIPPED 5", event(corrected(order.StateShipped), key1)},
			{"2:PENDING>CANCELLED@2 ", sweep(noon.Add(time.Hour))},
		} {
			got, err := step.call(t.Context(), db)
			require.NoError(t, err)
			require.Equal(t, step.told, got)
		}

		_, err = paid(key3, "P9", due)(t.Context(), db)
		require.ErrorIs(t, err, fsm.ErrNotFound)
		// A failed effect takes its savepoint with it, and no more.
		_, err = paid(key2, "P2", due, order.Then(func(ctx context.Context, tx pgx.Tx, _ order.Result) error {
			_, err := tx.Exec(ctx, `INSERT INTO shop_stock VALUES ('tea', -1)`)
			return err
		}))(t.Context(), db)
		requireViolation(t, err, "shop_stock_quantity_check", "stock")

		row, err := order.Get(t.Context(), db, key1)
		require.NoError(t, err)
		require.Equal(t, "P1", *row.PaymentNo)
		requireTime(t, noon, row.PaidAt)
		requireTime(t, noon.AddDate(0, 0, 10), row.DeadlineAt)
		entries, err := order.History(t.Context(), db, key1, 0, 10)
		require.NoError(t, err)
		require.Len(t, entries, 5)
		require.Equal(t, []any{"ann", order.State("")}, []any{entries[0].Actor, entries[0].From})
		require.True(t, entries[4].Forced)

		if commits {
			require.NoError(t, tx.Commit())
			require.Equal(t, life{
				"SHIPPED 5 100/60", "pay:PENDING>PAYING payment_succeeded:PAYING>PAID refund:PAID>PAID correct:PAID>SHIPPED",
				"P0=Compensated P1=Applied R1=Applied", "refund_due order_paid refund_due",
			}, s.life(key1))
			require.Equal(t, life{Row: "CANCELLED 2 0/0", History: "expire:PENDING>CANCELLED"}, s.life(key2))
			require.Equal(t, "1", s.points())
			continue
		}
		require.NoError(t, tx.Rollback())
		_, err = order.Get(t.Context(), s.pool, key1)
		require.ErrorIs(t, err, fsm.ErrNotFound)
		require.Equal(t, life{Row: "PENDING 1 0/0"}, s.life(key2))
		require.Equal(t, "0 0 0", s.text(`SELECT concat_ws(' ', (SELECT count(*) FROM order_facts), (SELECT count(*) FROM fsm_audit), (SELECT count(*) FROM shop_points))`))
	}
}

// The runtime ends nobody else's transaction, and its errors are told apart
// there too.
func TestDatabaseSQLErrors(t *testing.T) {
	t.Parallel()
	s := open(t, key1)
	tx, err := s.sqlDB().BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	require.NoError(t, err)
	db := fsm.SQLTx(tx)
	require.Equal(t, "PENDING", textIn(t, db, `SELECT status FROM orders`))
	s.must(paid(key1, "P1", due))
	_, err = paid(key1, "P1", due)(t.Context(), db)
	requireSerialization(t, err, "over database/sql")
	require.NoError(t, tx.Rollback())
	_, err = paid(key1, "P1", due)(t.Context(), db)
	require.ErrorIs(t, err, sql.ErrTxDone)
	require.ErrorIs(t, err, fsm.ErrNothingDone)
}
