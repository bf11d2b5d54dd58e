package testpatroni

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// account is whom programs run as that root starts, since PostgreSQL refuses root; nil
// for others.
type account struct{ uid, gid uint32 }

func accountOf(t testing.TB) *account {
	t.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		require.NoError(t, err)
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		require.NoError(t, err)
		return &account{uint32(uid), uint32(gid)}
	}
	require.FailNow(t, "PostgreSQL refuses to run as root, and there is neither a user postgres nor nobody to run it")
	return nil
}

func credential(as *account) *syscall.Credential {
	if as == nil {
		return nil
	}
	return &syscall.Credential{Uid: as.uid, Gid: as.gid}
}

// withParent has a program be the first of a group of its own, and end with the test's
// process, however that ends.
func withParent(as *account) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, Credential: credential(as)}
}

// watchScript waits for the end of its input, which comes when the test closes it or
// ends, then ends all programs that have the folder in their arguments, and removes it.
// Patroni starts PostgreSQL apart from itself, so that its end is not that of the
// server. A server is told to shut down at once, which frees its shared memory; what
// does not go is killed after five seconds.
const watchScript = `trap '' HUP INT QUIT TERM
cat >/dev/null
n=0
while [ $n -lt 100 ]; do
	left=
	for pid in $(grep -lsF -- "$FOLDER/" /proc/[0-9]*/cmdline | cut -d/ -f3); do
		[ -r "/proc/$pid/comm" ] || continue
		comm=$(cat "/proc/$pid/comm")
		case $comm in
		grep) continue ;;
		postgres) [ $n -lt 50 ] && signal=QUIT || signal=KILL ;;
		*) signal=KILL ;;
		esac
		left=yes
		kill -s "$signal" "$pid"
		[ $signal = KILL ] || kill -s CONT "$pid"
	done
	[ -n "$left" ] || break
	sleep 0.1
	n=$((n + 1))
done
n=0
until rm -rf "$FOLDER" || [ $n -ge 20 ]; do
	sleep 0.1
	n=$((n + 1))
done`

// watch has everything end with the test, and also with its process.
func (c *Cluster) watch() {
	c.t.Helper()
	input, pipe, err := os.Pipe()
	require.NoError(c.t, err)
	defer func() { _ = input.Close() }()
	cmd := exec.Command("/bin/sh", "-c", watchScript)
	cmd.Dir, cmd.Stdin = "/", input
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "FOLDER=" + c.folder}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: credential(c.as)}
	require.NoError(c.t, cmd.Start())
	c.t.Cleanup(func() {
		_ = pipe.Close()
		_ = cmd.Wait() // it says nothing that the folder does not
		_, err := os.Stat(c.folder)
		require.ErrorIs(c.t, err, os.ErrNotExist)
	})
}

// childrenOf are the processes that a process has started and that live.
func childrenOf(pid int) (children []int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return nil // it has ended
	}
	for _, field := range strings.Fields(string(text)) {
		if child, err := strconv.Atoi(field); err == nil {
			children = append(children, child)
		}
	}
	return children
}

// signal sends a signal to processes; one that has ended is fine.
func signal(sig syscall.Signal, pids ...int) {
	for _, pid := range pids {
		if pid > 1 {
			_ = syscall.Kill(pid, sig)
		}
	}
}
