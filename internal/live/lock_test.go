package live

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// Who alters a table is not waited for: every question about it ends as busy, and works
// again when the table is free.
func TestNobodysLockIsWaitedFor(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.create(first)
	db := b.open()
	held, err := b.pool.Begin(t.Context())
	require.NoError(t, err)
	for _, table := range []string{"orders", "order_history", "order_facts", "fsm_deliveries", "fsm_outbox"} {
		_, err := held.Exec(t.Context(), "LOCK TABLE "+table+" IN ACCESS EXCLUSIVE MODE")
		require.NoError(t, err)
	}
	for name, ask := range questions(t, db) {
		start := time.Now()
		require.ErrorIs(t, ask(), ErrBusy, name)
		require.Less(t, time.Since(start), soon, name)
	}
	require.NoError(t, held.Rollback(t.Context()))
	for name, ask := range questions(t, db) {
		require.NoError(t, ask(), name)
	}
}

// What is read while others write, or keep others from writing, waits for nobody, and
// takes no lock that they would have to wait for.
func TestWritersAreInNobodysWay(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.create(first)
	db, record := b.recording()
	held, err := b.pool.Begin(t.Context())
	require.NoError(t, err)
	for _, table := range []string{"orders", "order_history", "order_facts", "fsm_deliveries", "fsm_inbox", "fsm_outbox"} {
		_, err := held.Exec(t.Context(), "LOCK TABLE "+table+" IN EXCLUSIVE MODE")
		require.NoError(t, err)
	}
	for name, ask := range questions(t, db) {
		require.NoError(t, ask(), name)
	}
	require.NoError(t, held.Rollback(t.Context()))
	for _, q := range record.taken() {
		require.NotRegexp(t, `(?i)\bFOR (NO KEY )?(UPDATE|SHARE)|advisory_|\b(INSERT|UPDATE|DELETE|TEMP|CREATE)\b|nextval`, q.sql)
	}
}

// slow makes reading any row of a table take a minute, for the role.
func (b bed) slow(tables ...string) string {
	b.t.Helper()
	role := b.role()
	b.exec("CREATE FUNCTION in_time() RETURNS boolean LANGUAGE sql VOLATILE AS 'SELECT pg_sleep(60) IS NOT NULL'")
	for _, table := range tables {
		b.exec("ALTER TABLE " + table + " ENABLE ROW LEVEL SECURITY")
		b.exec("CREATE POLICY slow ON " + table + " USING (in_time())")
	}
	b.exec("GRANT SELECT ON ALL TABLES IN SCHEMA public TO " + role)
	return role
}

// A table that is larger than hoped ends each question with its bound.
func TestEveryQuestionIsBounded(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.create(first)
	require.NotEmpty(t, b.pay(first, "p1", 100))
	b.tell("stripe", "ev_1", "paid", "p1", "done", "duplicate")
	b.exec("UPDATE orders SET deadline_at = now() - interval '1 hour'")
	db := b.as(b.slow("orders", "order_history", "order_facts", "fsm_deliveries", "fsm_inbox", "fsm_outbox"))
	db.quick, db.long = 150*time.Millisecond, 200*time.Millisecond
	for name, ask := range questions(t, db) {
		start := time.Now()
		require.ErrorIs(t, ask(), ErrSlow, name)
		require.Less(t, time.Since(start), soon, name)
	}
}

// A count that takes long ends when a migration waits for its table, which then has it:
// also behind a pooler, whose connections have other numbers than the server's sessions.
func TestACountGivesWay(t *testing.T) {
	t.Parallel()
	for name, through := range map[string]func(bed, string) *Database{"direct": bed.as, "pooler": bed.pooled} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			givesWay(t, through)
		})
	}
}

func givesWay(t *testing.T, through func(bed, string) *Database) {
	b := newBed(t)
	b.create(first)
	role := b.slow("orders")
	db := through(b, role)
	db.long = time.Minute
	ended := make(chan error, 1)
	go func() {
		_, err := db.Count(context.Background(), named(t, machines(t), "order"))
		ended <- err
	}()
	require.Eventually(t, func() bool {
		return b.count("SELECT count(*) FROM pg_stat_activity WHERE usename = $1 AND wait_event = 'PgSleep'", role) == 1
	}, soon, 10*time.Millisecond)

	migration, err := pgx.Connect(t.Context(), b.url)
	require.NoError(t, err)
	defer func() { require.NoError(t, migration.Close(t.Context())) }()
	_, err = migration.Exec(t.Context(), "SET lock_timeout = '10s'; ALTER TABLE orders ADD COLUMN note text")
	require.NoError(t, err, "it does not wait for the minute")
	require.ErrorIs(t, <-ended, ErrBusy)
	require.Zero(t, b.count("SELECT count(*) FROM pg_stat_activity WHERE usename = $1 AND wait_event = 'PgSleep'", role), "the query ended on the server, too")
}

// A count of which nobody can say whether it is in the way, since the other connection has
// work of its own, gives way all the same.
func TestACountThatNobodyWatchesGivesWay(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.create(first)
	b.tell("stripe", "ev_1", "paid", "p1", "done")
	role := b.slow("orders", "fsm_deliveries")
	db := b.as(role)
	db.quick, db.long = time.Minute, time.Minute
	other, leave := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		_, err := db.Deliveries(other)
		gone <- err
	}()
	asleep := func(n int64) func() bool {
		return func() bool {
			return b.count("SELECT count(*) FROM pg_stat_activity WHERE usename = $1 AND wait_event = 'PgSleep'", role) == n
		}
	}
	require.Eventually(t, asleep(1), soon, 10*time.Millisecond)
	ended := make(chan error, 1)
	go func() {
		_, err := db.Count(context.Background(), named(t, machines(t), "order"))
		ended <- err
	}()
	require.Eventually(t, asleep(2), soon, 10*time.Millisecond)

	migration, err := pgx.Connect(t.Context(), b.url)
	require.NoError(t, err)
	defer func() { require.NoError(t, migration.Close(t.Context())) }()
	_, err = migration.Exec(t.Context(), "SET lock_timeout = '30s'; ALTER TABLE orders ADD COLUMN note text")
	require.NoError(t, err, "it does not wait for the minute")
	require.ErrorIs(t, <-ended, ErrSlow)
	leave()
	require.ErrorIs(t, <-gone, context.Canceled)
}

// Whoever gives up a question ends it.
func TestACallersEnd(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.create(first)
	db := b.as(b.slow("orders"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := db.Life(ctx, named(t, machines(t), "order"), []string{first})
	require.ErrorIs(t, err, context.Canceled)
}

// A database that is away is told as that, without the password, and found again.
func TestAway(t *testing.T) {
	t.Parallel()
	db, err := Open("postgres://u:secret@127.0.0.1:1/db?sslmode=disable")
	require.NoError(t, err)
	defer db.Close()
	for name, ask := range questions(t, db) {
		err := ask()
		require.ErrorIs(t, err, ErrAway, name)
		require.NotContains(t, err.Error(), "secret", name)
	}
	_, err = Open("postgres://u:secret@127.0.0.1:x/db")
	require.Equal(t, ErrURL, err)
}
