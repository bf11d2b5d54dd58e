package shop_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/migrations"
)

// asks asks for a refund and returns what is told of it, with the reason of a refusal.
func (b *bench) asks(refundNo string, cents int64) string {
	b.t.Helper()
	r := b.do("POST", "/orders/"+orderA+"/refunds", refundBody(refundNo, cents))
	if r.status == http.StatusAccepted {
		return "202"
	}
	return fmt.Sprint(r.status, " ", r.body["detail"])
}

// books is how the order's money stands.
func (b *bench) books() string {
	b.t.Helper()
	return b.value(`SELECT concat_ws(' | ', (SELECT concat_ws(' ', o.status, o.refund_cents, o.refunded_cents) FROM orders AS o),
		(SELECT string_agg(r.refund_no || ' ' || r.status, ', ' ORDER BY r.refund_no) FROM refunds AS r),
		(SELECT string_agg(concat_ws(' ', l.number, l.cents), ', ' ORDER BY l.number) FROM shop_ledger AS l))`)
}

const (
	leftCents  = "money of this order has gone back that was not promised: the books say that %d cents are left, and a person has to look"
	bookedNo   = "409 money has gone back under this refund number already"
	strangeOne = "standard refund_succeeded NotPromised"
)

// Money went back at the provider's desk, and the customer asks for it as well.
func TestMoneyThatWentBackIsNotPromisedAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		cents int64
		asked map[string]string // by amount and number, in any order: they are refused
		then  int64             // what is promised in the end, 0 for nothing
		books string
	}{
		{"all of it", 10050, map[string]string{
			"r-1 10050": "409 " + fmt.Sprintf(leftCents, 0), "r-1 1": "409 " + fmt.Sprintf(leftCents, 0), "desk-1 10050": bookedNo,
		}, 0, "PAID 0 0 | desk-1 -10050, p-1 10050"},
		{"a part", 4000, map[string]string{
			"r-1 6051": "409 " + fmt.Sprintf(leftCents, 6050), "r-1 10050": "409 " + fmt.Sprintf(leftCents, 6050), "desk-1 4000": bookedNo,
		}, 6050, "PAID 6050 0 | r-1 REQUESTED | desk-1 -4000, p-1 10050"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.paid(orderA, "p-1")
			b.told("Compensated", noticeOf("refund.succeeded", orderA, "p-1", "desk-1", c.cents))
			b.told("Replayed", noticeOf("refund.succeeded", orderA, "p-1", "desk-1", c.cents))
			require.Equal(t, strangeOne, b.cases())
			require.Contains(t, b.value("SELECT detail FROM shop_cases"), "never promised: of this payment 0 cents have to go back")
			before := b.contents()
			for asked, want := range c.asked {
				number, amount, _ := strings.Cut(asked, " ")
				var cents int64
				_, err := fmt.Sscan(amount, &cents)
				require.NoError(t, err)
				require.Equal(t, want, b.asks(number, cents), asked)
			}
			require.Equal(t, before, b.contents())
			if c.then > 0 {
				require.Equal(t, "202", b.asks("r-1", c.then))
			}
			require.Equal(t, c.books, b.books())
		})
	}
}

// The desk and the customer at once: whoever has the order's lock first, the books
// are read behind it.
func TestMoneyGoesBackWhileTheCustomerAsks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.paid(orderA, "p-1")
	gate, err := b.pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = gate.Exec(t.Context(), "SELECT 1 FROM orders FOR UPDATE")
	require.NoError(t, err)
	told, asked := make(chan reply, 1), make(chan string, 1)
	go func() { told <- b.deliver(noticeOf("refund.succeeded", orderA, "p-1", "desk-1", 10050)) }()
	b.waiting(1)
	go func() { asked <- b.asks("r-1", 10050) }()
	b.waiting(2)
	require.NoError(t, gate.Rollback(t.Context()))
	require.Equal(t, "Compensated", (<-told).body["outcome"])
	require.Equal(t, "409 "+fmt.Sprintf(leftCents, 0), <-asked)
	require.Equal(t, "PAID 0 0 | desk-1 -10050, p-1 10050", b.books())
}

// A refund of ours comes back as another payment's money: the refund is done, and the
// order, which cannot count it, would wait for it for ever.
func TestRefundOfAnotherPaymentIsACase(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.paid(orderA, "p-1")
	require.Equal(t, "202", b.asks("r-1", 4000))
	b.told("Compensated", noticeOf("refund.succeeded", orderA, "p-other", "r-1", 4000))
	require.Equal(t, "standard refund_succeeded Mismatched", b.cases())
	require.Contains(t, b.value("SELECT detail FROM shop_cases"), `asked for of payment_no="p-1", and came of another; told: refund.succeeded payment_no="p-other"`)
	b.told("Mismatched", noticeOf("refund.succeeded", orderA, "p-1", "r-1", 4000))
	require.Equal(t, "202", b.asks("r-2", 6050), "the 4000 are not taken off twice")
	require.Equal(t, "REFUNDING 10050 0 | r-1 SUCCEEDED, r-2 REQUESTED | p-1 10050, r-1 -4000", b.books())
}

// The desk gives what was promised, while our own refund is on its way: the order
// counts the one, and is at a loss with the other.
func TestMoneyThatGoesBackBesideAPromiseIsACase(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.paid(orderA, "p-1")
	require.Equal(t, "202", b.asks("r-1", 4000))
	b.told("Applied", noticeOf("refund.succeeded", orderA, "p-1", "desk-1", 4000))
	require.Equal(t, strangeOne, b.cases())
	require.Equal(t, "409 "+fmt.Sprintf(leftCents, 2050), b.asks("r-2", 2051))
	b.told("Compensated", noticeOf("refund.succeeded", orderA, "p-1", "r-1", 4000))
	require.Equal(t, strangeOne+", standard refund_succeeded Compensated", b.cases())
	require.Equal(t, "PAID 4000 4000 | r-1 SUCCEEDED | desk-1 -4000, p-1 10050, r-1 -4000", b.books())
}

// What the provider refused to give back under our number, somebody gives at its
// desk: that is as it should be.
func TestMoneyThatWasRefusedAndThenGivenIsNoCase(t *testing.T) {
	t.Parallel()
	b := promised(t, newProvider(t, refuses))
	require.Equal(t, 1, b.round())
	b.told("Applied", noticeOf("refund.succeeded", orderA, "p-1", "desk-1", 4000))
	require.Equal(t, "none", b.cases())
	require.Equal(t, "202", b.asks("r-2", 6050))
}

// Money that the order does not keep goes back at the desk before we ask for it: the
// whole of it is all that there was to do, and of a part a person does the rest.
func TestMoneyThatIsNotKeptWentBackAlready(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		cents       int64
		told, after string // the cases
	}{
		{"all of it", 10050, "none", "none"},
		{"a part", 50, "none", "refunds refund.create NotPromised"},
		{"too much", 10051, strangeOne, strangeOne},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t)
			b := withRefunds(t, p)
			b.paid(orderA, "p-1")
			b.told("Compensated", paymentOf(orderA, "p-2", 10050))
			b.told("Compensated", noticeOf("refund.succeeded", orderA, "p-2", "desk-1", c.cents))
			require.Equal(t, c.told, b.cases())
			b.relayed()
			b.again()
			require.Equal(t, c.after, b.cases())
			require.Zero(t, b.round())
			require.Equal(t, "0 []", p.did())
			require.Equal(t, "202", b.asks("r-1", 10050), "the order's own payment is whole")
		})
	}
}

// A ledger of before the column learns each row's payment from what was told then.
func TestLedgerLearnsItsPayments(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.paid(orderA, "p-1")
	b.told("Compensated", paymentOf(orderA, "p-2", 10050))
	b.told("Compensated", noticeOf("refund.succeeded", orderA, "p-2", "desk-2", 10050))
	b.told("Compensated", noticeOf("refund.succeeded", orderA, "p-1", "desk-1", 50))
	text, err := migrations.FS.ReadFile("00017_shop_ledger_payment.sql")
	require.NoError(t, err)
	up, down, _ := strings.Cut(string(text), "-- +goose Down")
	before := b.contents()
	b.exec(down)
	b.exec(up)
	require.Equal(t, before, b.contents())
	require.Equal(t, "desk-1 p-1, desk-2 p-2, p-1 p-1, p-2 p-2",
		b.value("SELECT string_agg(number || ' ' || payment_no, ', ' ORDER BY number) FROM shop_ledger"))
	require.Equal(t, "202", b.asks("r-1", 10000))
}
