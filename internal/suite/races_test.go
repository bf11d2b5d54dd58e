package suite

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryPairThatCanMeetIsAnItem(t *testing.T) {
	t.Parallel()
	s := Races(machine(t, payment))
	require.Equal(t, 18, count(s, ItemRace), "worked out by hand")
	require.Len(t, s.Items, 18)
	for i, by := range s.CoveredBy() {
		require.NotEmpty(t, by, s.Items[i].ID)
		require.Empty(t, s.Items[i].Why)
	}
}

func TestTheSecondIsJudgedInTheStateThatTheFirstLeaves(t *testing.T) {
	t.Parallel()
	s := Races(machine(t, payment))
	for id, want := range map[string]string{
		"races/created/authorize+fail/authorize first":   "created\nauthorize: Applied authorized\nfail meanwhile: Rejected authorized\n",
		"races/created/authorize+fail/fail first":        "created\nfail: Applied failed\nauthorize meanwhile: Rejected failed\n",
		"races/created/authorize+expire/authorize first": "created\nauthorize: Applied authorized\nexpire meanwhile: Applied expired\n",
		"races/created/authorize+authorize":              "created\nauthorize: Applied authorized\nauthorize meanwhile: Rejected authorized\n",
		// What expects a version has seen the one of before.
		"races/captured/refund_part+refund_part":                   "captured\nrefund_part right: Applied part_refunded\nrefund_part wrong meanwhile: Stale part_refunded\n",
		"races/captured/refund_part+refund_full/refund_full first": "captured\nrefund_full: Applied refunded\nrefund_part wrong meanwhile: Rejected refunded\n",
	} {
		require.Equal(t, want, show(find(t, s, id)), id)
	}
}

func TestAFactMeetsItselfAndAnother(t *testing.T) {
	t.Parallel()
	s := Races(sample(t, "order"))
	for id, want := range map[string]string{
		"races/PENDING/payment_succeeded+payment_succeeded/amount_matches/same fact": "PENDING(total_cents=100 paid_cents=0 refund_cents=0 refunded_cents=0)\n" +
			"payment_succeeded(payment_no='payment_no-1' paid_cents=100): Applied PAID(paid_cents=100 payment_no='payment_no-1' paid_at='2026-01-15 12:00:00+00') emits order_paid fact\n" +
			"payment_succeeded(payment_no='payment_no-1' paid_cents=100) again meanwhile: Replayed PAID\n",
		"races/PENDING/payment_succeeded+payment_succeeded/amount_matches": "PENDING(total_cents=100 paid_cents=0 refund_cents=0 refunded_cents=0)\n" +
			"payment_succeeded(payment_no='payment_no-1' paid_cents=100): Applied PAID(paid_cents=100 payment_no='payment_no-1' paid_at='2026-01-15 12:00:00+00') emits order_paid fact\n" +
			"payment_succeeded(payment_no='payment_no-2' paid_cents=100) meanwhile: Compensated PAID emits refund_due fact\n",
		"races/PENDING/payment_succeeded+cancel/cancel first": "PENDING(total_cents=100 paid_cents=0 refund_cents=0 refunded_cents=0)\n" +
			"cancel: Applied CANCELLED\n" +
			"payment_succeeded(payment_no='payment_no-1' paid_cents=100) meanwhile: Applied REFUNDING(paid_cents=100 refund_cents=100 payment_no='payment_no-1' paid_at='2026-01-15 12:00:00+00') emits refund_due fact\n",
	} {
		require.Equal(t, want, show(find(t, s, id)), id)
	}
}
