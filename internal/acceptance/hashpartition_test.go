package acceptance

import (
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

// partitioned are the migrations with the order machine's tables in four hash
// partitions each: rows and history by key, facts by identity.
func partitioned(t *testing.T) fs.FS {
	t.Helper()
	names, err := fs.Glob(migrations.FS, "*.sql")
	require.NoError(t, err)
	by := map[string]string{"orders": "order_id", "order_history": "order_id", "order_facts": "identity"}
	all, changed := fstest.MapFS{}, 0
	for _, name := range names {
		content, err := fs.ReadFile(migrations.FS, name)
		require.NoError(t, err)
		text := regexp.MustCompile(`(?s)CREATE TABLE (orders|order_history|order_facts) \(.*?\n\);`).ReplaceAllStringFunc(string(content), func(create string) string {
			table := strings.Fields(create)[2]
			changed++
			create = strings.TrimSuffix(create, ";") + fmt.Sprintf(" PARTITION BY HASH (%s);", by[table])
			for i := range 4 {
				create += fmt.Sprintf("\nCREATE TABLE %s_%d PARTITION OF %[1]s FOR VALUES WITH (MODULUS 4, REMAINDER %[2]d);", table, i)
			}
			return create
		})
		all[name] = &fstest.MapFile{Data: []byte(text)}
	}
	require.Equal(t, len(by), changed)
	return all
}

// The generated calls work on hash partitions as on plain tables, and an identity
// stays unique over all of them.
func TestHashPartitions(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t, testdb.WithMigrations(partitioned(t)))
	keys := make([]order.Key, 40)
	for i := range keys {
		keys[i] = order.Key(fmt.Sprintf("00000000-0000-4000-8000-%012d", i))
		r, err := order.Create(t.Context(), pool, order.CreateParams{Key: keys[i], CustomerID: "ann", Sku: "tea", Quantity: 1, TotalCents: 100})
		require.NoError(t, err)
		require.Equal(t, fsm.Applied, r.Outcome)
	}
	outcome := func(want fsm.Outcome) func(order.Result, error) {
		return func(r order.Result, err error) {
			t.Helper()
			require.NoError(t, err)
			require.Equal(t, want, r.Outcome)
		}
	}
	paid := func(no string) order.PaymentSucceededParams {
		return order.PaymentSucceededParams{PaymentNo: no, PaidCents: 100}
	}
	outcome(fsm.Applied)(order.Pay(t.Context(), pool, keys[0]))
	outcome(fsm.Replayed)(order.Pay(t.Context(), pool, keys[0]))
	outcome(fsm.Applied)(order.PaymentSucceeded(t.Context(), pool, keys[0], paid("P0")))
	outcome(fsm.Replayed)(order.PaymentSucceeded(t.Context(), pool, keys[0], paid("P0")))
	for i := 1; i < len(keys); i++ { // on whichever partition: the number belongs to another
		outcome(fsm.Mismatched)(order.PaymentSucceeded(t.Context(), pool, keys[i], paid("P0")))
	}
	items := make([]order.PaymentSucceededItem, len(keys))
	for i := range items {
		items[i] = order.PaymentSucceededItem{Key: keys[i], Params: paid(fmt.Sprintf("P%d", i))}
	}
	results, err := order.PaymentSucceededBatch(t.Context(), pool, items)
	require.NoError(t, err)
	for i, r := range results {
		require.NoError(t, r.Err)
		require.Equal(t, i > 0, r.Result.Outcome == fsm.Applied, "%d: %s", i, r.Result.Outcome)
	}
	outcome(fsm.Applied)(order.Correct(t.Context(), pool, keys[1], order.StatePending, fsm.Correction{Actor: "ann", Reason: "a ticket"}))
	_, err = pool.Exec(t.Context(), `UPDATE orders SET status = 'COMPLETED', version = version + 1 WHERE order_id = $1`, keys[1])
	require.ErrorContains(t, err, "no edge leads from PENDING")
	spread(t, pool, len(keys))

	_, err = pool.Exec(t.Context(), "DELETE FROM orders")
	require.NoError(t, err)
	spread(t, pool, 0)
}

// spread counts rows, and facts, of which there is one for each, and asks that no
// partition has all of them.
func spread(t *testing.T, pool *pgxpool.Pool, want int) {
	t.Helper()
	for _, table := range []string{"orders", "order_facts"} {
		var all, most int
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT COALESCE(sum(n), 0), COALESCE(max(n), 0) FROM (SELECT count(*) AS n FROM `+table+` GROUP BY tableoid) AS p`).Scan(&all, &most))
		require.Equal(t, want, all, table)
		require.True(t, most < all || want == 0, "%d of %d in one partition of %s", most, all, table)
	}
}
