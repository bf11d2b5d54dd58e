package main

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/examples/orders/shop"
	"github.com/pawl-go/pawl/fsm/attempt"
	"github.com/pawl-go/pawl/fsm/webhook"
	"github.com/pawl-go/pawl/internal/testdb"
	"github.com/pawl-go/pawl/migrations"
)

// refusal is a shop whose bank refuses, and a person with the runbook.
type refusal struct {
	*process
	bank    *bank
	pool    *pgxpool.Pool
	service *shop.Service
	db      string
	log     *bytes.Buffer
}

func newRefusal(t *testing.T) *refusal {
	t.Helper()
	r := &refusal{bank: newBank(t, false), db: testdb.URL(t, testdb.WithMigrations(migrations.FS)), log: &bytes.Buffer{}}
	r.bank.refuses.Store(true)
	var err error
	r.pool, err = pgxpool.New(t.Context(), r.db)
	require.NoError(t, err)
	t.Cleanup(r.pool.Close)
	verifier, err := webhook.NewStandard([]webhook.Secret{killSecret})
	require.NoError(t, err)
	api, err := shop.NewRefundAPI(r.bank.url, webhook.NewSecret(bankToken))
	require.NoError(t, err)
	r.service, err = shop.New(shop.Config{
		Pool: r.pool, Standard: verifier, Inbox: true, Refunds: api, Log: slog.New(slog.NewTextHandler(r.log, nil)),
		RefundPolicy: attempt.Policy{Base: time.Nanosecond, Max: time.Nanosecond},
	})
	require.NoError(t, err)
	server := httptest.NewServer(r.service.Handler())
	t.Cleanup(server.Close)
	r.process = &process{t: t, url: server.URL}
	return r
}

// works delivers the outbox, calls the bank, and delivers what came of that; and a
// second time, since that must do nothing.
func (r *refusal) works() {
	r.t.Helper()
	for range 2 {
		_, err := r.service.Relay().Once(r.t.Context())
		require.NoError(r.t, err)
		_, err = r.service.RefundCompleter().Once(r.t.Context())
		require.NoError(r.t, err)
		_, err = r.service.Relay().Once(r.t.Context())
		require.NoError(r.t, err)
	}
}

// says runs the runbook, requires its exit code, and returns what it says.
func (r *refusal) says(code int, args ...string) string {
	r.t.Helper()
	var out bytes.Buffer
	require.Equal(r.t, code, lookAfter(r.t.Context(), r.db, &out, args), "%q", args)
	return out.String()
}

// again gives a refund another try, as ann.
func (r *refusal) again(code int, old, number string) string {
	r.t.Helper()
	return r.says(code, "release", "refund", old, number, "-actor", "ann", "-reason", "the customer has another account")
}

func (r *refusal) value(sql string) (text string) {
	r.t.Helper()
	require.NoError(r.t, r.pool.QueryRow(r.t.Context(), "SELECT ("+sql+")::text").Scan(&text))
	return text
}

// stands is how order, refunds and ledger are, and what the bank gave.
func (r *refusal) stands() string {
	r.t.Helper()
	return fmt.Sprint(r.value(`SELECT concat_ws(' | ',
		(SELECT concat_ws(' ', status, refund_cents, refunded_cents) FROM orders),
		(SELECT string_agg(concat_ws(' ', refund_no, status, payment_no, amount_cents), ', ' ORDER BY refund_no) FROM refunds),
		(SELECT coalesce(string_agg(number || ' ' || cents, ', ' ORDER BY number), 'nothing booked') FROM shop_ledger WHERE kind = 'refund'))`),
		" | ", r.bank.gave(), " given")
}

// A payment of a wrong amount goes back, and the bank refuses: a person is told, once,
// and gives it another try, which the bank takes. The order can still be paid.
func TestRefusedMoneyOfNoOrderGoesBackAfterAll(t *testing.T) {
	t.Parallel()
	r := newRefusal(t)
	r.awaited()
	require.Equal(t, http.StatusOK, r.tellOf("p-2", 41))
	r.works()
	require.Equal(t, "PAYING 0 0 | p-2 CLOSED p-2 41 | nothing booked | 0 given", r.stands())
	require.Equal(t, "refunds refund_failed Compensated", r.value("SELECT string_agg(concat_ws(' ', provider, event, outcome), ', ') FROM shop_cases"))
	require.Contains(t, r.log.String(), `level=WARN msg="refund for a person" refund_no=p-2`)
	require.Contains(t, r.says(0, "inspect", "stuck"), `refund_no="p-2": the provider did not give it back; it is CLOSED, of payment_no="p-2" amount_cents=41`)

	r.bank.refuses.Store(false)
	for range 2 {
		require.Equal(t, "the refund p-2b of 41, in place of p-2, is SENT\n", r.again(0, "p-2", "p-2b"))
	}
	r.works()
	const good = "PAYING 0 0 | p-2 CLOSED p-2 41, p-2b SUCCEEDED p-2 41 | p-2b -41 | 1 given"
	require.Equal(t, good, r.stands())
	require.Equal(t, "the refund p-2b of 41, in place of p-2, is SUCCEEDED\n", r.again(0, "p-2", "p-2b"))
	r.again(1, "p-2", "p-2c")
	r.again(1, "p-2b", "p-2c")
	r.works()
	require.Equal(t, good, r.stands())
	require.Equal(t, "p-2 again as p-2b CLOSED SENT ann the customer has another account",
		r.value("SELECT string_agg(concat_ws(' ', key, action, from_status, to_status, actor, reason), ', ') FROM fsm_audit WHERE machine = 'refund'"))
	require.Contains(t, r.says(0, "inspect", "refund", "p-2b"), "again as p-2b")
	require.Equal(t, http.StatusOK, r.tell())
	require.Equal(t, "PAID", r.value("SELECT status FROM orders"))
}

// Two halves are refused, so that the order would be REFUNDING for good: each has
// another try, and all of it has gone back once.
func TestRefusedHalvesGoBackAfterAll(t *testing.T) {
	t.Parallel()
	r := newRefusal(t)
	r.paid()
	ask := func(number string, cents int) int {
		status, _ := r.do("POST", "/orders/"+orderOf(1)+"/refunds", fmt.Sprintf(`{"refund_no":%q,"amount_cents":%d}`, number, cents), http.Header{})
		return status
	}
	require.Equal(t, http.StatusAccepted, ask("r-1", 50))
	require.Equal(t, http.StatusAccepted, ask("r-2", 50))
	r.again(1, "r-1", "r-3") // it is on its way
	r.works()
	require.Equal(t, "REFUNDING 100 0 | r-1 CLOSED p-1 50, r-2 CLOSED p-1 50 | nothing booked | 0 given", r.stands())
	require.Equal(t, "2", r.value("SELECT count(*) FROM shop_cases"))
	require.Equal(t, http.StatusConflict, ask("r-3", 50), "nothing is left to promise")

	r.again(0, "r-1", "r-3")
	require.Equal(t, http.StatusConflict, ask("r-3", 50))
	r.works() // it is refused as well
	r.again(1, "r-1", "r-4")
	r.bank.refuses.Store(false)
	r.again(0, "r-3", "r-4") // the last one goes on
	r.works()
	require.Equal(t, "REFUNDING 100 50 | r-1 CLOSED p-1 50, r-2 CLOSED p-1 50, r-3 CLOSED p-1 50, r-4 SUCCEEDED p-1 50 | r-4 -50 | 1 given", r.stands())
	r.again(1, "r-2", "r-4") // which is another's
	r.again(0, "r-2", "r-5")
	r.works()
	const good = "REFUNDED 100 100 | r-1 CLOSED p-1 50, r-2 CLOSED p-1 50, r-3 CLOSED p-1 50, r-4 SUCCEEDED p-1 50, r-5 SUCCEEDED p-1 50 | r-4 -50, r-5 -50 | 2 given"
	require.Equal(t, good, r.stands())
	for _, old := range []string{"r-1", "r-2", "r-3", "r-4", "r-5"} {
		r.again(1, old, "r-6")
	}
	r.works()
	require.Equal(t, good, r.stands())
}
