package shop_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/examples/orders/shop"
	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/attempt"
	"github.com/pawl-go/pawl/gen/refund"
)

// again has everything in the outbox that was delivered delivered once more.
func (b *bench) again() {
	b.t.Helper()
	_, err := b.pool.Exec(b.t.Context(), `INSERT INTO fsm_outbox (machine, key, version, event, topic, payload, at)
		SELECT s.machine, s.key, s.version, s.event, s.topic, s.payload, s.at FROM fsm_outbox_sent AS s`)
	require.NoError(b.t, err)
	b.relayed()
}

// Money that the order does not keep goes back whole, under its payment's number.
func TestMoneyThatIsNotKeptGoesBack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		before func(*bench)
		cents  int64
		told   string
		order  string
		want   string
	}{
		{"after the order was cancelled", func(b *bench) {
			b.is(http.StatusNoContent, b.do("DELETE", "/orders/"+orderA, ""))
		}, 10050, "Applied", "REFUNDED", "p-2 SUCCEEDED | 10050 | p-2 -10050 | refund_succeeded Applied | 0 cases"},
		{"a second payment", func(b *bench) {
			b.told("Applied", paymentOf(orderA, "p-1", 10050))
		}, 10050, "Compensated", "PAID", "p-2 SUCCEEDED | 0 | p-2 -10050 | refund_succeeded Compensated | 0 cases"},
		{"another amount", func(*bench) {}, 10049, "Compensated", "PENDING", "p-2 SUCCEEDED | 0 | p-2 -10049 | refund_succeeded Compensated | 0 cases"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t)
			b := withRefunds(t, p)
			b.stock(10)
			b.order(orderA)
			c.before(b)
			b.told(c.told, paymentOf(orderA, "p-2", c.cents))
			b.relayed()
			require.Equal(t, "p-2 STARTED", b.attempts())
			b.again()
			require.Equal(t, 1, b.round())
			b.again()
			require.Zero(t, b.round())
			require.Equal(t, c.want, b.gave())
			require.Equal(t, c.order, b.state(orderA))
			require.Equal(t, "1 [POST]", p.did())
			require.Equal(t, "0", b.value("SELECT count(*) FROM fsm_outbox_holds"))
		})
	}
}

// A customer's refund has the number already: a person sees to it, and the messages
// behind it go on.
func TestNumberThatIsTakenIsACase(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	b := withRefunds(t, p)
	b.paid(orderA, "p-1")
	b.is(http.StatusAccepted, b.do("POST", "/orders/"+orderA+"/refunds", refundBody("p-2", 1)))
	b.told("Compensated", paymentOf(orderA, "p-2", 10050))
	b.relayed()
	require.Equal(t, "refunds refund.create Mismatched", b.value("SELECT concat_ws(' ', provider, event, outcome) FROM shop_cases"))
	require.Equal(t, "0 0", b.value("SELECT concat_ws(' ', (SELECT count(*) FROM fsm_outbox), (SELECT count(*) FROM fsm_outbox_holds))"))
	require.Equal(t, 1, b.round(), "the customer's own")
}

// A refund that was asked for while there was no provider is sent by its deadline,
// and by that gets its attempt.
func TestRefundOfBeforeTheProvider(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.paid(orderA, "p-1")
	b.is(http.StatusAccepted, b.do("POST", "/orders/"+orderA+"/refunds", refundBody("r-1", 4000)))
	b.relayed()
	require.Empty(t, b.attempts())

	p := newProvider(t)
	b.service = b.other(p)
	b.clock.advance(time.Minute)
	require.Equal(t, 1, b.sweep())
	b.relayed()
	require.Equal(t, "r-1 STARTED", b.attempts())
	b.again()
	require.Equal(t, 1, b.round())
	require.Equal(t, givenBack, b.gave())
	require.Equal(t, "1 [POST]", p.did())
}

// One that was sent before there was a provider gets it by its next query.
func TestSentRefundOfBeforeTheProvider(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.paid(orderA, "p-1")
	b.is(http.StatusAccepted, b.do("POST", "/orders/"+orderA+"/refunds", refundBody("r-1", 4000)))
	b.clock.advance(time.Minute)
	require.Equal(t, 1, b.sweep())
	b.relayed()

	b.service = b.other(newProvider(t))
	b.clock.advance(time.Hour)
	require.Equal(t, 1, b.sweep())
	b.relayed()
	require.Equal(t, 1, b.round())
	require.Equal(t, givenBack, b.gave())
}

// One that was settled before there was a provider has nothing to be asked.
func TestSettledRefundOfBeforeTheProvider(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.paid(orderA, "p-1")
	b.is(http.StatusAccepted, b.do("POST", "/orders/"+orderA+"/refunds", refundBody("r-1", 4000)))
	b.clock.advance(time.Minute)
	require.Equal(t, 1, b.sweep())
	b.told("Applied", noticeOf("refund.succeeded", orderA, "p-1", "r-1", 4000))
	b.service = b.other(newProvider(t))
	b.relayed()
	require.Empty(t, b.attempts())
	require.Equal(t, givenBack, b.gave())
}

// other is another shop on the same database, with the provider.
func (b *bench) other(p *provider) *shop.Service {
	b.t.Helper()
	s, err := shop.New(shop.Config{Pool: b.pool, Clock: b.clock.Now, Refunds: p.api, RefundPolicy: policy})
	require.NoError(b.t, err)
	return s
}

// A refund whose attempt waits for a person is ABNORMAL with its next query, and
// not while the attempt works.
func TestStuckAttemptIsAnAbnormalRefund(t *testing.T) {
	t.Parallel()
	p := newProvider(t, does500)
	b := promised(t, p, func(c *shop.Config) { c.RefundPolicy.MaxRounds = 2 })
	hour := func() {
		b.clock.advance(time.Hour)
		require.Equal(t, 1, b.sweep())
		b.relayed()
	}
	hour()
	require.Equal(t, "SENT", b.value("SELECT status FROM refunds"))
	require.Zero(t, b.round())
	hour()
	require.Equal(t, "SENT", b.value("SELECT status FROM refunds"))
	require.Equal(t, "1 [POST]", p.did(), "a query of the machine asks nobody")

	_, err := b.pool.Exec(t.Context(), "UPDATE fsm_attempts SET due = NULL, stuck_at = now()")
	require.NoError(t, err)
	hour()
	require.Equal(t, "ABNORMAL", b.value("SELECT status FROM refunds"))
	require.Equal(t, "1", b.value("SELECT count(*) FROM fsm_outbox WHERE machine = 'refund' AND topic = 'refund_stuck'"))
	b.again()
	require.Equal(t, "3", b.value("SELECT count(*) FROM refund_history WHERE event IN ('create', 'send', 'stick')"), "once")

	// Resumed, it is looked up, and not sent anew.
	id := b.value("SELECT id FROM fsm_attempts")
	require.NoError(t, attempt.Resume(t.Context(), b.pool, id, fsm.Correction{Actor: "ann", Reason: "the provider is back"}))
	retried, err := refund.Retry(t.Context(), b.pool, "r-1", fsm.At(b.clock.Now()))
	require.NoError(t, err)
	require.Equal(t, fsm.Applied, retried.Outcome)
	b.relayed()
	require.Equal(t, 1, b.round())
	require.Equal(t, strings.Replace(givenBack, "0 cases", "1 cases", 1), b.gave(), "that it was stuck")
	require.Equal(t, "1 [POST GET]", p.did())
}

// The query's message is late, and the attempt was resumed meanwhile: it stays SENT.
func TestQueryAfterTheAttemptWasResumed(t *testing.T) {
	t.Parallel()
	b := promised(t, newProvider(t))
	_, err := b.pool.Exec(t.Context(), "UPDATE fsm_attempts SET due = NULL, stuck_at = now()")
	require.NoError(t, err)
	b.clock.advance(time.Hour)
	require.Equal(t, 1, b.sweep())
	id := b.value("SELECT id FROM fsm_attempts")
	require.NoError(t, attempt.Resume(t.Context(), b.pool, id, fsm.Correction{Actor: "ann", Reason: "it was a mistake"}))
	b.relayed()
	require.Equal(t, "SENT", b.value("SELECT status FROM refunds"))
	require.Equal(t, "0", b.value("SELECT count(*) FROM fsm_outbox"))
	require.Equal(t, 1, b.round())
	require.Equal(t, givenBack, b.gave())
}
