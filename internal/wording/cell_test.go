package wording

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/check"
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/syntax"
)

func order(t *testing.T) *model.Machine {
	t.Helper()
	const path = "../../definitions/order.yaml"
	src, err := os.ReadFile(path)
	require.NoError(t, err)
	var problems diag.List
	m := check.Run(syntax.Parse(path, src, &problems), &problems)
	require.NotNil(t, m)
	return m
}

func TestCellsSayWhatHappens(t *testing.T) {
	t.Parallel()
	m := order(t)
	for _, c := range []struct{ state, event, en, zh string }{
		{"PENDING", "pay", "→ PAYING", "→ PAYING"},
		{"PAYING", "pay", "replay", "重放"},
		{"PAID", "pay", "reject", "拒绝"},
		{"PAID", "expire", "ignore", "忽略"},
		{
			"PENDING", "payment_succeeded",
			"[the amount paid is the amount due] → PAID; otherwise compensate: refund_due",
			"[the amount paid is the amount due] → PAID；否则补偿：refund_due",
		},
		{"CANCELLED", "payment_succeeded", "→ REFUNDING", "→ REFUNDING"},
		{"REFUNDED", "payment_succeeded", "compensate: refund_due", "补偿：refund_due"},
		{"PENDING", "refund_succeeded", "compensate (record only)", "补偿（只记录）"},
		{
			"PAID", "refund",
			"[something is left after this refund] → PAID; [this refund returns all that is left] → REFUNDING; otherwise guard failed",
			"[something is left after this refund] → PAID；[this refund returns all that is left] → REFUNDING；否则条件不满足",
		},
	} {
		cell := m.Event(c.event).Cells[m.State(c.state).Index]
		require.Equal(t, c.en, Cell(cell, "en"), "%s/%s", c.state, c.event)
		require.Equal(t, c.zh, Cell(cell, "zh"), "%s/%s", c.state, c.event)
	}
}

func TestWaysAreToldApart(t *testing.T) {
	t.Parallel()
	a, b := &model.State{Name: "A"}, &model.State{Name: "B", Index: 1}
	named := &model.Guard{Name: "enough"}
	inline := &model.Guard{SQL: &model.Expr{Source: "n > 0"}}
	for _, c := range []struct {
		name string
		cell model.Cell
		want []string
		text string
	}{
		{"one way", model.Cell{Transitions: []*model.Transition{{To: b}}}, []string{""}, "→ B"},
		{"nothing moves", model.Cell{Otherwise: model.Ignore}, []string{""}, "ignore"},
		{
			"an else", model.Cell{Transitions: []*model.Transition{{To: b, Guard: named}, {To: a, Guard: inline}, {To: b}}, Otherwise: model.Reject},
			[]string{"enough", "guard 2", "else"}, "[enough] → B; [n > 0] → A; otherwise → B",
		},
		{
			"none true", model.Cell{Transitions: []*model.Transition{{To: b, Guard: inline}}, Otherwise: model.GuardFailed},
			[]string{"guard 1", "none"}, "[n > 0] → B; otherwise guard failed",
		},
	} {
		var variants []string
		for _, w := range Ways(&c.cell) {
			variants = append(variants, w.Variant)
		}
		require.Equal(t, c.want, variants, c.name)
		require.Equal(t, c.text, Cell(&c.cell, ""), c.name)
	}
	require.Equal(t, "否则 → B", Way{Transition: &model.Transition{To: b}, Behind: true}.Text("zh"))
}

func TestWhatATransitionWrites(t *testing.T) {
	t.Parallel()
	m := order(t)
	var payment *model.Transition
	for _, w := range Ways(m.Event("payment_succeeded").Cells[0]) {
		if w.Transition != nil {
			payment = w.Transition
		}
	}
	require.Equal(t, "paid_cents = @paid_cents, payment_no = @payment_no, paid_at = now()", Sets(payment))
	require.Empty(t, Sets(&model.Transition{}))
}

func TestNamesCarryTheirLabels(t *testing.T) {
	t.Parallel()
	labels := []model.Label{{Lang: "zh", Text: "支付中"}, {Lang: "en", Text: "Payment in progress"}, {Lang: "fr", Text: "paying"}}
	for lang, want := range map[string]string{
		"en": "PAYING (Payment in progress)", "zh": "PAYING（支付中）", "zh-CN": "PAYING（支付中）",
		"fr": "PAYING", "de": "PAYING", "": "PAYING",
	} {
		require.Equal(t, want, Named("PAYING", labels, lang), lang)
	}
}

func TestStatesSayWhatIsSpecialAboutThem(t *testing.T) {
	t.Parallel()
	m := order(t)
	require.Equal(t, "after 15 minutes: query_payment, at most 20 times", Deadline(m.State("PAYING").Deadline, "en"))
	require.Equal(t, "15 分钟后：query_payment，最多 20 次", Deadline(m.State("PAYING").Deadline, "zh"))
	require.Equal(t, "after 10 days: receive", Deadline(m.State("SHIPPED").Deadline, "en"))
	require.Empty(t, Deadline(nil, "en"))
	require.Equal(t, []string{"initial"}, Marks(m.State("PENDING"), "en"))
	require.Equal(t, []string{"终态"}, Marks(m.State("REFUNDED"), "zh"))
	require.Equal(t, []string{"initial", "resting", "retired"}, Marks(&model.State{Initial: true, Resting: true, Retired: true}, "en"))
	require.Empty(t, Marks(m.State("PAID"), "en"))
}
