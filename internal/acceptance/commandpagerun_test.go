package acceptance

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/command"
	"github.com/pawl-go/pawl/fsm/command/commandhttp"
	"github.com/pawl-go/pawl/gen/order"
)

// bank is a provider that takes money once for a number, and says P1 of it.
type bank struct {
	taken          map[string]bool
	charges, finds int
	// before and after are done around the taking of money; an error of before takes none.
	before, after func() error
}

func (b *bank) Charge(_ context.Context, number string, _ int64) (string, error) {
	b.charges++
	if b.before != nil {
		if err := b.before(); err != nil {
			return "", err
		}
	}
	b.taken[number] = true
	if b.after != nil {
		return "P1", b.after()
	}
	return "P1", nil
}

func (b *bank) Find(_ context.Context, number string) (string, error) {
	if b.finds++; !b.taken[number] {
		return "", errNoCharge
	}
	return "P1", nil
}

func (user) From(context.Context) user { return user{"tenant", "ann"} }

func oneTenant(*http.Request) (commandhttp.Caller, error) {
	return commandhttp.Caller{Scope: "tenant"}, nil
}

// posting sends a POST with a key, and returns the status, the word "replayed" for a
// reply that was kept, and the body.
func posting(mux http.Handler, path, key, body string) string {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Idempotency-Key", key)
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	replayed := ""
	if w.Header().Get(commandhttp.ReplayedHeader) != "" {
		replayed = " replayed"
	}
	return http.StatusText(w.Code) + replayed + ": " + strings.TrimSpace(w.Body.String())
}

// tillOf serves the leased handler of the page.
func tillOf(t *testing.T, s *shop, b *bank) http.Handler {
	t.Helper()
	once, err := commandhttp.New(commandhttp.Options{
		Command: &command.Command{Name: "charge", Lease: time.Minute}, DB: s.pool, Leased: true, Caller: oneTenant,
	})
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.Handle("POST /orders/{id}/charge", once(pageLeasedHandler(s.pool, b)))
	return mux
}

const (
	goesBack = "Conflict: it was not to be paid any more, and the money goes back"
	notNow   = "Conflict: not to be paid now"
)

// Money moves for an order that is there and may be paid, once; what is final is kept,
// and money that was taken is booked, whatever happened to the order meanwhile.
func TestThePageChargesOnce(t *testing.T) {
	t.Parallel()
	fire := func(s *shop, event func(context.Context, fsm.DB, order.Key, ...fsm.Option) (order.Result, error)) error {
		_, err := event(t.Context(), s.pool, key1)
		return err
	}
	paidBefore := func(s *shop, id order.Key) error {
		_, err := order.PaymentSucceeded(t.Context(), s.pool, id, order.PaymentSucceededParams{PaymentNo: "P1", PaidCents: due})
		return err
	}
	for _, tc := range []struct {
		name, id string
		prepare  func(*shop, *bank) error
		want     []string // the answers to two requests with one key, and to one with another
		state    string   // of the order
		charges  int
		cases    int
	}{
		{"an order that is not there", string(key2), nil,
			[]string{"Not Found: Not Found", "Not Found replayed: Not Found", "Not Found: Not Found"}, "PENDING", 0, 0},
		{"no order's id", "x", nil,
			[]string{"Bad Request: Bad Request", "Bad Request replayed: Bad Request", "Bad Request: Bad Request"}, "PENDING", 0, 0},
		{"paid", string(key1), nil,
			[]string{"Created: paid", "Created replayed: paid", "Created: paid"}, "PAID", 1, 0},
		{"cancelled", string(key1), func(s *shop, _ *bank) error { return fire(s, order.Cancel) },
			[]string{notNow, strings.Replace(notNow, ":", " replayed:", 1), notNow}, "CANCELLED", 0, 0},
		{"cancelled while the provider is asked", string(key1), func(s *shop, b *bank) error {
			b.after = func() error { return fire(s, order.Cancel) }
			return nil
		}, []string{goesBack, strings.Replace(goesBack, ":", " replayed:", 1), goesBack}, "REFUNDING", 1, 0},
		{"a callback is faster", string(key1), func(s *shop, b *bank) error {
			b.after = func() error { return paidBefore(s, key1) }
			return nil
		}, []string{"Created: paid", "Created replayed: paid", "Created: paid"}, "PAID", 1, 0},
		{"declined", string(key1), func(_ *shop, b *bank) error {
			b.before = func() error { return errDeclined }
			return nil
		}, []string{"Payment Required: declined", "Payment Required replayed: declined", "Payment Required: declined"}, "PAYING", 2, 0},
		{"the answer is lost, and the order cancelled", string(key1), func(s *shop, b *bank) error {
			b.after = func() error {
				require.NoError(t, fire(s, order.Cancel))
				return context.DeadlineExceeded
			}
			return nil
		}, []string{"Service Unavailable: Service Unavailable", goesBack, goesBack}, "REFUNDING", 1, 0},
		{"a payment of another order", string(key1), func(s *shop, _ *bank) error {
			s.create(key3)
			return paidBefore(s, key3)
		}, []string{"Conflict: somebody looks into it", "Conflict replayed: somebody looks into it", "Conflict: somebody looks into it"}, "PAYING", 2, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s, b := open(t, key1), &bank{taken: map[string]bool{}}
			if tc.prepare != nil {
				require.NoError(t, tc.prepare(s, b))
			}
			mux := tillOf(t, s, b)
			for i, want := range tc.want {
				key := []string{"k", "k", "another"}[i]
				require.Equal(t, want, posting(mux, "/orders/"+tc.id+"/charge", key, ""), "request %d", i+1)
			}
			row, err := order.Get(t.Context(), s.pool, key1)
			require.NoError(t, err)
			require.Equal(t, tc.state, string(row.Status))
			require.Equal(t, tc.charges, b.charges)
			var cases, refunds int
			require.NoError(t, s.pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM shop_cases),
				(SELECT count(*) FROM fsm_outbox WHERE topic = 'refund_due')`).Scan(&cases, &refunds))
			require.Equal(t, tc.cases, cases)
			require.Equal(t, tc.state == "REFUNDING", refunds == 1, "money that is not kept goes back once")
		})
	}
}

// The page's other way to the same.
func TestThePageChargesOnceWithoutHTTP(t *testing.T) {
	t.Parallel()
	s, b := open(t, key1), &bank{taken: map[string]bool{}}
	request := command.Request{Scope: "tenant", Key: "k", Method: "POST", Path: "/"}
	answer, err := pageLeased(t.Context(), s.pool, request, b, key2)
	require.ErrorIs(t, err, fsm.ErrNotFound)
	require.Zero(t, b.charges)
	for range 2 {
		answer, err = pageLeased(t.Context(), s.pool, request, b, key1)
		require.NoError(t, err)
		require.Equal(t, http.StatusCreated, answer.Reply.Status)
	}
	require.True(t, answer.Replayed)
	require.Equal(t, 1, b.charges)
	status, err := pageStatus(t.Context(), s.pool, &command.Command{Name: "orders.charge"}, "tenant", "k")
	require.NoError(t, err)
	require.Equal(t, command.Finished, status.Progress)
	require.Equal(t, "paid", string(status.Reply.Body))
}

// What cannot be done by asking again is answered so, and kept; what may pass is not.
func TestThePageRefuses(t *testing.T) {
	t.Parallel()
	s := open(t, key1)
	mux := http.NewServeMux()
	require.NoError(t, pageMiddleware(mux, s.pool, user{}))
	once, err := commandhttp.New(commandhttp.Options{Command: &command.Command{Name: "create"}, DB: s.pool, Caller: oneTenant})
	require.NoError(t, err)
	mux.Handle("POST /orders/{id}", once(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tx, _ := commandhttp.Tx(r.Context())
		p := newOrder(order.Key(r.PathValue("id")))
		switch r.URL.RawQuery {
		case "negative":
			p.TotalCents = -1
		case "missing":
			_, err := tx.Exec(r.Context(), `SELECT FROM nothing`)
			refuse(w, err)
			return
		}
		_, err := order.Create(r.Context(), tx, p)
		refuse(w, err)
	})))
	for i, tc := range []struct{ name, path, first, second string }{
		{"no such order", "/orders/" + string(key2) + "/pay", "Not Found: Not Found", "Not Found replayed: Not Found"},
		{"no uuid", "/orders/x/pay", "Bad Request: Bad Request", "Bad Request replayed: Bad Request"},
		{"a CHECK", "/orders/" + string(key2) + "?negative", "Unprocessable Entity: Unprocessable Entity", "Unprocessable Entity replayed: Unprocessable Entity"},
		{"a table is missing", "/orders/" + string(key2) + "?missing", "Internal Server Error: Internal Server Error", "Internal Server Error: Internal Server Error"},
		{"paid", "/orders/" + string(key1) + "/pay", "No Content:", "No Content replayed:"},
	} {
		require.Equal(t, tc.first, strings.TrimSpace(posting(mux, tc.path, strconv.Itoa(i), "")), tc.name)
		require.Equal(t, tc.second, strings.TrimSpace(posting(mux, tc.path, strconv.Itoa(i), "")), tc.name)
	}
}
