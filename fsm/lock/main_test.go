package lock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/lock"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

func TestMain(m *testing.M) { testdb.Leakless(m) }

const name = "account 1"

var errBusiness = errors.New("business failed")

// lasting waits and holds for longer than any test.
var lasting = lock.Config{Wait: time.Minute, MaxHold: time.Hour}

// impatient waits for long enough to have a lock that is free.
var impatient = lock.Config{Wait: 2 * time.Second, MaxHold: time.Hour}

// open returns a database with one account, which has a version and the fencing
// value of who wrote it last.
func open(t *testing.T, options ...testdb.Option) *pgxpool.Pool {
	t.Helper()
	pool := testdb.New(t, append(options, testdb.WithMigrations(migrations.FS))...)
	_, err := pool.Exec(t.Context(), `CREATE TABLE accounts (id int PRIMARY KEY, balance int NOT NULL,
		version int NOT NULL DEFAULT 1, fence bigint NOT NULL DEFAULT 0);
		INSERT INTO accounts VALUES (1, 100)`)
	require.NoError(t, err)
	return pool
}

func postgres(t *testing.T, db fsm.TxBeginner, c lock.Config) *lock.Postgres {
	t.Helper()
	l, err := lock.NewPostgres(db, c)
	require.NoError(t, err)
	return l
}

// never is the function of a lock that must not be had.
func never(t *testing.T) func(context.Context, lock.Held) error {
	return func(context.Context, lock.Held) error {
		t.Error("the function ran")
		return nil
	}
}

func nothing(context.Context, lock.Held) error { return nil }

// hold holds a lock until release is called, which returns what With did.
func hold(t *testing.T, l lock.Locker, name string) (held lock.Held, release func() error) {
	t.Helper()
	has, free, done := make(chan lock.Held, 1), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- l.With(context.WithoutCancel(t.Context()), name, func(_ context.Context, held lock.Held) error {
			has <- held
			<-free
			return nil
		})
	}()
	select {
	case held = <-has:
	case err := <-done:
		require.NoError(t, err)
		require.FailNow(t, "With returned before its function did")
	}
	return held, func() error {
		close(free)
		return <-done
	}
}

// awaitWaiter returns when a statement waits for a lock.
func awaitWaiter(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	require.Eventually(t, func() bool {
		return count(t, pool, `SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock'`) > 0
	}, 20*time.Second, 5*time.Millisecond)
}

func count(t *testing.T, pool *pgxpool.Pool, query string) int {
	t.Helper()
	var n int
	require.NoError(t, pool.QueryRow(t.Context(), query).Scan(&n))
	return n
}

// ofNames are the advisory locks of names in this database: others on the server are
// other tests'.
const ofNames = `pg_locks WHERE locktype = 'advisory' AND classid = x'7061776c'::int
	AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`

// cutHolders ends the sessions that hold them, and counts these.
const cutHolders = `SELECT count(*) FROM (SELECT pg_terminate_backend(pid) FROM ` + ofNames + `) AS t`

// advisory is how many there are.
func advisory(t *testing.T, pool *pgxpool.Pool) int {
	t.Helper()
	return count(t, pool, `SELECT count(*) FROM `+ofNames)
}
