package genmatrix

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The interesting cells of the order, written by hand from its definition: as
// HTML and xlsx show them, and as Markdown does, where guards go by their names.
var orderCells = []struct{ state, event, words, names string }{
	{"PENDING", "pay", "→ PAYING", "→ PAYING"},
	{"PAYING", "pay", "replay", "replay"},
	{"PAID", "pay", "reject", "reject"},
	{"PENDING", "expire", "→ CANCELLED\nby itself after 30 minutes", "→ CANCELLED\nby itself after 30 minutes"},
	{"PAID", "expire", "ignore", "ignore"},
	{
		"PAYING", "query_payment",
		"→ PAYING, emits payment_query_due\nby itself after 15 minutes, at most 20 times",
		"→ PAYING\nby itself after 15 minutes, at most 20 times",
	},
	{"SHIPPED", "receive", "→ COMPLETED\nby itself after 10 days", "→ COMPLETED\nby itself after 10 days"},
	{
		"PENDING", "payment_succeeded",
		"[the amount paid is the amount due] → PAID, emits order_paid\notherwise compensate: refund_due",
		"[amount_matches] → PAID\notherwise compensate: refund_due",
	},
	{"CANCELLED", "payment_succeeded", "→ REFUNDING, emits refund_due", "→ REFUNDING"},
	{"REFUNDED", "payment_succeeded", "compensate: refund_due", "compensate: refund_due"},
	{
		"COMPLETED", "refund",
		"[something is left after this refund] → COMPLETED, emits refund_due\n[this refund returns all that is left] → REFUNDING, emits refund_due\notherwise guard failed",
		"[refund_is_part] → COMPLETED\n[refund_is_rest] → REFUNDING\notherwise guard failed",
	},
	{
		"REFUNDING", "refund_succeeded",
		"[the refund is of the order's own payment, was promised, and is not the last of it] → REFUNDING\n[with this refund the order's own payment has gone back whole] → REFUNDED\notherwise compensate (record only)",
		"[part_returned] → REFUNDING\n[all_returned] → REFUNDED\notherwise compensate (record only)",
	},
	{"PENDING", "refund_succeeded", "compensate (record only)", "compensate (record only)"},
	{"SHIPPED", "ship", "replay", "replay"},
	{"PAYING", "payment_failed", "→ PENDING", "→ PENDING"},
}

func TestTheCellsOfTheOrderAreRight(t *testing.T) {
	t.Parallel()
	m := read(t, "../../definitions/order.yaml")
	md := mdCells(t, render(t, m, "md", "en")["order.md"], m)
	html := htmlCells(t, render(t, m, "html", "en")["order.html"])
	xlsx := xlsxCells(t, render(t, m, "xlsx", "en")["order.xlsx"], m)
	for _, c := range orderCells {
		key := cellKey{c.state, c.event}
		require.Equal(t, c.names, md[key])
		require.Equal(t, c.words, strings.ReplaceAll(html[key], "⏱ ", ""))
		require.Equal(t, c.words, xlsx[key])
	}
}

func TestTheOrderIsCounted(t *testing.T) {
	t.Parallel()
	var counts []int
	for _, g := range newView(read(t, "../../definitions/order.yaml"), "en").groups() {
		counts = append(counts, g.count)
	}
	// By hand: moves pay, 2 queries, expire, 2 cancel, payment_failed, late payment,
	// ship, receive; guarded 2 payments, 3 refunds, 4 refunds that succeeded;
	// compensate 5 + 4 + 8; replay pay, cancel, 2 ship, receive; ignore 4 × 7;
	// reject the rest of 96.
	require.Equal(t, []int{10, 9, 17, 5, 28, 27}, counts)
}
