package acceptance

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

func expect(v int64) fsm.Option { return fsm.ExpectVersion(v) }

// Somebody read PENDING, version 1. Meanwhile the order was in PAYING and came
// back. Only the version can tell.
func TestAwayAndBack(t *testing.T) {
	t.Parallel()
	awayAndBack := func(t *testing.T) *shop {
		s := open(t, key1)
		s.says("Applied PAYING 2", event(order.Pay, key1))
		s.says("Applied PENDING 3", payFailed(key1, "P1"))
		return s
	}
	t.Run("with the expected version", func(t *testing.T) {
		t.Parallel()
		s := awayAndBack(t)
		before := s.tuple(key1)
		s.says("Stale PENDING 3", event(order.Pay, key1, expect(1)))
		s.says("Stale PENDING 3", event(order.Cancel, key1, expect(1)))
		s.says("Stale PENDING 3", event(order.Expire, key1, expect(2)))
		s.says("Stale PENDING 3", paid(key1, "P2", due, expect(1)))
		s.says("Stale PENDING 3", event(corrected(order.StatePaid), key1, expect(1)))
		require.Equal(t, before, s.tuple(key1))
		s.says("Applied PAYING 4", event(order.Pay, key1, expect(3)))
	})
	t.Run("without", func(t *testing.T) {
		t.Parallel()
		awayAndBack(t).says("Applied PAYING 4", event(order.Pay, key1))
	})
	t.Run("naive", func(t *testing.T) {
		t.Parallel()
		awayAndBack(t).says("Applied CANCELLED 4", statement(`UPDATE orders SET status = 'CANCELLED', version = version + 1
			WHERE order_id = $1 AND status = 'PENDING' RETURNING format('Applied %s %s', status, version)`, string(key1)))
	})
	t.Run("staged", func(t *testing.T) {
		t.Parallel()
		s := open(t, key1)
		got := s.race(both(event(order.Pay, key1), payFailed(key1, "P1")), event(order.Pay, key1, expect(1)))
		require.NoError(t, got.err)
		require.Equal(t, "Stale PENDING 3", got.told)
	})
}

// The version is compared where the event would move the row, and nowhere else.
func TestWhereVersionsAreCompared(t *testing.T) {
	t.Parallel()
	s := open(t, key1)
	s.must(paid(key1, "P1", due))
	for _, tc := range []struct {
		told string
		call act
	}{
		{"Replayed PAID 2", paid(key1, "P1", due, expect(9))},
		{"Mismatched PAID 2", paid(key1, "P1", 99, expect(9))},
		{"Compensated PAID 2", paid(key1, "P2", due, expect(9))},
		{"Rejected PAID 2", event(order.Pay, key1, expect(9))},
		{"Ignored PAID 2", event(order.Expire, key1, expect(9))},
		{"GuardFailed PAID 2", refund(key1, "R1", 101, expect(9))},
		{"Stale PAID 2", refund(key1, "R1", 60, expect(9))},
		{"Stale PAID 2", event(order.Ship, key1, expect(1))},
		{"Applied SHIPPED 3", event(order.Ship, key1, expect(2))},
		{"Replayed SHIPPED 3", event(order.Ship, key1, expect(2))},
	} {
		s.says(tc.told, tc.call)
	}
	require.Equal(t, "P1=Applied P2=Compensated", s.life(key1).Facts, "Stale and GuardFailed leave no fact")
}
