//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package localpg

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// ownerEnv makes the test binary own a server, in the folder it names, until its
// standard input ends.
const ownerEnv = "LOCALPG_TEST_OWNER"

func TestMain(m *testing.M) {
	if parent := os.Getenv(ownerEnv); parent != "" {
		os.Exit(ownServer(parent))
	}
	os.Exit(m.Run())
}

// owned is what an owner tells about its server.
type owned struct {
	URL, Folder        string
	Postgres, Watchdog int
}

func ownServer(parent string) int {
	opts := Options{Fast: true, TempDir: parent}
	r, url, err := startRun(context.Background(), opts, thisHost(opts))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	s := &Server{URL: url, stop: r.stop}
	s.StopOnSignal()
	told, err := json.Marshal(owned{URL: url, Folder: r.folder.path, Postgres: r.postgres.pid(), Watchdog: r.dog.cmd.Process.Pid})
	if err != nil {
		return 1
	}
	fmt.Println(string(told))
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

// owner is an owner process under a test's control.
type owner struct {
	owned
	cmd *exec.Cmd
}

func startOwner(t *testing.T, parent string) *owner {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), ownerEnv+"="+parent)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	require.NoError(t, err)
	o := &owner{cmd: cmd}
	require.NoError(t, json.Unmarshal(line, &o.owned))
	require.NoError(t, ping(t.Context(), o.URL))
	return o
}

// lockOf opens the lock of a run for afterAll.
func lockOf(t *testing.T, folder string) *os.File {
	t.Helper()
	lock, err := os.OpenFile(filepath.Join(folder, "lock"), os.O_RDWR, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = lock.Close() })
	return lock
}

// afterAll returns when nobody holds the lock of a run any more: neither its
// owner nor its watchdog.
func afterAll(t *testing.T, lock *os.File) {
	t.Helper()
	free := make(chan error, 1)
	go func() { free <- syscall.Flock(int(lock.Fd()), syscall.LOCK_EX) }()
	select {
	case err := <-free:
		require.NoError(t, err)
	case <-time.After(20 * time.Second):
		t.Fatal("the run's lock is still held")
	}
	require.NoError(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_UN))
}

// openTempDir is a folder that the account of a server may use like /tmp.
func openTempDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755)) // #nosec G302 -- see above
	require.NoError(t, os.Chmod(dir, 0o777|os.ModeSticky)) // #nosec G302 -- see above
	return dir
}

func requireNoServer(t *testing.T, o owned) {
	t.Helper()
	_, _, running := processInfo(o.Postgres)
	require.False(t, running, "postgres is still there")
	require.Error(t, ping(t.Context(), o.URL))
	require.NoDirExists(t, o.Folder)
}

func TestEndedOwnerLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			o := startOwner(t, openTempDir(t))

			require.NoError(t, o.cmd.Process.Signal(sig))
			err := o.cmd.Wait()

			var exit *exec.ExitError
			require.ErrorAs(t, err, &exit)
			status, ok := exit.Sys().(syscall.WaitStatus)
			require.True(t, ok)
			require.True(t, status.Signaled(), "the owner ended with %v", exit)
			require.Equal(t, sig, status.Signal())
			requireNoServer(t, o.owned)
		})
	}
}

// TestKilledOwners has two of them. One is killed with its watchdog, so that a
// server is really left over for the next start; the other is killed alone, and
// its watchdog is enough.
func TestKilledOwners(t *testing.T) {
	t.Parallel()
	parent := openTempDir(t)
	live, left := startOwner(t, parent), startOwner(t, parent)
	lock := lockOf(t, left.Folder)
	require.NoError(t, syscall.Kill(left.Watchdog, syscall.SIGKILL))
	require.NoError(t, left.cmd.Process.Kill())
	afterAll(t, lock)
	require.NoError(t, ping(t.Context(), left.URL), "the server should have been left over")

	s, err := Start(t.Context(), Options{Fast: true, TempDir: parent})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Stop() })

	requireNoServer(t, left.owned)
	require.NoError(t, ping(t.Context(), live.URL), "a live run was swept")
	require.NoError(t, ping(t.Context(), s.URL))

	lock = lockOf(t, live.Folder)
	require.NoError(t, live.cmd.Process.Kill())
	afterAll(t, lock)
	requireNoServer(t, live.owned)
}
