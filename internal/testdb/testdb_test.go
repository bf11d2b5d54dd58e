package testdb

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/localpg"
)

func TestMain(m *testing.M) { Main(m) }

// things are migrations that no other test, and no earlier run on a lasting
// server, has used.
func things(t *testing.T) fs.FS {
	t.Helper()
	migrations := fstest.MapFS{
		"00001_things.sql": {Data: []byte("-- +goose Up\n-- " + rand.Text() + "\nCREATE TABLE things (id int PRIMARY KEY);\n-- +goose Down\nDROP TABLE things;\n")},
		"00002_one.sql":    {Data: []byte("-- +goose Up\nINSERT INTO things VALUES (1);\n-- +goose Down\nDELETE FROM things;\n")},
	}
	dropTemplateLater(t, migrations)
	return migrations
}

func dropTemplateLater(t *testing.T, migrations fs.FS) {
	t.Helper()
	digest, err := digestOf(migrations)
	require.NoError(t, err)
	t.Cleanup(func() {
		for _, name := range []string{"pawl_tpl_" + digest, "pawl_tpl_" + digest + "_new"} {
			require.NoError(t, dropDatabase(adminURL(t), name, false))
		}
	})
}

func adminURL(t *testing.T) string {
	t.Helper()
	url, err := shared.get()
	if err != nil {
		unavailable(t, err)
	}
	return url
}

// databases lists the server's databases whose names match.
func databases(t *testing.T, pattern string) []string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), adminURL(t))
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	rows, err := conn.Query(t.Context(), "SELECT datname FROM pg_database WHERE datname LIKE $1 ORDER BY datname", pattern)
	require.NoError(t, err)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return names
}

func TestNewIsACopyOfItsOwn(t *testing.T) {
	t.Parallel()
	migrations := things(t)
	first := New(t, WithMigrations(migrations))
	second := New(t, WithMigrations(migrations), WithMaxConns(3))
	require.EqualValues(t, 8, first.Config().MaxConns)
	require.EqualValues(t, 3, second.Config().MaxConns)

	_, err := first.Exec(t.Context(), "INSERT INTO things VALUES (2)")
	require.NoError(t, err)
	for _, tc := range []struct {
		query interface {
			QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
		}
		want int
	}{{first, 2}, {second, 1}} {
		var got int
		require.NoError(t, tc.query.QueryRow(t.Context(), "SELECT count(*) FROM things").Scan(&got))
		require.Equal(t, tc.want, got)
	}
}

func TestWithoutMigrationsItIsEmpty(t *testing.T) {
	t.Parallel()
	var tables int
	require.NoError(t, New(t).QueryRow(t.Context(),
		"SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace").Scan(&tables))
	require.Zero(t, tables)
}

func TestDatabasesAreDropped(t *testing.T) {
	t.Parallel()
	var names []string
	t.Run("a test", func(t *testing.T) {
		pool := New(t)
		names = append(names, pool.Config().ConnConfig.Database)
		require.NoError(t, pool.Ping(t.Context()))

		conn, err := pgx.Connect(t.Context(), URL(t)) // left open
		require.NoError(t, err)
		names = append(names, conn.Config().Database)

		for _, name := range names {
			require.Equal(t, []string{name}, databases(t, name))
		}
	})
	require.Len(t, names, 2)
	for _, name := range names {
		require.Empty(t, databases(t, name))
	}
}

func TestTemplateIsMadeOnce(t *testing.T) {
	t.Parallel()
	migrations := things(t)
	digest, err := digestOf(migrations)
	require.NoError(t, err)
	admin := adminURL(t)

	const callers = 6
	var wg sync.WaitGroup
	errs := make([]error, callers)
	for i := range callers {
		wg.Go(func() { _, errs[i] = createDatabase(t, admin, config{migrations: migrations}) })
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	require.Equal(t, []string{"pawl_tpl_" + digest}, databases(t, "pawl_tpl_"+digest+"%"))
}

func TestFailedMigrationMakesNoTemplate(t *testing.T) {
	t.Parallel()
	migrations := fstest.MapFS{"00001_bad.sql": {Data: []byte("-- +goose Up\n-- " + rand.Text() + "\nCREATE TABLE;\n")}}
	dropTemplateLater(t, migrations)
	digest, err := digestOf(migrations)
	require.NoError(t, err)
	for range 2 { // the second meets what the first left
		_, err = createDatabase(t, adminURL(t), config{migrations: migrations})
		require.ErrorContains(t, err, "syntax error")
		require.ErrorContains(t, err, "00001_bad.sql")
	}
	require.Empty(t, databases(t, "pawl_tpl_"+digest))
}

// witness notes how a test was ended instead of ending it.
type witness struct {
	testing.TB
	ended, text string
}

func (w *witness) Helper() {}
func (w *witness) Skipf(format string, args ...any) {
	w.ended, w.text = "skipped", fmt.Sprintf(format, args...)
	runtime.Goexit()
}
func (w *witness) Fatalf(format string, args ...any) {
	w.ended, w.text = "failed", fmt.Sprintf(format, args...)
	runtime.Goexit()
}
func (w *witness) Errorf(format string, args ...any) {
	w.ended, w.text = "error", fmt.Sprintf(format, args...)
}

func (w *witness) watch(test func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		test()
	}()
	<-done
}

func TestWithoutPostgreSQL(t *testing.T) { // sets the environment, so not parallel
	none := fmt.Errorf("%w: nothing here", localpg.ErrUnavailable)
	for _, tc := range []struct {
		name, ci string
		err      error
		want     string
	}{
		{"a developer's machine", "", none, "skipped"},
		{"CI", "true", none, "failed"},
		{"a server that does not start", "", errors.New("nothing here"), "failed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv("CI", tc.ci)
			w := &witness{TB: t}
			w.watch(func() { unavailable(w, tc.err) })
			require.Equal(t, tc.want, w.ended)
			require.Contains(t, w.text, "nothing here")
		})
	}
}

func TestForgottenConnectionIsAnError(t *testing.T) {
	t.Parallel()
	pool := New(t)
	conn, err := pool.Acquire(t.Context())
	require.NoError(t, err)
	w := &witness{TB: t}
	closePool(w, pool, time.Nanosecond)
	require.Equal(t, "error", w.ended)
	require.Contains(t, w.text, "with 1 connections of its pool in use")
	conn.Release()
}
