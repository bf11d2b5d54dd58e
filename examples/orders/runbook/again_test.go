package runbook_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/examples/orders/runbook"
	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/gen/refund"
)

// promised is a paid order, of whose payment p-1 of 100 the refund r-1 of 40 was
// promised, and not sent.
func (d *desk) promised() {
	d.t.Helper()
	ctx := d.t.Context()
	d.order()
	_, err := order.PaymentSucceeded(ctx, d.pool, orderA, order.PaymentSucceededParams{PaymentNo: "p-1", PaidCents: 100})
	require.NoError(d.t, err)
	_, err = order.Refund(ctx, d.pool, orderA, order.RefundParams{RefundNo: "r-1", AmountCents: 40})
	require.NoError(d.t, err)
	_, err = refund.Create(ctx, d.pool, refund.CreateParams{Key: "r-1", OrderID: orderA, PaymentNo: "p-1", AmountCents: 40})
	require.NoError(d.t, err)
}

// refused is promised, sent without an attempt, and closed.
func (d *desk) refused() {
	d.t.Helper()
	d.promised()
	_, err := refund.Send(d.t.Context(), d.pool, "r-1")
	require.NoError(d.t, err)
	d.closes("r-1")
}

// makes makes a refund of the order that was sent.
func (d *desk) makes(number, paymentNo string, cents int64) {
	d.t.Helper()
	_, err := refund.Create(d.t.Context(), d.pool, refund.CreateParams{Key: refund.Key(number), OrderID: orderA, PaymentNo: paymentNo, AmountCents: cents})
	require.NoError(d.t, err)
	_, err = refund.Send(d.t.Context(), d.pool, refund.Key(number))
	require.NoError(d.t, err)
}

func (d *desk) closes(number string) {
	d.t.Helper()
	closed, err := refund.Close(d.t.Context(), d.pool, refund.Key(number))
	require.NoError(d.t, err)
	require.Equal(d.t, fsm.Applied, closed.Outcome)
}

// forces has a person put r-1 into a state.
func (d *desk) forces(to refund.State) {
	d.t.Helper()
	_, err := refund.Correct(d.t.Context(), d.pool, "r-1", to, fsm.Correction{Actor: "bob", Reason: "to see what becomes of it"})
	require.NoError(d.t, err)
}

func (d *desk) sql(sql string) {
	d.t.Helper()
	_, err := d.pool.Exec(d.t.Context(), sql)
	require.NoError(d.t, err)
}

// refunds is all refunds and their audit rows.
func (d *desk) refunds() string {
	d.t.Helper()
	return d.value(`SELECT concat_ws(' | ', (SELECT string_agg(refund_no || ' ' || status, ', ' ORDER BY refund_no) FROM refunds),
		(SELECT count(*) FROM fsm_attempts), (SELECT string_agg(key || ' ' || action, ', ' ORDER BY id) FROM fsm_audit))`)
}

// One that had no attempt is tried again without one: its deadline sends it.
func TestAnotherTryOfARefundWithoutAttempt(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.refused()
	for range 2 {
		require.NoError(t, d.does("release", "refund", "r-1", "r-2"))
	}
	require.Equal(t, "r-1 CLOSED, r-2 REQUESTED | 0 | r-1 again as r-2", d.refunds())
	require.Equal(t, "p-1 40", d.value("SELECT payment_no || ' ' || amount_cents FROM refunds WHERE refund_no = 'r-2'"))
	require.Equal(t, "40 0", d.value("SELECT refund_cents || ' ' || refunded_cents FROM orders"), "nothing is promised anew")
}

func TestAnotherTryThatIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		but  func(*desk)
		want error
	}{
		"it is sent":   {func(d *desk) { d.forces("SENT") }, runbook.ErrNotClosed},
		"it waits":     {func(d *desk) { d.forces("ABNORMAL") }, runbook.ErrNotClosed},
		"it came back": {func(d *desk) { d.forces("SUCCEEDED") }, runbook.ErrNotClosed},
		"it came in secret": {func(d *desk) {
			d.sql("INSERT INTO shop_ledger VALUES ('refund', 'r-1', '" + orderA + "', -40, 'Applied')")
		}, runbook.ErrReturned},
		"more went back": {func(d *desk) {
			d.sql("INSERT INTO shop_ledger (kind, number, order_id, cents, outcome, payment_no) VALUES ('refund', 'desk-1', '" + orderA + "', -61, 'Compensated', 'p-1')")
		}, runbook.ErrTooMuch},
		"another came":      {func(d *desk) { d.sql("UPDATE orders SET refunded_cents = 1") }, runbook.ErrTooMuch},
		"another is sent":   {func(d *desk) { d.makes("r-0", "p-1", 1) }, runbook.ErrTooMuch},
		"less was promised": {func(d *desk) { d.sql("UPDATE orders SET refund_cents = 39") }, runbook.ErrTooMuch},
		"another payment":   {func(d *desk) { d.sql("UPDATE orders SET payment_no = 'p-9'") }, runbook.ErrTooMuch}, // no ledger has p-1
		"another order's": {func(d *desk) {
			d.sql("UPDATE payments SET order_id = '0b000000-0000-4000-8000-00000000000b'")
		}, runbook.ErrStranger},
		"no order": {func(d *desk) {
			d.sql("UPDATE refunds SET order_id = '0b000000-0000-4000-8000-00000000000b'")
		}, fsm.ErrNotFound},
		"an equal one": {func(d *desk) { d.makes("r-2", "p-1", 40); d.closes("r-2") }, runbook.ErrTaken},
		"the number":   {func(d *desk) { d.makes("r-2", "p-8", 3) }, runbook.ErrTaken},
		"a booked number": {func(d *desk) {
			d.sql("INSERT INTO shop_ledger VALUES ('refund', 'r-2', '" + orderA + "', -1, 'Applied')")
		}, runbook.ErrTaken},
		"tried already": {func(d *desk) { require.NoError(d.t, d.does("release", "refund", "r-1", "r-3")) }, runbook.ErrTried},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.refused()
			c.but(d)
			before := d.refunds()
			require.ErrorIs(t, d.does("release", "refund", "r-1", "r-2"), c.want)
			require.Equal(t, before, d.refunds())
		})
	}
	d := newDesk(t)
	require.ErrorIs(t, d.does("release", "refund", "r-1", "r-2"), fsm.ErrNotFound)
	require.ErrorIs(t, d.does("release", "refund", "r-1", "r 2"), runbook.ErrUsage)
}

// Two people at once: one makes it, and the other is told so.
func TestTwoPeopleTryAgainAtOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.refused()
	gate, err := d.pool.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = gate.Rollback(context.WithoutCancel(t.Context())) }()
	_, err = gate.Exec(t.Context(), "SELECT 1 FROM orders FOR UPDATE")
	require.NoError(t, err)
	ended := make(chan error, 2)
	for i := range 2 {
		go func() { ended <- d.does("release", "refund", "r-1", fmt.Sprintf("r-%d", i+2)) }()
	}
	require.Eventually(t, func() bool {
		return d.value("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") == "2"
	}, time.Minute, 5*time.Millisecond)
	require.NoError(t, gate.Rollback(t.Context()))
	first, second := <-ended, <-ended
	if first != nil {
		first, second = second, first
	}
	require.NoError(t, first)
	require.ErrorIs(t, second, runbook.ErrTried)
	require.Equal(t, "2", d.value("SELECT count(*) FROM refunds"))
}
