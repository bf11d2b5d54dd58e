package dashboard

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/webhook"
	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// patience bounds every wait. It fails a test that would hang, and is never waited out
// by one that passes.
const patience = 60 * time.Second

var secret = webhook.NewSecret("whsec_cGF3bC10ZXN0LXNlY3JldC1vZi0zMi1ieXRlcy4uLg==")

// shop is the orders example in a process of its own, without its Redis.
type shop struct {
	t          *testing.T
	url, admin string
	conn       *pgx.Conn
	callbacks  int
}

var listening = regexp.MustCompile(`msg="?(listening|admin listening)"? addr=(\S+)`)

func open(t *testing.T) *shop {
	t.Helper()
	program := filepath.Join(t.TempDir(), "orders")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./examples/orders")
	build.Dir = "../../.."
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = io.WriteString(w, `{"id": "pr-1"}`)
	}))
	t.Cleanup(provider.Close)
	database := testdb.URL(t)
	s := &shop{t: t}
	s.conn, err = pgx.Connect(t.Context(), database)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.conn.Close(context.Background()) })

	cmd := exec.Command(program, "serve")
	cmd.Env = append(os.Environ(), "DATABASE_URL="+with(database, "lock_timeout=2000"), "ADDR=127.0.0.1:0", "ADMIN_ADDR=127.0.0.1:0",
		"REDIS_URL=redis://127.0.0.1:1", "WEBHOOK_SECRET_STANDARD="+secret.Reveal(), "PROVIDER_URL="+provider.URL, "PROVIDER_TOKEN=sk")
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	addrs, ended := make(chan [2]string, 2), make(chan struct{})
	go func() {
		defer close(ended)
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			if found := listening.FindStringSubmatch(lines.Text()); found != nil {
				addrs <- [2]string{found[1], found[2]}
			}
		}
		close(addrs)
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(patience):
			_ = cmd.Process.Kill()
			t.Error("the shop did not stop")
		}
	})
	for range 2 {
		addr, is := <-addrs
		require.True(t, is, "it ended before it listened")
		if addr[0] == "listening" {
			s.url = "http://" + addr[1]
		} else {
			s.admin = "http://" + addr[1]
		}
	}
	return s
}

// with is a database URL with one more parameter.
func with(url, parameter string) string {
	if strings.Contains(url, "?") {
		return url + "&" + parameter
	}
	return url + "?" + parameter
}

// send makes a request, and returns its status and the answer.
func (s *shop) send(method, url, body string, header http.Header) (int, string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, url, strings.NewReader(body))
	require.NoError(s.t, err)
	for name, values := range header {
		r.Header[name] = values
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	require.NoError(s.t, err)
	text, err := io.ReadAll(answer.Body)
	require.NoError(s.t, err)
	require.NoError(s.t, answer.Body.Close())
	return answer.StatusCode, string(text)
}

func (s *shop) is(status int, method, path, body string, header ...string) {
	s.t.Helper()
	h := http.Header{}
	for i := 0; i+1 < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	got, text := s.send(method, s.url+path, body, h)
	require.Equal(s.t, status, got, "%s %s: %s", method, path, text)
}

func id(n int) order.Key { return order.Key(fmt.Sprintf("0a000000-0000-4000-8000-%012d", n)) }

func path(n int, rest string) string { return "/orders/" + string(id(n)) + rest }

// awaiting makes an order that waits for its payment.
func (s *shop) awaiting(n int) {
	s.t.Helper()
	s.is(http.StatusCreated, "POST", "/orders", fmt.Sprintf(`{"order_id":%q,"customer_id":"ann","sku":"mug","quantity":1,"total_cents":100}`, id(n)))
	s.is(http.StatusOK, "POST", path(n, "/pay"), fmt.Sprintf(`{"payment_no":"p-%d"}`, n))
}

// tell delivers a payment by a callback, each time a new one.
func (s *shop) tell(n, cents int) {
	s.t.Helper()
	s.callbacks++
	body := fmt.Sprintf(`{"id":"evt_%d","type":"payment.succeeded","data":{"order_id":%q,"payment_no":"p-%d","amount_cents":%d}}`, s.callbacks, id(n), n, cents)
	signer, err := webhook.NewStandardSigner([]webhook.Secret{secret})
	require.NoError(s.t, err)
	header, err := signer.Sign(fmt.Sprint("msg_", s.callbacks), time.Now(), []byte(body))
	require.NoError(s.t, err)
	_, _ = s.send("POST", s.url+"/callbacks/standard", body, header) // what became of it, the metrics say
}

func (s *shop) exec(sql string, args ...any) {
	s.t.Helper()
	_, err := s.conn.Exec(s.t.Context(), sql, args...)
	require.NoError(s.t, err)
}

// until waits for what the database says.
func (s *shop) until(sql string, args ...any) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for yes := false; !yes; <-tick.C {
		require.NoError(s.t, s.conn.QueryRow(ctx, sql, args...).Scan(&yes), sql)
	}
}

const someoneWaits = `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`
