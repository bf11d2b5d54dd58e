package shop_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func refundBody(refundNo string, cents int64) string {
	return fmt.Sprintf(`{"refund_no":%q,"amount_cents":%d}`, refundNo, cents)
}

func TestRefundIsPromisedOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.paid(orderA, "p-1")
	path := "/orders/" + orderA + "/refunds"
	r := b.is(http.StatusAccepted, b.do("POST", path, refundBody("r-1", 4000)))
	require.Equal(t, "Applied", r.body["outcome"])
	require.Equal(t, "PAID", r.body["order"].(map[string]any)["state"])
	require.Equal(t, "r-1 REQUESTED p-1 4000 "+orderA, b.value("SELECT concat_ws(' ', refund_no, status, payment_no, amount_cents, order_id) FROM refunds"))
	before := b.contents()
	r = b.is(http.StatusOK, b.do("POST", path, refundBody("r-1", 4000)))
	require.Equal(t, "Replayed", r.body["outcome"])
	r = b.is(http.StatusConflict, b.do("POST", path, refundBody("r-1", 4001)))
	require.Equal(t, "Mismatched", r.body["outcome"])
	r = b.is(http.StatusConflict, b.do("POST", path, refundBody("r-2", 6051)))
	require.Equal(t, "GuardFailed", r.body["outcome"])
	require.Equal(t, []any{
		map[string]any{"name": "refund_is_part", "describe": "something is left after this refund"},
		map[string]any{"name": "refund_is_rest", "describe": "this refund returns all that is left"},
	}, r.body["guards"])
	require.Equal(t, before, b.contents())

	b.order(orderB)
	r = b.is(http.StatusConflict, b.do("POST", "/orders/"+orderB+"/refunds", refundBody("r-3", 1)))
	require.Equal(t, "Rejected", r.body["outcome"])
}

func TestTwoRefundsOfSixtyOutOfAHundred(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.paid(orderA, "p-1")
	statuses := make([]int, 2)
	var work sync.WaitGroup
	for i := range statuses {
		work.Go(func() {
			statuses[i] = b.do("POST", "/orders/"+orderA+"/refunds", refundBody(fmt.Sprintf("r-%d", i), 6030)).status
		})
	}
	work.Wait()
	require.ElementsMatch(t, []int{http.StatusAccepted, http.StatusConflict}, statuses)
	require.Equal(t, "6030 1 1", b.value("SELECT concat_ws(' ', refund_cents, (SELECT count(*) FROM refunds), (SELECT count(*) FROM fsm_outbox WHERE topic = 'refund_due')) FROM orders"))
}

func TestRefundRowOfAnotherRefundRollsThePromiseBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.paid(orderA, "p-1")
	_, err := b.pool.Exec(t.Context(), `INSERT INTO refunds (refund_no, status, version, order_id, payment_no, amount_cents) VALUES ('r-1', 'REQUESTED', 1, $1, 'p-0', 1)`, orderB)
	require.NoError(t, err)
	before := b.contents()
	b.is(http.StatusConflict, b.do("POST", "/orders/"+orderA+"/refunds", refundBody("r-1", 100)))
	require.Equal(t, before, b.contents())
}

func TestRefundsInPartsGiveAllBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.paid(orderA, "p-1")
	for i, cents := range []int64{4000, 6050} {
		b.is(http.StatusAccepted, b.do("POST", "/orders/"+orderA+"/refunds", refundBody(fmt.Sprintf("r-%d", i), cents)))
	}
	require.Equal(t, "REFUNDING", b.state(orderA))
	b.told("Applied", noticeOf("refund.succeeded", orderA, "p-1", "r-1", 6050))
	require.Equal(t, "REFUNDING", b.state(orderA))
	b.told("Replayed", noticeOf("refund.succeeded", orderA, "p-1", "r-1", 6050))
	b.told("Applied", noticeOf("refund.succeeded", orderA, "p-1", "r-0", 4000))
	require.Equal(t, "REFUNDED", b.state(orderA))
	require.Equal(t, "SUCCEEDED SUCCEEDED", b.value("SELECT string_agg(status, ' ') FROM refunds"))
}

func TestRefundOfAnotherOrderIsACase(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.paid(orderA, "p-1")
	b.paid(orderB, "p-2")
	b.is(http.StatusAccepted, b.do("POST", "/orders/"+orderA+"/refunds", refundBody("r-1", 100)))
	before := b.contents()
	b.told("Mismatched", noticeOf("refund.succeeded", orderB, "p-2", "r-1", 100))
	b.told("Mismatched", noticeOf("refund.failed", orderB, "", "r-1", 0))
	require.Equal(t, "2", b.value("SELECT count(*) FROM shop_cases"))
	after := b.contents()
	after["shop_cases"] = before["shop_cases"]
	require.Equal(t, before, after)
}

func TestFailedRefundIsWorkForSomeone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.paid(orderA, "p-1")
	b.is(http.StatusAccepted, b.do("POST", "/orders/"+orderA+"/refunds", refundBody("r-1", 100)))
	_, err := b.pool.Exec(t.Context(), "UPDATE refunds SET status = 'SENT', version = 2")
	require.NoError(t, err)
	b.told("Compensated", noticeOf("refund.failed", orderA, "", "r-1", 0))
	b.told("Replayed", noticeOf("refund.failed", orderA, "", "r-1", 0))
	require.Equal(t, "ABNORMAL", b.value("SELECT status FROM refunds"))
	require.Equal(t, "order,refund", b.value("SELECT string_agg(machine, ',' ORDER BY machine) FROM fsm_outbox WHERE topic = 'refund_stuck'"))
}
