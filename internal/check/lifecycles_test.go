package check_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// lifecycles has the edges of real systems as their sources and documents give
// them: event, from and to. What a shop adds to them, such as asking the
// provider when no callback comes, stands in added.
var lifecycles = []struct {
	file, initial, edges, added string
}{
	{"sylius_payment", "cart", `
		create cart→new; process new→processing; authorize new,processing→authorized; complete new,processing,authorized→completed;
		fail new,processing,authorized→failed; cancel new,processing,authorized→cancelled; refund completed→refunded; void new,processing,authorized→unknown`, ""},
	{"sylius_order_payment", "cart", `
		request_payment cart→awaiting_payment; partially_authorize awaiting_payment,partially_authorized→partially_authorized;
		authorize awaiting_payment,partially_authorized→authorized; partially_pay awaiting_payment,partially_paid,partially_authorized→partially_paid;
		pay awaiting_payment,partially_paid,authorized→paid; cancel awaiting_payment,authorized,partially_authorized→cancelled;
		partially_refund paid,partially_paid,partially_refunded→partially_refunded; refund paid,partially_paid,partially_refunded→refunded`, ""},
	{"sylius_order_checkout", "cart", `
		address cart,addressed,shipping_selected,shipping_skipped,payment_selected,payment_skipped→addressed; skip_shipping addressed→shipping_skipped;
		select_shipping addressed,shipping_selected,payment_selected,payment_skipped→shipping_selected; skip_payment shipping_selected,shipping_skipped→payment_skipped;
		select_payment payment_selected,shipping_skipped,shipping_selected→payment_selected; complete payment_selected,payment_skipped→completed`, ""},
	{"solidus_payment", "checkout", `
		started_processing checkout,pending,completed,processing→processing; failure pending,processing→failed; pend checkout,processing→pending;
		complete processing,pending,checkout→completed; void pending,processing,completed,checkout→void; invalidate checkout→invalid`, ""},
	{"solidus_shipment", "pending", `
		ready pending→shipped; ready pending→ready; pend ready→pending; ship ready,canceled→shipped; cancel pending,ready→canceled;
		resume canceled→ready; resume canceled→pending`, ""},
	{"stripe_payment_intent", "requires_payment_method", `
		attach requires_payment_method→requires_confirmation;
		confirm requires_payment_method,requires_confirmation→requires_action; confirm requires_payment_method,requires_confirmation→processing;
		confirm requires_payment_method,requires_confirmation→requires_capture; confirm requires_payment_method,requires_confirmation→succeeded;
		went_on requires_action→processing; went_on requires_action→requires_capture; went_on requires_action→succeeded;
		failed requires_confirmation,requires_action,processing→requires_payment_method; capture requires_capture→succeeded;
		cancel requires_payment_method,requires_confirmation,requires_action,requires_capture→canceled`,
		`went_on processing,requires_capture→succeeded; look requires_action→requires_action; look processing→processing`},
	{"alipay_trade", "WAIT_BUYER_PAY", `
		paid WAIT_BUYER_PAY→TRADE_SUCCESS; closed WAIT_BUYER_PAY,TRADE_SUCCESS→TRADE_CLOSED; finished TRADE_SUCCESS→TRADE_FINISHED`,
		`query WAIT_BUYER_PAY→WAIT_BUYER_PAY`},
	{"wechat_trade", "NOTPAY", `
		paying NOTPAY→USERPAYING; paid NOTPAY,USERPAYING→SUCCESS; closed NOTPAY→CLOSED; pay_error USERPAYING→PAYERROR; revoked USERPAYING→REVOKED;
		refunded SUCCESS→REFUND`, `query NOTPAY→NOTPAY; query USERPAYING→USERPAYING`},
	{"wechat_refund", "PROCESSING", `
		success PROCESSING→SUCCESS; closed PROCESSING→CLOSED; abnormal PROCESSING→ABNORMAL; continue ABNORMAL→PROCESSING`, `query PROCESSING→PROCESSING`},
	{"article", "draft", `
		submit draft→in_review; publish in_review→published; archive published→archived; reject in_review→draft`, ""},
}

// TestRealLifecycles: the language says the lifecycles of real systems, edge by
// edge, and nothing is found wrong with them.
func TestRealLifecycles(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/lifecycles/*.yaml")
	require.NoError(t, err)
	require.Len(t, files, len(lifecycles))
	for _, l := range lifecycles {
		machines, problems := run(t, "testdata/lifecycles/"+l.file+".yaml")
		require.Empty(t, text(t, problems), l.file)
		m := machines[0]
		require.Equal(t, l.initial, m.Initial().Name)
		var want, have []string
		for _, e := range strings.Split(strings.TrimSuffix(l.edges+";"+l.added, ";"), ";") {
			event, way, ok := strings.Cut(strings.TrimSpace(e), " ")
			require.True(t, ok, e)
			from, to, ok := strings.Cut(way, "→")
			require.True(t, ok, e)
			for _, f := range strings.Split(from, ",") {
				want = append(want, fmt.Sprintf("%s %s→%s", event, f, to))
			}
		}
		for _, tr := range m.Transitions {
			for _, f := range tr.From {
				have = append(have, fmt.Sprintf("%s %s→%s", tr.Event.Name, f.Name, tr.To.Name))
			}
		}
		require.ElementsMatch(t, want, have, l.file)
	}
}
