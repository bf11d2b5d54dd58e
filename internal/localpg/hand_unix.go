//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package localpg

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"
)

// goneTimeout is how long killed processes may take to go.
const goneTimeout = 20 * time.Second

func (r *run) pid() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.postgres.pid()
}

func (r *run) awaitEnd(ctx context.Context) error {
	r.mu.Lock()
	p := r.postgres
	r.mu.Unlock()
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// kill stops the postmaster before it looks for children, so that it starts no more
// of them. Each child is in a session of its own: no signal reaches all at once.
func (r *run) kill() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.postgres
	if p.ended() {
		return nil
	}
	_ = p.cmd.Process.Signal(syscall.SIGSTOP) // already gone is fine
	var killed []int
	for deadline := time.Now().Add(goneTimeout); ; {
		alive := childrenOf(p.pid())
		if len(alive) == 0 {
			break
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("kill a private PostgreSQL: its processes %v do not go", alive)
		}
		for _, pid := range alive {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		killed = append(killed, alive...)
		time.Sleep(time.Millisecond) // between two looks
	}
	_ = p.cmd.Process.Kill()
	<-p.done
	<-r.unguarded
	return awaitGone(killed)
}

// awaitGone returns when the processes, orphans by now, run no more: a postmaster
// refuses to start while one of its forerunner's is attached to the shared memory.
func awaitGone(pids []int) error {
	for deadline := time.Now().Add(goneTimeout); len(pids) > 0; {
		if _, runs := parentOf(pids[0]); !runs {
			pids = pids[1:]
			continue
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("kill a private PostgreSQL: its process %d does not go", pids[0])
		}
		time.Sleep(time.Millisecond) // between two looks
	}
	return nil
}

var errRuns = errors.New("restart a private PostgreSQL: it runs")

func (r *run) restart(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.postgres.ended() {
		return errRuns
	}
	<-r.unguarded
	info, err := r.log.Stat()
	if err != nil {
		return err
	}
	p, err := r.spawnWith(r.env, "postgres", r.args...)
	if err != nil {
		return err
	}
	r.postgres = p
	r.dog.guard("QUIT", p.pid())
	r.watch()
	if err := r.awaitReady(ctx, r.url); err != nil {
		return r.withLog(info.Size(), "postgres", err)
	}
	return nil
}

func (r *run) pause() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.signalAll(syscall.SIGSTOP)
}

func (r *run) resume() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.signalAll(syscall.SIGCONT)
}

// signalAll signals the postmaster, then its children. One that has ended meanwhile
// is no error.
func (r *run) signalAll(sig syscall.Signal) error {
	if r.postgres.ended() {
		return nil
	}
	if err := r.postgres.cmd.Process.Signal(sig); err != nil {
		return err
	}
	for _, pid := range childrenOf(r.postgres.pid()) {
		if err := syscall.Kill(pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
	}
	return nil
}

// ended reports whether the process has ended.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}
