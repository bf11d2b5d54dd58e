package live

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
)

// A role that policies show some rows is told so with each figure, which is of those rows
// alone, estimates too; who sees all is not.
func TestPoliciesAreToldWithTheFigures(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.create(first)
	b.create(second)
	require.Equal(t, fsm.Applied, b.pay(first, "p1", 100))
	b.exec(`UPDATE orders SET deadline_at = now() - interval '1 hour' WHERE order_id = $1`, second)
	// More than is counted at once, of which the statistics know.
	b.exec(`INSERT INTO orders (order_id, status, version, customer_id, sku, quantity, total_cents)
SELECT md5(i::text)::uuid, 'PENDING', 1, 'hidden', 'tea', 1, 100 FROM generate_series(1, 60000) AS i`)
	b.exec("ANALYZE orders")
	role := b.role()
	b.exec("GRANT SELECT ON ALL TABLES IN SCHEMA public TO " + role)
	for _, table := range []string{"orders", "order_history", "order_facts", "fsm_outbox", "fsm_deliveries"} {
		b.exec("ALTER TABLE " + table + " ENABLE ROW LEVEL SECURITY")
	}
	all := machines(t)
	m := named(t, all, "order")
	everything, restricted := b.open(), b.as(role)
	key := []string{first}

	read := func(db *Database) (estimate, counts Counts, due Deadlines, moves Moves, told Deliveries, lags Lags, life Life) {
		var errs [7]error
		estimate, errs[0] = db.Estimate(t.Context(), m)
		counts, errs[1] = db.Count(t.Context(), m)
		due, errs[2] = db.Deadlines(t.Context(), m)
		moves, errs[3] = db.Moves(t.Context(), m)
		told, errs[4] = db.Deliveries(t.Context())
		lags, errs[5] = db.Lags(t.Context(), all)
		life, errs[6] = db.Life(t.Context(), m, key)
		for i, err := range errs {
			require.NoError(t, err, i)
		}
		require.Empty(t, lags.Failed)
		return
	}
	policies := func(of ...string) []string { return of }

	estimate, counts, due, moves, told, lags, life := read(everything)
	require.InEpsilon(t, 60_002, estimate.Total, 0.1)
	require.EqualValues(t, 60_002, counts.Total)
	require.EqualValues(t, 1, due.Overdue)
	for _, of := range [][]string{estimate.Policies, counts.Policies, due.Policies, moves.Policies, told.Policies, lags.Policies, life.Policies} {
		require.Empty(t, of, "its owner sees all of a table")
	}

	// Without any policy the role sees nothing, and hears that.
	estimate, counts, due, moves, told, lags, life = read(restricted)
	require.Zero(t, estimate.Total)
	require.Equal(t, policies("orders"), estimate.Policies)
	require.Zero(t, counts.Total)
	require.True(t, counts.Exact)
	require.Equal(t, policies("orders"), counts.Policies)
	require.Zero(t, due.Overdue)
	require.Equal(t, policies("orders"), due.Policies)
	require.Empty(t, moves.Moves)
	require.Equal(t, policies("order_history", "order_facts"), moves.Policies)
	require.Equal(t, policies("fsm_deliveries"), told.Policies)
	require.Zero(t, lags.Outbox.Waiting)
	require.Subset(t, lags.Policies, policies("fsm_outbox", "fsm_deliveries", "orders"))
	require.NotContains(t, lags.Policies, "fsm_inbox", "which has no policies")
	require.False(t, life.There)
	require.Subset(t, life.Policies, policies("orders", "order_history", "order_facts"))
	found, errs := restricted.Find(t.Context(), all, first)
	require.Empty(t, found)
	require.Len(t, errs, 1)
	require.ErrorIs(t, errs[0], ErrHidden)
	require.Contains(t, errs[0].Error(), "orders")
	found, errs = everything.Find(t.Context(), all, "nothing")
	require.Empty(t, found)
	require.Empty(t, errs)

	// With one it sees what that shows, in estimates too.
	b.exec("CREATE POLICY shown ON orders FOR SELECT TO " + role + " USING (customer_id <> 'hidden')")
	b.exec("CREATE POLICY shown ON order_history FOR SELECT TO " + role + " USING (true)")
	estimate, counts, due, moves, _, _, life = read(restricted)
	require.Less(t, estimate.Total, int64(1000), "not what statistics know of the others")
	require.EqualValues(t, 2, counts.Total)
	require.EqualValues(t, 1, counts.Of("PENDING"))
	require.Equal(t, policies("orders"), counts.Policies)
	require.EqualValues(t, 1, due.Overdue)
	require.NotEmpty(t, moves.Moves)
	require.True(t, life.There)
	found, errs = restricted.Find(t.Context(), all, first)
	require.Empty(t, errs)
	require.NotEmpty(t, found)

	// A role with BYPASSRLS is shown all, without a word.
	b.exec("ALTER ROLE " + role + " BYPASSRLS")
	_, counts, _, _, _, _, _ = read(restricted)
	require.EqualValues(t, 60_002, counts.Total)
	require.Empty(t, counts.Policies)
}
