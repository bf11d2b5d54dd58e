//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package localpg

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// leftFolder is what a killed run leaves, without a server.
func leftFolder(t *testing.T, parent string) *folder {
	t.Helper()
	f, err := newFolder(parent, nil)
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(f.dataDir(), 0o700))
	require.NoError(t, os.WriteFile(f.logPath(), []byte("log\n"), 0o600))
	// Closing alone would leave the lock with a child that is just being forked.
	require.NoError(t, syscall.Flock(int(f.lock.Fd()), syscall.LOCK_UN))
	require.NoError(t, f.lock.Close())
	return f
}

func TestSweepTakesOnlyWhatIsLeft(t *testing.T) {
	t.Parallel()
	parent := openTempDir(t)

	left := leftFolder(t, parent)
	half := filepath.Join(parent, folderPrefix+"half") // its maker was killed before the lock
	require.NoError(t, os.Mkdir(half, 0o700))

	live, err := newFolder(parent, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = live.lock.Close() })

	unknown := filepath.Join(parent, folderPrefix+"notes") // the prefix, yet no lock
	require.NoError(t, os.Mkdir(unknown, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(unknown, "notes.txt"), nil, 0o600))

	other := filepath.Join(parent, "somebody-else") // all but the prefix
	require.NoError(t, os.Rename(leftFolder(t, parent).path, other))

	elsewhere := openTempDir(t) // reached by a link with our prefix
	target := leftFolder(t, elsewhere)
	link := filepath.Join(parent, folderPrefix+"link")
	require.NoError(t, os.Symlink(target.path, link))

	sweep(parent, nil)

	require.NoDirExists(t, left.path)
	require.NoDirExists(t, half)
	require.FileExists(t, live.lockPath())
	require.FileExists(t, filepath.Join(unknown, "notes.txt"))
	require.DirExists(t, filepath.Join(other, "data"))
	require.DirExists(t, target.dataDir())
	_, err = os.Lstat(link)
	require.NoError(t, err)
}

func TestSweepLeavesOtherUsersFolders(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can make another user's folder")
	}
	parent := openTempDir(t)
	theirs := leftFolder(t, parent)
	require.NoError(t, os.Chown(theirs.path, 54321, 54321))
	ours := leftFolder(t, parent)
	require.NoError(t, os.Chown(ours.path, 12345, 12345))

	sweep(parent, &account{name: "ours", uid: 12345, gid: 12345})

	require.DirExists(t, theirs.dataDir())
	require.NoDirExists(t, ours.path)
}

// TestSweepSparesAReusedPid: the left postmaster's number now belongs to a
// process that has nothing to do with it.
func TestSweepSparesAReusedPid(t *testing.T) {
	t.Parallel()
	parent := openTempDir(t)
	left := leftFolder(t, parent)
	stranger := exec.Command("cat", "-", left.dataDir())
	stdin, err := stranger.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, stranger.Start())
	pidFile := filepath.Join(left.dataDir(), "postmaster.pid")
	require.NoError(t, os.WriteFile(pidFile, fmt.Appendf(nil, "%d\n%s\n", stranger.Process.Pid, left.dataDir()), 0o600))

	sweep(parent, nil)

	require.NoDirExists(t, left.path)
	require.NoError(t, stdin.Close())
	err = stranger.Wait() // cat complains of the folder; a signal would be another status
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.True(t, exit.Exited(), "the stranger was ended by %v", exit)
}

func TestClaimNoticesASweep(t *testing.T) {
	t.Parallel()
	parent := openTempDir(t)

	gone := &folder{path: filepath.Join(parent, folderPrefix+"gone")}
	require.Error(t, gone.claim(nil))

	locked, err := newFolder(parent, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = locked.lock.Close() })
	require.True(t, sameFile(locked.lock, locked.lockPath()))
	require.NoError(t, os.Remove(locked.lockPath()))
	require.False(t, sameFile(locked.lock, locked.lockPath()))
	require.NoError(t, os.WriteFile(locked.lockPath(), nil, 0o600))
	require.False(t, sameFile(locked.lock, locked.lockPath()), "another file of that name is not ours")
}
