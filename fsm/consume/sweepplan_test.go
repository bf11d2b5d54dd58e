package consume

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

// A sweep that finds nothing old reads nothing young: the time is a condition of the
// index, and no filter behind it.
func TestASweepReadsNoFurtherThanToItsTime(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t, testdb.WithMigrations(migrations.FS))
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, tx.Rollback(t.Context())) }()
	_, err = tx.Exec(t.Context(), "SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off; SET LOCAL enable_bitmapscan = off")
	require.NoError(t, err)
	for column, sql := range map[string]string{"changed_at": sweepSQL, "settled_at": sweepLettersSQL} {
		rows, err := tx.Query(t.Context(), "EXPLAIN "+sql, "mails", "1 day", 10)
		require.NoError(t, err)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		plan := strings.Join(lines, "\n")
		require.Regexp(t, `Index Cond: \(.*`+column+` < \(statement_timestamp`, plan)
	}
}
