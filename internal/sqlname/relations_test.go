package sqlname

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

// All that the migrations of a machine make is listed, and so is what goose
// makes: a name that is missing here would clash in the database alone.
func TestRelationsAreThoseOfTheDatabase(t *testing.T) {
	t.Parallel()
	rows, err := testdb.New(t, testdb.WithMigrations(migrations.FS)).Query(t.Context(), `SELECT c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
		WHERE n.nspname = current_schema() AND c.relname ~ '^(order|payment|refund|goose)' ORDER BY 1`)
	require.NoError(t, err)
	there, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	var listed []string
	for _, m := range []Machine{{Name: "order", Table: "orders"}, {Name: "payment", Table: "payments"}, {Name: "refund", Table: "refunds"}} {
		for _, r := range m.Relations() {
			listed = append(listed, r.Name)
		}
	}
	require.Subset(t, append(listed, Goose()...), there)
	require.Subset(t, there, []string{"orders", "order_history", "order_facts", "order_facts_key_idx", "orders_deadline_idx"})
}
