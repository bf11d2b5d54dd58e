package acceptance

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

func returned(key order.Key, no, payment string, cents int64, options ...fsm.Option) act {
	return func(ctx context.Context, db fsm.DB) (string, error) {
		r, err := order.RefundSucceeded(ctx, db, key,
			order.RefundSucceededParams{RefundNo: no, PaymentNo: payment, AmountCents: cents}, options...)
		return told(r), err
	}
}

// refundingOfUnknown is an order in REFUNDING of which nobody noted the payment:
// for a refund of all, payment_no = … is NULL and the amounts are right.
func refundingOfUnknown(t *testing.T) *shop {
	s := open(t, key1)
	s.must(event(corrected(order.StateRefunding), key1))
	s.exec(`UPDATE orders SET paid_cents = 100, refund_cents = 100`)
	require.Equal(t, "unknown", s.text(`SELECT CASE WHEN (payment_no = 'P1' AND refunded_cents + 100 = paid_cents) IS NULL THEN 'unknown' END FROM orders`))
	return s
}

func TestANullGuardIsNotTrue(t *testing.T) {
	t.Parallel()
	t.Run("leaves a trace", func(t *testing.T) {
		t.Parallel()
		s := refundingOfUnknown(t)
		s.says("Compensated REFUNDING 2", returned(key1, "R1", "P1", due))
		s.says("Replayed REFUNDING 2", returned(key1, "R1", "P1", due))
		require.Equal(t, life{"REFUNDING 2 100/100", "correct:PENDING>REFUNDING", "R1=Compensated", ""}, s.life(key1))
	})
	t.Run("naive", func(t *testing.T) {
		t.Parallel()
		s := refundingOfUnknown(t)
		s.says("moved 0, recorded 0", statement(`WITH moved AS (
			UPDATE orders SET status = 'REFUNDED', version = version + 1
			WHERE order_id = $1 AND status = 'REFUNDING' AND (payment_no = $2 AND refunded_cents + 100 = paid_cents) RETURNING 1
			), fact AS (
			INSERT INTO order_facts (event, identity, order_id, fingerprint, outcome, from_status, to_status, version, at)
			SELECT 'refund_succeeded', 'R1', order_id, '', 'Compensated', status, status, version, now() FROM orders
			WHERE order_id = $1 AND status = 'REFUNDING' AND NOT (payment_no = $2 AND refunded_cents + 100 = paid_cents) RETURNING 1)
			SELECT format('moved %s, recorded %s', (SELECT count(*) FROM moved), (SELECT count(*) FROM fact))`, string(key1), "P1"))
	})
}

// A wrong amount is no success and no silence.
func TestAWrongAmountLeavesATrace(t *testing.T) {
	t.Parallel()
	t.Run("recorded and owed back", func(t *testing.T) {
		t.Parallel()
		s := open(t, key1)
		s.says("Compensated PENDING 1", paid(key1, "P1", 99))
		s.says("Applied PAID 2", paid(key1, "P2", due))
		s.says("Replayed PAID 2", paid(key1, "P1", 99))
		s.says("Mismatched PAID 2", paid(key1, "P1", due))
		s.says("Compensated PAID 2", paid(key1, "P3", due))
		require.Equal(t, life{
			"PAID 2 100/0", "payment_succeeded:PENDING>PAID",
			"P1=Compensated P2=Applied P3=Compensated", "refund_due order_paid refund_due",
		}, s.life(key1))
	})
	t.Run("naive", func(t *testing.T) {
		t.Parallel()
		s := open(t, key1)
		s.says("success", func(ctx context.Context, db fsm.DB) (string, error) {
			_, err := db.Exec(ctx, `UPDATE orders SET status = 'PAID', version = version + 1
				WHERE order_id = $1 AND status IN ('PENDING', 'PAYING') AND total_cents = $2`, string(key1), 99)
			return "success", err
		})
		require.Equal(t, life{Row: "PENDING 1 0/0"}, s.life(key1))
	})
}

// The amounts around the bound, one after another, and what each call names.
func TestRefundsAreCountedOnTheRow(t *testing.T) {
	t.Parallel()
	s := open(t, key1)
	s.must(paid(key1, "P1", due))
	s.says("GuardFailed PAID 2", refund(key1, "R1", 101))
	s.says("Applied PAID 3", refund(key1, "R2", 60))
	r, err := order.Refund(t.Context(), s.pool, key1, order.RefundParams{RefundNo: "R3", AmountCents: 41})
	require.NoError(t, err)
	require.Equal(t, "GuardFailed PAID 3", told(r))
	require.Equal(t, []string{"refund_is_part", "refund_is_rest"}, []string{r.Guards[0].Name, r.Guards[1].Name})
	require.Equal(t, "this refund returns all that is left", r.Guards[1].Describe)
	var refused *fsm.RefusedError
	require.ErrorAs(t, r.Err(), &refused)
	s.says("Applied REFUNDING 4", refund(key1, "R3", 40)) // a refused fact is judged afresh
	s.says("Rejected REFUNDING 4", refund(key1, "R4", 1))
	s.says("Applied REFUNDING 5", returned(key1, "R2", "P1", 60))
	s.says("Compensated REFUNDING 5", returned(key1, "R9", "P9", 40))
	s.says("Applied REFUNDED 6", returned(key1, "R3", "P1", 40))
}

func TestAmountsMustBePositive(t *testing.T) {
	t.Parallel()
	s := open(t, key1)
	s.must(paid(key1, "P1", due))
	before := s.life(key1)
	for _, cents := range []int64{0, -1} {
		for _, call := range []act{paid(key1, "P2", cents), refund(key1, "R1", cents), returned(key1, "R1", "P1", cents)} {
			_, err := call(t.Context(), s.pool)
			require.ErrorIs(t, err, fsm.ErrArgument)
			require.False(t, fsm.Retryable(err))
		}
	}
	require.Equal(t, before, s.life(key1))
}
