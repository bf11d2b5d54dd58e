package torture

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// redisServer is a Redis that loses nothing that it has answered.
type redisServer struct {
	addr, port, folder, program string
	cmd                         *exec.Cmd
}

// startRedis starts one. The error says that there is none on this machine.
func startRedis(ctx context.Context, folder string) (*redisServer, error) {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, errors.New("there is no redis-server (Debian: apt-get install redis-server)")
	}
	r := &redisServer{folder: filepath.Join(folder, "redis"), program: program}
	if err := os.Mkdir(r.folder, 0o700); err != nil {
		return nil, err
	}
	if r.addr, r.port, err = freeAddr(); err != nil {
		return nil, err
	}
	return r, r.Restart(ctx)
}

// Kill ends it as kill -9 would.
func (r *redisServer) Kill() error {
	if r.cmd == nil {
		return nil
	}
	_ = r.cmd.Process.Kill()
	_ = r.cmd.Wait() // that it was killed is known
	r.cmd = nil
	return nil
}

// Restart starts it with the data that it had, and returns when it answers.
func (r *redisServer) Restart(ctx context.Context) error {
	// #nosec G204 -- the program was looked up
	r.cmd = exec.Command(r.program, "--bind", "127.0.0.1", "--port", r.port, "--dir", r.folder,
		"--save", "", "--appendonly", "yes", "--appendfsync", "always", "--daemonize", "no")
	r.cmd.SysProcAttr = withParent()
	if err := r.cmd.Start(); err != nil {
		r.cmd = nil
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for {
		if answers(r.addr) {
			return nil
		}
		if !wait(ctx, 10*time.Millisecond) {
			return errors.Join(fmt.Errorf("redis does not answer at %s", r.addr), r.Kill())
		}
	}
}

// answers reports whether a Redis says PONG.
func answers(addr string) bool {
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		return false
	}
	reply := make([]byte, 7)
	n, err := conn.Read(reply)
	return err == nil && string(reply[:n]) == "+PONG\r\n"
}
