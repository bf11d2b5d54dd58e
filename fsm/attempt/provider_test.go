package attempt_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// mode is what the provider does with one request to send.
type mode string

const (
	does     mode = "does it"
	hangs    mode = "does it, then says nothing"
	cuts     mode = "does it, then cuts the connection"
	does500  mode = "does it, then answers 500"
	fails500 mode = "answers 500"
	refuses  mode = "refuses"
	pends    mode = "takes it, and is not done"
)

// provider is a payment provider that is idempotent by key: it counts what left
// its account.
type provider struct {
	url string

	mu       sync.Mutex
	script   []mode         // for the next requests; then it does what it is asked
	paid     map[string]int // by key: how often money left
	pending  map[string]int // by key: how many look-ups until it is done
	refused  map[string]bool
	sends    []string // the keys, as they came
	queries  int
	inFlight chan string // told of a request that hangs, when not nil
}

func newProvider(t *testing.T, script ...mode) *provider {
	t.Helper()
	p := &provider{script: script, paid: map[string]int{}, pending: map[string]int{}, refused: map[string]bool{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /refunds", p.send)
	mux.HandleFunc("GET /refunds/{key}", p.query)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	p.url = server.URL
	return p
}

func (p *provider) send(w http.ResponseWriter, r *http.Request) {
	key := r.Header.Get("Idempotency-Key")
	_, _ = io.Copy(io.Discard, r.Body) // a server sees its client go only after that
	switch p.take(key) {
	case does:
		p.reply(w, key)
	case hangs:
		if p.inFlight != nil {
			p.inFlight <- key
		}
		<-r.Context().Done()
	case cuts:
		panic(http.ErrAbortHandler)
	case does500, fails500:
		http.Error(w, "", http.StatusInternalServerError)
	case refuses:
		http.Error(w, "", http.StatusUnprocessableEntity)
	case pends:
		w.WriteHeader(http.StatusAccepted)
	}
}

// take does what the script says and returns how to answer.
func (p *provider) take(key string) mode {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sends = append(p.sends, key)
	now := does
	if len(p.script) > 0 {
		now, p.script = p.script[0], p.script[1:]
	}
	switch now {
	case refuses:
		p.refused[key] = true
	case pends:
		p.pending[key] = 2
	case fails500:
		return now
	}
	if now != refuses && p.paid[key] == 0 { // a known key is answered, and not done again
		p.paid[key]++
	}
	return now
}

func (p *provider) query(w http.ResponseWriter, r *http.Request) {
	key := r.PathValue("key")
	p.mu.Lock()
	p.queries++
	status := http.StatusNotFound
	switch {
	case p.refused[key]:
		status = http.StatusUnprocessableEntity
	case p.pending[key] > 0:
		p.pending[key]--
		status = http.StatusAccepted
	case p.paid[key] > 0:
		status = http.StatusOK
	}
	p.mu.Unlock()
	if status == http.StatusOK {
		p.reply(w, key)
		return
	}
	w.WriteHeader(status)
}

func (p *provider) reply(w http.ResponseWriter, key string) {
	_ = json.NewEncoder(w).Encode(map[string]string{"number": "re_" + key})
}

// left is how often money left the account, under all keys.
func (p *provider) left() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, paid := range p.paid {
		n += paid
	}
	return n
}

// seen says what was asked of the provider: "2 sends, 1 query".
func (p *provider) seen() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return fmt.Sprintf("sends %d queries %d", len(p.sends), p.queries)
}
