package fsm_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

// settle records the payments of a settlement file, and tells of each that needs a
// person.
func settle(ctx context.Context, pool *pgxpool.Pool, items []order.PaymentSucceededItem, report func(order.PaymentSucceededItem, error)) error {
	results, err := order.PaymentSucceededBatch(ctx, pool, items, fsm.Actor("settlement"))
	for i, r := range results { // as many as items, in their order
		switch {
		case r.Err != nil: // of this item alone: no such row, bad argument, …
			report(items[i], r.Err)
		case r.Result.Err() != nil: // Rejected, Mismatched, …
			report(items[i], r.Result.Err())
		}
	}
	return err // at which the batch ended; nil when each item has its answer
}

// callbacks has payments recorded by a coalescer's Fire; a test gives it another.
type callbacks struct {
	fire func(context.Context, order.PaymentSucceededItem) (order.Result, error)
}

func (c *callbacks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	cents, err := strconv.ParseInt(r.FormValue("cents"), 10, 64)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
	defer cancel()
	result, err := c.fire(ctx, order.PaymentSucceededItem{
		Key:       order.Key(r.PathValue("order")),
		Params:    order.PaymentSucceededParams{PaymentNo: r.FormValue("payment"), PaidCents: cents},
		RequestID: r.Header.Get("X-Request-Id"),
	})
	w.WriteHeader(status(result, err))
}

// status is what a provider is told, which calls again until it is told 2xx.
func status(result order.Result, err error) int {
	switch {
	case errors.Is(err, fsm.ErrArgument):
		return http.StatusBadRequest
	case errors.Is(err, fsm.ErrNotFound):
		return http.StatusNotFound
	case errors.Is(err, fsm.ErrContended): // others change the row, or its line is full: ErrRowFull
		return http.StatusTooManyRequests
	case errors.Is(err, fsm.ErrClosed), fsm.Retryable(err): // shutting down; a row that is held
		return http.StatusServiceUnavailable
	case errors.Is(err, fsm.ErrUnknown): // perhaps done: the same call again is Replayed, and tells
		return http.StatusGatewayTimeout
	case err != nil: // ErrNothingDone
		return http.StatusInternalServerError
	case result.Err() != nil: // Rejected, Mismatched, Stale: the same call again says the same
		return http.StatusConflict
	}
	return http.StatusOK // Applied, Replayed, Compensated, Ignored
}

// serve answers callbacks until ctx ends.
func serve(ctx context.Context, pool *pgxpool.Pool) error {
	payments, err := fsm.NewCoalescer(ctx, pool, order.PaymentSucceededBatch, fsm.Coalescing{
		Ran: func(b fsm.Coalesced) { // keep it short: the worker waits
			slog.Info("batch", "calls", b.Calls, "rows", b.Rows, "waited", b.Waited, "took", b.Took, "err", b.Err)
		},
	})
	if err != nil {
		return err // the server cannot be reached, say
	}
	mux := http.NewServeMux()
	mux.Handle("POST /orders/{order}/paid", &callbacks{payments.Fire})
	server := &http.Server{Addr: ":8080", Handler: mux}
	ended := make(chan error, 1)
	go func() { ended <- server.ListenAndServe() }()
	select {
	case err = <-ended:
	case <-ctx.Done():
	}

	patience, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return errors.Join(err,
		server.Shutdown(patience), // first: no request comes any more, and those that are in get their answers
		payments.Close(patience))  // then: nothing waits
}

func ExampleNewCoalescer() {
	pool, err := pgxpool.New(context.Background(), os.Getenv("DATABASE_URL"))
	if err != nil {
		return
	}
	defer pool.Close()
	_ = serve(context.Background(), pool)
}

func ExampleFireBatch() {
	pool, err := pgxpool.New(context.Background(), os.Getenv("DATABASE_URL"))
	if err != nil {
		return
	}
	defer pool.Close()
	items := []order.PaymentSucceededItem{
		{Key: "0198c7a5-0000-7000-8000-000000000001", Params: order.PaymentSucceededParams{PaymentNo: "P1", PaidCents: 100}, RequestID: "line 1"},
		{Key: "0198c7a5-0000-7000-8000-000000000002", Params: order.PaymentSucceededParams{PaymentNo: "P2", PaidCents: 250}, RequestID: "line 2"},
	}
	_ = settle(context.Background(), pool, items, func(item order.PaymentSucceededItem, err error) {
		slog.Error("not settled", "line", item.RequestID, "err", err)
	})
}

// The page shows what compiles here.
func TestThePageOfBatchesShowsTheExamples(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	page, err := os.ReadFile("../docs/batches.md")
	require.NoError(t, err)
	for _, name := range []string{"func settle(", "type callbacks struct", "func (c *callbacks) ServeHTTP(", "func status(", "func serve("} {
		_, after, found := strings.Cut(string(source), "\n"+name)
		require.True(t, found, name)
		body, _, _ := strings.Cut(after, "\n}\n")
		require.Contains(t, string(page), "\n"+name+body+"\n}\n", name)
	}
}

func TestTheStatusOfACallback(t *testing.T) {
	t.Parallel()
	failed := func(kind, err error) error {
		return &fsm.CallError{Machine: "order", Event: "payment_succeeded", Kind: kind, Err: err}
	}
	for _, tc := range []struct {
		outcome fsm.Outcome
		err     error
		want    int
	}{
		{fsm.Applied, nil, 200},
		{fsm.Replayed, nil, 200},
		{fsm.Rejected, nil, 409},
		{fsm.Mismatched, nil, 409},
		{"", failed(fsm.ErrArgument, nil), 400},
		{"", failed(fsm.ErrNotFound, nil), 404},
		{"", failed(fsm.ErrContended, fsm.ErrRowFull), 429},
		{"", failed(fsm.ErrNothingDone, fsm.ErrClosed), 503},
		{"", failed(fsm.ErrUnknown, nil), 504},
		{"", failed(fsm.ErrNothingDone, nil), 500},
	} {
		handler := &callbacks{func(context.Context, order.PaymentSucceededItem) (order.Result, error) {
			return order.Result{Outcome: tc.outcome}, tc.err
		}}
		require.Equal(t, tc.want, answered(t, handler), "%s %v", tc.outcome, tc.err)
	}
}

func answered(t *testing.T, handler http.Handler) int {
	t.Helper()
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/orders/1/paid?payment=P1&cents=100", nil))
	return recorder.Code
}
