package shop_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/examples/orders/shop"
	"github.com/pawl-go/pawl/fsm/inbox"
	"github.com/pawl-go/pawl/fsm/webhook"
)

// newKept is a bench whose callbacks go through an inbox.
func newKept(t *testing.T, more ...func(*shop.Config)) *bench {
	t.Helper()
	return newBench(t, append([]func(*shop.Config){func(c *shop.Config) { c.Inbox = true }}, more...)...)
}

// post delivers bytes and returns what the provider is told, status and body.
func (b *bench) post(provider, contentType string, body []byte, header http.Header) (int, string) {
	b.t.Helper()
	r := httptest.NewRequestWithContext(b.t.Context(), "POST", "/callbacks/"+provider, strings.NewReader(string(body)))
	r.Header.Set("Content-Type", contentType)
	for k := range header {
		r.Header.Set(k, header.Get(k))
	}
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// kept delivers by Standard Webhooks under the message's id, and requires the
// empty 200 that says yes.
func (b *bench) kept(id, body string) {
	b.t.Helper()
	header, err := b.standard.Sign(id, b.clock.Now(), []byte(body))
	require.NoError(b.t, err)
	status, text := b.post("standard", "application/json", []byte(body), header)
	require.Equal(b.t, http.StatusOK, status, text)
	require.Empty(b.t, text)
}

// retry has all that waits be due, tries it once, and returns how many that were.
func (b *bench) retry() int {
	b.t.Helper()
	b.exec("UPDATE fsm_inbox SET due_at = clock_timestamp() WHERE due_at IS NOT NULL")
	tried, err := b.service.Retry().Once(b.t.Context())
	require.NoError(b.t, err)
	return tried
}

func (b *bench) exec(sql string) {
	b.t.Helper()
	_, err := b.pool.Exec(b.t.Context(), sql)
	require.NoError(b.t, err)
}

// events are those of the inbox, in the order in which they came.
func (b *bench) events() string {
	b.t.Helper()
	return b.value("SELECT coalesce(string_agg(concat_ws(' ', provider, event_id, state, nullif(outcome, '')), ', ' ORDER BY id), '') FROM fsm_inbox")
}

// verdicts are those counted of a provider.
func (b *bench) verdicts(provider string) map[inbox.Verdict]int64 {
	out := map[inbox.Verdict]int64{}
	for _, c := range b.service.Counters().Verdicts {
		if c.Provider == provider {
			out[c.Verdict] = c.Count
		}
	}
	return out
}

// awaited makes an order that waits for the payment p-1.
func (b *bench) awaited() {
	b.t.Helper()
	b.stock(10)
	b.order(orderA)
	b.pay(orderA, "p-1")
}

// once requires that the payment p-1 of 10050 has moved the order once, with all
// that hangs on it.
func (b *bench) once() {
	b.t.Helper()
	require.Equal(b.t, "PAID", b.state(orderA))
	require.Equal(b.t, []string{"8", "ann 100", "order_paid"}, b.effects())
	require.Equal(b.t, "payment p-1 10050", b.value("SELECT string_agg(concat_ws(' ', kind, number, cents), ', ') FROM shop_ledger"))
	require.Equal(b.t, "1", b.value("SELECT count(*) FROM order_history WHERE event = 'payment_succeeded'"))
}

func TestKeptPaymentIsToldOftenAndJudgedOnce(t *testing.T) {
	t.Parallel()
	b := newKept(t)
	b.awaited()
	body := paymentOf(orderA, "p-1", 10050)
	b.kept("msg_1", body)
	b.once()
	require.Equal(t, "provider:standard msg_1", b.value("SELECT actor || ' ' || request_id FROM order_history WHERE event = 'payment_succeeded'"))
	require.Equal(t, "SUCCEEDED", b.value("SELECT status FROM payments"))
	b.kept("msg_1", body) // the same event
	b.kept("msg_2", body) // another event that says the same of the same payment
	b.once()
	require.Equal(t, "standard msg_1 done Applied", b.events())
	require.Equal(t, map[inbox.Verdict]int64{"done": 1, "duplicate": 2}, b.verdicts("standard"))
	counted := b.service.Counters().Outcomes
	require.Contains(t, counted, shop.OutcomeCount{Machine: "order", Event: "payment_succeeded", Outcome: "Applied", Count: 1})
	require.Contains(t, counted, shop.OutcomeCount{Machine: "payment", Event: "succeed", Outcome: "Applied", Count: 1})
	require.Equal(t, "0", b.value("SELECT count(*) FROM fsm_deliveries WHERE recorded_at IS NULL"))
}

// The customer paid one number at two providers: the order keeps the first's money,
// and a person learns of the second's, whatever became of the first's.
func TestNumberThatWasPaidAtTwoProvidersIsACase(t *testing.T) {
	t.Parallel()
	b := newKept(t)
	b.awaited()
	for i, number := range []string{"p-1", "p-2"} { // kept, and compensated
		body := paymentOf(orderA, number, 10050)
		b.kept("msg_"+number, body)
		header, err := b.stripe.Sign(b.clock.Now(), []byte(body))
		require.NoError(t, err)
		for range 2 {
			status, text := b.post("stripe", "application/json", []byte(body), header)
			require.Equal(t, http.StatusOK, status)
			require.Empty(t, text)
		}
		require.Equal(t, strconv.Itoa(i+1), b.value("SELECT count(*) FROM shop_cases"))
	}
	require.Equal(t, "PAID", b.state(orderA))
	require.Equal(t, "stripe payment_succeeded Mismatched, stripe payment_succeeded Mismatched", b.cases())
	require.Contains(t, b.value("SELECT min(detail) FROM shop_cases"), `paid at standard before, and now at stripe, where the money has to go back; told: payment.succeeded payment_no="p-1"`)
	require.Equal(t, "standard p-1 Applied, standard p-2 Compensated", b.value("SELECT string_agg(concat_ws(' ', provider, number, outcome), ', ' ORDER BY number) FROM shop_ledger"))
	counted := b.service.Counters().Outcomes
	require.Contains(t, counted, shop.OutcomeCount{Machine: "order", Event: "payment_succeeded", Outcome: "Mismatched", Count: 2})
}

// Money that was booked before the ledger knew providers is told again, and no case.
func TestPaymentOfAnUnknownProviderIsToldAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.paid(orderA, "p-1")
	_, err := b.pool.Exec(t.Context(), "UPDATE shop_ledger SET provider = ''")
	require.NoError(t, err)
	body := paymentOf(orderA, "p-1", 10050)
	header, err := b.stripe.Sign(b.clock.Now(), []byte(body))
	require.NoError(t, err)
	r := b.is(http.StatusOK, b.signed("stripe", body, header))
	require.Equal(t, map[string]any{"outcome": "Replayed"}, r.body)
	require.Equal(t, "none", b.cases())
}

func TestKeptPaymentToldByManyAtOnce(t *testing.T) {
	t.Parallel()
	var locks *counting
	b := newKept(t, onPostgres(t, &locks))
	b.awaited()
	body := paymentOf(orderA, "p-1", 10050)
	statuses := make([]int, 24)
	var work sync.WaitGroup
	for i := range statuses {
		header, err := b.standard.Sign([]string{"msg_1", "msg_2", "msg_3"}[i%3], b.clock.Now(), []byte(body))
		require.NoError(t, err)
		work.Go(func() { statuses[i], _ = b.post("standard", "application/json", []byte(body), header) })
	}
	work.Wait()
	for _, status := range statuses {
		require.Equal(t, http.StatusOK, status)
	}
	b.once()
	require.Equal(t, "1", b.value("SELECT count(*) FROM fsm_inbox"))
	require.Equal(t, "24", b.value("SELECT count(*) FROM fsm_deliveries"))
	require.Equal(t, []shop.TurnCount{{Turn: "held", Count: 1}}, b.service.Counters().Turns)
}

// A payment that overtook its order waits for it, and the provider has done its part.
func TestPaymentBeforeItsOrderIsParked(t *testing.T) {
	t.Parallel()
	b := newKept(t)
	body := paymentOf(orderA, "p-1", 10050)
	b.kept("msg_1", body)
	require.Equal(t, "standard msg_1 parked", b.events())
	require.Equal(t, 1, b.retry(), "and is still too early")
	require.Equal(t, "standard msg_1 parked", b.events())
	require.Empty(t, b.service.Counters().Outcomes)
	b.awaited()
	require.Equal(t, 1, b.retry())
	b.once()
	require.Equal(t, "standard msg_1 done Applied", b.events())
	require.Zero(t, b.retry())
	require.Equal(t, map[inbox.Verdict]int64{"parked": 2, "done": 1}, b.verdicts("standard"))
	b.kept("msg_1", body)
	b.once()
}

// What was told first stands; the other waits for a person, with its body.
func TestSameEventWithAnotherAmount(t *testing.T) {
	t.Parallel()
	b := newKept(t)
	b.awaited()
	b.kept("msg_1", paymentOf(orderA, "p-1", 10050))
	b.kept("msg_1", paymentOf(orderA, "p-1", 9999))
	b.once()
	require.Equal(t, map[inbox.Verdict]int64{"done": 1, "conflict": 1}, b.verdicts("standard"))
	require.Equal(t, "true", b.value("SELECT body IS NOT NULL FROM fsm_deliveries WHERE verdicts = '{conflict}'"))
	require.Zero(t, b.retry())

	// Under another id it is another event, and the machine's to refuse.
	b.kept("msg_2", paymentOf(orderA, "p-1", 9999))
	b.once()
	require.Equal(t, "standard msg_1 done Applied, standard msg_2 dead Mismatched", b.events())
}

func TestMismatchIsOneCaseAndADeadEvent(t *testing.T) {
	t.Parallel()
	b := newKept(t)
	b.awaited()
	b.order(orderB)
	b.kept("msg_1", paymentOf(orderA, "p-1", 10050))
	for range 3 { // the same number, on another order
		b.kept("msg_2", paymentOf(orderB, "p-1", 10050))
	}
	b.once()
	require.Equal(t, "PENDING", b.state(orderB))
	require.Equal(t, "standard msg_1 done Applied, standard msg_2 dead Mismatched", b.events())
	require.Equal(t, "standard msg_2 "+orderB+" Mismatched",
		b.value("SELECT string_agg(concat_ws(' ', provider, delivery_id, order_id, outcome), ', ') FROM shop_cases"))
	require.Zero(t, b.retry(), "it is a person's")
	require.Contains(t, b.service.Counters().Outcomes, shop.OutcomeCount{Machine: "order", Event: "payment_succeeded", Outcome: "Mismatched", Count: 1})
}

func TestKeptForgedAndStaleLeaveACount(t *testing.T) {
	t.Parallel()
	b := newKept(t)
	b.awaited()
	body := []byte(paymentOf(orderA, "p-1", 10050))
	sign := func(at time.Time) http.Header {
		header, err := b.standard.Sign("msg_1", at, body)
		require.NoError(t, err)
		return header
	}
	forged := sign(b.clock.Now())
	forged.Set(webhook.HeaderSignature, "v1,"+strings.Repeat("A", 43)+"=")
	before := b.contents()
	for _, c := range []struct {
		header http.Header
		kind   string
		status int
		words  string
	}{
		{forged, "application/json", http.StatusUnauthorized, "refused\n"},
		{sign(b.clock.Now().Add(-5*time.Minute - time.Second)), "application/json", http.StatusUnauthorized, "refused\n"},
		{sign(b.clock.Now().Add(5*time.Minute + time.Second)), "application/json", http.StatusUnauthorized, "refused\n"},
		{sign(b.clock.Now()), "text/plain", http.StatusUnsupportedMediaType, "Content-Type must be application/json\n"},
	} {
		status, text := b.post("standard", c.kind, body, c.header)
		require.Equal(t, c.status, status)
		require.Equal(t, c.words, text)
	}
	after := b.contents()
	require.NotEqual(t, before["fsm_refused_deliveries"], after["fsm_refused_deliveries"])
	delete(before, "fsm_refused_deliveries")
	delete(after, "fsm_refused_deliveries")
	require.Equal(t, before, after)
	require.Equal(t, "content_type 1, future 1, signature 1, stale 1",
		b.value("SELECT string_agg(reason || ' ' || count, ', ' ORDER BY reason) FROM fsm_refused_deliveries"))
	require.Equal(t, []shop.RefusedCount{
		{Provider: "standard", Reason: "content_type", Count: 1}, {Provider: "standard", Reason: "future", Count: 1},
		{Provider: "standard", Reason: "signature", Count: 1}, {Provider: "standard", Reason: "stale", Count: 1},
	}, b.service.Counters().Refused)
}

func TestKeptUnknownTypeAndBadBody(t *testing.T) {
	t.Parallel()
	b := newKept(t)
	b.awaited()
	b.kept("msg_1", `{"id":"evt_1","type":"payout.created","data":"of another form"}`)
	require.Equal(t, "standard msg_1 ignored", b.events())
	require.Equal(t, []shop.IgnoredCount{{Provider: "standard", Count: 1}}, b.service.Counters().Ignored)

	bad := []byte(strings.Replace(paymentOf(orderA, "p-1", 10050), "10050", "0", 1))
	header, err := b.standard.Sign("msg_2", b.clock.Now(), bad)
	require.NoError(t, err)
	status, text := b.post("standard", "application/json", bad, header)
	require.Equal(t, http.StatusUnprocessableEntity, status)
	require.Equal(t, "not understood\n", text)
	require.Equal(t, string(bad), b.value("SELECT convert_from(body, 'UTF8') FROM fsm_deliveries WHERE verdicts = '{unreadable}'"))
	require.Equal(t, "standard msg_1 ignored", b.events())
	require.Equal(t, "PAYING", b.state(orderA))
}

// A refund may turn abnormal again after a person had it go on: each telling is
// news, and its repetition under the same id is not.
func TestAbnormalRefundMayComeAgain(t *testing.T) {
	t.Parallel()
	b := newKept(t)
	b.awaited()
	b.kept("msg_1", paymentOf(orderA, "p-1", 10050))
	b.is(http.StatusAccepted, b.do("POST", "/orders/"+orderA+"/refunds", `{"refund_no":"r-1","amount_cents":50}`))
	stuck := noticeOf("refund.failed", orderA, "p-1", "r-1", 50)
	b.kept("msg_2", stuck)
	b.kept("msg_2", stuck)
	b.kept("msg_3", stuck)
	require.Equal(t, "standard msg_1 done Applied, standard msg_2 done Compensated, standard msg_3 done Replayed", b.events())
}

// What was rolled back is not counted, and what Retry does is.
func TestCountersTellWhatTheInboxCommitted(t *testing.T) {
	t.Parallel()
	b := newKept(t)
	b.awaited()
	before := b.service.Counters().Outcomes
	b.exec("ALTER TABLE shop_points ADD CONSTRAINT none CHECK (points < 0)")
	b.kept("msg_1", paymentOf(orderA, "p-1", 10050))
	require.Equal(t, "standard msg_1 parked", b.events())
	require.Equal(t, "PAYING", b.state(orderA))
	require.Equal(t, before, b.service.Counters().Outcomes)

	b.exec(`ALTER TABLE shop_points DROP CONSTRAINT none;
		CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no end'; END $$;
		CREATE CONSTRAINT TRIGGER no AFTER UPDATE ON fsm_inbox DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.state = 'done') EXECUTE FUNCTION no()`)
	require.Equal(t, 1, b.retry()) // the COMMIT itself fails
	require.Equal(t, "PAYING", b.state(orderA))
	require.Equal(t, before, b.service.Counters().Outcomes)

	b.exec("DROP TRIGGER no ON fsm_inbox")
	require.Equal(t, 1, b.retry())
	b.once()
	require.Contains(t, b.service.Counters().Outcomes, shop.OutcomeCount{Machine: "order", Event: "payment_succeeded", Outcome: "Applied", Count: 1})
}

func TestInboxIsSweptIntoTheArchive(t *testing.T) {
	t.Parallel()
	b := newKept(t)
	b.awaited()
	b.kept("msg_1", paymentOf(orderA, "p-1", 10050))
	b.kept("msg_2", paymentOf(orderB, "p-2", 10050)) // which waits for its order
	b.exec(`UPDATE fsm_deliveries SET received_at = received_at - interval '401 days';
		UPDATE fsm_inbox SET received_at = received_at - interval '401 days', ended_at = ended_at - interval '401 days'`)
	swept, err := b.service.SweepInbox(t.Context())
	require.NoError(t, err)
	require.Equal(t, inbox.Swept{Bodies: 1, Events: 1, Deliveries: 1}, swept)
	require.Equal(t, "standard msg_2 parked", b.events())
	require.Equal(t, "msg_1 done", b.value("SELECT event_id || ' ' || state FROM fsm_inbox_archive"))
}

// Serve does both: it settles what waits, and forgets what is old.
func TestServeRetriesAndSweepsTheInbox(t *testing.T) {
	t.Parallel()
	b := newKept(t)
	b.kept("msg_1", `{"id":"evt_1","type":"payout.created"}`)
	b.kept("msg_2", paymentOf(orderA, "p-1", 10050)) // too early
	b.awaited()
	b.exec(`UPDATE fsm_inbox SET ended_at = ended_at - interval '401 days', due_at = CASE WHEN due_at IS NOT NULL THEN clock_timestamp() END;
		CREATE FUNCTION told() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_notify('told', TG_ARGV[0]); RETURN NULL; END $$;
		CREATE TRIGGER told AFTER UPDATE ON fsm_inbox FOR EACH ROW WHEN (NEW.state = 'done') EXECUTE FUNCTION told('done');
		CREATE TRIGGER told AFTER INSERT ON fsm_inbox_archive FOR EACH ROW EXECUTE FUNCTION told('archived')`)
	conn, err := b.pool.Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	_, err = conn.Exec(t.Context(), "LISTEN told")
	require.NoError(t, err)

	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	serving, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.service.Serve(serving, listener, time.Minute) }()
	waiting, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	told := map[string]bool{}
	for len(told) < 2 {
		n, err := conn.Conn().WaitForNotification(waiting)
		require.NoError(t, err)
		told[n.Payload] = true
	}
	stop()
	require.NoError(t, <-ended)
	b.once()
	require.Equal(t, "standard msg_2 done Applied", b.events())
	require.Equal(t, "msg_1 ignored", b.value("SELECT event_id || ' ' || state FROM fsm_inbox_archive"))
}

func TestWithoutAnInboxThereIsNothingToRun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	require.Nil(t, b.service.Inbox())
	require.Nil(t, b.service.Retry())
	swept, err := b.service.SweepInbox(t.Context())
	require.NoError(t, err)
	require.Zero(t, swept)
	_, err = shop.New(shop.Config{Pool: b.pool, WeChat: &webhook.WeChat{}})
	require.ErrorContains(t, err, "need the inbox")

	b = newKept(t, func(c *shop.Config) { c.Standard, c.Stripe = nil, nil })
	require.Nil(t, b.service.Inbox())
	b.is(http.StatusNotFound, b.deliver(paymentOf(orderA, "p-1", 10050)))
	var counters map[string]any
	w := httptest.NewRecorder()
	b.service.Admin().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/debug/counters", http.NoBody))
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &counters))
	require.Equal(t, []any{}, counters["verdicts"])
}
