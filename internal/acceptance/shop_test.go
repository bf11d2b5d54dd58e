package acceptance

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// Every order of these tests is due 100. Each test has its own database, so the
// keys may be the same.
const (
	key1 order.Key = "00000000-0000-4000-8000-000000000001"
	key2 order.Key = "00000000-0000-4000-8000-000000000002"
	key3 order.Key = "00000000-0000-4000-8000-000000000003"
	due            = 100
)

// noon is the injected clock's time. It lies in the past, so that a deadline
// that used the real clock is seen.
var noon = time.Date(2020, 2, 29, 12, 0, 0, 0, time.UTC)

// shop is one test's database.
type shop struct {
	t    testing.TB
	pool *pgxpool.Pool
}

// open returns a database with one order for each key.
func open(t testing.TB, keys ...order.Key) *shop {
	t.Helper()
	s := &shop{t, testdb.New(t, testdb.WithMigrations(migrations.FS))}
	s.create(keys...)
	return s
}

func (s *shop) create(keys ...order.Key) {
	s.t.Helper()
	for _, key := range keys {
		r, err := order.Create(s.t.Context(), s.pool, newOrder(key), fsm.At(noon))
		require.NoError(s.t, err)
		require.Equal(s.t, "Applied PENDING 1", told(r))
	}
}

// again empties the database and creates the orders anew.
func (s *shop) again(keys ...order.Key) {
	s.t.Helper()
	s.exec(`DELETE FROM orders`)
	s.exec(`DELETE FROM fsm_outbox`)
	s.exec(`DELETE FROM fsm_audit`)
	s.exec(`DELETE FROM shop_points`)
	s.create(keys...)
}

func newOrder(key order.Key) order.CreateParams {
	return order.CreateParams{Key: key, CustomerID: "c1", Sku: "tea", Quantity: 1, TotalCents: due}
}

// conn is a session of its own, beside the pool.
func (s *shop) conn() *pgx.Conn {
	s.t.Helper()
	conn, err := pgx.ConnectConfig(s.t.Context(), s.pool.Config().ConnConfig)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// begin starts a transaction in a session of its own.
func (s *shop) begin(options pgx.TxOptions) pgx.Tx {
	s.t.Helper()
	tx, err := s.conn().BeginTx(s.t.Context(), options)
	require.NoError(s.t, err)
	return tx
}

// exec runs raw SQL.
func (s *shop) exec(sql string, args ...any) {
	s.t.Helper()
	_, err := s.pool.Exec(s.t.Context(), sql, args...)
	require.NoError(s.t, err)
}

// text is a query's one value.
func (s *shop) text(sql string, args ...any) string {
	s.t.Helper()
	return textIn(s.t, s.pool, sql, args...)
}

func textIn(t testing.TB, db fsm.DB, sql string, args ...any) string {
	t.Helper()
	var v string
	require.NoError(t, db.QueryRow(t.Context(), sql, args...).Scan(&v))
	return v
}

// requireTime compares moments, whatever zone they are told in.
func requireTime(t testing.TB, want time.Time, got *time.Time) {
	t.Helper()
	require.NotNil(t, got)
	require.WithinDuration(t, want, *got, 0)
}

// must makes calls that are only there to bring an order somewhere.
func (s *shop) must(acts ...act) {
	s.t.Helper()
	for _, a := range acts {
		_, err := a(s.t.Context(), s.pool)
		require.NoError(s.t, err)
	}
}

// says makes one call and compares what it was told.
func (s *shop) says(want string, a act) {
	s.t.Helper()
	got, err := a(s.t.Context(), s.pool)
	require.NoError(s.t, err)
	require.Equal(s.t, want, got)
}

// life is what the database holds of one order after its creation.
type life struct {
	Row     string // state version paid/refund
	History string // event:from>to
	Facts   string // identity=outcome
	Outbox  string // topics
}

func (s *shop) life(key order.Key) life {
	s.t.Helper()
	return lifeIn(s.t, s.pool, key)
}

// lifeIn is the life as db sees it.
func lifeIn(t testing.TB, db fsm.DB, key order.Key) life {
	t.Helper()
	var l life
	require.NoError(t, db.QueryRow(t.Context(), `SELECT
		(SELECT format('%s %s %s/%s', status, version, paid_cents, refund_cents) FROM orders WHERE order_id = $1),
		(SELECT COALESCE(string_agg(format('%s:%s>%s', event, from_status, to_status), ' ' ORDER BY version), '')
		   FROM order_history WHERE order_id = $1 AND event <> 'create'),
		(SELECT COALESCE(string_agg(format('%s=%s', identity, outcome), ' ' ORDER BY identity), '')
		   FROM order_facts WHERE order_id = $1),
		(SELECT COALESCE(string_agg(topic, ' ' ORDER BY id), '')
		   FROM fsm_outbox WHERE key = $1::text AND event <> 'create')`, string(key)).
		Scan(&l.Row, &l.History, &l.Facts, &l.Outbox))
	return l
}

// tuple is the row with what shows any write or lock of it.
func (s *shop) tuple(key order.Key) string {
	s.t.Helper()
	return s.text(`SELECT format('%s %s %s %s', xmin, xmax, ctid, o) FROM orders AS o WHERE order_id = $1`, string(key))
}

// act is one call, or a naive statement in its place; it returns what it was told.
type act func(ctx context.Context, db fsm.DB) (string, error)

// told is a result in short.
func told(r order.Result) string {
	return fmt.Sprintf("%s %s %d", r.Outcome, r.State, r.Version)
}

// event makes an act of an event without parameters.
func event(fire func(context.Context, fsm.DB, order.Key, ...fsm.Option) (order.Result, error), key order.Key, options ...fsm.Option) act {
	return func(ctx context.Context, db fsm.DB) (string, error) {
		r, err := fire(ctx, db, key, append(options, fsm.At(noon))...)
		return told(r), err
	}
}

// paid is payment_succeeded.
func paid(key order.Key, no string, cents int64, options ...fsm.Option) act {
	return func(ctx context.Context, db fsm.DB) (string, error) {
		r, err := order.PaymentSucceeded(ctx, db, key, order.PaymentSucceededParams{PaymentNo: no, PaidCents: cents}, options...)
		return told(r), err
	}
}

// payFailed is payment_failed.
func payFailed(key order.Key, no string, options ...fsm.Option) act {
	return func(ctx context.Context, db fsm.DB) (string, error) {
		r, err := order.PaymentFailed(ctx, db, key, order.PaymentFailedParams{PaymentNo: no}, options...)
		return told(r), err
	}
}

// refund is refund.
func refund(key order.Key, no string, cents int64, options ...fsm.Option) act {
	return func(ctx context.Context, db fsm.DB) (string, error) {
		r, err := order.Refund(ctx, db, key, order.RefundParams{RefundNo: no, AmountCents: cents}, options...)
		return told(r), err
	}
}

// statement is a naive statement that returns one text.
func statement(sql string, args ...any) act {
	return func(ctx context.Context, db fsm.DB) (string, error) {
		var got string
		err := db.QueryRow(ctx, sql, args...).Scan(&got)
		return got, err
	}
}
