package acceptance

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

// The order that lost a payment number to another is not touched: no version of
// its row was written. Its row lock is all that the wait left.
func TestALostPaymentNumberLeavesTheRow(t *testing.T) {
	t.Parallel()
	s := open(t, key1, key2)
	const row = `SELECT format('%s %s %s', xmin, ctid, o) FROM orders AS o WHERE order_id = $1`
	before := s.text(row, string(key2))
	got := s.race(paid(key1, "P1", due), paid(key2, "P1", due))
	require.NoError(t, got.err)
	require.Equal(t, "Mismatched PENDING 1", got.told)
	require.Equal(t, before, s.text(row, string(key2)))
	require.Equal(t, "PAID 2 100/0", s.life(key1).Row)

	locked := s.tuple(key2)
	s.says("Mismatched PENDING 1", paid(key2, "P1", due))
	require.Equal(t, locked, s.tuple(key2), "told again, not even a lock")
	s.says("Applied PAID 2", paid(key2, "P2", due))
}

// A winner that rolls back leaves its payment number free.
func TestALostWinnerLeavesItsFactFree(t *testing.T) {
	t.Parallel()
	s := open(t)
	for _, loser := range []order.Key{key1, key2} {
		s.again(key1, key2)
		held := s.begin(isolated(""))
		_, err := paid(key1, "P1", due)(t.Context(), held)
		require.NoError(t, err)
		conn := s.conn()
		done := start(t.Context(), conn, paid(loser, "P1", due))
		waitUntilBlocked(t, s.pool, pidOf(conn), done)
		require.NoError(t, held.Rollback(t.Context()))
		require.Equal(t, answer{told: "Applied PAID 2"}, finish(t, done))
		require.Equal(t, life{"PAID 2 100/0", "payment_succeeded:PENDING>PAID", "P1=Applied", "order_paid"}, s.life(loser))
	}
}

func TestIdentityIsAnsweredBeforeTheCell(t *testing.T) {
	t.Parallel()
	s := open(t, key1, key2)
	s.must(event(order.Pay, key1), payFailed(key1, "A1"), event(order.Pay, key1))
	s.says("Replayed PAYING 4", payFailed(key1, "A1")) // the cell would move it
	s.says("Applied PAID 5", paid(key1, "P1", due))
	s.says("Ignored PAID 5", payFailed(key1, "A2"))
	s.must(event(order.Ship, key1))
	s.says("Replayed SHIPPED 6", paid(key1, "P1", due))

	// No row comes first of all, known identity or not.
	_, err := paid(key3, "P1", due)(t.Context(), s.pool)
	require.ErrorIs(t, err, fsm.ErrNotFound)
	_, err = paid(key3, "P9", due)(t.Context(), s.pool)
	require.ErrorIs(t, err, fsm.ErrNotFound)
	require.False(t, fsm.Retryable(err))

	// The same text is another fact of another event.
	s.says("Compensated SHIPPED 6", returned(key1, "P1", "P1", 1))

	// Facts live as long as their row.
	s.exec(`DELETE FROM orders WHERE order_id = $1`, string(key1))
	s.says("Applied PAID 2", paid(key2, "P1", due))
}

func TestIdentitiesThatCannotBe(t *testing.T) {
	t.Parallel()
	s := open(t, key1)
	for name, no := range map[string]string{
		"empty": "", "too long": strings.Repeat("x", fsm.MaxIdentity+1), "not UTF-8": "P\xff", "NUL": "P\x00",
	} {
		_, err := paid(key1, no, due)(t.Context(), s.pool)
		require.ErrorIs(t, err, fsm.ErrArgument, name)
	}
	s.says("Applied PAID 2", paid(key1, strings.Repeat("x", fsm.MaxIdentity), due))
}

// What a result says of the transition behind it.
func TestTransitionOfAResult(t *testing.T) {
	t.Parallel()
	s := open(t, key1, key2)
	pay := func(key order.Key, no string, cents int64) order.Result {
		r, err := order.PaymentSucceeded(t.Context(), s.pool, key, order.PaymentSucceededParams{PaymentNo: no, PaidCents: cents})
		require.NoError(t, err)
		return r
	}
	transition := func(event string, o fsm.Outcome, from, to order.State, version int64) fsm.Transition[order.State] {
		return fsm.Transition[order.State]{Event: event, Outcome: o, From: from, To: to, Version: version}
	}
	wrong := transition("payment_succeeded", fsm.Compensated, order.StatePending, order.StatePending, 1)
	right := transition("payment_succeeded", fsm.Applied, order.StatePending, order.StatePaid, 2)
	require.Equal(t, wrong, pay(key1, "P1", 99).Transition)
	require.Equal(t, right, pay(key1, "P2", due).Transition)
	s.must(event(order.Ship, key1))
	shipped := transition("ship", fsm.Applied, order.StatePaid, order.StateShipped, 3)

	require.Equal(t, wrong, pay(key1, "P1", 99).Transition, "the first result, not the last")
	require.Equal(t, right, pay(key1, "P2", due).Transition)
	require.Equal(t, right, pay(key1, "P2", 99).Transition, "Mismatched by its fingerprint")

	r, err := order.Cancel(t.Context(), s.pool, key1)
	require.NoError(t, err)
	require.Equal(t, "Rejected SHIPPED 3", told(r))
	require.Equal(t, shipped, r.Transition)
	s.must(event(order.Receive, key1))
	r, err = order.Ship(t.Context(), s.pool, key1)
	require.NoError(t, err)
	require.Equal(t, "Replayed COMPLETED 4", told(r))
	require.Equal(t, shipped, r.Transition, "the ship that is told again, not the receive after it")

	// Another row's fact stays that row's secret.
	r = pay(key2, "P2", due)
	require.Equal(t, "Mismatched PENDING 1", told(r))
	require.Zero(t, r.Transition)
	require.Equal(t, s.row(key2), r.Row)
}
