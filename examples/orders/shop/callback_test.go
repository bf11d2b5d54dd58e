package shop_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/examples/orders/shop"
	"github.com/pawl-go/pawl/fsm/webhook"
)

// effects is what paying did: pieces left, points, and the topics of messages, those
// that a relay has delivered too.
func (b *bench) effects() []string {
	b.t.Helper()
	return []string{
		b.value("SELECT quantity FROM shop_stock"),
		b.value("SELECT coalesce(string_agg(customer_id || ' ' || points, ','), '') FROM shop_points"),
		b.value("SELECT coalesce(string_agg(topic, ',' ORDER BY id), '') FROM (SELECT id, topic FROM fsm_outbox UNION ALL SELECT id, topic FROM fsm_outbox_sent) AS o WHERE topic <> 'order_created'"),
	}
}

func TestPaymentHasItsEffectsOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.paid(orderA, "p-1")
	require.Equal(t, []string{"8", "ann 100", "order_paid"}, b.effects())
	require.Equal(t, orderA+" paid mug -2", b.value("SELECT order_id || ' ' || kind || ' ' || sku || ' ' || quantity FROM shop_stock_moves"))
	require.Equal(t, "SUCCEEDED p-1 10050", b.value("SELECT status || ' ' || provider_ref || ' ' || paid_cents FROM payments"))
	before := b.contents()
	b.told("Replayed", paymentOf(orderA, "p-1", 10050))
	require.Equal(t, before, b.contents())
}

func TestConcurrentDeliveriesMoveOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.stock(10)
	b.order(orderA)
	b.pay(orderA, "p-1")
	outcomes := make([]any, 16)
	var work sync.WaitGroup
	for i := range outcomes {
		work.Go(func() { outcomes[i] = b.deliver(paymentOf(orderA, "p-1", 10050)).body["outcome"] })
	}
	work.Wait()
	applied := 0
	for _, o := range outcomes {
		if o == "Applied" {
			applied++
			continue
		}
		require.Equal(t, "Replayed", o)
	}
	require.Equal(t, 1, applied)
	require.Equal(t, []string{"8", "ann 100", "order_paid"}, b.effects())
}

func TestStripeSchemeIsServedToo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.stock(10)
	b.order(orderA)
	body := paymentOf(orderA, "p-1", 10050) // a payment that we did not begin
	header, err := b.stripe.Sign(b.clock.Now(), []byte(body))
	require.NoError(t, err)
	require.Equal(t, "Applied", b.is(http.StatusOK, b.signed("stripe", body, header)).body["outcome"])
	require.Equal(t, "provider:stripe evt_p-1", b.value("SELECT actor || ' ' || request_id FROM order_history WHERE version = 2"))
	require.Equal(t, "0", b.value("SELECT count(*) FROM payments"))
	b.is(http.StatusUnauthorized, b.signed("standard", body, header)) // one scheme's proof is none for the other
}

func TestForgedAndStaleLeaveNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.stock(10)
	b.order(orderA)
	b.pay(orderA, "p-1")
	body := paymentOf(orderA, "p-1", 10050)
	sign := func(at time.Time) http.Header {
		header, err := b.standard.Sign("msg_1", at, []byte(body))
		require.NoError(t, err)
		return header
	}
	now := b.clock.Now()
	before := b.contents()
	forged := sign(now)
	forged.Set(webhook.HeaderSignature, "v1,"+strings.Repeat("A", 43)+"=")
	unsigned := sign(now)
	unsigned.Del(webhook.HeaderSignature)
	b.is(http.StatusUnauthorized, b.signed("standard", body, forged))
	b.is(http.StatusUnauthorized, b.signed("standard", strings.Replace(body, "10050", "10051", 1), sign(now)))
	b.is(http.StatusUnauthorized, b.signed("standard", body, unsigned))
	b.is(http.StatusUnauthorized, b.signed("standard", body, sign(now.Add(-5*time.Minute-time.Second))))
	b.is(http.StatusUnauthorized, b.signed("standard", body, sign(now.Add(5*time.Minute+time.Second))))
	require.Equal(t, before, b.contents())
	require.Equal(t, []shop.RefusedCount{
		{Provider: "standard", Reason: "future", Count: 1},
		{Provider: "standard", Reason: "header", Count: 1},
		{Provider: "standard", Reason: "signature", Count: 2},
		{Provider: "standard", Reason: "stale", Count: 1},
	}, b.service.Counters().Refused)
	require.Equal(t, 5, strings.Count(b.log.String(), "callback refused"))
	require.Equal(t, "Applied", b.is(http.StatusOK, b.signed("standard", body, sign(now.Add(-5*time.Minute)))).body["outcome"])
}

func TestGenuineButBadBodies(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.order(orderA)
	before := b.contents()
	good := paymentOf(orderA, "p-1", 10050)
	for _, c := range []struct{ body, field string }{
		{"{", "body"},
		{strings.Replace(good, "payment.succeeded", "", 1), "type"},
		{strings.Replace(good, `"payment.succeeded"`, "7", 1), "type"},
		{strings.Replace(good, "payment.succeeded", "customer.created", 1) + "{", "body"},
		{strings.Replace(good, orderA, "17", 1), "data.order_id"},
		{strings.Replace(good, `"payment_no":"p-1"`, `"payment_no":""`, 1), "data.payment_no"},
		{strings.Replace(good, "10050", "0", 1), "data.amount_cents"},
		{strings.Replace(good, "10050", `"10050"`, 1), "data.amount_cents"},
		{strings.Replace(good, "evt_p-1", "", 1), "id"},
		{noticeOf("payment.failed", orderA, "", "r-1", 0), "data.payment_no"},
		{noticeOf("refund.succeeded", orderA, "", "r-1", 5), "data.payment_no"},
		{noticeOf("refund.failed", orderA, "p-1", "", 0), "data.refund_no"},
	} {
		header, err := b.standard.Sign("msg_1", b.clock.Now(), []byte(c.body))
		require.NoError(t, err)
		r := b.is(http.StatusBadRequest, b.signed("standard", c.body, header))
		require.Equal(t, c.field, r.body["field"], "%s", c.body)
	}
	require.Equal(t, before, b.contents())
	// What a provider adds without asking is let be.
	b.stock(10)
	b.told("Applied", strings.Replace(good, `"id"`, `"api_version":"2","id"`, 1))
}

func TestUnknownTypeIsDoneWithAndLeavesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.order(orderA)
	before := b.contents()
	for _, body := range []string{
		strings.Replace(paymentOf(orderA, "p-1", 10050), "payment.succeeded", "payment.created", 1),
		`{"id": "evt_1", "type": "customer.created", "data": {"order_id": 7, "object": ["of", "theirs"]}}`,
		`{"id": {"of": "theirs"}, "type": "customer.created", "data": "none"}`,
	} {
		header, err := b.stripe.Sign(b.clock.Now(), []byte(body))
		require.NoError(t, err)
		r := b.is(http.StatusOK, b.signed("stripe", body, header))
		require.Equal(t, map[string]any{"outcome": "Ignored"}, r.body)
		b.is(http.StatusUnauthorized, b.signed("standard", body, header)) // unbelieved, it is nothing at all
	}
	require.Equal(t, before, b.contents())
	require.Equal(t, []shop.IgnoredCount{{Provider: "stripe", Count: 3}}, b.service.Counters().Ignored)
	require.Equal(t, 2, strings.Count(b.log.String(), `msg="callback ignored" provider=stripe type=customer.created`))
}

func TestPaymentBeforeItsOrderIsAskedToComeAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	before := b.contents()
	r := b.is(http.StatusNotFound, b.deliver(paymentOf(orderA, "p-1", 10050)))
	require.Equal(t, "30", r.header.Get("Retry-After"))
	require.Equal(t, before, b.contents())
	b.stock(10)
	b.order(orderA)
	b.told("Applied", paymentOf(orderA, "p-1", 10050))
}

func TestWrongAmountThenTheRightPayment(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.stock(10)
	b.order(orderA)
	b.pay(orderA, "p-1")
	b.told("Compensated", paymentOf(orderA, "p-1", 10049))
	b.told("Replayed", paymentOf(orderA, "p-1", 10049))
	require.Equal(t, "PAYING", b.state(orderA))
	require.Equal(t, []string{"10", "", "refund_due"}, b.effects())
	b.told("Applied", paymentOf(orderA, "p-2", 10050))
	require.Equal(t, []string{"8", "ann 100", "refund_due,order_paid"}, b.effects())
	b.told("Mismatched", paymentOf(orderA, "p-1", 10050)) // the first, now with another amount
	require.Equal(t, "p-2", b.value("SELECT payment_no FROM orders"))
}

func TestLatePaymentGoesBackWhole(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.stock(10)
	b.order(orderA)
	b.pay(orderA, "p-1")
	b.is(http.StatusNoContent, b.do("DELETE", "/orders/"+orderA, ""))
	b.told("Applied", paymentOf(orderA, "p-1", 10050))
	require.Equal(t, "REFUNDING", b.state(orderA))
	require.Equal(t, []string{"10", "", "refund_due"}, b.effects())
	require.Equal(t, "SUCCEEDED", b.value("SELECT status FROM payments"))
	b.told("Applied", noticeOf("refund.succeeded", orderA, "p-1", "r-1", 10050))
	require.Equal(t, "REFUNDED", b.state(orderA))
}

func TestSecondPaymentIsCompensatedOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.stock(10)
	b.order(orderA)
	b.pay(orderA, "p-1")
	b.pay(orderA, "p-2")
	b.told("Applied", paymentOf(orderA, "p-1", 10050))
	b.told("Compensated", paymentOf(orderA, "p-2", 10050))
	b.told("Replayed", paymentOf(orderA, "p-2", 10050))
	require.Equal(t, []string{"8", "ann 100", "order_paid,refund_due"}, b.effects())
	require.Equal(t, "p-1 SUCCEEDED,p-2 SUCCEEDED", b.value("SELECT string_agg(payment_no || ' ' || status, ',' ORDER BY payment_no) FROM payments"))
	require.Equal(t, "p-1", b.value("SELECT payment_no FROM orders"))
	// An old attempt's failure never undoes a payment.
	b.told("Ignored", noticeOf("payment.failed", orderA, "p-2", "", 0))
	require.Equal(t, "PAID", b.state(orderA))
}

func TestNumberOnAnotherOrderIsACase(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		begin bool // the attempt is known to us, its payment is not yet
	}{{"paid before", false}, {"only begun before", true}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.stock(10)
			b.order(orderA)
			b.order(orderB)
			if c.begin {
				b.pay(orderA, "p-1")
			} else {
				b.told("Applied", paymentOf(orderA, "p-1", 10050))
			}
			before := b.contents()
			for range 2 {
				b.told("Mismatched", strings.Replace(paymentOf(orderB, "p-1", 10050), "evt_p-1", "evt_other", 1))
			}
			require.Equal(t, "standard msg_evt_other "+orderB+" payment_succeeded Mismatched",
				b.value("SELECT concat_ws(' ', provider, delivery_id, order_id, event, outcome) FROM shop_cases"))
			after := b.contents()
			after["shop_cases"] = before["shop_cases"]
			require.Equal(t, before, after)
		})
	}
}

func TestNumberOfAnotherOrderOnNoOrder(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.order(orderA)
	b.pay(orderA, "p-1")
	b.is(http.StatusNotFound, b.deliver(paymentOf(orderB, "p-1", 10050)))
	require.Equal(t, "0", b.value("SELECT count(*) FROM shop_cases"))
}

func TestOutOfStockKeepsThePaymentAndOpensACase(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.stock(1)
	b.order(orderA)
	b.pay(orderA, "p-1")
	b.told("Applied", paymentOf(orderA, "p-1", 10050))
	b.told("Replayed", paymentOf(orderA, "p-1", 10050))
	require.Equal(t, "PAID", b.state(orderA))
	require.Equal(t, []string{"1", "ann 100", "order_paid"}, b.effects())
	require.Equal(t, "0", b.value("SELECT count(*) FROM shop_stock_moves"))
	require.Equal(t, orderA+" OutOfStock", b.value("SELECT order_id || ' ' || outcome FROM shop_cases"))
}

func TestEffectsAndTransitionFallTogether(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.stock(10)
	b.order(orderA)
	b.pay(orderA, "p-1")
	_, err := b.pool.Exec(t.Context(), "ALTER TABLE shop_points ADD CONSTRAINT none CHECK (points < 0)")
	require.NoError(t, err)
	before := b.contents()
	b.is(http.StatusServiceUnavailable, b.deliver(paymentOf(orderA, "p-1", 10050)))
	require.Equal(t, before, b.contents())
	_, err = b.pool.Exec(t.Context(), "ALTER TABLE shop_points DROP CONSTRAINT none")
	require.NoError(t, err)
	b.told("Applied", paymentOf(orderA, "p-1", 10050))
	counted := b.service.Counters().Outcomes
	require.Contains(t, counted, shop.OutcomeCount{Machine: "order", Event: "payment_succeeded", Outcome: "Applied", Count: 1})
	require.Contains(t, counted, shop.OutcomeCount{Machine: "payment", Event: "succeed", Outcome: "Applied", Count: 1})
}

func TestSecondHalfIsMended(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.stock(10)
	b.order(orderA)
	b.told("Applied", paymentOf(orderA, "p-1", 10050)) // before our own record of the attempt
	_, err := b.pool.Exec(t.Context(), `INSERT INTO payments (payment_no, status, version, order_id, amount_cents) VALUES ('p-1', 'CREATED', 1, $1, 10050)`, orderA)
	require.NoError(t, err)
	b.told("Replayed", paymentOf(orderA, "p-1", 10050))
	require.Equal(t, "SUCCEEDED", b.value("SELECT status FROM payments"))
}

func TestOneOrderHasOneSpelling(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.stock(10)
	b.order(orderA)
	b.pay(orderA, "p-1")
	b.told("Applied", paymentOf(strings.ToUpper(orderA), "p-1", 10050))
}

func TestSchemeWithoutSecretsIsNotServed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	service, err := shop.New(shop.Config{Pool: b.pool})
	require.NoError(t, err)
	b.handler = service.Handler()
	b.is(http.StatusNotFound, b.deliver(paymentOf(orderA, "p-1", 10050)))
	_, err = shop.New(shop.Config{})
	require.Error(t, err)
}
