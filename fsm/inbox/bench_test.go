package inbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/inbox"
	"github.com/pawl-go/pawl/fsm/webhook"
	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

func TestMain(m *testing.M) {
	if url := os.Getenv(childURL); url != "" {
		os.Exit(child(url))
	}
	testdb.Leakless(m)
}

var (
	stripeSecret   = webhook.NewSecret("whsec_inbox_test")
	standardSecret = webhook.NewSecret("whsec_cGF3bC10ZXN0LXNlY3JldC1vZi0zMi1ieXRlcy4uLg==")
)

const (
	orderA = "0a000000-0000-4000-8000-00000000000a"
	total  = 4200
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// notice is what the providers of these tests tell.
type notice struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Data struct {
		Order   string `json:"order"`
		Payment string `json:"payment"`
		Cents   int64  `json:"cents"`
	} `json:"data"`
}

func told(id, kind, payment string, cents int64) notice {
	n := notice{ID: id, Type: kind}
	n.Data.Order, n.Data.Payment, n.Data.Cents = orderA, payment, cents
	return n
}

func (n notice) body() []byte {
	body, err := json.Marshal(n)
	if err != nil {
		panic(err)
	}
	return body
}

// settle is a handler as a shop has it.
func settle(ctx context.Context, tx pgx.Tx, e inbox.Event) (fsm.Outcome, error) {
	var n notice
	if err := json.Unmarshal(e.Data.(json.RawMessage), &n); err != nil {
		return "", err
	}
	key, number := order.Key(n.Data.Order), e.Identity(n.Data.Payment)
	switch n.Type {
	case "paid":
		r, err := order.PaymentSucceeded(ctx, tx, key, order.PaymentSucceededParams{PaymentNo: number, PaidCents: n.Data.Cents},
			fsm.Actor("provider:"+e.Provider), fsm.RequestID(e.ID))
		return r.Outcome, err
	case "failed":
		r, err := order.PaymentFailed(ctx, tx, key, order.PaymentFailedParams{PaymentNo: number})
		return r.Outcome, err
	case "ship":
		r, err := order.Ship(ctx, tx, key)
		return r.Outcome, err
	}
	return "", inbox.ErrUnknownType
}

// change has equal payments and statuses be one event, whatever their IDs.
func change(e inbox.Event) (object, status, fingerprint string) {
	var n notice
	if json.Unmarshal(e.Data.(json.RawMessage), &n) != nil || n.Data.Payment == "" {
		return "", "", ""
	}
	return n.Data.Payment, n.Type, fmt.Sprint(n.Data.Cents)
}

type bench struct {
	*inbox.Inbox
	t        *testing.T
	pool     *pgxpool.Pool
	mu       sync.Mutex
	observed []inbox.Told
	now      time.Time
}

type setting func(*inbox.Config)

// handling puts another handler in place of settle.
func handling(h inbox.Handler) setting {
	return func(c *inbox.Config) { c.Providers[0].Handle = h }
}

func stripeProvider(h inbox.Handler) (inbox.Provider, error) {
	v, err := webhook.NewStripe([]webhook.Secret{stripeSecret})
	p := inbox.Stripe(v, h)
	p.Change = change
	return p, err
}

// newBench has an inbox for stripe and bank on a database of its own.
func newBench(t *testing.T, settings ...setting) *bench {
	t.Helper()
	b := &bench{t: t, pool: testdb.New(t, testdb.WithMigrations(migrations.FS)), now: noon}
	stripe, err := stripeProvider(settle)
	require.NoError(t, err)
	standard, err := webhook.NewStandard([]webhook.Secret{standardSecret})
	require.NoError(t, err)
	c := inbox.Config{
		Pool: b.pool, Providers: []inbox.Provider{stripe, inbox.Standard("bank", standard, settle)},
		Clock: func() time.Time { return b.now },
		Observe: func(told inbox.Told) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.observed = append(b.observed, told)
		},
	}
	for _, s := range settings {
		s(&c)
	}
	b.Inbox, err = inbox.New(c)
	require.NoError(t, err)
	return b
}

// withOrder has the order wait for its payment.
func (b *bench) withOrder() *bench {
	b.t.Helper()
	ctx := b.t.Context()
	_, err := order.Create(ctx, b.pool, order.CreateParams{Key: orderA, CustomerID: "c", Sku: "s", Quantity: 1, TotalCents: total})
	require.NoError(b.t, err)
	_, err = order.Pay(ctx, b.pool, orderA)
	require.NoError(b.t, err)
	return b
}

func (b *bench) signed(body []byte) http.Header {
	b.t.Helper()
	s, err := webhook.NewStripeSigner([]webhook.Secret{stripeSecret})
	require.NoError(b.t, err)
	header, err := s.Sign(b.now, body)
	require.NoError(b.t, err)
	return header
}

// deliver has stripe tell something, and returns the one event's verdict.
func (b *bench) deliver(n notice) inbox.Told {
	b.t.Helper()
	r, err := b.Receive(b.t.Context(), "stripe", b.signed(n.body()), n.body())
	require.NoError(b.t, err)
	require.Equal(b.t, http.StatusOK, r.Answer.Status)
	require.Len(b.t, r.Told, 1)
	return r.Told[0]
}

// retry runs one round.
func (b *bench) retry() int {
	b.t.Helper()
	n, err := (&inbox.Retry{Inbox: b.Inbox}).Once(b.t.Context())
	require.NoError(b.t, err)
	return n
}

// requireLease looks for how long the one event is somebody's: for a minute.
func (b *bench) requireLease() {
	b.t.Helper()
	require.Equal(b.t, 1, b.count(`SELECT count(*) FROM fsm_inbox WHERE state = 'received' AND owner <> ''
		AND due_at BETWEEN now() + interval '30 s' AND now() + interval '1 min'`))
}

// later lets every lease and wait end.
func (b *bench) later() {
	b.t.Helper()
	b.exec(`UPDATE fsm_inbox SET due_at = now() - interval '1 second' WHERE due_at IS NOT NULL`)
	b.exec(`UPDATE fsm_deliveries SET received_at = received_at - interval '1 hour'`)
}

func (b *bench) exec(sql string, args ...any) {
	b.t.Helper()
	_, err := b.pool.Exec(b.t.Context(), sql, args...)
	require.NoError(b.t, err)
}

func (b *bench) count(sql string, args ...any) (n int) {
	b.t.Helper()
	require.NoError(b.t, b.pool.QueryRow(b.t.Context(), sql, args...).Scan(&n))
	return n
}

func (b *bench) list(s inbox.State) []inbox.Item {
	b.t.Helper()
	items, err := inbox.List(b.t.Context(), b.pool, inbox.Query{State: s})
	require.NoError(b.t, err)
	return items
}

// requireOrder compares the order's state and how many rows of a topic are in the
// outbox.
func (b *bench) requireOrder(state order.State, topic string, rows int) {
	b.t.Helper()
	row, err := order.Get(b.t.Context(), b.pool, orderA)
	require.NoError(b.t, err)
	require.Equal(b.t, state, row.Status)
	require.Equal(b.t, rows, b.count(`SELECT count(*) FROM fsm_outbox WHERE topic = $1`, topic))
}
