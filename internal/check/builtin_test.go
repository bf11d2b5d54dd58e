package check_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// A version that adds a type must be entered in builtin.txt.
func TestBuiltinTypesAreTheServers(t *testing.T) {
	t.Parallel()
	rows, err := testdb.New(t).Query(context.Background(), `SELECT typname::text FROM pg_type
		WHERE typnamespace = 'pg_catalog'::regnamespace AND typname !~ '^(_|pg_)' ORDER BY typname COLLATE "C"`)
	require.NoError(t, err)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	kept, err := os.ReadFile("builtin.txt")
	require.NoError(t, err)
	require.Equal(t, names, strings.Fields(string(kept)))
	require.Contains(t, names, "interval")
}
