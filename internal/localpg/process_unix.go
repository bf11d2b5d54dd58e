//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package localpg

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// process is a child that somebody waits for from the start.
type process struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error // set before done is closed
}

// spawn starts a program of the server's, in a session of its own: Ctrl-C at the
// owner's terminal is the owner's to answer. Its output goes to the log file;
// a pipe of the owner's would keep whoever reads it waiting.
func (r *run) spawn(program string, args ...string) (*process, error) {
	return r.spawnWith(nil, program, args...)
}

// spawnWith is spawn with more of an environment.
func (r *run) spawnWith(env []string, program string, args ...string) (*process, error) {
	// #nosec G204 -- the program is one that findBinaries chose
	cmd := exec.Command(filepath.Join(r.binDir, program), args...)
	cmd.Dir = r.folder.path
	cmd.Env = append(serverEnv(), env...)
	cmd.Stdout, cmd.Stderr = r.log, r.log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: credential(r.account)}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// serverEnv hands on what programs need in order to run, and nothing else: the
// owner's PG* variables would steer the server, its secrets are not another
// user's to read. LC_ALL keeps messages in the language that launch looks for.
func serverEnv() []string {
	env := []string{"LC_ALL=C"}
	for _, name := range []string{"PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH", "TZDIR"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

func credential(as *account) *syscall.Credential {
	if as == nil {
		return nil
	}
	return &syscall.Credential{Uid: as.uid, Gid: as.gid}
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// killGroup ends the process and the children that stayed in its group. It is
// for use before done is closed, while the pid is certainly the child's.
func (p *process) killGroup() {
	_ = syscall.Kill(-p.pid(), syscall.SIGKILL) // already gone is what we want
}

// quit asks postgres for an immediate shutdown and insists after a while.
func (p *process) quit(patience time.Duration) {
	_ = p.cmd.Process.Signal(syscall.SIGQUIT) // already gone is what we want
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

// endBySignal ends this process as if sig had not been caught, so that a shell
// or make sees the true reason.
func endBySignal(sig os.Signal) {
	s, ok := sig.(syscall.Signal)
	if !ok {
		os.Exit(1)
	}
	signal.Reset(s)
	_ = syscall.Kill(os.Getpid(), s)
	select {} // the signal is on its way
}
