package shop_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCreateTellsNewAgainAndOther(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.is(http.StatusCreated, b.do("POST", "/orders", createBody(orderA)))
	require.Equal(t, "/orders/"+orderA, r.header.Get("Location"))
	require.Equal(t, "PENDING", r.body["state"])
	b.is(http.StatusOK, b.do("POST", "/orders", createBody(strings.ToUpper(orderA))))
	other := strings.Replace(createBody(orderA), "10050", "10051", 1)
	r = b.is(http.StatusConflict, b.do("POST", "/orders", other))
	require.Equal(t, "Mismatched", r.body["outcome"])
	require.Equal(t, "1", b.value("SELECT count(*) FROM orders"))
}

func TestOrderIsShownWithLabelsAndButtons(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.order(orderA)
	r := b.is(http.StatusOK, b.do("GET", "/orders/"+orderA, ""))
	require.Equal(t, `"1"`, r.header.Get("ETag"))
	require.Equal(t, map[string]any{"zh": "待支付", "en": "Awaiting payment"}, r.body["label"])
	require.Equal(t, []any{"pay", "expire", "cancel"}, r.body["allowed"])
	require.Equal(t, "2026-03-04T05:36:07Z", asUTC(t, r.body["deadline_at"]))
	b.is(http.StatusNotFound, b.do("GET", "/orders/"+orderB, ""))
}

func asUTC(t *testing.T, v any) string {
	t.Helper()
	at, err := time.Parse(time.RFC3339, v.(string))
	require.NoError(t, err)
	return at.UTC().Format(time.RFC3339)
}

func TestLifeFromPaymentToDelivery(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.paid(orderA, "p-1")
	b.is(http.StatusConflict, b.do("POST", "/orders/"+orderA+"/receive", ""))
	require.Equal(t, "SHIPPED", b.is(http.StatusOK, b.do("POST", "/orders/"+orderA+"/ship", "")).body["state"])
	b.is(http.StatusOK, b.do("POST", "/orders/"+orderA+"/ship", ""))
	require.Equal(t, "COMPLETED", b.is(http.StatusOK, b.do("POST", "/orders/"+orderA+"/receive", "")).body["state"])
	b.is(http.StatusOK, b.do("POST", "/orders/"+orderA+"/receive", ""))
	require.Equal(t, "5", b.value("SELECT version FROM orders"))
}

func TestHistoryIsPagedAndTellsWho(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.order(orderA)
	b.is(http.StatusOK, b.do("POST", "/orders/"+orderA+"/pay", `{"payment_no":"p-1"}`, "X-Actor", "app", "X-Request-Id", "req-7"))
	b.told("Applied", paymentOf(orderA, "p-1", 10050))

	r := b.is(http.StatusOK, b.do("GET", "/orders/"+orderA+"/history?limit=2", ""))
	entries := r.body["entries"].([]any)
	require.Len(t, entries, 2)
	require.InDelta(t, 2, r.body["next"], 0)
	require.Equal(t, "create", entries[0].(map[string]any)["event"])
	second := entries[1].(map[string]any)
	require.Equal(t, []any{"pay", "PENDING", "PAYING", "app", "req-7"},
		[]any{second["event"], second["from"], second["to"], second["actor"], second["request_id"]})

	r = b.is(http.StatusOK, b.do("GET", "/orders/"+orderA+"/history?after=2&limit=2", ""))
	require.NotContains(t, r.body, "next")
	third := r.body["entries"].([]any)[0].(map[string]any)
	require.Equal(t, []any{"payment_succeeded", "provider:standard", "msg_evt_p-1"},
		[]any{third["event"], third["actor"], third["request_id"]})

	require.Empty(t, b.is(http.StatusOK, b.do("GET", "/orders/"+orderA+"/history?after=3", "")).body["entries"])
	b.is(http.StatusNotFound, b.do("GET", "/orders/"+orderB+"/history", ""))
	require.Equal(t, "limit", b.is(http.StatusBadRequest, b.do("GET", "/orders/"+orderA+"/history?limit=0", "")).body["field"])
	require.Equal(t, "after", b.is(http.StatusBadRequest, b.do("GET", "/orders/"+orderA+"/history?after=x", "")).body["field"])
}

func TestCancelAnswersTheSameTwice(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.order(orderA)
	for range 2 {
		r := b.is(http.StatusNoContent, b.do("DELETE", "/orders/"+orderA, ""))
		require.Empty(t, r.body)
	}
	require.Equal(t, "2", b.value("SELECT version FROM orders"))
	b.is(http.StatusNotFound, b.do("DELETE", "/orders/"+orderB, ""))
	b.paid(orderB, "p-1")
	r := b.is(http.StatusConflict, b.do("DELETE", "/orders/"+orderB, ""))
	require.Equal(t, []any{"Rejected", "PAID"}, []any{r.body["outcome"], r.body["state"]})
}

func TestExpectedVersion(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.order(orderA)
	r := b.is(http.StatusPreconditionFailed, b.do("DELETE", "/orders/"+orderA, "", "If-Match", `"2"`))
	require.Equal(t, "Stale", r.body["outcome"])
	require.InDelta(t, 1, r.body["version"], 0)
	b.is(http.StatusPreconditionFailed, b.do("POST", "/orders/"+orderA+"/pay", `{"payment_no":"p-1"}`, "If-Match", `"2"`))
	require.Equal(t, "0", b.value("SELECT count(*) FROM payments"))
	require.Equal(t, "If-Match", b.is(http.StatusBadRequest, b.do("DELETE", "/orders/"+orderA, "", "If-Match", "new")).body["field"])
	b.is(http.StatusNoContent, b.do("DELETE", "/orders/"+orderA, "", "If-Match", `"1"`))
	b.is(http.StatusNoContent, b.do("DELETE", "/orders/"+orderA, "", "If-Match", `"1"`)) // a replay compares none
}

func TestPayBeginsAnAttempt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.order(orderA)
	b.order(orderB)
	b.pay(orderA, "p-1")
	b.pay(orderA, "p-1")
	b.pay(orderA, "p-2") // another channel
	require.Equal(t, "p-1 SUBMITTED 10050,p-2 SUBMITTED 10050",
		b.value("SELECT string_agg(payment_no || ' ' || status || ' ' || amount_cents, ',' ORDER BY payment_no) FROM payments"))
	require.Equal(t, "PAYING", b.state(orderA))

	// A number of another order moves neither order nor attempt.
	b.is(http.StatusConflict, b.do("POST", "/orders/"+orderB+"/pay", `{"payment_no":"p-1"}`))
	require.Equal(t, "PENDING", b.state(orderB))
	// Nor does an attempt that is over.
	b.told("Applied", noticeOf("payment.failed", orderA, "p-1", "", 0))
	require.Equal(t, "FAILED", b.value("SELECT status FROM payments WHERE payment_no = 'p-1'"))
	b.is(http.StatusConflict, b.do("POST", "/orders/"+orderA+"/pay", `{"payment_no":"p-1"}`))
	require.Equal(t, "PENDING", b.state(orderA))

	b.is(http.StatusNoContent, b.do("DELETE", "/orders/"+orderA, ""))
	b.is(http.StatusConflict, b.do("POST", "/orders/"+orderA+"/pay", `{"payment_no":"p-3"}`))
	b.is(http.StatusNotFound, b.do("POST", "/orders/0c000000-0000-4000-8000-00000000000c/pay", `{"payment_no":"p-3"}`))
}

func TestStockIsAbsolute(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.is(http.StatusNotFound, b.do("GET", "/stock/mug", ""))
	b.stock(5)
	b.stock(5)
	require.InDelta(t, 5, b.is(http.StatusOK, b.do("GET", "/stock/mug", "")).body["quantity"], 0)
	for _, body := range []string{`{"quantity":"+5"}`, `{"quantity":-1}`, `{}`, `{"quantity":1.5}`} {
		require.Equal(t, "quantity", b.is(http.StatusBadRequest, b.do("PUT", "/stock/mug", body)).body["field"], body)
	}
	require.Equal(t, "5", b.value("SELECT quantity FROM shop_stock"))
}

func TestDeadlinesAreSweptByTheClock(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.order(orderA)
	b.clock.advance(30*time.Minute - time.Second)
	require.Zero(t, b.sweep())
	b.clock.advance(time.Second)
	require.Equal(t, 1, b.sweep())
	require.Equal(t, "CANCELLED", b.state(orderA))

	b.order(orderB)
	b.pay(orderB, "p-1")
	b.clock.advance(15 * time.Minute)
	require.Equal(t, 2, b.sweep()) // the order and its attempt are asked for
	require.Equal(t, "order,payment", b.value("SELECT string_agg(machine, ',' ORDER BY machine) FROM fsm_outbox WHERE topic = 'payment_query_due'"))
}
