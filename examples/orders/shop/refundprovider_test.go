package shop_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/examples/orders/shop"
	"github.com/pawl-go/pawl/fsm/attempt"
	"github.com/pawl-go/pawl/fsm/webhook"
)

// mode is what the provider does with one request for a refund.
type mode string

const (
	does    mode = "does it"
	does500 mode = "does it, then answers 500"
	fails   mode = "answers 500"
	holds   mode = "does it, then holds the answer until it is told to go on"
	hangs   mode = "does it, then says nothing"
	pends   mode = "takes it, and is not done"
	refuses mode = "refuses"
)

// provider gives money back once for each key, and looks up by key.
type provider struct {
	api  *shop.RefundAPI
	held chan string   // told of a request that is held
	goOn chan struct{} // lets one that is held go on

	mu      sync.Mutex
	script  []mode            // for the next requests; then it does what it is asked
	given   map[string]string // by key: what was asked, and given
	refused map[string]bool
	pending map[string]int // by key: how many look-ups until it is done
	asked   []string       // methods, as they came
}

const providerToken = "sk_sesame"

func newProvider(t *testing.T, script ...mode) *provider {
	t.Helper()
	p := &provider{
		script: script, given: map[string]string{}, refused: map[string]bool{}, pending: map[string]int{},
		held: make(chan string, 1), goOn: make(chan struct{}),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/refunds", p.send)
	mux.HandleFunc("GET /v1/refunds/{key}", p.find)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+providerToken {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		p.mu.Lock()
		p.asked = append(p.asked, r.Method)
		p.mu.Unlock()
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	var err error
	p.api, err = shop.NewRefundAPI(server.URL+"/v1/", webhook.NewSecret(providerToken))
	require.NoError(t, err)
	return p
}

func (p *provider) send(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	key := r.Header.Get("Idempotency-Key")
	switch p.take(key, string(body)) {
	case does:
		p.answer(w, key)
	case does500, fails:
		w.WriteHeader(http.StatusInternalServerError)
	case holds:
		p.held <- key
		<-p.goOn
		p.answer(w, key)
	case hangs:
		<-r.Context().Done()
	case pends:
		w.WriteHeader(http.StatusAccepted)
	case refuses:
		p.refuse(w)
	}
}

// take does what the script says and returns how to answer.
func (p *provider) take(key, body string) mode {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := does
	if len(p.script) > 0 {
		now, p.script = p.script[0], p.script[1:]
	}
	switch now {
	case fails:
		return now
	case refuses:
		p.refused[key] = true
		return now
	case pends:
		p.pending[key] = 2
	}
	if p.given[key] == "" { // a known key is answered, and not done again
		p.given[key] = body
	}
	return now
}

func (p *provider) find(w http.ResponseWriter, r *http.Request) {
	key := r.PathValue("key")
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.refused[key]:
		p.refuse(w)
	case p.pending[key] > 0:
		p.pending[key]--
		w.WriteHeader(http.StatusAccepted)
	case p.given[key] != "":
		p.answer(w, key)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (p *provider) answer(w http.ResponseWriter, key string) {
	_, _ = fmt.Fprintf(w, `{"id":"re_%s"}`, key)
}

func (p *provider) refuse(w http.ResponseWriter) {
	w.WriteHeader(http.StatusUnprocessableEntity)
	_, _ = fmt.Fprint(w, `{"code":"account_closed"}`)
}

// did is how often money was given, and what was asked of the provider.
func (p *provider) did() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return fmt.Sprintf("%d %v", len(p.given), p.asked)
}

// policy has no waits, so that a round is due when the test wants it.
var policy = attempt.Policy{CallTimeout: 30 * time.Second, Base: time.Nanosecond, Max: time.Nanosecond}

// withRefunds is a bench whose shop has the provider.
func withRefunds(t *testing.T, p *provider, more ...func(*shop.Config)) *bench {
	t.Helper()
	set := func(c *shop.Config) { c.Refunds, c.RefundPolicy = p.api, policy }
	return newBench(t, append([]func(*shop.Config){set}, more...)...)
}

// promised is a bench with an order that was paid, and of which a part is to go back.
func promised(t *testing.T, p *provider, more ...func(*shop.Config)) *bench {
	t.Helper()
	b := withRefunds(t, p, more...)
	b.paid(orderA, "p-1")
	b.is(http.StatusAccepted, b.do("POST", "/orders/"+orderA+"/refunds", refundBody("r-1", 4000)))
	return b
}

// round drives what is due, and returns how many attempts were completed.
func (b *bench) round() int {
	b.t.Helper()
	n, err := b.service.RefundCompleter().Once(context.WithoutCancel(b.t.Context()))
	require.NoError(b.t, err)
	return n
}

// relayed delivers the outbox.
func (b *bench) relayed() {
	b.t.Helper()
	_, err := b.service.Relay().Once(b.t.Context())
	require.NoError(b.t, err)
}

// attempts says how the attempts are: state, and whether they are completed.
func (b *bench) attempts() string {
	b.t.Helper()
	return b.value(`SELECT coalesce(string_agg(concat_ws(' ', a.business_key, a.state, nullif(a.code, ''),
		CASE WHEN a.completed_at IS NOT NULL THEN 'completed' WHEN a.stuck_at IS NOT NULL THEN 'stuck' END), ', ' ORDER BY a.business_key), '') FROM fsm_attempts AS a`)
}

// gave says how the refunds are, with what order, ledger and facts have of them.
func (b *bench) gave() string {
	b.t.Helper()
	return b.value(`SELECT concat_ws(' | ',
		(SELECT string_agg(r.refund_no || ' ' || r.status, ', ' ORDER BY r.refund_no) FROM refunds AS r),
		(SELECT string_agg(o.refunded_cents::text, ', ' ORDER BY o.order_id) FROM orders AS o),
		(SELECT coalesce(string_agg(l.number || ' ' || l.cents, ', ' ORDER BY l.number), 'nothing booked') FROM shop_ledger AS l WHERE l.kind = 'refund'),
		(SELECT string_agg(f.event || ' ' || f.outcome, ', ' ORDER BY f.event) FROM order_facts AS f WHERE f.event LIKE 'refund\_%'),
		(SELECT count(*) || ' cases' FROM shop_cases))`)
}
