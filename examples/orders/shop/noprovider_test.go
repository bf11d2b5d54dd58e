package shop_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/refund"
)

// cases is what waits for a person, in the order in which it came.
func (b *bench) cases() string {
	b.t.Helper()
	return b.value("SELECT coalesce(string_agg(concat_ws(' ', c.provider, c.event, c.outcome), ', ' ORDER BY c.id), 'none') FROM shop_cases AS c")
}

// Without a provider, money that the order does not keep is a refund that waits and a
// case for a person; a provider that is set later gives it back, once.
func TestMoneyThatIsNotKeptWaitsForAProvider(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		before func(*bench)
		cents  int64
		told   string
		want   string
	}{
		{"after the order was cancelled", func(b *bench) {
			b.is(http.StatusNoContent, b.do("DELETE", "/orders/"+orderA, ""))
		}, 10050, "Applied", "p-2 SUCCEEDED | 10050 | p-2 -10050 | refund_succeeded Applied | 1 cases"},
		{"a second payment", func(b *bench) {
			b.told("Applied", paymentOf(orderA, "p-1", 10050))
		}, 10050, "Compensated", "p-2 SUCCEEDED | 0 | p-2 -10050 | refund_succeeded Compensated | 1 cases"},
		{"another amount", func(*bench) {}, 10049, "Compensated", "p-2 SUCCEEDED | 0 | p-2 -10049 | refund_succeeded Compensated | 1 cases"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.stock(10)
			b.order(orderA)
			c.before(b)
			b.told(c.told, paymentOf(orderA, "p-2", c.cents))
			b.relayed()
			b.again()
			require.Equal(t, "p-2 REQUESTED", b.value("SELECT string_agg(refund_no || ' ' || status, ', ') FROM refunds"))
			require.Equal(t, "refunds refund.create NoProvider", b.cases())
			b.clock.advance(time.Minute)
			require.Equal(t, 1, b.sweep())
			b.relayed()
			require.Empty(t, b.attempts())

			p := newProvider(t)
			b.service = b.other(p)
			b.clock.advance(time.Hour)
			b.sweep() // the order's own query is due as well, in one of them
			b.relayed()
			require.Equal(t, "p-2 STARTED", b.attempts())
			b.again()
			require.Equal(t, 1, b.round())
			require.Zero(t, b.round())
			require.Equal(t, c.want, b.gave())
			require.Equal(t, "1 [POST]", p.did())
		})
	}
}

// Two days without a provider: the refund is not forgotten, and goes on when a person
// releases it.
func TestRefundThatNobodyCanSendIsAbnormalInTheEnd(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.paid(orderA, "p-1")
	b.told("Compensated", paymentOf(orderA, "p-2", 10050))
	b.relayed()
	b.clock.advance(time.Minute)
	require.Equal(t, 1, b.sweep())
	for range 48 { // the machine's max of queries
		require.Equal(t, "SENT", b.value("SELECT status FROM refunds"))
		b.clock.advance(time.Hour)
		require.Equal(t, 1, b.sweep())
		b.relayed()
	}
	require.Equal(t, "ABNORMAL", b.value("SELECT status FROM refunds"))
	b.again()

	b.service = b.other(newProvider(t))
	retried, err := refund.Retry(t.Context(), b.pool, "p-2", fsm.At(b.clock.Now()))
	require.NoError(t, err)
	require.Equal(t, fsm.Applied, retried.Outcome)
	b.relayed()
	require.Equal(t, 1, b.round())
	require.Equal(t, "SUCCEEDED", b.value("SELECT status FROM refunds"))
}
