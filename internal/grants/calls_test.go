package grants

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

const key order.Key = "00000000-0000-4000-8000-000000000001"

// due is what each order costs.
const due = 100

func newOrder(key order.Key) order.CreateParams {
	return order.CreateParams{Key: key, CustomerID: "c1", Sku: "tea", Quantity: 1, TotalCents: due}
}

var definer = regexp.MustCompile(`(?s)CREATE OR REPLACE FUNCTION (public\.(fsm_[a-z0-9_]+)\(([^)]*)\)).*?SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp SET [^$\n]* AS`)

// pinned are the settings that every function has for itself.
var pinned = []string{
	"search_path=pg_catalog, public, pg_temp", "standard_conforming_strings=on", "transform_null_equals=off", "array_nulls=on",
	"TimeZone=UTC", "DateStyle=ISO, MDY", "IntervalStyle=postgres", "extra_float_digits=1", "bytea_output=hex",
}

// Every function: who may call it, whose rights it has, and where it looks names up.
func TestWhoMayCallWhat(t *testing.T) {
	t.Parallel()
	s := open(t, functions)
	found := definer.FindAllStringSubmatch(s.gen.roles, -1)
	require.Len(t, found, len(callsOf(t)), "as many as there are statements that write")
	var conns = map[string]*pgx.Conn{}
	for _, role := range roles {
		conns[role] = s.as(role)
	}
	for _, f := range found {
		var owner string
		var settings []string
		require.NoError(t, s.pool.QueryRow(t.Context(), `SELECT proowner::regrole::text, proconfig FROM pg_proc WHERE oid = $1::regprocedure AND prosecdef`, f[1]).Scan(&owner, &settings))
		require.Equal(t, s.prefix+"writer", owner)
		for i, one := range settings { // names are as the server's version spells them
			name, value, _ := strings.Cut(one, "=")
			settings[i] = strings.ToLower(name) + "=" + value
		}
		for _, one := range pinned {
			name, value, _ := strings.Cut(one, "=")
			require.Contains(t, settings, strings.ToLower(name)+"="+value)
		}
		args := strings.TrimSuffix(strings.Repeat("NULL, ", len(strings.Split(f[3], ","))), ", ")
		for _, role := range roles {
			may := role == "app"
			if strings.Contains(f[2], "_correct_") {
				may = role == "support"
			}
			got := tried(t, conns[role], "SELECT * FROM public."+f[2]+"("+args+")")
			require.Equal(t, !may, got == denied, "%s calls %s and ends with %q", role, f[2], got)
		}
	}
}

// The service's own login makes calls; that is the only way it can write.
func TestCallsAreTheOnlyWay(t *testing.T) {
	t.Parallel()
	s := open(t, functions)
	app := s.as("app")
	ctx, on := t.Context(), s.through(app)
	r, err := order.Create(ctx, on, newOrder(key))
	require.NoError(t, err)
	require.Equal(t, fsm.Applied, r.Outcome)
	paid := order.PaymentSucceededParams{PaymentNo: "p1", PaidCents: due}
	for _, want := range []fsm.Outcome{fsm.Applied, fsm.Replayed} {
		r, err = order.PaymentSucceeded(ctx, on, key, paid)
		require.NoError(t, err)
		require.Equal(t, want, r.Outcome)
		require.Equal(t, order.StatePaid, r.State)
	}
	for _, sql := range []string{
		"UPDATE orders SET status = 'SHIPPED', version = version + 1",
		"INSERT INTO order_facts (event, identity, order_id, fingerprint, outcome, from_status, to_status, version, at) VALUES ('payment_succeeded', 'p2', gen_random_uuid(), '', 'Applied', '', '', 1, now())",
		"DELETE FROM order_history",
	} {
		require.Equal(t, denied, tried(t, app, sql), sql)
	}
	_, err = order.Correct(ctx, on, key, order.StatePending, fsm.Correction{Actor: "service", Reason: "because"})
	require.ErrorIs(t, err, fsm.ErrNothingDone)
	require.Equal(t, denied, state(t, err), "a service does not force")
	r, err = order.Correct(ctx, s.through(s.as("support")), key, order.StatePending, fsm.Correction{Actor: "ann", Reason: "the provider was wrong"})
	require.NoError(t, err)
	require.Equal(t, fsm.Applied, r.Outcome)
	_, err = order.Pay(ctx, s.through(s.as("reader")), key)
	require.ErrorIs(t, err, fsm.ErrNothingDone)
	require.Equal(t, denied, state(t, err))

	_, err = order.Pay(ctx, app, key)
	require.ErrorIs(t, err, fsm.ErrNothingDone, "a program of before, with statements of its own")
	require.Equal(t, denied, state(t, err))
}

// In the other form the service writes by statements, and may still not force.
func TestStatementsOfTheService(t *testing.T) {
	t.Parallel()
	s := open(t, statements)
	ctx, app := t.Context(), s.as("app")
	_, err := order.Create(ctx, app, newOrder(key))
	require.NoError(t, err)
	r, err := order.PaymentSucceeded(ctx, app, key, order.PaymentSucceededParams{PaymentNo: "p1", PaidCents: due})
	require.NoError(t, err)
	require.Equal(t, fsm.Applied, r.Outcome)
	again, err := order.PaymentSucceeded(ctx, s.through(app), key, order.PaymentSucceededParams{PaymentNo: "p1", PaidCents: due})
	require.NoError(t, err, "a program that calls functions runs before statements are taken away")
	require.Equal(t, fsm.Replayed, again.Outcome)
	results, err := order.ShipBatch(ctx, app, []order.ShipItem{{Key: key}})
	require.NoError(t, err)
	require.NoError(t, results[0].Err)
	why := fsm.Correction{Actor: "ann", Reason: "a mistake"}
	_, err = order.Correct(ctx, app, key, order.StatePaid, why)
	require.Equal(t, denied, state(t, err))
	r, err = order.Correct(ctx, s.as("support"), key, order.StatePaid, why)
	require.NoError(t, err)
	require.Equal(t, fsm.Applied, r.Outcome)
}

// The functions of a program and of the one before it stand side by side, and the file
// may be run again.
func TestTheFileRunsAgain(t *testing.T) {
	t.Parallel()
	s := open(t, functions)
	before := s.functions()
	said, left := s.told(s.file())
	require.Empty(t, said, "a second run has nothing to say")
	require.Equal(t, "functions_of_older_programs", left)
	require.Equal(t, before, s.functions())

	old := strings.ReplaceAll(s.file(), "fsm_order_pay_", "fsm_order_paid_")
	s.run(old)
	require.Len(t, s.functions(), len(before)+2, "order_pay_…, order_pay_batch_…")
	app := s.as("app")
	_, err := order.Create(t.Context(), s.through(app), newOrder(key))
	require.NoError(t, err)
	r, err := order.Pay(t.Context(), s.through(app), key)
	require.NoError(t, err)
	require.Equal(t, fsm.Applied, r.Outcome)

	s.run(strings.ReplaceAll(of(t, statements).roles, "pawl_", s.prefix))
	r, err = order.Cancel(t.Context(), app, key)
	require.NoError(t, err, "back to statements")
	require.Equal(t, fsm.Applied, r.Outcome)
}

// told runs the file, and returns the server's notices and what the list at its end is
// called.
func (s *stage) told(sql string) (notices []string, left string) {
	s.t.Helper()
	config := s.pool.Config().ConnConfig.Copy()
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { notices = append(notices, n.Message) }
	conn, err := pgx.ConnectConfig(s.t.Context(), config)
	require.NoError(s.t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	results := conn.PgConn().Exec(s.t.Context(), sql)
	for results.NextResult() {
		result := results.ResultReader()
		if fields := result.FieldDescriptions(); len(fields) > 0 {
			left = fields[0].Name
		}
		_, err := result.Close()
		require.NoError(s.t, err)
	}
	require.NoError(s.t, results.Close())
	return notices, left
}

func (s *stage) functions() []string {
	s.t.Helper()
	rows, err := s.pool.Query(s.t.Context(), `SELECT p.oid::regprocedure::text FROM pg_proc AS p WHERE p.proowner = $1::text::regrole ORDER BY 1`, s.prefix+"writer")
	require.NoError(s.t, err)
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(s.t, err)
	return list
}
