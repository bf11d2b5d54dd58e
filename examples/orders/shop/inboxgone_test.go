package shop_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/examples/orders/shop"
	"github.com/pawl-go/pawl/fsm/lock"
)

// Whatever becomes of the lock, an event is settled, and once.
func TestNoEventIsLostWithTheLock(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		turn string
		lock *faulty
	}{
		{"held", &faulty{runs: true}}, {"late", &faulty{err: lock.ErrNotAcquired}},
		{"away", &faulty{err: lock.ErrUnavailable}}, {"lost", &faulty{runs: true, err: lock.ErrLost}},
	} {
		t.Run(c.turn, func(t *testing.T) {
			t.Parallel()
			b := newKept(t, func(config *shop.Config) { config.Lock = c.lock })
			b.awaited()
			b.kept("msg_1", paymentOf(orderA, "p-1", 10050))
			b.kept("msg_1", paymentOf(orderA, "p-1", 10050))
			b.once()
			require.Equal(t, []string{"order:" + orderA}, c.lock.names)
			require.Equal(t, []shop.TurnCount{{Turn: c.turn, Count: 1}}, b.service.Counters().Turns)
		})
	}
}

// blocked is a locker whose lock others hold for ever.
type blocked struct{}

func (blocked) With(ctx context.Context, _ string, _ func(context.Context, lock.Held) error) error {
	<-ctx.Done()
	return ctx.Err()
}

// A lock that is not to be had takes a third of the time; in the rest the event is
// settled all the same.
func TestTheLockLeavesTimeToSettle(t *testing.T) {
	t.Parallel()
	b := newKept(t, func(config *shop.Config) { config.Lock, config.Timeout = blocked{}, 6*time.Second })
	b.awaited()
	b.kept("msg_1", paymentOf(orderA, "p-1", 10050))
	b.once()
	require.Equal(t, "standard msg_1 done Applied", b.events())
	require.Equal(t, []shop.TurnCount{{Turn: "late", Count: 1}}, b.service.Counters().Turns)
}

// The inbox's rows were removed by hand, and the provider tells it all again: the
// machine knows the payment.
func TestWithoutTheInboxTheMachineKeepsItOnce(t *testing.T) {
	t.Parallel()
	b := newKept(t)
	b.awaited()
	body := paymentOf(orderA, "p-1", 10050)
	b.kept("msg_1", body)
	b.exec("DELETE FROM fsm_inbox; DELETE FROM fsm_deliveries")
	b.kept("msg_1", body)
	b.once()
	require.Equal(t, "standard msg_1 done Replayed", b.events())
}

// … and the machine's memory with them: the ledger refuses, what the machine did is
// undone, and a person has the case and the event.
func TestWithoutInboxAndMachineTheLedgerKeepsItOnce(t *testing.T) {
	t.Parallel()
	b := newKept(t)
	b.awaited()
	body := paymentOf(orderA, "p-1", 10050)
	b.kept("msg_1", body)
	b.exec("DELETE FROM fsm_inbox; DELETE FROM fsm_deliveries")
	b.forget()
	for range 2 {
		b.kept("msg_1", body)
	}
	require.Equal(t, "PAYING", b.state(orderA), "as somebody left it by hand")
	require.Equal(t, []string{"8", "ann 100", "order_paid"}, b.effects())
	require.Equal(t, "1 10050", b.value("SELECT count(*) || ' ' || sum(cents) FROM shop_ledger"))
	require.Equal(t, "standard msg_1 dead Mismatched", b.events())
	require.Equal(t, "1", b.value("SELECT count(*) FROM shop_cases WHERE detail LIKE 'the ledger has this number already%'"))
	require.Equal(t, "0", b.value("SELECT count(*) FROM order_facts"), "none of the attempt is left")
	require.Contains(t, b.service.Counters().Outcomes, shop.OutcomeCount{Machine: "order", Event: "payment_succeeded", Outcome: "Mismatched", Count: 1})
}

// The machine's memory alone was removed: the inbox knows the event, and the ledger
// stands behind it for one under another id.
func TestWithoutTheMachineInboxAndLedgerKeepItOnce(t *testing.T) {
	t.Parallel()
	b := newKept(t)
	b.awaited()
	b.kept("msg_1", paymentOf(orderA, "p-1", 10050))
	b.forget()
	b.kept("msg_1", paymentOf(orderA, "p-1", 10050))
	b.kept("msg_2", strings.Replace(paymentOf(orderA, "p-1", 10050), "10050", "10049", 1))
	require.Equal(t, []string{"8", "ann 100", "order_paid"}, b.effects())
	require.Equal(t, "1 10050", b.value("SELECT count(*) || ' ' || sum(cents) FROM shop_ledger"))
	require.Equal(t, "standard msg_1 done Applied, standard msg_2 dead Mismatched", b.events())
}
