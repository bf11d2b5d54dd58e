//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package localpg

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// A killed server is gone with all its processes, and comes up again with what was
// committed and nothing else.
func TestKillAndRestart(t *testing.T) {
	t.Parallel()
	s, err := Start(t.Context(), Options{Env: []string{"PAWL_HAND=1"}, Settings: [][2]string{{"max_connections", "20"}}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Stop() })
	for round := range 2 {
		conn, err := pgx.Connect(t.Context(), s.URL)
		require.NoError(t, err)
		_, err = conn.Exec(t.Context(), "CREATE TABLE IF NOT EXISTS t (n int)")
		require.NoError(t, err)
		_, err = conn.Exec(t.Context(), "INSERT INTO t VALUES ($1)", round)
		require.NoError(t, err)
		tx, err := conn.Begin(t.Context())
		require.NoError(t, err)
		_, err = tx.Exec(t.Context(), "INSERT INTO t VALUES (99)")
		require.NoError(t, err)

		before := s.PID()
		children := childrenOf(before)
		require.NotEmpty(t, children)
		ended, end := context.WithCancel(t.Context())
		end()
		require.ErrorIs(t, s.AwaitEnd(ended), context.Canceled, "it runs")
		require.NoError(t, s.Kill())
		require.NoError(t, s.Kill(), "twice is fine")
		require.NoError(t, s.AwaitEnd(t.Context()))
		for _, pid := range append(children, before) {
			_, runs := parentOf(pid)
			require.False(t, runs)
		}
		require.Error(t, ping(t.Context(), s.URL))
		_ = conn.Close(context.Background())

		require.NoError(t, s.Restart(t.Context()))
		require.ErrorIs(t, s.Restart(t.Context()), errRuns)
		require.NotEqual(t, before, s.PID())
	}
	conn, err := pgx.Connect(t.Context(), s.URL)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	var found []int32
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT array_agg(n ORDER BY n) FROM t").Scan(&found))
	require.Equal(t, []int32{0, 1}, found)
	require.NoError(t, s.Stop())
	require.NoDirExists(t, s.DataDir)
}

// A paused server answers nothing, and goes on afterwards; one that is paused can be
// stopped and killed.
func TestPause(t *testing.T) {
	t.Parallel()
	s, err := Start(t.Context(), Options{Fast: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Stop() })
	conn, err := pgx.Connect(t.Context(), s.URL)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	require.NoError(t, s.Pause())
	answered := make(chan error, 1)
	go func() {
		_, err := conn.Exec(context.Background(), "SELECT 1")
		answered <- err
	}()
	select {
	case err := <-answered:
		require.Fail(t, "it answered", "%v", err)
	case <-time.After(100 * time.Millisecond):
	}
	require.NoError(t, s.Resume())
	require.NoError(t, <-answered)
	require.NoError(t, s.Pause())
	require.NoError(t, s.Kill())
	require.NoError(t, s.Restart(t.Context()))
	require.NoError(t, s.Pause())
	begun := time.Now()
	require.NoError(t, s.Stop())
	require.Less(t, time.Since(begun), stopTimeout, "it heard the request to stop")
}

// The log is where it was asked to be, and left there; its folder is the owner's to
// take away.
func TestALogInAFolderOfItsOwn(t *testing.T) {
	t.Parallel()
	parent, err := os.MkdirTemp("/tmp", "pawl-wal-") // which the server's account can enter
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(parent) })
	require.NoError(t, os.Chmod(parent, 0o755))
	folder := filepath.Join(parent, "wal")
	require.NoError(t, os.Mkdir(folder, 0o700))
	s, err := Start(t.Context(), Options{Fast: true, WALDir: folder})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Stop() })
	conn, err := pgx.Connect(t.Context(), s.URL)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	var segment string
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT pg_walfile_name(pg_current_wal_lsn())").Scan(&segment))
	require.FileExists(t, filepath.Join(folder, segment))
	require.NoError(t, s.Stop())
	require.NoDirExists(t, s.DataDir)
	require.DirExists(t, folder)
}

func TestAForeignServerIsLetBe(t *testing.T) {
	t.Parallel()
	s := &Server{URL: "postgres://elsewhere"}
	require.ErrorIs(t, s.Kill(), ErrNotOurs)
	require.ErrorIs(t, s.Restart(t.Context()), ErrNotOurs)
	require.ErrorIs(t, s.Pause(), ErrNotOurs)
	require.ErrorIs(t, s.Resume(), ErrNotOurs)
	require.ErrorIs(t, s.AwaitEnd(t.Context()), ErrNotOurs)
	require.Zero(t, s.PID())
}
