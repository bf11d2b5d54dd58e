package relay_test

import (
	"bytes"
	"os/exec"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/relay"
	"github.com/pawl-go/pawl/internal/localpg"
	"github.com/pawl-go/pawl/internal/needs"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

// onwards has the source's server use up transaction ids until it is further on
// than the other one.
func onwards(t *testing.T, source, other *pgxpool.Pool) {
	t.Helper()
	const next = `SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint`
	var here, there int64
	require.NoError(t, other.QueryRow(t.Context(), next).Scan(&there))
	for here <= there+10_000 { // the restoration takes some, too
		execute(t, source, `DO $$ BEGIN FOR i IN 1..5000 LOOP BEGIN INSERT INTO used_up VALUES (i); EXCEPTION WHEN division_by_zero THEN END; END LOOP; END $$`)
		require.NoError(t, source.QueryRow(t.Context(), next).Scan(&here))
	}
}

// A reader that others had: it delivers what is older than every transaction that
// runs, by the id of the transaction that wrote it.
const (
	naiveTable = `CREATE TABLE naive_outbox (id int PRIMARY KEY, written_by xid8 NOT NULL DEFAULT pg_current_xact_id()); CREATE TABLE used_up (n int)`
	naiveRead  = `SELECT count(*) FROM naive_outbox WHERE written_by < pg_snapshot_xmin(pg_current_snapshot())`
)

// In a database that was restored from a dump, on another server, transaction ids
// begin anew, and a reader that compares them delivers nothing. Here everything
// undelivered is delivered, what is held up stays so, and what was delivered is not
// again.
func TestRestoredFromADump(t *testing.T) {
	t.Parallel()
	dump, restore := needs.Command(t, "pg_dump", "postgresql-client"), needs.Command(t, "psql", "postgresql-client")
	// Both are this test's alone: a transaction of any other would hold the naive
	// reader up.
	from := testdb.URL(t, testdb.WithServer(server(t)), testdb.WithMigrations(migrations.FS))
	to := server(t)
	source, restored := connect(t, from), connect(t, to)
	execute(t, source, naiveTable)
	onwards(t, source, restored)
	execute(t, source, `INSERT INTO naive_outbox VALUES (1)`)
	var naive int
	require.NoError(t, source.QueryRow(t.Context(), naiveRead).Scan(&naive))
	require.Equal(t, 1, naive)
	for v := range 4 {
		emit(t, source, "a", v+1)
		emit(t, source, "poison", v+1)
	}
	b := &broker{judge: refuse("poison")}
	require.Equal(t, 2, once(t, &relay.Relay{DB: source, Publisher: b, Batch: 4, Tries: 1}))
	require.Equal(t, []int64{1, 2}, b.told("a"))

	text, err := exec.CommandContext(t.Context(), dump, "--no-owner", "--dbname="+from).Output()
	require.NoError(t, err, "%s", stderr(err))
	cmd := exec.CommandContext(t.Context(), restore, "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", "--dbname="+to)
	cmd.Stdin = bytes.NewReader(text)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)

	require.NoError(t, restored.QueryRow(t.Context(), naiveRead).Scan(&naive))
	require.Zero(t, naive, "the naive one delivers nothing here")
	there := &broker{}
	r := &relay.Relay{DB: restored, Publisher: there}
	require.Equal(t, 2, once(t, r), "the held key waits for a person here too")
	require.Equal(t, []int64{3, 4}, there.told("a"))
	require.NoError(t, relay.Retry(t.Context(), restored, "order", "poison"))
	emit(t, restored, "poison", 5)
	drain(t, r, restored)
	require.Equal(t, upTo(5), there.told("poison"))

	b.accepted = nil
	require.Equal(t, 2, once(t, &relay.Relay{DB: source, Publisher: b}))
	require.Equal(t, b.accepted, there.accepted[:2], "the same messages with the same ids as where they come from")
}

// server starts a server for this test alone and returns its URL.
func server(t *testing.T) string {
	t.Helper()
	started, err := localpg.Start(t.Context(), localpg.Options{Fast: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = started.Stop() })
	return started.URL
}

func connect(t *testing.T, url string) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// stderr is what a command that failed said.
func stderr(err error) string {
	if ended, ok := err.(*exec.ExitError); ok {
		return string(ended.Stderr)
	}
	return ""
}
