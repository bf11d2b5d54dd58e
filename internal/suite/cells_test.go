package suite

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/check"
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/syntax"
)

// The numbers are worked out by hand from the definition. The ways: 96 cells,
// and one more for each guard in them.
func TestEveryCellOfTheOrderGoesEveryWay(t *testing.T) {
	t.Parallel()
	s := AllCells(sample(t, "order"))
	require.Equal(t, 8*12, count(s, ItemCell))
	// payment_succeeded in 2 states, refund in 3, refund_succeeded in 3 and 1.
	require.Equal(t, 2*2+3*3+3*2+3, count(s, ItemGuard))
	// A fact is left in so many ways: payment_succeeded, payment_failed, refund,
	// refund_succeeded, refund_failed; then other fingerprints and other rows.
	require.Equal(t, (10+1+6+13+8)+5+7, count(s, ItemFact))
	// 23 transitions by states and guards, 17 decisions by events.
	require.Equal(t, 23+17, count(s, ItemVersion))
	require.Len(t, s.Cases, (96+13)+50+40)
	for i, by := range s.CoveredBy() {
		require.NotEmpty(t, by, s.Items[i].ID)
		require.Empty(t, s.Items[i].Why)
	}
	seen := map[Outcome]bool{}
	for _, c := range s.Cases {
		for _, step := range c.Steps {
			require.Empty(t, step.Unknown, c.ID)
			seen[step.Outcome] = true
		}
	}
	require.Len(t, seen, 8, "every outcome that a call can have")
}

func TestAPaymentIsToldInEveryState(t *testing.T) {
	t.Parallel()
	s := AllCells(sample(t, "order"))
	const row = "(total_cents=100 paid_cents=0 refund_cents=0 refunded_cents=0)\n"
	const paid = "payment_succeeded(payment_no='payment_no-1' paid_cents=100)"
	// The amount is right: only the state is not that of a transition.
	const late = "payment_succeeded(payment_no='payment_no-1' paid_cents=100)"
	for id, want := range map[string]string{
		"PENDING/payment_succeeded/amount_matches": "PENDING" + row + paid + ": Applied PAID(paid_cents=100 payment_no='payment_no-1' paid_at='2026-01-15 12:00:00+00') emits order_paid fact\n",
		"PAYING/payment_succeeded/amount_matches":  "PAYING" + row + paid + ": Applied PAID(paid_cents=100 payment_no='payment_no-1' paid_at='2026-01-15 12:00:00+00') emits order_paid fact\n",
		"PENDING/payment_succeeded/none":           "PENDING(total_cents=100)\npayment_succeeded(payment_no='payment_no-1' paid_cents=104): Compensated PENDING emits refund_due fact\n",
		"PAYING/payment_succeeded/none":            "PAYING(total_cents=100)\npayment_succeeded(payment_no='payment_no-1' paid_cents=104): Compensated PAYING emits refund_due fact\n",
		"PAID/payment_succeeded":                   "PAID(total_cents=100)\n" + late + ": Compensated PAID emits refund_due fact\n",
		"SHIPPED/payment_succeeded":                "SHIPPED(total_cents=100)\n" + late + ": Compensated SHIPPED emits refund_due fact\n",
		"COMPLETED/payment_succeeded":              "COMPLETED(total_cents=100)\n" + late + ": Compensated COMPLETED emits refund_due fact\n",
		"CANCELLED/payment_succeeded":              "CANCELLED" + row + late + ": Applied REFUNDING(paid_cents=100 refund_cents=100 payment_no='payment_no-1' paid_at='2026-01-15 12:00:00+00') emits refund_due fact\n",
		"REFUNDING/payment_succeeded":              "REFUNDING(total_cents=100)\n" + late + ": Compensated REFUNDING emits refund_due fact\n",
		"REFUNDED/payment_succeeded":               "REFUNDED(total_cents=100)\n" + late + ": Compensated REFUNDED emits refund_due fact\n",

		"PENDING/payment_succeeded/amount_matches/again": "PENDING" + row + paid + ": Applied PAID(paid_cents=100 payment_no='payment_no-1' paid_at='2026-01-15 12:00:00+00') emits order_paid fact\n" +
			paid + " again: Replayed PAID\n",
		"PENDING/payment_succeeded/none/other fingerprint": "PENDING(total_cents=100)\npayment_succeeded(payment_no='payment_no-1' paid_cents=104): Compensated PENDING emits refund_due fact\n" +
			"payment_succeeded(payment_no='payment_no-1' paid_cents=14) again: Mismatched PENDING\n",
		"PAYING/payment_failed/other row": "PAYING(total_cents=100)\npayment_failed(payment_no='payment_no-1'): Applied PENDING fact\n" +
			"payment_failed(payment_no='payment_no-1') again other row: Mismatched PAYING\n",
		"PAID/ship":                "PAID(total_cents=100)\nship: Applied SHIPPED\n",
		"PAID/ship/stale":          "PAID(total_cents=100)\nship wrong: Stale PAID\nship right: Applied SHIPPED\n",
		"SHIPPED/ship/any version": "SHIPPED(total_cents=100)\nship wrong: Replayed SHIPPED\n",
		"PENDING/ship":             "PENDING(total_cents=100)\nship: Rejected PENDING\n",
		"PENDING/query_payment":    "PENDING(total_cents=100)\nquery_payment: Ignored PENDING\n",
		"PAID/refund/refund_is_part": "PAID(total_cents=100 paid_cents=101 refund_cents=12 refunded_cents=4)\n" +
			"refund(refund_no='refund_no-1' amount_cents=14): Applied PAID(refund_cents=26) emits refund_due fact\n",
		"PAID/refund/none": "PAID(total_cents=100 paid_cents=101 refund_cents=12 refunded_cents=4)\n" +
			"refund(refund_no='refund_no-1' amount_cents=104): GuardFailed PAID\n",
		"REFUNDING/refund_succeeded/all_returned": "REFUNDING(total_cents=100 paid_cents=101 refund_cents=101 refunded_cents=13 payment_no='payment_no-1')\n" +
			"refund_succeeded(refund_no='refund_no-1' payment_no='payment_no-1' amount_cents=88): Applied REFUNDED(refunded_cents=101) fact\n",
	} {
		require.Equal(t, want, show(find(t, s, "all-cells/"+id)), id)
	}
}

func TestGivenIsEnoughToInsertARow(t *testing.T) {
	t.Parallel()
	c := find(t, AllCells(sample(t, "order")), "all-cells/PENDING/pay")
	require.Equal(t, []Value{
		{Name: "order_id", SQL: "'00000000-0000-4000-8000-000000000001'", Text: "00000000-0000-4000-8000-000000000001"},
		{Name: "customer_id", SQL: "'customer_id-1'", Text: "customer_id-1"},
		{Name: "sku", SQL: "'sku-1'", Text: "sku-1"},
		{Name: "quantity", SQL: "1", Text: "1"},
		{Name: "total_cents", SQL: "100", Text: "100"},
	}, c.Given)
	c = find(t, AllCells(sample(t, "order")), "all-cells/PAYING/payment_failed/other row")
	require.Equal(t, []Value{{Name: "order_id", SQL: "'00000000-0000-4000-8000-000000000002'", Text: "00000000-0000-4000-8000-000000000002"}}, c.Other)
}

func TestACallThatMustExpectAVersionDoes(t *testing.T) {
	t.Parallel()
	s := AllCells(machine(t, payment))
	require.Equal(t, 56, count(s, ItemCell))
	require.Equal(t, "captured\nrefund_part right: Applied part_refunded\n", show(find(t, s, "all-cells/captured/refund_part")))
	require.Equal(t, "created\nrefund_part right: Rejected created\n", show(find(t, s, "all-cells/created/refund_part")))
	require.Equal(t, "captured\nrefund_part wrong: Stale captured\nrefund_part right: Applied part_refunded\n", show(find(t, s, "all-cells/captured/refund_part/stale")))
}

// Lifecycles of others, most of them without a table.
func TestEveryLifecycleHasSuites(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../check/testdata/lifecycles/*.yaml")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 10)
	good, err := filepath.Glob("../check/testdata/good/*.yaml")
	require.NoError(t, err)
	for _, path := range append(files, good...) {
		src, err := os.ReadFile(path)
		require.NoError(t, err)
		m := check.Run(syntax.Parse("m.yaml", src, &diag.List{}), &diag.List{})
		if m == nil {
			continue // one that is good beside others
		}
		maker, ids := For(m), map[string]bool{}
		for _, name := range []string{"all-cells", "guards", "races", "0-switch"} {
			s, err := maker.Make(name, 0)
			require.NoError(t, err)
			for _, c := range s.Cases {
				require.False(t, ids[c.ID], "%s: %s twice", path, c.ID)
				ids[c.ID] = true
				if m.Table == nil {
					require.Empty(t, c.Given)
					require.Empty(t, c.why(), "nothing is asked of a machine without a table")
				}
			}
			for i, by := range s.CoveredBy() {
				require.NotEqual(t, len(by) > 0, s.Items[i].Why != "", "%s: %s is covered, or says why not", path, s.Items[i].ID)
			}
			again, err := Make(m, name, 0)
			require.NoError(t, err)
			require.Equal(t, s, again, "%s: %s is the same again", path, name)
		}
	}
}
