package shop_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/examples/orders/shop"
	"github.com/pawl-go/pawl/fsm/webhook"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

func TestMain(m *testing.M) { testdb.Leakless(m) }

var (
	standardSecret = webhook.NewSecret("whsec_cGF3bC10ZXN0LXNlY3JldC1vZi0zMi1ieXRlcy4uLg==")
	stripeSecret   = webhook.NewSecret("whsec_stripe_test")
)

const (
	orderA = "0a000000-0000-4000-8000-00000000000a"
	orderB = "0b000000-0000-4000-8000-00000000000b"
)

// clock is a time that only the test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// bench is a shop on a database of its own.
type bench struct {
	t        *testing.T
	pool     *pgxpool.Pool
	clock    *clock
	log      *bytes.Buffer // read it only when no request is under way
	service  *shop.Service
	handler  http.Handler
	standard *webhook.StandardSigner
	stripe   *webhook.StripeSigner
}

func newBench(t *testing.T, more ...func(*shop.Config)) *bench {
	t.Helper()
	b := &bench{
		t: t, pool: testdb.New(t, testdb.WithMigrations(migrations.FS)), log: &bytes.Buffer{},
		clock: &clock{now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)},
	}
	standard, err := webhook.NewStandard([]webhook.Secret{standardSecret})
	require.NoError(t, err)
	stripe, err := webhook.NewStripe([]webhook.Secret{stripeSecret})
	require.NoError(t, err)
	b.standard, err = webhook.NewStandardSigner([]webhook.Secret{standardSecret})
	require.NoError(t, err)
	b.stripe, err = webhook.NewStripeSigner([]webhook.Secret{stripeSecret})
	require.NoError(t, err)
	config := shop.Config{
		Pool: b.pool, Clock: b.clock.Now, Standard: standard, Stripe: stripe,
		Log: slog.New(slog.NewTextHandler(b.log, nil)),
	}
	for _, set := range more {
		set(&config)
	}
	b.service, err = shop.New(config)
	require.NoError(t, err)
	b.handler = b.service.Handler()
	return b
}

// reply is an answer, its body decoded.
type reply struct {
	status int
	header http.Header
	body   map[string]any
}

func (b *bench) do(method, path, body string, header ...string) reply {
	b.t.Helper()
	r := httptest.NewRequestWithContext(b.t.Context(), method, path, strings.NewReader(body))
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return b.send(r)
}

func (b *bench) send(r *http.Request) reply {
	b.t.Helper()
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	out := reply{status: w.Code, header: w.Header()}
	if raw, _ := io.ReadAll(w.Body); len(raw) > 0 {
		require.NoError(b.t, json.Unmarshal(raw, &out.body), "%s", raw)
	}
	return out
}

// is requires the status, and the media type of a problem for a refusal.
func (b *bench) is(status int, r reply) reply {
	b.t.Helper()
	require.Equal(b.t, status, r.status, "%v", r.body)
	require.NotEmpty(b.t, r.header.Get("X-Request-Id"))
	if status >= 400 {
		require.Equal(b.t, "application/problem+json", r.header.Get("Content-Type"))
		require.Equal(b.t, "about:blank", r.body["type"])
		require.Equal(b.t, http.StatusText(status), r.body["title"])
		require.InDelta(b.t, status, r.body["status"], 0)
	}
	return r
}

// order makes an order of 2 pieces for 100 units and 50 cents.
func (b *bench) order(id string) {
	b.t.Helper()
	b.is(http.StatusCreated, b.do("POST", "/orders", createBody(id)))
}

func createBody(id string) string {
	return fmt.Sprintf(`{"order_id":%q,"customer_id":"ann","sku":"mug","quantity":2,"total_cents":10050}`, id)
}

func (b *bench) stock(n int) {
	b.t.Helper()
	b.is(http.StatusOK, b.do("PUT", "/stock/mug", fmt.Sprintf(`{"quantity":%d}`, n)))
}

func (b *bench) pay(id, paymentNo string) {
	b.t.Helper()
	b.is(http.StatusOK, b.do("POST", "/orders/"+id+"/pay", fmt.Sprintf(`{"payment_no":%q}`, paymentNo)))
}

// paid makes an order that was paid by the number.
func (b *bench) paid(id, paymentNo string) {
	b.t.Helper()
	b.stock(10)
	b.order(id)
	b.pay(id, paymentNo)
	b.told("Applied", paymentOf(id, paymentNo, 10050))
}

// paymentOf is the body of a payment's success.
func paymentOf(id, paymentNo string, cents int64) string {
	return fmt.Sprintf(`{"id":"evt_%s","type":"payment.succeeded","data":{"order_id":%q,"payment_no":%q,"amount_cents":%d}}`, paymentNo, id, paymentNo, cents)
}

func noticeOf(kind, id, paymentNo, refundNo string, cents int64) string {
	return fmt.Sprintf(`{"id":"evt_%s","type":%q,"data":{"order_id":%q,"payment_no":%q,"refund_no":%q,"amount_cents":%d}}`,
		paymentNo+refundNo, kind, id, paymentNo, refundNo, cents)
}

// deliver signs the body by Standard Webhooks, now, with an id made of it.
func (b *bench) deliver(body string) reply {
	b.t.Helper()
	var n struct{ ID string }
	_ = json.Unmarshal([]byte(body), &n)
	id := "msg_" + n.ID
	header, err := b.standard.Sign(id, b.clock.Now(), []byte(body))
	require.NoError(b.t, err)
	return b.signed("standard", body, header)
}

func (b *bench) signed(provider, body string, header http.Header) reply {
	b.t.Helper()
	r := httptest.NewRequestWithContext(b.t.Context(), "POST", "/callbacks/"+provider, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json") // an inbox wants it
	for k := range header {
		r.Header.Set(k, header.Get(k))
	}
	return b.send(r)
}

// told delivers and requires 200 with the outcome.
func (b *bench) told(outcome, body string) {
	b.t.Helper()
	r := b.is(http.StatusOK, b.deliver(body))
	require.Equal(b.t, map[string]any{"outcome": outcome}, r.body)
}

// value is the one value of a query, as text.
func (b *bench) value(sql string, args ...any) string {
	b.t.Helper()
	var v string
	require.NoError(b.t, b.pool.QueryRow(b.t.Context(), "SELECT ("+sql+")::text", args...).Scan(&v))
	return v
}

func (b *bench) state(id string) string {
	b.t.Helper()
	return b.value("SELECT status FROM orders WHERE order_id = $1", id)
}

// contents is everything in the database, table by table, as text.
func (b *bench) contents() map[string]string {
	b.t.Helper()
	ctx := b.t.Context()
	rows, err := b.pool.Query(ctx, "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
	require.NoError(b.t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(b.t, err)
	require.Contains(b.t, tables, "shop_cases")
	out := map[string]string{}
	for _, table := range tables {
		out[table] = b.value("SELECT coalesce(string_agg(t::text, E'\n' ORDER BY t::text), '') FROM " + pgx.Identifier{table}.Sanitize() + " AS t")
	}
	return out
}

// sweep runs the sweeper once.
func (b *bench) sweep() int {
	b.t.Helper()
	moved, err := b.service.Sweeper().Once(context.WithoutCancel(b.t.Context()))
	require.NoError(b.t, err)
	return moved
}
