package due

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/bench/internal/place"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// column is a scheme in a database of the test's.
func column(t *testing.T, s Scheme, fill int) Column {
	t.Helper()
	url := testdb.URL(t, testdb.WithMigrations(migrations.FS))
	pool, err := pgxpool.New(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	c := Column{s, fill, &place.Place{URL: url, Pool: pool}}
	require.NoError(t, c.prepare(t.Context()))
	return c
}

// What a row says is what is left of it, and what the side tables should know.
const (
	rows = `SELECT string_agg(concat_ws(' ', order_id, status, version, deadline_at IS NULL, deadline_runs, paid_cents, refund_cents, refunded_cents), E'\n' ORDER BY order_id) FROM orders`
	kept = `SELECT count(*) FROM (SELECT order_id, deadline_at FROM orders WHERE deadline_at IS NOT NULL) AS o
FULL JOIN order_due AS d ON d.order_id = o.order_id AND d.due_at = o.deadline_at WHERE d.order_id IS NULL OR o.order_id IS NULL`
	appended = `SELECT count(*) FROM orders AS o WHERE o.deadline_at IS NOT NULL
AND (SELECT count(*) FROM order_due AS d WHERE d.order_id = o.order_id AND d.version = o.version AND d.status = o.status AND d.due_at = o.deadline_at) <> 1`
)

func TestEveryKindMovesTheSameByEveryScheme(t *testing.T) {
	t.Parallel()
	var columns []Column
	for _, s := range Schemes() {
		columns = append(columns, column(t, s, 100))
	}
	for _, k := range Kinds() {
		var want string
		for i, c := range columns {
			require.NoError(t, c.begin(t.Context(), k.from, 20, false))
			_, _, err := c.turn(t.Context(), k, []int{3, 1, 4, 15, 9, 2, 6})
			require.NoError(t, err, k.Name)
			var got string
			require.NoError(t, c.place.Pool.QueryRow(t.Context(), rows).Scan(&got))
			if i == 0 {
				want = got
			}
			require.Equal(t, want, got, "%s by %s", k.Name, c.Scheme.Name)
			check := map[string]string{Upsert: kept, Append: appended}[c.Scheme.Name]
			if check == "" {
				continue
			}
			var astray int
			require.NoError(t, c.place.Pool.QueryRow(t.Context(), check).Scan(&astray))
			require.Zero(t, astray, "%s by %s", k.Name, c.Scheme.Name)
		}
	}
}

func TestHOTUpdates(t *testing.T) {
	t.Parallel()
	for _, s := range Schemes() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			c := column(t, s, 70)
			require.NoError(t, c.begin(t.Context(), "PENDING", 200, false))
			_, counts, err := c.turn(t.Context(), Kinds()[0], []int{0, 50, 100, 150})
			require.NoError(t, err)
			require.Equal(t, 4.0, counts.Updates)
			require.Equal(t, map[string]float64{Index: 0, None: 1, Upsert: 1, Append: 1}[s.Name], counts.HOTShare())
		})
	}
}

// A sweep says itself when it does not move those that it should.
func TestSweepsMoveWhatIsDue(t *testing.T) {
	t.Parallel()
	for _, s := range Schemes() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			cost := SweepCost{Column: column(t, s, 100)}
			_, err := cost.turn(context.WithoutCancel(t.Context()), 3000)
			require.NoError(t, err)
			var left int
			require.NoError(t, cost.Column.place.Pool.QueryRow(t.Context(), "SELECT count(*) FROM orders WHERE status = 'PENDING' OR deadline_at IS NOT NULL").Scan(&left))
			require.Zero(t, left)
			if s.fill == "" {
				return
			}
			require.NoError(t, cost.Column.place.Pool.QueryRow(t.Context(), "SELECT count(*) FROM order_due").Scan(&left))
			require.Zero(t, left, "nothing is entered any more")
		})
	}
}

func TestRewriteLeavesWhatMovesNothing(t *testing.T) {
	t.Parallel()
	for _, s := range Schemes() {
		require.Equal(t, "SELECT 1", s.Rewrite("SELECT 1"))
	}
	require.Equal(t, "WITH moved AS (\n)\nSELECT 1", Schemes()[0].Rewrite("WITH moved AS (\n)\nSELECT 1"))
}
