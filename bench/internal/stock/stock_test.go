package stock_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/bench/internal/contender"
	"github.com/pawl-go/pawl/bench/internal/stock"
	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

func TestMain(m *testing.M) { testdb.Main(m) }

func TestKeysAreThoseOfPostgreSQL(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	for _, n := range []int{1, 2, 99, 1234567} {
		var want string
		require.NoError(t, pool.QueryRow(t.Context(), "SELECT md5('order ' || $1::int)::uuid::text", n).Scan(&want))
		require.Equal(t, want, stock.Key(n))
	}
}

func TestStockIsTakenInOrder(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t, testdb.WithMigrations(migrations.FS))
	s := stock.New(pool)
	first, err := s.Peek(t.Context(), 3)
	require.NoError(t, err)
	s.Take(2)
	second, err := s.Peek(t.Context(), 3)
	require.NoError(t, err)
	require.Equal(t, first[2], second[0])
	require.Equal(t, stock.Of(5), second[2])
	r, err := order.Get(t.Context(), pool, order.Key(second[2].Key))
	require.NoError(t, err)
	require.Equal(t, order.StatePending, r.Status)
	require.EqualValues(t, stock.Cents, r.TotalCents)
}

func TestFillLeavesTheIndexes(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t, testdb.WithMigrations(migrations.FS))
	indexes := func() (n int) {
		require.NoError(t, pool.QueryRow(t.Context(), "SELECT count(*) FROM pg_indexes WHERE tablename IN ('orders', 'order_history')").Scan(&n))
		return n
	}
	before := indexes()
	s := stock.New(pool)
	require.NoError(t, s.Fill(t.Context(), 10))
	require.Equal(t, before, indexes())
	var n int
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT count(*) FROM orders").Scan(&n))
	require.Equal(t, 10, n)
}

// Each of the changes is one that counting must see.
func TestCountSeesWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, sql string
		moved     int64
	}{
		{"nothing", "SELECT 1", 1},
		{"a lost history entry", "DELETE FROM order_history WHERE version = 2", 1},
		{"a second history entry", "INSERT INTO order_history SELECT order_id, 3, event, from_status, to_status, actor, reason, request_id, forced, at FROM order_history WHERE version = 2", 1},
		{"a wrong former state", "UPDATE order_history SET from_status = 'PAYING' WHERE version = 2", 1},
		{"a lost fact", "DELETE FROM order_facts", 1},
		{"a second fact", "INSERT INTO order_facts SELECT event, 'another', order_id, fingerprint, outcome, from_status, to_status, version, at FROM order_facts", 1},
		{"a lost message", "DELETE FROM fsm_outbox", 1},
		{"a second message", "INSERT INTO fsm_outbox (machine, key, version, event, topic, payload, at) SELECT machine, key, version, event, topic, payload, at FROM fsm_outbox", 1},
		{"another payment", "UPDATE orders SET payment_no = 'P2'", 1},
		{"an order that is gone", "DELETE FROM orders", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			pool := testdb.New(t, testdb.WithMigrations(migrations.FS))
			require.NoError(t, stock.New(pool).Have(t.Context(), 1))
			d := stock.Of(1)
			_, err := order.PaymentSucceeded(t.Context(), pool, order.Key(d.Key), order.PaymentSucceededParams{PaymentNo: d.PaymentNo, PaidCents: d.Cents})
			require.NoError(t, err)
			_, err = pool.Exec(t.Context(), tc.sql)
			require.NoError(t, err)
			counts, err := stock.Count(t.Context(), pool, contender.Paid, []int64{1})
			require.NoError(t, err)
			require.EqualValues(t, 1, counts.Orders)
			require.Equal(t, tc.moved, counts.Moved)
			require.Equal(t, tc.name == "nothing", counts.Err() == nil, "%v", counts)
		})
	}
}

func TestCountOfAnEventWithoutFacts(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t, testdb.WithMigrations(migrations.FS))
	require.NoError(t, stock.New(pool).Have(t.Context(), 2))
	_, err := order.Pay(t.Context(), pool, order.Key(stock.Key(1)))
	require.NoError(t, err)
	counts, err := stock.Count(t.Context(), pool, contender.Pay, []int64{1})
	require.NoError(t, err)
	require.NoError(t, counts.Err())
	counts, err = stock.Count(t.Context(), pool, contender.Pay, []int64{1, 2})
	require.NoError(t, err)
	require.Equal(t, stock.Counts{Orders: 2, Moved: 1, Broken: 1}, counts)
}
