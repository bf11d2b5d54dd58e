package gendocs_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
)

// text is what an element of a page says, with single spaces, without what is
// for a script alone.
func text(t testing.TB, all []*page, path, id string) string {
	t.Helper()
	for _, p := range all {
		if p.path != path {
			continue
		}
		for n := range p.root.Descendants() {
			if have, _ := attr(n, "id"); have == id {
				return strings.Join(strings.Fields(said(n)), " ")
			}
		}
	}
	t.Fatalf("%s has no %s", path, id)
	return ""
}

func said(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	if class, _ := attr(n, "class"); strings.Contains(class, "needs-script") || strings.Contains(class, "unseen") {
		return ""
	}
	var b strings.Builder
	for child := range n.ChildNodes() {
		b.WriteString(said(child) + " ")
	}
	return b.String()
}

func TestStatesEventsAndGuardsAreInWords(t *testing.T) {
	t.Parallel()
	all := pages(t, everything(t))
	for _, c := range []struct{ path, id, want string }{
		{"en/order/index.html", "state-PENDING", "PENDING Awaiting payment initial 30 minutes Every row begins here. " +
			"Deadline After 30 minutes in PENDING: expire . Entered by payment_failed from PAYING " +
			"Left by pay → PAYING expire → CANCELLED cancel → CANCELLED payment_succeeded → PAID if amount_matches " +
			"ignore query_payment query_refund payment_failed reject ship receive refund compensate refund_succeeded compensate refund_failed writing refund_stuck"},
		{"en/order/index.html", "state-PAYING", "PAYING Payment in progress 15 minutes Deadline After 15 minutes in PAYING: query_payment , at most 20 times. " +
			"Entered by pay from PENDING Left by cancel → CANCELLED payment_failed → PENDING payment_succeeded → PAID if amount_matches Stays on query_payment " +
			"replay pay ignore query_refund expire reject ship receive refund compensate refund_succeeded compensate refund_failed writing refund_stuck"},
		{"en/order/index.html", "event-payment_succeeded", "payment_succeeded callback the provider took the customer's money " +
			"Source From outside, a callback: it can come twice, late, or out of order. " +
			"Parameters payment_no text paid_cents bigint must hold @paid_cents > 0 " +
			"Identity Two deliveries with the same payment_no are the same fact. It counts once: told again, nothing is done, and the answer is Replayed with the first result. " +
			"Fingerprint The same fact must always come with the same paid_cents . Another value is a conflict, answered Mismatched, and never a success. " +
			"Moves PENDING PAYING → PAID if amount_matches setting paid_cents = @paid_cents , payment_no = @payment_no , paid_at = now() writing order_paid " +
			"CANCELLED → REFUNDING setting paid_cents = @paid_cents , refund_cents = @paid_cents , payment_no = @payment_no , paid_at = now() writing refund_due " +
			"Otherwise compensate if no guard is true, in PENDING PAYING writing refund_due – nothing moves; recorded once, and work is left for someone " +
			"compensate in every other state writing refund_due – nothing moves; recorded once, and work is left for someone"},
		{"en/order/index.html", "guard-amount_matches", "amount_matches the amount paid is the amount due SQL total_cents = @paid_cents Decides payment_succeeded in PENDING PAYING → PAID"},
		{"en/order/index.html", "event-expire", "expire deadline the customer did not pay in time Source The clock: in PENDING after 30 minutes. A program may call it sooner. " +
			"Moves PENDING → CANCELLED Otherwise ignore in every other state – harmless: success, nothing done"},
		{"zh/m1/index.html", "state-S2", "S2 审批中 15 分钟 等待审批。 期限 在 S2 停留 15 分钟后触发 e5 ，最多 3 次。 进入方式 e1 来自 S1 离开方式 e2 → S3 若 g1 停留 e5 重放 e1 忽略 e3 e4"},
		{"zh/m1/index.html", "state-S3", "S3 已发布 可停留 行可以一直停留在此，但事件仍可使其转换。 以前名为 S9。 进入方式 e2 来自 S2 若 g1 离开方式 e3 → S4 拒绝 e1 补偿 e2 并写入 o1 忽略 e4 e5"},
		{"en/m1/index.html", "event-e1", "e1 expects a version 提交 Source A call of the program. " +
			"Version The call says which version of the row it has seen. If the row has moved on, the answer is Stale: reload and try again. " +
			"Moves S1 → S2 writing o2 Otherwise replay in S2 – told again: success, nothing done reject in S3 S4 S5 – refused: the event is not legal in this state"},
	} {
		t.Run(c.path+"#"+c.id, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, text(t, all, c.path, c.id))
		})
	}
}
