package shop_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/gen/refund"
)

// A refund comes back otherwise than it was asked for: what was told is booked, the
// refund stays as it is, and a person gets a case, once for a delivery.
func TestRefundOfAnotherAmountIsACase(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		cents int64
		want  string
	}{
		{"more than was promised", 9999, "r-1 REQUESTED | 0 | r-1 -9999 | refund_succeeded Compensated | 1 cases"},
		{"less than was promised", 3999, "r-1 REQUESTED | 3999 | r-1 -3999 | refund_succeeded Applied | 1 cases"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newKept(t)
			b.awaited()
			b.kept("msg_1", paymentOf(orderA, "p-1", 10050))
			b.is(http.StatusAccepted, b.do("POST", "/orders/"+orderA+"/refunds", refundBody("r-1", 4000)))
			body := noticeOf("refund.succeeded", orderA, "p-1", "r-1", c.cents)
			b.kept("msg_2", body)
			b.kept("msg_2", body)
			require.Equal(t, c.want, b.gave())
			require.Equal(t, "standard refund.succeed Compensated", b.cases())
			require.Contains(t, b.value("SELECT detail FROM shop_cases"), `refund_no="r-1" amount_cents=`)
		})
	}
}

// Money of a refund that was closed is a case as well.
func TestRefundThatWasClosedAndCameIsACase(t *testing.T) {
	t.Parallel()
	b := promised(t, newProvider(t, refuses))
	require.Equal(t, 1, b.round())
	require.Equal(t, notGiven, b.gave())
	b.relayed()
	require.Equal(t, "refunds refund_failed Compensated", b.cases())
	b.told("Applied", noticeOf("refund.succeeded", orderA, "p-1", "r-1", 4000))
	b.relayed()
	require.Equal(t, "refunds refund_failed Compensated, standard refund.succeed Compensated", b.cases())
	require.Equal(t, string(refund.StateClosed), b.value("SELECT status FROM refunds"))
}
