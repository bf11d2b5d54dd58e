package shop_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/payment"
)

// quarters lets the machines ask for payments n times.
func (b *bench) quarters(n int) {
	b.t.Helper()
	for range n {
		b.clock.advance(15 * time.Minute)
		b.sweep()
		b.relayed()
	}
}

// The callback of a payment never comes: when it is not asked for any more, a person
// gets one case, of order and payment together.
func TestPaymentThatNobodyTellsOfIsACase(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.order(orderA)
	b.pay(orderA, "p-1")
	b.quarters(19)
	require.Equal(t, "none", b.cases())
	b.quarters(1)
	const want = "payments payment.query NoAnswer"
	require.Equal(t, want, b.cases())
	require.Equal(t, orderA+" p-1", b.value("SELECT order_id || ' ' || delivery_id FROM shop_cases"))
	b.quarters(20) // the payment is asked for twice as often
	b.again()
	require.Equal(t, want, b.cases())
	require.Equal(t, "PAYING SUBMITTED", b.value("SELECT o.status || ' ' || p.status FROM orders AS o, payments AS p WHERE o.deadline_at IS NULL AND p.deadline_at IS NULL"))
	b.stock(10)
	b.told("Applied", paymentOf(orderA, "p-1", 10050)) // late, and taken
	require.Equal(t, "PAID", b.state(orderA))
}

// A second attempt whose end is not known is a case of its own, though the order was
// paid: its money would be the customer's.
func TestSecondPaymentThatNobodyTellsOfIsACase(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.paid(orderA, "p-1")
	require.Equal(t, "SUCCEEDED", b.value("SELECT status FROM payments"))
	b.order(orderB)
	b.pay(orderB, "p-2")
	b.pay(orderB, "p-3")
	b.told("Applied", paymentOf(orderB, "p-2", 10050))
	b.quarters(39)
	require.Equal(t, "none", b.cases())
	b.quarters(1)
	require.Equal(t, orderB+" p-3", b.value("SELECT string_agg(order_id || ' ' || delivery_id, ', ') FROM shop_cases"))
}

// Its payment was given up, and the order has nothing to ask for: a case all the same.
func TestOrderThatWaitsForNoPaymentIsACase(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.order(orderA)
	b.pay(orderA, "p-1")
	closed, err := payment.Close(t.Context(), b.pool, "p-1")
	require.NoError(t, err)
	require.Equal(t, fsm.Applied, closed.Outcome)
	b.quarters(20)
	require.Equal(t, orderA, b.value("SELECT string_agg(delivery_id, ', ') FROM shop_cases"))
}

// Nothing tells of a refund any more, and its order waits: when it has asked for the
// last time, a person gets one case.
func TestOrderThatWaitsForItsRefundIsACase(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.paid(orderA, "p-1")
	require.Equal(t, "202", b.asks("r-1", 10050))
	b.told("Compensated", noticeOf("refund.succeeded", orderA, "p-other", "r-1", 10050))
	require.Equal(t, "standard refund_succeeded Mismatched", b.cases())
	days := func(n int) {
		for range n {
			b.clock.advance(24 * time.Hour)
			b.sweep()
			b.relayed()
		}
	}
	days(29)
	require.Equal(t, "standard refund_succeeded Mismatched", b.cases())
	days(2)
	b.again()
	require.Equal(t, "standard refund_succeeded Mismatched, refunds query_refund NoAnswer", b.cases())
	require.Equal(t, "10050 cents were promised, and 0 are known to have gone back; none is waited for any more: look up the refunds at the provider",
		b.value("SELECT detail FROM shop_cases WHERE delivery_id = $1", orderA))
}
