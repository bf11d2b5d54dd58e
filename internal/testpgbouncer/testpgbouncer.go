// Package testpgbouncer gives a test a PgBouncer of its own before a database, in
// transaction pooling.
package testpgbouncer

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/needs"
)

// Setting is a line of the pooler's section in its file.
type Setting struct{ Name, Value string }

// startTimeout is how long a pooler may take until it answers.
const startTimeout = 20 * time.Second

// variable names another program than the one in the path, to test with a release
// that the system does not have.
const variable = "PAWL_TEST_PGBOUNCER"

func program(t testing.TB) string {
	t.Helper()
	if path := os.Getenv(variable); path != "" {
		return path
	}
	const debian = "/usr/sbin/pgbouncer" // in nobody's path but root's
	if _, err := os.Stat(debian); err == nil {
		return debian
	}
	return needs.Command(t, "pgbouncer", "pgbouncer")
}

// Pooler is a PgBouncer that ends with its test.
type Pooler struct {
	// URL is that of the database through it.
	URL string

	t    testing.TB
	path string
	args []string
	log  string
	cmd  *exec.Cmd // nil while it is down
}

// Start starts a pooler before the database of a URL and returns the URL of the same
// database through it. It has up to size connections to the server and gives them
// out for a transaction each. Where PgBouncer is not installed the test is skipped,
// or fails where CI is set.
func Start(t testing.TB, url string, size int, settings ...Setting) string {
	t.Helper()
	return New(t, url, size, settings...).URL
}

// New is Start for a test that stops and starts the pooler.
func New(t testing.TB, url string, size int, settings ...Setting) *Pooler {
	t.Helper()
	p := &Pooler{t: t, path: program(t)}
	server, err := pgx.ParseConfig(url)
	require.NoError(t, err)
	port := freePort(t)
	folder := t.TempDir()
	file := filepath.Join(folder, "pgbouncer.ini")
	require.NoError(t, os.WriteFile(file, []byte(config(server, port, size, settings)), 0o600))
	p.log = filepath.Join(folder, "pgbouncer.log")
	p.args = []string{file}
	if os.Geteuid() == 0 { // PgBouncer refuses to run as root
		p.args = []string{"-u", account(t), file}
	}
	p.URL = fmt.Sprintf("postgres://%s@127.0.0.1:%s/%s?sslmode=disable", server.User, port, server.Database)
	t.Cleanup(p.Kill)
	p.Start()
	return p
}

// Start starts the pooler again after a Kill, where it was, and returns when it answers.
func (p *Pooler) Start() {
	p.t.Helper()
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(p.t, err)
	defer func() { _ = log.Close() }()
	p.cmd = exec.Command(p.path, p.args...)
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.SysProcAttr = log, log, withParent()
	require.NoError(p.t, p.cmd.Start())
	await(p.t, p.URL, p.log)
}

// Kill ends the pooler as kill -9 does, with all connections through it. One that is
// down already stays so.
func (p *Pooler) Kill() {
	if p.cmd != nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		p.cmd = nil
	}
}

// config is the pooler's file. Who connects is not asked for a password.
func config(server *pgx.ConnConfig, port string, size int, settings []Setting) string {
	quoted := func(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
	lines := []string{
		"[databases]",
		fmt.Sprintf("%s = host=%s port=%d user=%s password=%s", server.Database, quoted(server.Host), server.Port, quoted(server.User), quoted(server.Password)),
		"[pgbouncer]", "listen_addr = 127.0.0.1", "listen_port = " + port, "unix_socket_dir =", "auth_type = any",
		"pool_mode = transaction", "default_pool_size = " + strconv.Itoa(size), "max_client_conn = 200",
	}
	for _, s := range settings {
		lines = append(lines, s.Name+" = "+s.Value)
	}
	return strings.Join(lines, "\n") + "\n"
}

// account is whom a pooler runs as that root starts.
func account(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"postgres", "nobody"} {
		if _, err := user.Lookup(name); err == nil {
			return name
		}
	}
	t.Fatal("PgBouncer refuses to run as root, and there is neither a user postgres nor nobody to run it")
	return ""
}

func freePort(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, errors.Join(err, listener.Close()))
	return port
}

// await returns when the database answers through the pooler.
func await(t testing.TB, url, log string) {
	t.Helper()
	for until := time.Now().Add(startTimeout); ; {
		conn, err := pgx.Connect(t.Context(), url)
		if err == nil {
			require.NoError(t, conn.Close(t.Context()))
			return
		}
		if time.Now().After(until) {
			text, _ := os.ReadFile(log)
			require.FailNow(t, "PgBouncer does not answer", "%v\n%s", err, text)
		}
		time.Sleep(10 * time.Millisecond) // between two attempts to connect
	}
}

var release = regexp.MustCompile(`(?m)^PgBouncer (\d+)\.(\d+)`)

// Prepares reports whether the pooler can follow prepared statements, by its
// max_prepared_statements: since 1.21.
func Prepares(t testing.TB) bool {
	t.Helper()
	out, err := exec.Command(program(t), "--version").CombinedOutput()
	require.NoError(t, err)
	found := release.FindStringSubmatch(string(out))
	require.NotNil(t, found, "%s", out)
	major, err := strconv.Atoi(found[1])
	require.NoError(t, err)
	minor, err := strconv.Atoi(found[2])
	require.NoError(t, err)
	return major > 1 || minor >= 21
}
