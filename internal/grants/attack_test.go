package grants

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

// hostile is what a session of the service may put in the way: a schema of its own,
// with tables, functions and operators, and temporary tables.
const hostile = `
CREATE TABLE evil.orders (LIKE public.orders INCLUDING ALL);
CREATE TABLE evil.order_history (LIKE public.order_history INCLUDING ALL);
CREATE TABLE evil.order_facts (LIKE public.order_facts INCLUDING ALL);
CREATE FUNCTION evil.now() RETURNS timestamptz LANGUAGE sql AS $$ SELECT timestamptz '1999-01-01' $$;
CREATE FUNCTION evil.current_setting(text) RETURNS text LANGUAGE sql AS $$ SELECT 'evil' $$;
CREATE FUNCTION evil.same(text, text) RETURNS boolean LANGUAGE sql AS $$ SELECT true $$;
CREATE OPERATOR evil.= (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.same);
CREATE FUNCTION evil.wrong(bigint, bigint) RETURNS boolean LANGUAGE sql AS $$ SELECT true $$;
CREATE OPERATOR evil.= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = evil.wrong);
CREATE TEMPORARY TABLE orders (LIKE public.orders INCLUDING ALL);
CREATE TEMPORARY TABLE order_history (LIKE public.order_history INCLUDING ALL);
CREATE TEMPORARY TABLE order_facts (LIKE public.order_facts INCLUDING ALL);
CREATE TEMPORARY TABLE fsm_outbox (LIKE public.fsm_outbox INCLUDING ALL);
GRANT ALL ON orders, order_history, order_facts, fsm_outbox TO PUBLIC;
GRANT ALL ON SCHEMA evil TO PUBLIC;
GRANT ALL ON ALL TABLES IN SCHEMA evil TO PUBLIC;
SET search_path = evil, pg_catalog, public;
`

// Names that a caller puts in the way of the functions are not looked at: what is
// written is in the machines' tables, with the server's time and true comparisons.
func TestNamesInTheWay(t *testing.T) {
	t.Parallel()
	s := open(t, functions)
	app := s.as("app")
	s.run("CREATE SCHEMA evil AUTHORIZATION " + s.prefix + "login_app")
	_, err := app.Exec(t.Context(), hostile)
	require.NoError(t, err)
	ctx, on := t.Context(), s.through(app)

	r, err := order.Create(ctx, on, newOrder(key))
	require.NoError(t, err)
	require.Equal(t, fsm.Applied, r.Outcome)
	wrong, err := order.PaymentSucceeded(ctx, on, key, order.PaymentSucceededParams{PaymentNo: "p0", PaidCents: due - 1})
	require.NoError(t, err)
	require.Equal(t, fsm.Compensated, wrong.Outcome, "the amount is wrong, whatever = says elsewhere")
	r, err = order.PaymentSucceeded(ctx, on, key, order.PaymentSucceededParams{PaymentNo: "p1", PaidCents: due})
	require.NoError(t, err)
	require.Equal(t, fsm.Applied, r.Outcome)
	require.False(t, r.Snapshot, "the isolation is the server's to say")
	require.Greater(t, r.Row.PaidAt.Year(), 2000, "and so is the time")

	require.Equal(t, 1, s.count("SELECT count(*) FROM public.orders WHERE status = 'PAID'"))
	require.Equal(t, 2, s.count("SELECT count(*) FROM public.order_facts"))
	require.Equal(t, 2, s.count("SELECT count(*) FROM public.order_history"))
	var strayed int
	require.NoError(t, app.QueryRow(ctx, `SELECT (SELECT count(*) FROM evil.orders) + (SELECT count(*) FROM evil.order_history) + (SELECT count(*) FROM evil.order_facts)
		+ (SELECT count(*) FROM pg_temp.orders) + (SELECT count(*) FROM pg_temp.order_history) + (SELECT count(*) FROM pg_temp.order_facts) + (SELECT count(*) FROM pg_temp.fsm_outbox)`).Scan(&strayed))
	require.Zero(t, strayed)
}

func (s *stage) count(sql string) (n int) {
	s.t.Helper()
	require.NoError(s.t, s.pool.QueryRow(s.t.Context(), sql).Scan(&n))
	return n
}

// forged is a temporary history that says what the edge trigger asks: that the step
// was forced.
const forged = `
CREATE TEMPORARY TABLE order_history (LIKE public.order_history INCLUDING DEFAULTS);
INSERT INTO pg_temp.order_history (order_id, version, event, from_status, to_status, actor, reason, forced, at)
VALUES ('00000000-0000-4000-8000-000000000001', 2, 'correct', 'PENDING', 'COMPLETED', 'mallory', 'mine', true, now());
GRANT SELECT ON pg_temp.order_history TO PUBLIC;
UPDATE public.orders SET status = 'COMPLETED', version = version + 1;`

// Where the service writes by statements, the edge trigger is what holds it to the
// edges, and a temporary table of the service's is no history.
func TestAForgedHistoryOpensNoEdge(t *testing.T) {
	t.Parallel()
	s := open(t, statements)
	app := s.as("app")
	_, err := order.Create(t.Context(), app, newOrder(key))
	require.NoError(t, err)
	require.Equal(t, "23514", tried(t, app, "UPDATE orders SET status = 'COMPLETED', version = version + 1"))
	require.Equal(t, "23514", tried(t, app, forged))
}

// Arguments are values, whatever they look like.
func TestArgumentsAreNoSQL(t *testing.T) {
	t.Parallel()
	s := open(t, functions)
	on := s.through(s.as("app"))
	for i, text := range []string{
		`'); DROP TABLE orders; --`, `$fsm$; DROP TABLE orders; $fsm$`, `$1`, `\'; SELECT 1`, `{"a": 1}`, `%s%I%L`, `" OR true`, "END $fsm$;",
	} {
		id := order.Key("00000000-0000-4000-8000-00000000010" + string(rune('0'+i)))
		p := newOrder(id)
		p.CustomerID, p.Sku = text, text
		_, err := order.Create(t.Context(), on, p, fsm.Actor(text), fsm.Reason(text), fsm.RequestID(text))
		require.NoError(t, err, text)
		r, err := order.PaymentSucceeded(t.Context(), on, id, order.PaymentSucceededParams{PaymentNo: text, PaidCents: due}, fsm.Actor(text), fsm.Reason(text), fsm.RequestID(text))
		require.NoError(t, err, text)
		require.Equal(t, text, *r.Row.PaymentNo)
		require.Equal(t, text, r.Row.CustomerID)
		var actor, reason, request, identity string
		require.NoError(t, s.pool.QueryRow(t.Context(), `SELECT h.actor, h.reason, h.request_id, f.identity FROM order_history AS h JOIN order_facts AS f ON f.order_id = h.order_id
			WHERE h.order_id = $1 AND h.version = 2`, string(id)).Scan(&actor, &reason, &request, &identity))
		require.Equal(t, []string{text, text, text}, []string{actor, reason, request})
		require.Contains(t, identity, text)
	}
}

// Row-level security of the table counts inside the functions: their owner is neither
// the table's nor one whom it passes by.
func TestRowSecurityCounts(t *testing.T) {
	t.Parallel()
	s := open(t, functions)
	app := s.as("app")
	on := s.through(app)
	for _, id := range []order.Key{key, "00000000-0000-4000-8000-000000000002"} {
		_, err := order.Create(t.Context(), on, newOrder(id))
		require.NoError(t, err)
	}
	s.run(`UPDATE orders SET customer_id = 'c2' WHERE order_id = '00000000-0000-4000-8000-000000000002';
		ALTER TABLE orders ENABLE ROW LEVEL SECURITY;
		CREATE POLICY tenant ON orders USING (customer_id = current_setting('app.tenant', true))`)
	_, err := app.Exec(t.Context(), "SET app.tenant = 'c1'")
	require.NoError(t, err)
	r, err := order.Pay(t.Context(), on, key)
	require.NoError(t, err)
	require.Equal(t, fsm.Applied, r.Outcome)
	_, err = order.Pay(t.Context(), on, "00000000-0000-4000-8000-000000000002")
	require.ErrorIs(t, err, fsm.ErrNotFound, "the row of another tenant")
	results, err := order.CancelBatch(t.Context(), on, []order.CancelItem{{Key: key}, {Key: "00000000-0000-4000-8000-000000000002"}})
	require.NoError(t, err)
	require.NoError(t, results[0].Err)
	require.ErrorIs(t, results[1].Err, fsm.ErrNotFound)
}
