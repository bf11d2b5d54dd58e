package shop_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/fault"
	"github.com/pawl-go/pawl/fsm/relay"
)

// stuck is all cases, and how many messages wait.
func (b *bench) stuck() string {
	b.t.Helper()
	return b.value(`SELECT concat_ws(' | ', (SELECT string_agg(concat_ws(' ', order_id, provider, event, outcome, detail), ', ' ORDER BY id) FROM shop_cases),
		(SELECT count(*) FROM fsm_outbox))`)
}

// A refund that the provider refuses is one case, whatever breaks off on the way.
func TestRefusedRefundIsACaseOnce(t *testing.T) {
	t.Parallel()
	for _, at := range []fault.Point{"", relay.Sent, relay.Marked} {
		t.Run(string(at), func(t *testing.T) {
			t.Parallel()
			b := promised(t, newProvider(t, refuses))
			b.relayed()
			require.Equal(t, 1, b.round())
			ctx := t.Context()
			if at != "" {
				ctx = fault.With(ctx, at, fault.Nth(1, fault.Fail))
			}
			_, _ = b.service.Relay().Once(ctx) // its error is the fault's
			_, err := b.pool.Exec(t.Context(), "UPDATE fsm_outbox_holds SET next_at = now()")
			require.NoError(t, err)
			b.relayed()
			require.Equal(t, orderA+` refunds refund_failed Compensated refund_no="r-1": the provider did not give it back; it is CLOSED, of payment_no="p-1" amount_cents=4000 | 0`, b.stuck())
			require.Contains(t, b.log.String(), `level=WARN msg="refund for a person" refund_no=r-1 order_id=`+orderA+" event=refund_failed")
		})
	}
}

// A callback says it, to a shop without a provider to call: of the order, and of the
// refund, which waits. Its deadline must not send it behind that person's back, if
// the callback was the first to speak of it.
func TestFailedRefundIsACaseWithoutAProvider(t *testing.T) {
	t.Parallel()
	for _, sent := range []bool{true, false} {
		t.Run(fmt.Sprint("sent ", sent), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.paid(orderA, "p-1")
			b.is(http.StatusAccepted, b.do("POST", "/orders/"+orderA+"/refunds", refundBody("r-1", 100)))
			if sent {
				b.clock.advance(time.Minute)
				require.Equal(t, 1, b.sweep())
			}
			b.told("Compensated", noticeOf("refund.failed", orderA, "", "r-1", 0))
			b.clock.advance(time.Hour)
			require.Zero(t, b.sweep())
			require.Equal(t, "ABNORMAL", b.value("SELECT status FROM refunds"))
			b.relayed()
			const of = `; it is ABNORMAL, of payment_no="p-1" amount_cents=100`
			require.Equal(t, map[string]bool{
				orderA + ` refunds refund_failed Compensated refund_no="r-1": the provider did not give it back` + of: true,
				orderA + ` refunds refund.stick Applied refund_no="r-1": it waits for a person` + of:                  true,
			}, set(strings.TrimSuffix(b.stuck(), " | 0")))
		})
	}
}

// Of a refund that is not ours the order's own message knows enough.
func TestFailedRefundOfNobodyIsACase(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.paid(orderA, "p-1")
	b.told("Compensated", noticeOf("refund.failed", orderA, "", "r-9", 0))
	b.relayed()
	require.Equal(t, orderA+` refunds refund_failed Compensated refund_no="r-9": the provider did not give it back | 0`, b.stuck())
}

// A person has given an older promise another try under the number that a customer
// takes now, for as much of the same payment: that promise has no refund of its own.
func TestPromiseNeedsARefundOfItsOwn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.paid(orderA, "p-1")
	_, err := b.pool.Exec(t.Context(), `INSERT INTO refunds (refund_no, status, version, order_id, payment_no, amount_cents) VALUES ('r-1', 'REQUESTED', 1, $1, 'p-1', 100)`, orderA)
	require.NoError(t, err)
	before := b.contents()
	b.is(http.StatusConflict, b.do("POST", "/orders/"+orderA+"/refunds", refundBody("r-1", 100)))
	require.Equal(t, before, b.contents())
}

func set(list string) map[string]bool {
	out := map[string]bool{}
	for item := range strings.SplitSeq(list, ", "+orderA) {
		out[orderA+strings.TrimPrefix(item, orderA)] = true
	}
	return out
}
