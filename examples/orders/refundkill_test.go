package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

// bank is a provider of refunds in the test's process, which outlives the service.
// It keeps what it did by key, and holds the answer to the first send if it is told to.
type bank struct {
	url  string
	held chan string   // told of the request that is held; nil to hold none
	goOn chan struct{} // closed when the test ends

	mu    sync.Mutex
	given map[string]string // by key: the request
	sends int

	silent  atomic.Bool // it answers 502, and does nothing
	refuses atomic.Bool // it answers 422 to what it does not know
}

const bankToken = "sk_test"

func newBank(t *testing.T, hold bool) *bank {
	t.Helper()
	b := &bank{given: map[string]string{}, goOn: make(chan struct{})}
	if hold {
		b.held = make(chan string, 1)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /refunds", b.send)
	mux.HandleFunc("GET /refunds/{key}", b.find)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+bankToken {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if b.silent.Load() {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(b.goOn) })
	b.url = server.URL
	return b
}

func (b *bank) send(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	key := r.Header.Get("Idempotency-Key")
	b.mu.Lock()
	if b.given[key] == "" && b.refuses.Load() {
		b.mu.Unlock()
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = fmt.Fprint(w, `{"code":"account_closed"}`)
		return
	}
	b.sends++
	if b.given[key] == "" { // a key that is known gets the answer of before
		b.given[key] = string(body)
	}
	first := b.sends == 1
	b.mu.Unlock()
	if first && b.held != nil {
		b.held <- key
		<-b.goOn
	}
	_, _ = fmt.Fprintf(w, `{"id":"re_%s"}`, key)
}

func (b *bank) find(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.given[r.PathValue("key")] == "" {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	_, _ = fmt.Fprintf(w, `{"id":"re_%s"}`, r.PathValue("key"))
}

// gave is how many refunds left the bank.
func (b *bank) gave() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.given)
}

// A service that is killed in the middle of a call to the provider, and started
// again, has given the money back once: at the provider, in order, refund, ledger
// and outbox.
func TestKilledInAProviderCall(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		point string // "" to be killed while the provider holds the answer
		given int    // what the provider has done by then
		state string // and what the attempt says of it
	}{
		{"attempt.started", 0, "STARTED"},
		{"attempt.sent", 0, "SENT"},
		{"", 1, "SENT"},
		{"attempt.answered", 1, "SENT"},
		{"attempt.recorded", 1, "SUCCEEDED"},
		{"attempt.completing", 1, "SUCCEEDED"},
		{"attempt.completed", 1, "SUCCEEDED completed"},
	} {
		t.Run("at "+c.point, func(t *testing.T) {
			t.Parallel()
			bank := newBank(t, c.point == "")
			url := testdb.URL(t, testdb.WithMigrations(migrations.FS))
			conn, err := pgx.Connect(t.Context(), url)
			require.NoError(t, err)
			defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
			value := func(sql string) (text string) {
				require.NoError(t, conn.QueryRow(t.Context(), "SELECT ("+sql+")::text").Scan(&text))
				return text
			}
			const attempts = `SELECT string_agg(concat_ws(' ', state, CASE WHEN completed_at IS NOT NULL THEN 'completed' END), ', ') FROM fsm_attempts`

			spec := ""
			if c.point != "" {
				spec = c.point + "=kill@1"
			}
			first := startWith(t, url, spec, bank.env()...)
			first.paid()
			status, _ := first.refund()
			if status == 0 { // it died before the answer to the request was out: the commit holds
				require.NotEmpty(t, c.point)
			} else {
				require.Equal(t, http.StatusAccepted, status)
			}
			if c.point == "" {
				<-bank.held
				first.kill()
			}
			<-first.died
			require.Equal(t, c.given, bank.gave())
			require.Equal(t, c.state, value(attempts))

			startWith(t, url, "", bank.env()...)
			require.Eventually(t, func() bool {
				return value(attempts) == "SUCCEEDED completed" && value("SELECT count(*) FROM fsm_outbox") == "0"
			}, 2*time.Minute, 20*time.Millisecond)
			require.Equal(t, 1, bank.gave())
			require.Equal(t, "PAID 40 40", value("SELECT concat_ws(' ', status, refund_cents, refunded_cents) FROM orders"))
			require.Equal(t, "r-1 SUCCEEDED 40", value("SELECT string_agg(concat_ws(' ', refund_no, status, amount_cents), ', ') FROM refunds"))
			require.Equal(t, "r-1 -40", value("SELECT string_agg(number || ' ' || cents, ', ') FROM shop_ledger WHERE kind = 'refund'"))
			require.Equal(t, "order refund_due 1, refund refund_send 1", value(`SELECT string_agg(concat_ws(' ', s.machine, s.topic, s.n), ', ' ORDER BY s.machine)
				FROM (SELECT machine, topic, count(*) AS n FROM fsm_outbox_sent WHERE topic LIKE 'refund%' GROUP BY 1, 2) AS s`))
			require.Equal(t, "1", value("SELECT count(*) FROM order_facts WHERE event = 'refund_succeeded'"))
			require.Equal(t, "0", value("SELECT count(*) FROM shop_cases"))
		})
	}
}

// env is the settings of a service that has this provider. A dead one's lease runs
// for twice the time of a call.
func (b *bank) env() []string {
	return []string{"PROVIDER_URL=" + b.url, "PROVIDER_TOKEN=" + bankToken, "PROVIDER_TIMEOUT=2s", "SWEEP_EVERY=100ms"}
}
