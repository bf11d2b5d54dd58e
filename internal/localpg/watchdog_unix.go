//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package localpg

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// watchScript waits for the end of its input, which comes when the owner closes
// the pipe or ends in whatever way, then ends what the last line named and
// removes the folder. Arguments: the folder, then the names in it. The lock goes
// last: as long as it is there a later sweep finds what is left. A process that
// does not go is killed after five seconds.
const watchScript = `trap '' HUP INT QUIT TERM
signal= pid=
while read -r s p; do signal=$s pid=$p; done
home=$1 data=$2 lock=$3
shift 3
n=0
if [ -n "$pid" ] && kill -s "$signal" -- "$pid"; then
	while [ -e "$data/postmaster.pid" ] && kill -s 0 -- "$pid" && [ $n -lt 50 ]; do
		sleep 0.1
		n=$((n + 1))
	done
	[ $n -lt 50 ] || kill -s KILL -- "$pid"
fi
n=0
until rm -rf "$data" "$@" || [ $n -ge 20 ]; do
	sleep 0.1
	n=$((n + 1))
done
[ -e "$data" ] || rm -f "$lock"
rmdir "$home"`

// watchdog is a small shell that outlives its owner by a moment. The kernel's
// own means, Linux's parent-death signal, hangs on the thread that started the
// child (the Go runtime ends threads at will), exists on Linux alone, and leaves
// the folder behind; the end of a pipe reaches a reader on every Unix, after
// SIGKILL too, and never comes too early.
//
// The watchdog shares the run's lock, so no sweep takes the folder away from
// under it.
type watchdog struct {
	cmd *exec.Cmd

	mu   sync.Mutex
	pipe *os.File // nil once dismissed
}

func startWatchdog(f *folder, as *account) (*watchdog, error) {
	input, pipe, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = input.Close() }()
	// #nosec G204 -- a constant script; the folder's names are arguments, not text
	cmd := exec.Command("/bin/sh", "-c", watchScript, "sh",
		f.path, f.dataDir(), f.lockPath(), f.logPath(), f.passwordPath())
	cmd.Dir = "/"
	cmd.Env = serverEnv()
	cmd.Stdin = input
	cmd.ExtraFiles = []*os.File{f.lock}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: credential(as)}
	if err := cmd.Start(); err != nil {
		_ = pipe.Close()
		return nil, err
	}
	return &watchdog{cmd: cmd, pipe: pipe}, nil
}

// guard names the process that must not outlive the owner, and the signal that
// ends it; a negative pid is a process group, as for kill. It replaces what was
// guarded before.
func (w *watchdog) guard(signal string, pid int) {
	w.tell(fmt.Sprintf("%s %d\n", signal, pid))
}

func (w *watchdog) guardNothing() { w.tell("\n") }

// tell writes one line; a watchdog that somebody killed is no reason to fail,
// since the next start's sweep does its work.
func (w *watchdog) tell(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pipe != nil {
		_, _ = w.pipe.WriteString(line)
	}
}

// dismiss lets the watchdog do its work and waits until it has.
func (w *watchdog) dismiss() {
	w.mu.Lock()
	pipe := w.pipe
	w.pipe = nil
	w.mu.Unlock()
	if pipe == nil {
		return
	}
	_ = pipe.Close()
	_ = w.cmd.Wait() // its exit code says nothing that remove does not find
}
