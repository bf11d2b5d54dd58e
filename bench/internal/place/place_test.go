package place_test

import (
	"io"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/bench/internal/place"
	"github.com/pawl-go/pawl/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// The tests' own server is fast since it keeps nothing.
func TestAServerThatIsNotDurableIsRefused(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	var fsync string
	require.NoError(t, pool.QueryRow(t.Context(), "SHOW fsync").Scan(&fsync))
	if fsync == "on" {
		t.Skip("the tests run on a durable server")
	}
	_, err := place.Server(t.Context(), testdb.URL(t), nil, io.Discard)
	require.ErrorContains(t, err, "not durable")
}

func TestAPlaceIsMigratedAndEmptyAndGoesAway(t *testing.T) {
	t.Parallel()
	admin := testdb.URL(t)
	p, err := place.New(t.Context(), admin)
	require.NoError(t, err)
	var orders int
	require.NoError(t, p.Pool.QueryRow(t.Context(), "SELECT count(*) FROM orders").Scan(&orders))
	require.Zero(t, orders)
	require.NoError(t, p.Drop(t.Context()))
	_, err = pgx.Connect(t.Context(), p.URL)
	require.ErrorContains(t, err, "does not exist")
}

func TestAwayIsTheSameDatabaseAtADistance(t *testing.T) {
	t.Parallel()
	p, err := place.New(t.Context(), testdb.URL(t))
	require.NoError(t, err)
	defer func() { require.NoError(t, p.Drop(t.Context())) }()
	near, back, err := p.Away(0)
	require.NoError(t, err)
	require.Equal(t, p.URL, near)
	require.NoError(t, back())

	away, back, err := p.Away(30 * time.Millisecond)
	require.NoError(t, err)
	conn, err := pgx.Connect(t.Context(), away)
	require.NoError(t, err)
	started := time.Now()
	var name string
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT current_database()", pgx.QueryExecModeSimpleProtocol).Scan(&name))
	require.GreaterOrEqual(t, time.Since(started), 30*time.Millisecond)
	require.Equal(t, p.Pool.Config().ConnConfig.Database, name)
	require.NoError(t, conn.Close(t.Context()))
	require.NoError(t, back())
}
