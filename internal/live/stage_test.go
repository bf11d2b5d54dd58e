package live

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

const (
	first  = "00000000-0000-4000-8000-000000000001"
	second = "00000000-0000-4000-8000-000000000002"
)

// asked is one statement with its arguments.
type asked struct {
	sql  string
	args []any
}

// recorder keeps what was asked.
type recorder struct {
	mu  sync.Mutex
	all []asked
}

func (r *recorder) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, asked{d.SQL, d.Args})
	return ctx
}

func (r *recorder) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// taken are the statements since the last time.
func (r *recorder) taken() []asked {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.all
	r.all = nil
	return all
}

// recording opens the database with a recorder.
func (b bed) recording() (*Database, *recorder) {
	b.t.Helper()
	r := &recorder{}
	db, err := open(b.url, r)
	require.NoError(b.t, err)
	b.t.Cleanup(db.Close)
	return db, r
}

// create makes an order that is to be paid with 100 cents.
func (b bed) create(id string) {
	b.t.Helper()
	r, err := order.Create(b.t.Context(), b.pool, order.CreateParams{Key: order.Key(id), CustomerID: "c1", Sku: "tea", Quantity: 1, TotalCents: 100}, fsm.Actor("ann"), fsm.RequestID("req-1"))
	require.NoError(b.t, err)
	require.Equal(b.t, fsm.Applied, r.Outcome)
}

// pay tells a payment of an order, and returns what came of it.
func (b bed) pay(id, number string, cents int64) fsm.Outcome {
	b.t.Helper()
	r, err := order.PaymentSucceeded(b.t.Context(), b.pool, order.Key(id), order.PaymentSucceededParams{PaymentNo: number, PaidCents: cents})
	require.NoError(b.t, err)
	return r.Outcome
}

// tell puts an event into the inbox with a delivery for each verdict.
func (b bed) tell(provider, event, kind, object string, verdicts ...string) {
	b.t.Helper()
	for i, v := range verdicts {
		if i == 0 {
			b.exec(`WITH d AS (INSERT INTO fsm_deliveries (provider, message_id, digest, verdicts, recorded_at) VALUES ($1, $2, '', ARRAY[$5], now()) RETURNING id),
  e AS (INSERT INTO fsm_inbox (provider, event_id, type, object, status, fingerprint, delivery_id, state, outcome, gives_up_at, ended_at) SELECT $1, $2, $3, $4, $3, '', d.id, 'done', 'Applied', now(), now() FROM d RETURNING id)
SELECT 1 FROM e`, provider, event, kind, object, v)
			b.exec(`UPDATE fsm_deliveries AS d SET events = ARRAY[i.id] FROM fsm_inbox AS i WHERE i.delivery_id = d.id AND i.event_id = $1`, event)
			continue
		}
		b.exec(`INSERT INTO fsm_deliveries (provider, message_id, digest, events, verdicts, recorded_at, received_at)
SELECT $1, $2, '', ARRAY[i.id], ARRAY[$3], now(), now() + $4::int * interval '1 millisecond' FROM fsm_inbox AS i WHERE i.event_id = $2`, provider, event, v, i)
	}
}

// errorOf is the kind of what a question ended with, found by asking it.
func errorOf(t testing.TB, err error) *Error {
	t.Helper()
	var told *Error
	require.ErrorAs(t, err, &told)
	return told
}

// questions are all that can be asked about the orders.
func questions(t testing.TB, db *Database) map[string]func() error {
	all := machines(t)
	m := named(t, all, "order")
	ctx := context.Background()
	return map[string]func() error{
		"estimate":   func() error { _, err := db.Estimate(ctx, m); return err },
		"count":      func() error { _, err := db.Count(ctx, m); return err },
		"deadlines":  func() error { _, err := db.Deadlines(ctx, m); return err },
		"moves":      func() error { _, err := db.Moves(ctx, m); return err },
		"deliveries": func() error { _, err := db.Deliveries(ctx); return err },
		"life":       func() error { _, err := db.Life(ctx, m, []string{first}); return err },
		"oldest": func() error {
			_, err := db.Oldest(ctx, m, Counts{Exact: true, States: []StateCount{{State: "PENDING", Declared: true, Rows: 1}, {State: "PAID", Declared: true, Rows: 1}}})
			return err
		},
		"find": func() error {
			_, errs := db.Find(ctx, all[1:2], first)
			if len(errs) > 0 {
				return errs[0]
			}
			return nil
		},
		"outbox": func() error {
			lags, err := db.Lags(ctx, nil)
			if err == nil && len(lags.Failed) > 0 {
				return lags.Failed[0].Err
			}
			return err
		},
	}
}

// soon is within which a question that is not to wait has ended, on a busy machine too.
const soon = 20 * time.Second
