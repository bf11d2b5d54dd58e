package relay_test

import (
	"bytes"
	"os/exec"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/relay"
	"github.com/pawl-go/pawl/internal/needs"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

// In a database that was restored from a dump transaction ids begin anew, and a
// reader that compares them delivers nothing. Here everything undelivered is
// delivered, what is held up stays so, and what was delivered is not again.
func TestRestoredFromADump(t *testing.T) {
	t.Parallel()
	dump, restore := needs.Command(t, "pg_dump", "postgresql-client"), needs.Command(t, "psql", "postgresql-client")
	from, to := testdb.URL(t, testdb.WithMigrations(migrations.FS)), testdb.URL(t)
	source := connect(t, from)
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

	restored := connect(t, to)
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
