package suite

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGuardsAreLookedAtFromBothSides(t *testing.T) {
	t.Parallel()
	s := Guards(sample(t, "order"))
	refund := func(amount, outcome string) string {
		return "PAID(total_cents=100 paid_cents=101 refund_cents=12 refunded_cents=4)\nrefund(refund_no='refund_no-1' amount_cents=" + amount + "): " + outcome + "\n"
	}
	returned := func(promised, gone, amount, outcome string) string {
		return "PAID(total_cents=100 paid_cents=101 refund_cents=" + promised + " refunded_cents=" + gone + " payment_no='payment_no-1')\n" +
			"refund_succeeded(refund_no='refund_no-1' payment_no='payment_no-1' amount_cents=" + amount + "): " + outcome + "\n"
	}
	for id, want := range map[string]string{
		"PENDING/payment_succeeded/amount_matches b-1": "PENDING(total_cents=100)\npayment_succeeded(payment_no='payment_no-1' paid_cents=101): Compensated PENDING emits refund_due fact\n",
		"PENDING/payment_succeeded/amount_matches b+1": "PENDING(total_cents=100)\npayment_succeeded(payment_no='payment_no-1' paid_cents=99): Compensated PENDING emits refund_due fact\n",
		"PAID/refund/refund_is_part b-1":               refund("88", "Applied PAID(refund_cents=100) emits refund_due fact"),
		"PAID/refund/refund_is_part b":                 refund("89", "Applied REFUNDING(refund_cents=101) emits refund_due fact"),
		"PAID/refund/refund_is_part b+1":               refund("90", "GuardFailed PAID"),
		// Of several conditions the others hold, so that the bound decides.
		"PAID/refund_succeeded/part_returned 1 b":   returned("12", "4", "8", "Applied PAID(refunded_cents=12) fact"),
		"PAID/refund_succeeded/part_returned 1 b+1": returned("12", "4", "9", "Compensated PAID fact"),
		"PAID/refund_succeeded/part_returned 2 b-1": returned("100", "13", "87", "Applied PAID(refunded_cents=100) fact"),
		"PAID/refund_succeeded/part_returned 2 b":   returned("101", "13", "88", "Compensated PAID fact"),
		"PAID/refund_succeeded/part_returned payment_no NULL": "PAID(total_cents=100 paid_cents=101 refund_cents=12 refunded_cents=4 payment_no=NULL)\n" +
			"refund_succeeded(refund_no='refund_no-1' payment_no='payment_no-1' amount_cents=104): Compensated PAID fact\n",
	} {
		require.Equal(t, want, show(find(t, s, "guards/"+id)), id)
	}
	require.Equal(t, "refund_is_part b-1", find(t, s, "guards/PAID/refund/refund_is_part b-1").Steps[0].Variant)
	require.Equal(t, "refund_is_rest at refund_is_part b", find(t, s, "guards/PAID/refund/refund_is_part b").Steps[0].Variant)
	require.Equal(t, "none at refund_is_part b+1", find(t, s, "guards/PAID/refund/refund_is_part b+1").Steps[0].Variant)
}

func TestBoundsOfNumbersWithAScale(t *testing.T) {
	t.Parallel()
	s := Guards(machine(t, account))
	row := func(ceiling string) string {
		return "OPEN(tenant='tenant-1' account_no=100 balance=100.00 ceiling=" + ceiling + " currency='EUR' frozen=false)\n"
	}
	const withdraw = "withdraw(withdrawal='00000000-0000-4000-8000-000000000001' amount="
	for id, want := range map[string]string{
		"OPEN/withdraw/guard 1 1 b-1":        row("101.00") + withdraw + "99.99 note='note-1'): Applied OPEN(balance=0.01 note='note-1') fact\n",
		"OPEN/withdraw/guard 1 1 b+1":        row("101.00") + withdraw + "100.01 note='note-1'): GuardFailed OPEN\n",
		"OPEN/withdraw/guard 1 2 b+1":        row("11.00") + withdraw + "11.01 note='note-1'): GuardFailed OPEN\n",
		"OPEN/withdraw/guard 1 ceiling NULL": row("NULL") + withdraw + "12.00 note='note-1'): Applied OPEN(balance=88.00 note='note-1') fact\n",
		"OPEN/close/guard 1 b+1":             "OPEN(tenant='tenant-1' account_no=100 balance=0.01 currency='EUR')\nclose: GuardFailed OPEN\n",
	} {
		require.Equal(t, want, show(find(t, s, "guards/"+id)), id)
	}
	i := len(s.Items) - 3
	require.Equal(t, "guard OPEN/close guard 1 b-1", s.Items[i].ID)
	require.Equal(t, "no values exist for which: of balance = 0, the left is the right less 0.01", s.Items[i].Why, "the CHECK of the column forbids it")
}

func TestBoundsOfTimesAndLengths(t *testing.T) {
	t.Parallel()
	s := Guards(machine(t, parcel))
	row := func(due, address string) string {
		return "in transit(parcel_no='parcel_no-1' due_at='" + due + "' sent_on='2026-01-15' address='" + address + "' weight=1)\n"
	}
	for id, want := range map[string]string{
		"in transit/check_due/gone b-1":      row("2025-12-16 11:59:59.999999+00", "address-1") + "check_due right: Applied lost/stolen\n",
		"in transit/check_due/gone b":        row("2025-12-16 12:00:00+00", "address-1") + "check_due right: Applied late\n",
		"in transit/check_due/guard 2 1 b":   row("2026-01-15 12:00:00+00", "address-1") + "check_due right: Applied in transit\n",
		"in transit/deliver/named b":         row("2026-01-15 11:00:00+00", "address-1") + "deliver(name='aaa') right: Applied done\n",
		"in transit/deliver/named and known": row("2026-01-15 11:00:00+00", "address-1") + "deliver(name='address-1') right: Applied done\n",
		"in transit/deliver/known":           row("2026-01-15 11:00:00+00", "a") + "deliver(name='a') right: Applied done\n",
	} {
		require.Equal(t, want, show(find(t, s, "guards/"+id)), id)
	}
}

// A CHECK that reads the state holds before and after; the version is given
// where a guard reads it.
func TestTheStateAndTheVersionAreValuesToo(t *testing.T) {
	t.Parallel()
	s := Guards(machine(t, rental))
	const id = "rental_id='00000000-0000-4000-8000-000000000001' renter='renter-1' days=1"
	for name, want := range map[string]string{
		"LET/pay/guard 1":       "LET(" + id + " paid=false)\npay right: Applied LET(paid=true)\n",
		"LET/close/guard 1":     "LET(" + id + " paid=true version=4)\nclose: Applied OVER\n",
		"LET/close/guard 1 b":   "LET(" + id + " paid=true version=3)\nclose: GuardFailed LET\n",
		"LET/close/guard 1 b+1": "LET(" + id + " paid=true version=4)\nclose: Applied OVER\n",
	} {
		require.Equal(t, want, show(find(t, s, "guards/"+name)), name)
	}
}
