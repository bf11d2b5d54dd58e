package main

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/needs"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

// buildFsmgen returns the program that a serving process starts.
func buildFsmgen(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fsmgen")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", path, "../../cmd/fsmgen")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // quicker, and built already where make check was run
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return path
}

// playing is the service as make serve runs it, in a process of its own.
type playing struct {
	t   *testing.T
	cmd *exec.Cmd
	// out and err are closed at the end of the process.
	out, err <-chan string
	seen     []string
}

func play(t *testing.T, fsmgen string, env ...string) *playing {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	p := &playing{t: t, cmd: exec.Command(program)}
	p.cmd.Dir = filepath.Join("..", "..") // as the Makefile does: the definitions are below it
	p.cmd.Env = append(os.Environ(), childFault+"=", "FSMGEN="+fsmgen, "ADDR=127.0.0.1:0", "REDIS_URL=", "PROVIDER_URL=", "DATABASE_URL=",
		"WEBHOOK_SECRET_STANDARD=", "WEBHOOK_SECRET_STRIPE=", "WEBHOOK_SECRET_WECHAT=", "WEBHOOK_ALIPAY_KEYS=", "WEBHOOK_WECHAT_KEYS=", "ADMIN_ADDR=", "STUDIO_ADDR=", "STUDIO_DATABASE_URL=")
	p.cmd.Env = append(p.cmd.Env, env...)
	stdout, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	stderr, err := p.cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	var read sync.WaitGroup
	lines := func(r io.Reader) <-chan string {
		c := make(chan string, 10_000)
		read.Go(func() {
			defer close(c)
			for all := bufio.NewScanner(r); all.Scan(); {
				c <- all.Text()
			}
		})
		return c
	}
	p.out, p.err = lines(stdout), lines(stderr)
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it may be gone already
		read.Wait()
		_ = p.cmd.Wait()
	})
	return p
}

// await returns what a line matches.
func (p *playing) await(lines <-chan string, pattern string) []string {
	p.t.Helper()
	re := regexp.MustCompile(pattern)
	for line := range lines {
		p.seen = append(p.seen, line)
		if found := re.FindStringSubmatch(line); found != nil {
			return found
		}
	}
	require.Fail(p.t, "it ended before", "%s in\n%s", pattern, strings.Join(p.seen, "\n"))
	return nil
}

var once = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// ask returns the status and the body.
func (p *playing) ask(method, url string) (int, string) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, url, nil)
	require.NoError(p.t, err)
	answer, err := once.Do(r)
	require.NoError(p.t, err)
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	require.NoError(p.t, err)
	return answer.StatusCode, string(body)
}

// held is a connection to the studio at address with half a request: the studio waits
// for the rest, and cuts it off when it has closed its port and must end.
func (p *playing) held(address string) net.Conn {
	p.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(address, "http://"))
	require.NoError(p.t, err)
	p.t.Cleanup(func() { _ = conn.Close() })
	_, err = io.WriteString(conn, "GET / HTTP/1.1\r\n")
	require.NoError(p.t, err)
	return conn
}

// gone waits until the studio has cut conn off; nobody listens there then.
func (p *playing) gone(address string, conn net.Conn) {
	p.t.Helper()
	_, _ = io.Copy(io.Discard, conn) // how it ends is as the process did
	other, err := net.Dial("tcp", strings.TrimPrefix(address, "http://"))
	if err == nil {
		_ = other.Close()
	}
	require.Error(p.t, err, "somebody listens still")
}

// What make serve runs: a studio, a button in it, a storm, and nothing left of them.
func TestServeWithAStudio(t *testing.T) {
	t.Parallel()
	fsmgen := buildFsmgen(t)

	t.Run("in a database of its own, until it is told to end in a storm", func(t *testing.T) {
		t.Parallel()
		p := play(t, fsmgen)
		address := p.await(p.out, `^  (http://127\.0\.0\.1:\d+)/m/order/live$`)[1]
		p.await(p.out, `^Press "Storm"`)
		press := p.await(p.out, `^  curl -X POST (http://127\.0\.0\.1:\d+/storm/\w+)$`)[1]
		service := p.await(p.out, `^  U=(http://\S+)$`)[1]
		owner := p.await(p.out, `^  export DATABASE_URL='(.*)'$`)[1]

		status, page := p.ask("GET", address+"/")
		require.Equal(t, http.StatusOK, status)
		require.Contains(t, page, `<form class="action" method="post" action="`+press+`"`)
		status, _ = p.ask("POST", press[:strings.LastIndexByte(press, '/')+1]+strings.Repeat("A", 26))
		require.Equal(t, http.StatusForbidden, status)
		status, _ = p.ask("GET", press)
		require.NotEqual(t, http.StatusNoContent, status, "a link does nothing")
		status, body := p.ask("POST", press)
		require.Equal(t, http.StatusNoContent, status)
		require.Empty(t, body)
		p.await(p.err, `msg="a storm"`)
		status, _ = p.ask("POST", press)
		require.Equal(t, http.StatusNoContent, status)
		p.await(p.err, `msg="the storm goes on"`)
		status, _ = p.ask("POST", service+press[strings.Index(press, "/storm/"):])
		require.Equal(t, http.StatusNotFound, status, "customers do not come there")

		db, err := pgx.Connect(t.Context(), owner)
		require.NoError(t, err)
		defer func() { _ = db.Close(context.WithoutCancel(t.Context())) }()
		var login string
		var reads, writes bool
		require.NoError(t, db.QueryRow(t.Context(), `SELECT r.rolname, pg_has_role(r.oid, 'pawl_reader', 'USAGE'),
			r.rolsuper OR has_table_privilege(r.oid, 'orders', 'INSERT, UPDATE, DELETE, TRUNCATE') OR pg_has_role(r.oid, 'pawl_app', 'MEMBER')
			FROM pg_roles AS r WHERE r.rolname = 'orders_studio' AND r.rolcanlogin`).Scan(&login, &reads, &writes))
		require.True(t, reads)
		require.False(t, writes, "the studio may look, and nothing else")
		require.NoError(t, db.Close(t.Context()))

		conn := p.held(address)
		require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
		p.await(p.err, `msg="the storm is over"`)
		for line := range p.err {
			require.NotContains(t, line, "level=ERROR", "what it was told was answered")
			require.NotContains(t, line, "the studio has ended")
		}
		require.NoError(t, p.cmd.Wait())
		p.gone(address, conn)
	})

	t.Run("in a browser", func(t *testing.T) {
		t.Parallel()
		needs.Node(t, "studio.mjs") // before anything is started
		p := play(t, fsmgen)
		address := p.await(p.out, `^  (http://127\.0\.0\.1:\d+)/m/order/live$`)[1]
		press := p.await(p.out, `^  curl -X POST (\S+)$`)[1]
		out, err := needs.Node(t, "studio.mjs", "storm", address, press).CombinedOutput()
		require.NoError(t, err, "%s", out)
	})

	t.Run("until it is killed", func(t *testing.T) {
		t.Parallel()
		p := play(t, fsmgen, "DATABASE_URL="+testdb.URL(t, testdb.WithMigrations(migrations.FS)))
		address := p.await(p.out, `^  (http://127\.0\.0\.1:\d+)/m/order/live$`)[1]
		conn := p.held(address)
		require.NoError(t, p.cmd.Process.Kill())
		p.gone(address, conn)
	})

	t.Run("at a port that is taken", func(t *testing.T) {
		t.Parallel()
		taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer func() { _ = taken.Close() }()
		p := play(t, fsmgen, "DATABASE_URL="+testdb.URL(t, testdb.WithMigrations(migrations.FS)), "STUDIO_ADDR="+taken.Addr().String())
		p.await(p.err, `level=WARN msg="the studio could not be started; the service runs without.* STUDIO_ADDR is where" addr=`+taken.Addr().String()+`.*address already in use`)
		p.await(p.out, `^  curl -X POST http://`)
		service := p.await(p.out, `^  U=(http://\S+)$`)[1]
		for _, line := range p.seen {
			require.NotContains(t, line, `Press "Storm"`)
		}
		status, _ := p.ask("GET", service+"/healthz")
		require.Equal(t, http.StatusOK, status)
		require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
		for range p.err {
		}
		require.NoError(t, p.cmd.Wait())
	})
}

// With secrets of a provider's there are customers, and no storm; nor is there one where
// nobody could press.
func TestNoStormAmongCustomers(t *testing.T) {
	t.Parallel()
	for _, env := range []string{"WEBHOOK_SECRET_STANDARD=" + killSecret.Reveal(), "ADMIN_ADDR=off"} {
		p := play(t, "", "DATABASE_URL="+testdb.URL(t, testdb.WithMigrations(migrations.FS)), env)
		p.await(p.err, `msg=listening`)
		require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
		for line := range p.out {
			require.NotContains(t, line, "/storm/")
		}
	}
}

// A program that is no fsmgen is told of, and nothing waits for it.
func TestStudioThatIsNone(t *testing.T) {
	t.Parallel()
	var said lockedText
	log := slog.New(slog.NewTextHandler(&said, nil))
	_, err := startStudio(t.Context(), filepath.Join(t.TempDir(), "nothing"), "127.0.0.1:0", "", "", log)
	require.Error(t, err)

	s, err := startStudio(t.Context(), "go", "127.0.0.1:0", "", "", log) // it knows no studio
	require.NoError(t, err)
	address, ok := s.opened(t.Context())
	require.False(t, ok)
	require.Empty(t, address)
	s.close()
	require.Contains(t, said.String(), "the studio could not be started")
	require.Contains(t, said.String(), "go help")
}

// lockedText is a text that may be written and read at once.
type lockedText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func TestTheStudioIsGivenNoSecrets(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"PATH=/bin", "PGHOST=db", "ADDR=:1"}, withoutSecrets([]string{
		"WEBHOOK_SECRET_STRIPE=sesame", "PATH=/bin", "DATABASE_URL=postgres://ann:sesame@db/x", "PGHOST=db", "PROVIDER_TOKEN=sesame",
		"REDIS_URL=redis://:sesame@cache", "ADDR=:1", "STUDIO_DATABASE_URL=postgres://bob:sesame@db/x",
	}))
}

func TestWithin(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{
		"127.0.0.1:8080": "127.0.0.1:8080", "[::]:8080": "127.0.0.1:8080", ":8080": "127.0.0.1:8080", "0.0.0.0:1": "127.0.0.1:1", "[::1]:2": "[::1]:2", "shop.example:80": "shop.example:80", "ADMIN_ADDR": "ADMIN_ADDR",
	} {
		require.Equal(t, want, within(addr))
	}
}
