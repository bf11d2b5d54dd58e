// Package testrabbit gives a test a RabbitMQ server of its own: a node with its own
// name, ports, data and cookie, which shares nothing with one that the machine runs.
// Starting one takes seconds, so tests of a package share it.
package testrabbit

import (
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/needs"
)

// Server is a RabbitMQ server that ends with its test.
type Server struct {
	// Addr is where it speaks AMQP 0.9.1, host and port.
	Addr string

	t      testing.TB
	folder string
	env    []string
	mapper *exec.Cmd // Erlang's port mapper, which would outlive the server otherwise
	node   *exec.Cmd
}

// URL is the server's URL for AMQP clients.
func (s *Server) URL() string { return "amqp://guest:guest@" + s.Addr + "/" }

// startTimeout is how long a server may take until it answers, on a busy machine.
const startTimeout = 3 * time.Minute

// Start starts a server. Where RabbitMQ is not installed the test is skipped, or
// fails where CI is set.
func Start(t testing.TB) *Server {
	t.Helper()
	needs.Command(t, "rabbitmq-server", "rabbitmq-server")
	s := &Server{t: t, folder: t.TempDir()}
	ports := freePorts(t, 3)
	s.Addr = net.JoinHostPort("127.0.0.1", ports[0])
	s.env = environment(s.folder, ports)
	t.Cleanup(s.stop)
	s.mapper = s.start(program(t, "epmd"), "-port", ports[2], "-address", "127.0.0.1", "-relaxed_command_check")
	s.node = s.start(program(t, "rabbitmq-server"))
	s.await()
	return s
}

// folders are where Debian keeps the programs themselves; those of the same name in
// PATH are wrappers that change to the user of the machine's own server.
var folders = []string{"/usr/lib/rabbitmq/bin"}

// program returns the path of one of RabbitMQ's or Erlang's programs.
func program(t testing.TB, name string) string {
	t.Helper()
	for _, folder := range folders {
		path := filepath.Join(folder, name)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return needs.Command(t, name, "rabbitmq-server")
}

// freePorts returns that many ports that nobody listens on.
func freePorts(t testing.TB, n int) []string {
	t.Helper()
	ports := make([]string, n)
	for i := range ports {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer func() { _ = listener.Close() }()
		ports[i] = strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

// environment has all that a node shares with others by default point into the
// folder, and to the ports for AMQP, for Erlang, and for the port mapper.
func environment(folder string, ports []string) []string {
	in := func(name string) string { return filepath.Join(folder, name) }
	return append(os.Environ(),
		"HOME="+folder, // Erlang keeps its cookie there
		"RABBITMQ_NODENAME=pawl"+strings.ToLower(rand.Text()[:8])+"@localhost",
		"RABBITMQ_NODE_IP_ADDRESS=127.0.0.1",
		"RABBITMQ_NODE_PORT="+ports[0],
		"RABBITMQ_DIST_PORT="+ports[1],
		"ERL_EPMD_PORT="+ports[2],
		"ERL_EPMD_ADDRESS=127.0.0.1",
		"RABBITMQ_MNESIA_BASE="+in("data"),
		"RABBITMQ_LOG_BASE="+in("log"),
		"RABBITMQ_CONFIG_FILE="+in("none"),
		"RABBITMQ_ADVANCED_CONFIG_FILE="+in("none-advanced"),
		"RABBITMQ_CONF_ENV_FILE="+in("none-env"),
		"RABBITMQ_ENABLED_PLUGINS_FILE="+in("plugins"),
		"RABBITMQ_PID_FILE="+in("pid"),
		"RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=-start_epmd false -noinput",
		"RABBITMQ_ALLOW_INPUT=1", // the script becomes the server, and ends with it
	)
}

// start starts a program that ends with the test's process.
func (s *Server) start(path string, args ...string) *exec.Cmd {
	s.t.Helper()
	log, err := os.OpenFile(s.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(s.t, err)
	defer func() { _ = log.Close() }()
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Env = s.folder, s.env
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = apart()
	require.NoError(s.t, cmd.Start())
	return cmd
}

func (s *Server) log() string { return filepath.Join(s.folder, "output.log") }

// await returns when the server answers a client's greeting by its own.
func (s *Server) await() {
	s.t.Helper()
	deadline := time.Now().Add(startTimeout)
	for {
		err := greet(s.Addr)
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			text, _ := os.ReadFile(s.log())
			require.FailNow(s.t, "RabbitMQ does not answer", "%v\n%s", err, text)
		}
		time.Sleep(50 * time.Millisecond) // between two attempts to connect
	}
}

// Messages returns how many messages are in the queues, those included that a consumer
// has and has not acknowledged, which AMQP does not tell.
func (s *Server) Messages(queues ...string) int {
	s.t.Helper()
	cmd := exec.Command(program(s.t, "rabbitmqctl"), "--quiet", "--no-table-headers", "list_queues", "name", "messages")
	cmd.Dir, cmd.Env = s.folder, s.env
	text, err := cmd.Output()
	require.NoError(s.t, err)
	n := 0
	for line := range strings.Lines(string(text)) {
		name, count, ok := strings.Cut(strings.TrimSpace(line), "\t")
		require.True(s.t, ok, line)
		if slices.Contains(queues, name) {
			messages, err := strconv.Atoi(count)
			require.NoError(s.t, err)
			n += messages
		}
	}
	return n
}

// greet sends AMQP's protocol header, after which a server sends Connection.Start, a
// method frame on channel 0; one of another version would send the header back.
// https://www.rabbitmq.com/resources/specs/amqp0-9-1.pdf, 2.2.4 and 4.2.2
func greet(addr string) error {
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return err
	}
	if _, err := conn.Write([]byte("AMQP\x00\x00\x09\x01")); err != nil {
		return err
	}
	answer := make([]byte, 3)
	if _, err := conn.Read(answer); err != nil {
		return err
	}
	if answer[0] != 1 {
		return fmt.Errorf("it answers %q", answer)
	}
	return nil
}

// stop ends the server as kill -9 would, with all that it started.
func (s *Server) stop() {
	for _, cmd := range []*exec.Cmd{s.node, s.mapper} {
		if cmd != nil {
			end(cmd)
			_ = cmd.Wait()
		}
	}
}
