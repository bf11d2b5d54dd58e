package testpgbouncer

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// Two clients share the one connection to the server, a transaction each.
func TestTransactionsAreGivenConnections(t *testing.T) {
	t.Parallel()
	url := Start(t, testdb.URL(t), 1)
	pid := func(conn *pgx.Conn) (n int) {
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT pg_backend_pid()", pgx.QueryExecModeExec).Scan(&n))
		return n
	}
	var pids []int
	for range 2 {
		conn, err := pgx.Connect(t.Context(), url)
		require.NoError(t, err)
		defer func() { _ = conn.Close(t.Context()) }()
		pids = append(pids, pid(conn))
	}
	require.Equal(t, pids[0], pids[1])
}

func TestPrepares(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{"PgBouncer 1.18.0\nlibevent 2.1": {"1", "18"}, "PgBouncer 1.24.1": {"1", "24"}} {
		require.Equal(t, want, release.FindStringSubmatch(text)[1:])
	}
	_ = Prepares(t)
}
