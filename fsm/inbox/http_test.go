package inbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/inbox"
	"github.com/pawl-go/pawl/fsm/webhook"
)

// post sends a body to a provider's endpoint.
func (b *bench) post(provider, method, contentType string, header http.Header, body []byte) *httptest.ResponseRecorder {
	b.t.Helper()
	h, err := b.Handler(provider)
	require.NoError(b.t, err)
	r := httptest.NewRequestWithContext(b.t.Context(), method, "/callbacks/"+provider, bytes.NewReader(body))
	r.Header = header.Clone()
	if r.Header == nil {
		r.Header = http.Header{}
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestHandler(t *testing.T) {
	t.Parallel()
	b := newBench(t).withOrder()
	body := told("evt_1", "paid", "p1", total).body()
	good := b.signed(body)
	forged := good.Clone()
	forged.Set("Stripe-Signature", strings.Replace(good.Get("Stripe-Signature"), "v1=", "v1=00", 1))
	at := func(d time.Duration) http.Header {
		b.now = noon.Add(d)
		defer func() { b.now = noon }()
		return b.signed(body)
	}
	future, past := at(301*time.Second), at(-301*time.Second)
	for _, c := range []struct {
		name, method, contentType string
		header                    http.Header
		body                      []byte
		status                    int
		words                     string
	}{
		{"another method", "GET", "application/json", good, body, 405, "POST only"},
		{"PUT", "PUT", "application/json", good, body, 405, "POST only"},
		{"another content type", "POST", "text/plain", good, body, 415, "Content-Type must be application/json"},
		{"another charset", "POST", "application/json; charset=gbk", good, body, 415, "Content-Type must be application/json"},
		{"too large", "POST", "application/json", good, bytes.Repeat([]byte("x"), 256<<10+1), 413, "body too large: at most 262144 bytes"},
		{"no signature", "POST", "application/json", nil, body, 401, "refused"},
		{"forged", "POST", "application/json", forged, body, 401, "refused"},
		{"from the future", "POST", "application/json", future, body, 401, "refused"},
		{"from the past", "POST", "application/json", past, body, 401, "refused"},
		{"another body", "POST", "application/json", good, append(body, ' '), 401, "refused"},
	} {
		w := b.post("stripe", c.method, c.contentType, c.header, c.body)
		require.Equal(t, c.status, w.Code, c.name)
		require.Equal(t, c.words+"\n", w.Body.String(), c.name)
	}
	require.Zero(t, b.count(`SELECT count(*) FROM fsm_deliveries`), "nothing of them is kept")
	require.Equal(t, "POST", b.post("stripe", "GET", "", nil, nil).Header().Get("Allow"))

	w := b.post("stripe", "POST", "application/json; charset=UTF-8", good, body)
	require.Equal(t, 200, w.Code)
	require.Empty(t, w.Body.String())
	_, err := b.Handler("nobody")
	require.ErrorIs(t, err, inbox.ErrProvider)
	r, err := b.Receive(t.Context(), "nobody", good, body)
	require.ErrorIs(t, err, inbox.ErrProvider)
	require.Equal(t, 404, r.Answer.Status)
}

// What a provider says of the type is not signed, and not always well said. Only
// what is clearly of another kind is refused by it.
func TestContentTypes(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *inbox.Config) {
		alipay := c.Providers[0]
		alipay.Name, alipay.ContentType = "alipay", inbox.Alipay(nil, nil).ContentType
		c.Providers = append(c.Providers, alipay)
	}).withOrder()
	const (
		form = "application/x-www-form-urlencoded"
		json = "application/json"
	)
	body := told("evt_1", "paid", "p1", total).body()
	for _, c := range []struct {
		provider string
		taken    bool
		types    []string
	}{
		{"alipay", true, []string{form}},
		{"alipay", true, []string{form + "; charset=UTF-8"}},
		{"alipay", true, []string{form + "; text/html; charset=utf-8"}}, // Alipay's own
		{"alipay", true, []string{form + "; text/html; charset=UTF8"}},
		{"alipay", true, []string{form + ";charset=utf8"}},
		{"alipay", true, []string{form + "; charset=\"utf-8\""}},
		{"alipay", true, []string{form + "; charset='utf_8';"}},
		{"alipay", true, []string{form + ";"}},
		{"alipay", true, []string{" Application/X-WWW-Form-URLEncoded ;charset"}},
		{"alipay", true, []string{form + ", " + form}},
		{"alipay", true, []string{form, form}},
		{"alipay", true, []string{""}},
		{"alipay", true, nil},
		{"alipay", false, []string{form + "; charset=GBK"}},
		{"alipay", false, []string{form + "; text/html; charset=gb2312"}},
		{"alipay", false, []string{"text/html; charset=utf-8"}},
		{"alipay", false, []string{"multipart/form-data; boundary=x"}},
		{"alipay", false, []string{json}},
		{"alipay", false, []string{form, json}},
		{"stripe", true, []string{json}},
		{"stripe", true, []string{json + ";charset=utf8"}},
		{"stripe", true, []string{json + "; charset=us-ascii"}},
		{"stripe", true, []string{"text/json"}},
		{"stripe", true, []string{"application/cloudevents+json; charset=UTF-8"}},
		{"stripe", true, nil},
		{"stripe", false, []string{form}},
		{"stripe", false, []string{"application/xml"}},
		{"stripe", false, []string{json + "; charset=iso-8859-1"}},
	} {
		header := b.signed(body)
		header["Content-Type"] = c.types
		want := map[bool]int{true: 200, false: 415}[c.taken]
		require.Equal(t, want, b.post(c.provider, "POST", "", header, body).Code, "%s %q", c.provider, c.types)
	}
	require.Equal(t, 13+6, b.count(`SELECT count(*) FROM fsm_deliveries`), "those that were taken, and no others")
}

// A flood of forgeries leaves one row, and no body.
func TestFlood(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	body := told("evt_1", "paid", "p1", total).body()
	for range 1000 {
		r, err := b.Receive(t.Context(), "stripe", http.Header{"Stripe-Signature": {"t=1772625600,v1=00"}}, body)
		require.ErrorIs(t, err, inbox.ErrRefused)
		require.ErrorIs(t, err, webhook.ErrSignature)
		require.Equal(t, inbox.VerdictRefused, r.Told[0].Verdict)
	}
	count := func() int { return b.count(`SELECT count FROM fsm_refused_deliveries`) }
	require.Equal(t, 1, count(), "one write, not a thousand")
	b.retry()
	require.Equal(t, 1000, count())
	require.Zero(t, b.count(`SELECT count(*) FROM fsm_deliveries`))
	require.Len(t, b.observed, 1000)
	require.Equal(t, "signature", b.observed[0].Reason)
}

// A server's default may be stricter than READ COMMITTED: a count that waits for
// another process's is written there too.
func TestRefusalsAtAStricterDefault(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *inbox.Config) {
		config := c.Pool.(*pgxpool.Pool).Config()
		config.ConnConfig.RuntimeParams["default_transaction_isolation"] = "repeatable read"
		pool, err := pgxpool.NewWithConfig(t.Context(), config)
		require.NoError(t, err)
		t.Cleanup(pool.Close)
		c.Pool = pool
	})
	tx, err := b.pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `INSERT INTO fsm_refused_deliveries (provider, reason, day, count, last_at)
		VALUES ('stripe', 'signature', (now() AT TIME ZONE 'UTC')::date, 5, now())`)
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = b.Receive(t.Context(), "stripe", http.Header{"Stripe-Signature": {"t=1772625600,v1=00"}}, []byte("{}"))
	}()
	b.awaitWaiter(done)
	require.NoError(t, tx.Commit(t.Context()))
	<-done
	require.Equal(t, 6, b.count(`SELECT count FROM fsm_refused_deliveries`))
}

// A genuine body that cannot be read is kept once, and comes again.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, body := range map[string]string{
		"not JSON": "x", "no id": `{"type":"paid"}`, "id with NUL": `{"id":"a\u0000b"}`, "long id": `{"id":"` + strings.Repeat("i", 513) + `"}`,
		"blank id": `{"id":"  "}`,
	} {
		for range 2 {
			w := b.post("stripe", "POST", "application/json", b.signed([]byte(body)), []byte(body))
			require.Equal(t, 422, w.Code, name)
		}
	}
	odd, err := inbox.Odd(t.Context(), b.pool, 0, 0)
	require.NoError(t, err)
	require.Len(t, odd, 10)
	require.Equal(t, 5, b.count(`SELECT count(*) FROM fsm_deliveries WHERE body IS NOT NULL`))
	require.Zero(t, b.count(`SELECT count(*) FROM fsm_inbox`))
}

// Every event that a database can be down for comes again.
func TestDatabaseDown(t *testing.T) {
	t.Parallel()
	var failed []error
	b := newBench(t, func(c *inbox.Config) { c.Failed = func(err error) { failed = append(failed, err) } })
	pool, err := pgxpool.New(t.Context(), b.pool.Config().ConnString())
	require.NoError(t, err)
	pool.Close()
	b.Inbox, err = inbox.New(inbox.Config{Pool: pool, Providers: b.Providers, Clock: b.Clock, Failed: b.Failed})
	require.NoError(t, err)
	body := told("evt_1", "paid", "p1", total).body()
	require.Equal(t, 503, b.post("stripe", "POST", "application/json", b.signed(body), body).Code)
	require.Len(t, failed, 1)
	require.Equal(t, 401, b.post("stripe", "POST", "application/json", nil, body).Code, "a refusal needs no database")
}

func TestNoTables(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.exec(`DROP TABLE fsm_refused_deliveries; DROP TABLE fsm_inbox; DROP TABLE fsm_deliveries`)
	body := told("evt_1", "paid", "p1", total).body()
	_, err := b.Receive(t.Context(), "stripe", b.signed(body), body)
	require.ErrorIs(t, err, inbox.ErrTables)
	require.ErrorContains(t, err, "fsmgen tables inbox")
	_, err = (&inbox.Retry{Inbox: b.Inbox}).Once(t.Context())
	require.ErrorIs(t, err, inbox.ErrTables)
	_, err = inbox.List(t.Context(), b.pool, inbox.Query{State: inbox.Dead})
	require.ErrorIs(t, err, inbox.ErrTables)
	_, err = b.Replay(t.Context(), 1, "ann", "why")
	require.ErrorIs(t, err, inbox.ErrTables)
	_, err = b.Sweep(t.Context(), inbox.Retention{Bodies: time.Hour, Rows: 1000 * time.Hour})
	require.ErrorIs(t, err, inbox.ErrTables)
}

func TestConfiguration(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	good := b.Config
	for name, change := range map[string]func(*inbox.Config){
		"no pool":            func(c *inbox.Config) { c.Pool = nil },
		"no provider":        func(c *inbox.Config) { c.Providers = nil },
		"negative lease":     func(c *inbox.Config) { c.Lease = -1 },
		"short lease":        func(c *inbox.Config) { c.Lease = 10 * time.Second },
		"backoff downwards":  func(c *inbox.Config) { c.Backoff = 3 * time.Hour },
		"negative attempts":  func(c *inbox.Config) { c.MaxAttempts = -1 },
		"a name twice":       func(c *inbox.Config) { c.Providers[1].Name = "stripe" },
		"no name":            func(c *inbox.Config) { c.Providers[0].Name = "" },
		"an odd name":        func(c *inbox.Config) { c.Providers[0].Name = "a:b" },
		"no verifier":        func(c *inbox.Config) { c.Providers[0].Verifier = nil },
		"no handler":         func(c *inbox.Config) { c.Providers[0].Handle = nil },
		"no parser":          func(c *inbox.Config) { c.Providers[0].Parse = nil },
		"no limit":           func(c *inbox.Config) { c.Providers[0].Limit = 0 },
		"all margin":         func(c *inbox.Config) { c.Providers[0].Margin = c.Providers[0].Limit },
		"no content type":    func(c *inbox.Config) { c.Providers[0].ContentType = "" },
		"no repeats":         func(c *inbox.Config) { c.Providers[0].Repeats = 0 },
		"no answers":         func(c *inbox.Config) { c.Providers[0].Answers = inbox.Answers{} },
		"secrets are stored": func(c *inbox.Config) { c.Providers[0].Headers = []string{"authorization"} },
	} {
		c := good
		c.Providers = append([]inbox.Provider(nil), good.Providers...)
		change(&c)
		_, err := inbox.New(c)
		require.ErrorIs(t, err, inbox.ErrConfig, name)
	}
}

// One word of each kind through the function that the definition generates.
func TestWords(t *testing.T) {
	t.Parallel()
	type event string
	unknown := &fsm.UnknownWordError{Machine: "order", Map: "alipay", Word: "X"}
	handle := inbox.Words(func(e inbox.Event) string { return e.Status }, func(word string) (event, error) {
		switch word {
		case "TRADE_SUCCESS":
			return "paid", nil
		case "WAIT_BUYER_PAY":
			return "", nil
		}
		return "", unknown
	}, func(_ context.Context, _ pgx.Tx, _ inbox.Event, means event) (fsm.Outcome, error) {
		return fsm.Outcome("told " + means), nil
	})
	for word, want := range map[string]fsm.Outcome{"TRADE_SUCCESS": "told paid", "WAIT_BUYER_PAY": fsm.Ignored} {
		got, err := handle(t.Context(), nil, inbox.Event{Status: word})
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err := handle(t.Context(), nil, inbox.Event{Status: "X", Provider: "alipay"})
	require.ErrorIs(t, err, fsm.ErrUnknownWord)
}

// A parser that panics or tells too much makes a delivery unreadable.
func TestParserMisbehaves(t *testing.T) {
	t.Parallel()
	for name, parse := range map[string]inbox.Parse{
		"panics":    func(webhook.Delivery, []byte) ([]inbox.Event, error) { panic("4111") },
		"fails":     func(webhook.Delivery, []byte) ([]inbox.Event, error) { return nil, errors.New("bad") },
		"tells 101": func(webhook.Delivery, []byte) ([]inbox.Event, error) { return make([]inbox.Event, 101), nil },
		"half change": func(webhook.Delivery, []byte) ([]inbox.Event, error) {
			return []inbox.Event{{ID: "a", Object: "x"}}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, func(c *inbox.Config) { c.Providers[0].Parse, c.Providers[0].Change = parse, nil })
			r, err := b.Receive(t.Context(), "stripe", b.signed(nil), nil)
			require.ErrorIs(t, err, inbox.ErrUnreadable)
			require.NotContains(t, err.Error(), "4111")
			require.Equal(t, inbox.VerdictUnreadable, r.Told[0].Verdict)
		})
	}
}

// A verifier without a secret refuses everything, and has it come again.
func TestNoSecret(t *testing.T) {
	t.Parallel()
	for _, v := range []*webhook.Stripe{nil, {}} {
		b := newBench(t, func(c *inbox.Config) { c.Providers[0] = inbox.Stripe(v, settle) })
		body := told("evt_1", "paid", "p1", total).body()
		w := b.post("stripe", "POST", "application/json", b.signed(body), body)
		require.Equal(t, 503, w.Code)
		require.Equal(t, inbox.VerdictRefused, b.observed[0].Verdict)
		require.Zero(t, b.count(`SELECT count(*) FROM fsm_deliveries`))
	}
}

// own is a verifier of a user's, whose message ID cannot be stored.
type own struct{}

func (own) Verify(http.Header, []byte, time.Time) (webhook.Delivery, error) {
	return webhook.Delivery{ID: "a\x00b"}, nil
}

func TestBadMessageID(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *inbox.Config) { c.Providers[0].Verifier = own{} })
	_, err := b.Receive(t.Context(), "stripe", nil, []byte(`{"id":"evt_1"}`))
	require.ErrorIs(t, err, inbox.ErrUnreadable)
}

// A delivery with nothing for us in it is accepted, and recorded.
func TestNothingForUs(t *testing.T) {
	t.Parallel()
	for name, parse := range map[string]inbox.Parse{
		"none":    func(webhook.Delivery, []byte) ([]inbox.Event, error) { return nil, nil },
		"unknown": func(webhook.Delivery, []byte) ([]inbox.Event, error) { return nil, inbox.ErrUnknownType },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, func(c *inbox.Config) { c.Providers[0].Parse = parse })
			r, err := b.Receive(t.Context(), "stripe", b.signed(nil), nil)
			require.NoError(t, err)
			require.Equal(t, 200, r.Answer.Status)
			require.Equal(t, 1, b.count(`SELECT count(*) FROM fsm_deliveries WHERE recorded_at IS NOT NULL AND body IS NULL`))
		})
	}
}

func TestFailedAnswerOfWeChatIsJSON(t *testing.T) {
	t.Parallel()
	a := inbox.WeChatAnswers().Failed(503, `a "word"`)
	require.Equal(t, 503, a.Status)
	require.True(t, json.Valid([]byte(a.Body)))
	require.JSONEq(t, `{"code":"FAIL","message":"a \"word\""}`, a.Body)
}
