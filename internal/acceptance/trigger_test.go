package acceptance

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

// sqlState is the SQLSTATE in an error.
func sqlState(t testing.TB, err error) string {
	t.Helper()
	var pg *pgconn.PgError
	require.ErrorAs(t, err, &pg)
	return pg.Code
}

func requireViolation(t testing.TB, err error, constraint, name string) {
	t.Helper()
	var pg *pgconn.PgError
	require.ErrorAs(t, err, &pg, name)
	require.Equal(t, "23514 "+constraint, pg.Code+" "+pg.ConstraintName, name)
}

func (s *shop) row(key order.Key) order.Row {
	s.t.Helper()
	row, err := order.Get(s.t.Context(), s.pool, key)
	require.NoError(s.t, err)
	return row
}

// What the database refuses to anybody, with Pawl or without.
func TestRawWrites(t *testing.T) {
	t.Parallel()
	s := open(t, key1, key2, key3)
	s.must(paid(key2, "P1", due))
	keys := strings.NewReplacer(":one", "'"+string(key1)+"'", ":two", "'"+string(key2)+"'")
	for _, tc := range []struct{ name, sql, constraint string }{
		{"no such edge", `UPDATE orders SET status = 'SHIPPED', version = version + 1 WHERE order_id = :one`, "order_edge"},
		{"an edge taken backwards", `UPDATE orders SET status = 'PENDING', version = version + 1 WHERE order_id = :two`, "order_edge"},
		{"the version not moved", `UPDATE orders SET status = 'PAYING' WHERE order_id = :one`, "order_edge"},
		{"a version skipped", `UPDATE orders SET status = 'PAYING', version = version + 2 WHERE order_id = :one`, "order_edge"},
		{"the version turned back", `UPDATE orders SET version = version - 1 WHERE order_id = :two`, "order_edge"},
		{"a version to nothing", `UPDATE orders SET version = 0 WHERE order_id = :one`, "orders_version_check"},
		{"the version moved alone, no self-loop", `UPDATE orders SET version = version + 1 WHERE order_id = :one`, "order_edge"},
		{"an unknown state", `UPDATE orders SET status = 'LIMBO', version = version + 1 WHERE order_id = :one`, "orders_status_check"},
		{"another key", `UPDATE orders SET order_id = gen_random_uuid() WHERE order_id = :one`, "order_edge"},
		{"another key with an edge", `UPDATE orders SET order_id = gen_random_uuid(), status = 'PAYING', version = version + 1 WHERE order_id = :one`, "order_edge"},
		{"one bad row among many", `UPDATE orders SET status = 'PAYING', version = version + 1`, "order_edge"},
		{"born elsewhere", `INSERT INTO orders (order_id, status, version, customer_id, sku, quantity, total_cents) VALUES (gen_random_uuid(), 'PAID', 1, 'c', 's', 1, 1)`, "order_birth"},
		{"born old", `INSERT INTO orders (order_id, status, version, customer_id, sku, quantity, total_cents) VALUES (gen_random_uuid(), 'PENDING', 2, 'c', 's', 1, 1)`, "order_birth"},
		{"born unknown", `INSERT INTO orders (order_id, status, version, customer_id, sku, quantity, total_cents) VALUES (gen_random_uuid(), 'LIMBO', 1, 'c', 's', 1, 1)`, "orders_status_check"},
		{"an upsert", `INSERT INTO orders SELECT * FROM orders WHERE order_id = :one ON CONFLICT (order_id) DO UPDATE SET status = 'REFUNDED', version = 2`, "order_edge"},
	} {
		_, err := s.pool.Exec(t.Context(), keys.Replace(tc.sql))
		requireViolation(t, err, tc.constraint, tc.name)
	}
	require.Equal(t, "PENDING 1 0/0", s.life(key1).Row)
	require.Equal(t, "PAID 2 100/0", s.life(key2).Row)

	s.exec(keys.Replace(`UPDATE orders SET status = 'PAYING', version = version + 1 WHERE order_id = :one`))
	s.exec(keys.Replace(`UPDATE orders SET status = 'PAYING', version = version + 1 WHERE order_id = :one`)) // a self-loop is an edge
	s.exec(keys.Replace(`UPDATE orders SET sku = 'coffee' WHERE order_id = :one`))
	require.Equal(t, life{Row: "PAYING 3 0/0"}, s.life(key1))
}

// beforeUpdate puts a BEFORE trigger on orders.
func (s *shop) beforeUpdate(body string) {
	s.t.Helper()
	s.exec(`CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ` + body + ` END $$`)
	s.exec(`CREATE TRIGGER zzz_meddle BEFORE UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION meddle()`)
}

// A trigger that rewrites the status comes after any BEFORE UPDATE OF status.
func TestAnotherTriggerCannotBreakAnEdge(t *testing.T) {
	t.Parallel()
	s := open(t, key1)
	s.beforeUpdate(`NEW.status := 'SHIPPED'; RETURN NEW;`)
	for _, sql := range []string{
		`UPDATE orders SET status = 'PAYING', version = version + 1`,
		`UPDATE orders SET sku = 'coffee'`,
	} {
		_, err := s.pool.Exec(t.Context(), sql)
		requireViolation(t, err, "order_edge", sql)
	}
	_, err := event(order.Pay, key1)(t.Context(), s.pool)
	requireViolation(t, err, "order_edge", "pay")
	require.ErrorIs(t, err, fsm.ErrNothingDone)
	require.False(t, fsm.Retryable(err))
	require.Equal(t, life{Row: "PENDING 1 0/0"}, s.life(key1))
}

// The naive check sits in BEFORE UPDATE OF status, and never sees it.
func TestNaiveEdgeCheckIsBypassed(t *testing.T) {
	t.Parallel()
	s := open(t, key1)
	s.exec(`DROP TRIGGER order_edge ON orders`)
	s.exec(`CREATE FUNCTION naive() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN RAISE 'no edge' USING ERRCODE = 'check_violation'; END $$`)
	s.exec(`CREATE TRIGGER naive BEFORE UPDATE OF status ON orders FOR EACH ROW
		WHEN (OLD.status = 'PENDING' AND NEW.status = 'SHIPPED') EXECUTE FUNCTION naive()`)
	s.beforeUpdate(`NEW.status := 'SHIPPED'; RETURN NEW;`)
	s.exec(`UPDATE orders SET sku = 'coffee'`)
	require.Equal(t, "SHIPPED 1 0/0", s.life(key1).Row)
}

// An UPDATE that a trigger swallows takes the whole statement with it.
func TestASwallowedUpdateLeavesNothing(t *testing.T) {
	t.Parallel()
	s := open(t, key1, key2)
	s.must(event(order.Cancel, key2))
	cancelled := s.life(key2)
	s.beforeUpdate(`RETURN NULL;`)
	for name, call := range map[string]act{
		"pay":        event(order.Pay, key1),
		"payment":    paid(key1, "P1", due),
		"late":       paid(key2, "P2", due),
		"correction": event(corrected(order.StatePaid), key1),
	} {
		_, err := call(t.Context(), s.pool)
		require.ErrorIs(t, err, fsm.ErrNothingDone, name)
		require.Equal(t, "23502", sqlState(t, err), name)
		require.False(t, fsm.Retryable(err), name)
	}
	require.Equal(t, life{Row: "PENDING 1 0/0"}, s.life(key1))
	require.Equal(t, cancelled, s.life(key2))
	require.Equal(t, "0", s.text(`SELECT count(*)::text FROM fsm_audit`))
	at := noon.AddDate(1, 0, 0)
	_, err := (&fsm.Sweeper{DB: s.pool, Sweeps: order.Sweeps(), Page: fsm.SweepPage{Now: &at}}).Once(t.Context())
	require.ErrorIs(t, err, fsm.ErrNothingDone)
}

// So does one that a trigger turns back: its version is in the history already.
// A creation that is swallowed finds no row, as often as it looks.
func TestATurnedBackWriteLeavesNothing(t *testing.T) {
	t.Parallel()
	s := open(t, key1, key2)
	s.must(event(order.Cancel, key2))
	cancelled := s.life(key2)
	s.beforeUpdate(`RETURN OLD;`)
	for name, call := range map[string]act{
		"pay":        event(order.Pay, key1),
		"payment":    paid(key1, "P1", due),
		"late":       paid(key2, "P2", due),
		"correction": event(corrected(order.StatePaid), key1),
	} {
		_, err := call(t.Context(), s.pool)
		require.ErrorIs(t, err, fsm.ErrNothingDone, name)
		require.Equal(t, "23505", sqlState(t, err), name)
	}
	require.Equal(t, life{Row: "PENDING 1 0/0"}, s.life(key1))
	require.Equal(t, cancelled, s.life(key2))
	s.exec(`CREATE TRIGGER swallow BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION meddle()`)
	_, err := order.Create(t.Context(), s.pool, newOrder(key3), fsm.At(noon))
	require.Error(t, err)
	require.Equal(t, "2", s.text(`SELECT count(*)::text FROM orders`))
}
