// Package testdb gives a test a PostgreSQL database of its own: a copy of a
// template that was migrated once, dropped when the test ends. It is for tests
// alone.
//
// The server is the one that PAWL_TEST_DATABASE_URL names, shared by as many
// test processes as like to; otherwise each test process has a private one,
// started by its first database and gone with the process. Starting servers is
// package localpg's business, what the migrations say the caller's.
package testdb

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/goleak"

	"github.com/pawl-go/pawl/internal/localpg"
)

const (
	defaultMaxConns = 8
	cleanupTimeout  = 30 * time.Second
	closePatience   = 5 * time.Second
)

type config struct {
	migrations fs.FS
	maxConns   int32
	server     string
	// left says that sessions which a test leaves behind are its mistake.
	left bool
}

// Option says how a database should be.
type Option func(*config)

// WithMigrations migrates the database with the *.sql files in the root of fsys,
// by goose. Without this option the database is empty.
func WithMigrations(fsys fs.FS) Option {
	return func(c *config) { c.migrations = fsys }
}

// WithMaxConns sets how many connections the pool may open; 8 unless told.
func WithMaxConns(n int32) Option {
	return func(c *config) { c.maxConns = n }
}

// WithServer makes the database on the server of this URL, for a test whose answer
// hangs on what else runs there: transaction ids say, which all databases of a
// server share.
func WithServer(url string) Option {
	return func(c *config) { c.server = url }
}

// New returns a pool on a database that nobody else uses. Both go away in t's
// cleanup; a connection that the test still holds then is an error of the test.
// Without any PostgreSQL the test is skipped with the reason, and fails where the
// environment variable CI is set. New is safe for concurrent use.
func New(t testing.TB, opts ...Option) *pgxpool.Pool {
	t.Helper()
	c := configOf(opts)
	c.left = leakless.Load()
	poolConfig, err := pgxpool.ParseConfig(newDatabase(t, c))
	if err != nil {
		t.Fatalf("testdb: %v", err)
	}
	poolConfig.MaxConns = c.maxConns
	// The pool's own context must outlive t.Context, which ends before cleanups.
	pool, err := pgxpool.NewWithConfig(context.Background(), poolConfig)
	if err != nil {
		t.Fatalf("testdb: %v", err)
	}
	t.Cleanup(func() { closePool(t, pool, closePatience) })
	return pool
}

// URL returns the URL (or keyword string, as PAWL_TEST_DATABASE_URL is) of such a
// database, for tests that open their own connections. Connections that are
// still open in t's cleanup are cut.
func URL(t testing.TB, opts ...Option) string {
	t.Helper()
	return newDatabase(t, configOf(opts))
}

// Main runs a package's tests and stops the private server, if one was started,
// before the process ends. TestMain may call it; without it the server ends with
// the process just the same, a moment later.
func Main(m *testing.M) {
	code := m.Run()
	if err := shared.stop(); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "testdb: stop PostgreSQL:", err)
	}
	os.Exit(code)
}

// leakless says that this is a run of Leakless.
var leakless atomic.Bool

// refreshing is a goroutine that rueidis starts when a connection of a cluster's client
// is lost, and every client is one until Redis has said that it has no cluster: after
// up to a second, closed or not, it asks once more which nodes there are, and ends.
const refreshing = "github.com/redis/rueidis.(*call).DelayDo.func1"

// Leakless is Main for a package that starts goroutines: a test of it that leaves a
// session of its database open fails, and when its tests have passed, no goroutine may
// be left but those that end by themselves.
func Leakless(m *testing.M) {
	leakless.Store(true)
	code := m.Run()
	if err := shared.stop(); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "testdb: stop PostgreSQL:", err)
	}
	if code == 0 {
		if err := goleak.Find(goleak.IgnoreAnyFunction(refreshing)); err != nil {
			_, _ = fmt.Fprintln(os.Stderr, "testdb: goroutines are left:", err)
			code = 1
		}
	}
	os.Exit(code)
}

func configOf(opts []Option) config {
	c := config{maxConns: defaultMaxConns}
	for _, opt := range opts {
		opt(&c)
	}
	return c
}

// newDatabase makes a database and returns its URL.
func newDatabase(t testing.TB, c config) string {
	t.Helper()
	admin, err := c.server, error(nil)
	if admin == "" {
		admin, err = shared.get()
	}
	if err != nil {
		unavailable(t, err)
	}
	url, err := createDatabase(t, admin, c)
	if err != nil {
		t.Fatalf("testdb: %v", err)
	}
	return url
}

// unavailable skips on a machine that has no PostgreSQL. In CI a test that did
// not run must not look like one that passed; neither must a server that was
// found and did not work.
func unavailable(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, localpg.ErrUnavailable) && os.Getenv("CI") == "" {
		t.Skipf("testdb: this test needs PostgreSQL: %v", err)
	}
	t.Fatalf("testdb: %v", err)
}

// chooseStrategy has files copied on a server that syncs nothing, which takes a
// third less time there than the copy through the WAL. Elsewhere the checkpoints
// that go with it would be waited for. Release 14 knows no choice.
const chooseStrategy = `SELECT CASE
	WHEN current_setting('server_version_num')::int >= 150000 AND current_setting('fsync') = 'off'
	THEN ' STRATEGY file_copy' ELSE '' END`

func createDatabase(t testing.TB, admin string, c config) (string, error) {
	ctx := t.Context()
	conn, err := pgx.Connect(ctx, admin)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close(context.Background()) }()

	template := "template0"
	if c.migrations != nil {
		if template, err = ensureTemplate(ctx, conn, admin, c.migrations); err != nil {
			return "", err
		}
	}
	name := "pawl_t_" + strings.ToLower(rand.Text())
	var strategy string
	if err := conn.QueryRow(ctx, chooseStrategy).Scan(&strategy); err != nil {
		return "", err
	}
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+name+" TEMPLATE "+template+strategy); err != nil {
		return "", fmt.Errorf("create a database from %s: %w", template, err)
	}
	t.Cleanup(func() {
		if err := dropDatabase(admin, name, c.left); err != nil {
			t.Errorf("testdb: %v", err)
		}
	})
	return withDatabase(admin, name)
}

// errSessions says that a test has left sessions open.
var errSessions = errors.New("the test ended with sessions of its database open")

// noSessions waits until the server has ended the sessions that were closed, and
// returns errSessions, with what they did last, where some are left.
func noSessions(ctx context.Context, conn *pgx.Conn, name string) error {
	ctx, cancel := context.WithTimeout(ctx, closePatience)
	defer cancel()
	const sessions = `SELECT COALESCE(string_agg(concat_ws(' ', s.usename, s.application_name, s.state, s.query), '; '), '')
		FROM pg_stat_activity AS s WHERE s.datname = $1 AND s.backend_type = 'client backend'`
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for last := ""; ; {
		var left string
		switch err := conn.QueryRow(ctx, sessions, name).Scan(&left); {
		case err == nil && left == "":
			return nil
		case err != nil && ctx.Err() != nil:
			return fmt.Errorf("%w: %s", errSessions, last)
		case err != nil:
			return err
		}
		last = left
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %s", errSessions, last)
		case <-again.C:
		}
	}
}

func dropDatabase(admin, name string, alone bool) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), cleanupTimeout)
	defer cancel()
	conn, err := pgx.Connect(ctx, admin)
	if err != nil {
		return fmt.Errorf("drop %s: %w", name, err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if alone {
		if err = noSessions(ctx, conn, name); err != nil && !errors.Is(err, errSessions) {
			return fmt.Errorf("look for sessions of %s: %w", name, err)
		}
	}
	left := err
	if conn.IsClosed() { // the wait ended in the middle of an answer
		again, err := pgx.Connect(ctx, admin)
		if err != nil {
			return errors.Join(left, err)
		}
		defer func() { _ = again.Close(context.Background()) }()
		conn = again
	}
	if _, err := conn.Exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"); err != nil {
		return fmt.Errorf("drop %s: %w", name, err)
	}
	return left
}

// closePool closes the pool. Close waits for every connection that is in use; one
// that a test forgot would hang the whole package.
func closePool(t testing.TB, pool *pgxpool.Pool, patience time.Duration) {
	t.Helper()
	closed := make(chan struct{})
	go func() {
		pool.Close()
		close(closed)
	}()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-closed:
	case <-timer.C:
		t.Errorf("testdb: the test ended with %d connections of its pool in use", pool.Stat().AcquiredConns())
	}
}
