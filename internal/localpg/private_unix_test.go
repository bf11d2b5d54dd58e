//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package localpg

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

// settings asks a server for the values of settings.
func settings(t *testing.T, url string, names ...string) map[string]string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	got := make(map[string]string, len(names))
	for _, name := range names {
		var value string
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT current_setting($1)", name).Scan(&value))
		got[name] = value
	}
	return got
}

func TestTwoStartsAtOnce(t *testing.T) {
	t.Parallel()
	parent := openTempDir(t)
	type started struct {
		s   *Server
		err error
	}
	results := make(chan started)
	for range 2 {
		go func() {
			s, err := Start(t.Context(), Options{TempDir: parent})
			results <- started{s, err}
		}()
	}
	first, second := <-results, <-results
	for _, r := range []started{first, second} {
		require.NoError(t, r.err)
		t.Cleanup(func() { _ = r.s.Stop() })
		require.NoError(t, ping(t.Context(), r.s.URL))
	}
	requireDurable(t, first.s)

	require.NoError(t, first.s.Stop())
	require.Error(t, ping(t.Context(), first.s.URL))
	require.NoDirExists(t, filepath.Dir(first.s.DataDir))
	require.NoError(t, ping(t.Context(), second.s.URL), "stopping one server stopped the other")
	require.NoError(t, second.s.Stop())
	require.NoError(t, second.s.Stop())
	requireEmpty(t, parent)
}

// requireDurable checks what a server is like when nothing special was asked.
func requireDurable(t *testing.T, s *Server) {
	t.Helper()
	require.Equal(t, map[string]string{
		"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on", "max_connections": "200", "TimeZone": "UTC",
		"server_encoding": "UTF8", "listen_addresses": "127.0.0.1", "unix_socket_directories": "", "is_superuser": "on",
		"data_directory": s.DataDir, "password_encryption": "scram-sha-256",
	}, settings(t, s.URL, "fsync", "synchronous_commit", "full_page_writes", "max_connections", "TimeZone",
		"server_encoding", "listen_addresses", "unix_socket_directories", "is_superuser", "data_directory", "password_encryption"))
	require.FileExists(t, filepath.Join(s.BinDir, "postgres"))
	require.NoFileExists(t, filepath.Join(filepath.Dir(s.DataDir), "password"))

	config, err := pgconn.ParseConfig(s.URL)
	require.NoError(t, err)
	config.Password = "guess"
	_, err = pgconn.ConnectConfig(t.Context(), config)
	var refused *pgconn.PgError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "28P01", refused.Code)

	if os.Geteuid() == 0 {
		owner, ok := ownerOf(s.DataDir)
		require.True(t, ok)
		require.NotZero(t, owner, "the server runs as root")
	}
}

// takenPort is a port that somebody listens on.
func takenPort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() { // a listener that answers nobody would make the probe wait
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
		}
	}()
	return l.Addr().(*net.TCPAddr).Port
}

func TestPortIsChosenAgain(t *testing.T) {
	t.Parallel()
	taken := takenPort(t)
	opts := Options{Fast: true, TempDir: openTempDir(t), Settings: [][2]string{
		{"full_page_writes", "on"}, {"work_mem", "5MB"}, {"work_mem", "6MB"}, {"cluster_name", `it's "quoted" $HOME`},
	}}
	h := thisHost(opts)
	asked := 0
	h.freePort = func() (int, error) {
		if asked++; asked < 3 {
			return taken, nil
		}
		return freePort()
	}
	s, err := start(t.Context(), opts, h)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Stop() })
	require.Equal(t, 3, asked)

	require.Equal(t, map[string]string{
		"fsync": "off", "synchronous_commit": "off", "full_page_writes": "on", "work_mem": "6MB", "cluster_name": `it's "quoted" $HOME`,
	}, settings(t, s.URL, "fsync", "synchronous_commit", "full_page_writes", "work_mem", "cluster_name"))

	requireServerOfTheCaller(t, s)
}

// requireServerOfTheCaller names a running server by its URL.
func requireServerOfTheCaller(t *testing.T, running *Server) {
	t.Helper()
	named, err := start(t.Context(), Options{URL: running.URL}, host{}) // a host that is asked anything would panic
	require.NoError(t, err)
	require.Equal(t, running.URL, named.URL)
	require.NoError(t, named.Stop())
	require.NoError(t, ping(t.Context(), running.URL), "Stop stopped a server that is not ours")

	require.NoError(t, running.Stop())
	_, err = Start(t.Context(), Options{URL: running.URL})
	require.ErrorContains(t, err, "does not answer")
	config, parseErr := pgconn.ParseConfig(running.URL)
	require.NoError(t, parseErr)
	require.NotContains(t, err.Error(), config.Password)
}

func TestFailedStart(t *testing.T) {
	t.Parallel()

	t.Run("shows the log and leaves nothing", func(t *testing.T) {
		t.Parallel()
		parent := openTempDir(t)
		_, err := Start(t.Context(), Options{TempDir: parent, Settings: [][2]string{{"no_such_setting", "1"}}})
		require.ErrorContains(t, err, `unrecognized configuration parameter "no_such_setting"`)
		require.NotErrorIs(t, err, ErrUnavailable)
		requireEmpty(t, parent)
	})

	t.Run("finds no free port", func(t *testing.T) {
		t.Parallel()
		opts := Options{Fast: true, TempDir: openTempDir(t)}
		h := thisHost(opts)
		taken, asked := takenPort(t), 0
		h.freePort = func() (int, error) { asked++; return taken, nil }
		_, err := start(t.Context(), opts, h)
		require.ErrorContains(t, err, "could not bind")
		require.Equal(t, 5, asked)
		requireEmpty(t, opts.TempDir)
	})

	t.Run("ends with its context, in initdb already", func(t *testing.T) {
		t.Parallel()
		opts := Options{TempDir: openTempDir(t)}
		h := thisHost(opts)
		ctx, cancel := context.WithCancel(t.Context())
		h.version = func(context.Context, string) (int, error) { cancel(); return minMajor, nil }
		h.freePort = nil // a call would panic
		_, err := start(ctx, opts, h)
		require.ErrorIs(t, err, context.Canceled)
		requireEmpty(t, opts.TempDir)
	})

	t.Run("no place that the account may enter", func(t *testing.T) {
		t.Parallel()
		closed := filepath.Join(openTempDir(t), "closed")
		require.NoError(t, os.Mkdir(closed, 0o700))
		_, err := parentFolder(closed, &account{name: "stranger", uid: 54321, gid: 54321})
		require.ErrorContains(t, err, closed+" is closed to the user stranger")
	})
}

// requireEmpty fails when a run left something in its parent folder.
func requireEmpty(t *testing.T, parent string) {
	t.Helper()
	entries, err := os.ReadDir(parent)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	require.Empty(t, strings.Join(names, " "))
}
