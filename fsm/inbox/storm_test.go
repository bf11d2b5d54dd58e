package inbox_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/fault"
	"github.com/pawl-go/pawl/fsm/inbox"
	"github.com/pawl-go/pawl/gen/order"
)

// Deliveries of many orders, each told several times under two names, half of them
// before their order is there, by several callers at once who fail at every point
// now and then, beside workers who fail as well: when the faults are over, each
// order is paid, and its mail is due, exactly once.
func TestStorm(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const orders, callers = 30, 6
	create := func(i int) {
		_, err := order.Create(t.Context(), b.pool, order.CreateParams{Key: order.Key(uuidOf(i)), CustomerID: "c", Sku: "s", Quantity: 1, TotalCents: total})
		require.NoError(t, err)
	}
	for i := range orders / 2 {
		create(i)
	}
	var all sync.WaitGroup
	for c := range callers {
		all.Go(func() {
			dice := rand.New(rand.NewPCG(7, uint64(c)))
			for range 3 * orders {
				i := dice.IntN(orders)
				n := told([]string{"evt_a", "evt_b"}[dice.IntN(2)]+itoa(int64(i)), "paid", "p"+itoa(int64(i)), total)
				n.Data.Order = uuidOf(i)
				if _, err := b.Receive(faulty(t.Context(), dice), "stripe", b.signed(n.body()), n.body()); err != nil {
					require.ErrorIs(t, err, fault.ErrInjected)
				}
			}
		})
	}
	all.Go(func() {
		dice := rand.New(rand.NewPCG(7, callers))
		for i := orders / 2; i < orders; i++ {
			create(i)
			b.exec(`UPDATE fsm_inbox SET due_at = now() - interval '1 second' WHERE due_at IS NOT NULL`)
			if _, err := (&inbox.Retry{Inbox: b.Inbox}).Once(faulty(t.Context(), dice)); err != nil {
				require.ErrorIs(t, err, fault.ErrInjected)
			}
		}
	})
	all.Wait()
	b.later()
	b.retry()
	require.Equal(t, orders, b.count(`SELECT count(*) FROM orders WHERE status = 'PAID'`))
	require.Equal(t, orders, b.count(`SELECT count(*) FROM fsm_outbox WHERE topic = 'order_paid'`))
	require.Len(t, b.list(inbox.Done), orders)
	require.Equal(t, orders, b.count(`SELECT count(*) FROM fsm_inbox`))
	require.Zero(t, b.count(`SELECT count(*) FROM fsm_deliveries WHERE recorded_at IS NULL`))
	require.Positive(t, b.count(`SELECT count(*) FROM fsm_deliveries WHERE verdicts = '{interrupted}'`), "some did fail")
}

// faulty fails at one of the points in about every third call.
func faulty(ctx context.Context, dice *rand.Rand) context.Context {
	points := []fault.Point{inbox.PointReceived, inbox.PointProcessed, inbox.PointRecorded}
	if n := dice.IntN(9); n < len(points) {
		return fault.With(ctx, points[n], fault.Fail)
	}
	return ctx
}
