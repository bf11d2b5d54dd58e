// Package testredis gives a test a Redis server of its own, which the test may
// kill, start again, stop in the middle of what it does, and empty.
package testredis

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/needs"
)

// Server is a Redis server that ends with its test. It keeps an append-only file
// that is synchronized at each write, so that a restart after a kill loses no
// write that was answered. It is not safe for concurrent use.
type Server struct {
	// Addr is the address, host and port, and stays the same over restarts.
	Addr string

	t       testing.TB
	program string
	folder  string
	cmd     *exec.Cmd
}

// startTimeout is how long a server may take until it answers.
const startTimeout = 20 * time.Second

// Start starts a server. Where Redis is not installed the test is skipped, or
// fails where CI is set.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{t: t, program: needs.Command(t, "redis-server", "redis-server"), folder: t.TempDir()}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s.Addr = listener.Addr().String()
	require.NoError(t, listener.Close())
	s.Restart()
	t.Cleanup(s.Kill)
	return s
}

// Restart starts the server that Kill ended, with the data that it had.
func (s *Server) Restart() {
	s.t.Helper()
	require.Nil(s.t, s.cmd, "the server runs")
	_, port, err := net.SplitHostPort(s.Addr)
	require.NoError(s.t, err)
	log, err := os.OpenFile(filepath.Join(s.folder, "redis.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(s.t, err)
	defer func() { _ = log.Close() }()
	s.cmd = exec.Command(s.program, "--bind", "127.0.0.1", "--port", port, "--dir", s.folder,
		"--save", "", "--appendonly", "yes", "--appendfsync", "always", "--daemonize", "no")
	s.cmd.Stdout, s.cmd.Stderr = log, log
	s.cmd.SysProcAttr = withParent()
	require.NoError(s.t, s.cmd.Start())
	s.await()
}

// await returns when the server answers PING.
func (s *Server) await() {
	s.t.Helper()
	deadline := time.Now().Add(startTimeout)
	for {
		answer, err := s.ask("PING")
		if err == nil && answer == "+PONG\r\n" {
			return
		}
		if time.Now().After(deadline) {
			text, _ := os.ReadFile(filepath.Join(s.folder, "redis.log"))
			require.FailNow(s.t, "Redis does not answer", "%v, %q\n%s", err, answer, text)
		}
		time.Sleep(10 * time.Millisecond) // between two attempts to connect
	}
}

// ask sends one command of one word and returns the raw answer.
func (s *Server) ask(command string) (string, error) {
	conn, err := net.DialTimeout("tcp", s.Addr, time.Second)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(2 * time.Second)); err != nil {
		return "", err
	}
	if _, err := fmt.Fprintf(conn, "*1\r\n$%s\r\n%s\r\n", strconv.Itoa(len(command)), command); err != nil {
		return "", err
	}
	buffer := make([]byte, 256)
	n, err := conn.Read(buffer)
	return string(buffer[:n]), err
}

// Kill ends the server as kill -9 would, and returns when it is gone. A server
// that is gone already is let be.
func (s *Server) Kill() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	s.cmd = nil
}

// Pause stops the server in the middle of what it does: connections stay, and
// nothing is answered until Resume.
func (s *Server) Pause() {
	s.t.Helper()
	require.NoError(s.t, s.cmd.Process.Signal(syscall.SIGSTOP))
}

// Resume has a paused server go on.
func (s *Server) Resume() {
	s.t.Helper()
	require.NoError(s.t, s.cmd.Process.Signal(syscall.SIGCONT))
}

// Flush empties the server.
func (s *Server) Flush() {
	s.t.Helper()
	answer, err := s.ask("FLUSHALL")
	require.NoError(s.t, err)
	require.Equal(s.t, "+OK\r\n", answer)
}
