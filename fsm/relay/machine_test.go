package relay_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/relay"
	"github.com/pawl-go/pawl/gen/order"
)

// With the statements of a real machine, called from four sides at once while two
// relays are at work: transitions, facts that move nothing, a correction and a
// creation of one order arrive in the order of their ids, and none is missing.
func TestTheCallsOfAMachine(t *testing.T) {
	t.Parallel()
	const rounds, sides = 12, 4
	pool := open(t)
	b := &broker{}
	for range 2 {
		running(t, &relay.Relay{DB: pool, Publisher: b, Batch: 3, Every: 1})
	}
	ctx := t.Context()
	keys := []order.Key{"00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"}
	must := func(r order.Result, err error) {
		require.NoError(t, err)
		require.True(t, r.Outcome.OK(), "%s", r.Outcome)
	}
	for _, k := range keys {
		must(order.Create(ctx, pool, order.CreateParams{Key: k, CustomerID: "c", Sku: "tea", Quantity: 1, TotalCents: 100}))
		must(order.Pay(ctx, pool, k))
	}
	together(sides, func(int) { // transitions, each of a version of its own
		for range rounds {
			for _, k := range keys {
				must(order.QueryPayment(ctx, pool, k))
			}
		}
	})
	together(sides, func(side int) { // one moves the order, all others are compensated at its version
		for i := range rounds {
			for _, k := range keys {
				must(order.PaymentSucceeded(ctx, pool, k, order.PaymentSucceededParams{PaymentNo: fmt.Sprint(k, side, i), PaidCents: 100}))
			}
		}
	})
	for _, k := range keys {
		must(order.Correct(ctx, pool, k, order.StatePaying, fsm.Correction{Actor: "ann", Reason: "ticket 9"}))
		must(order.QueryPayment(ctx, pool, k))
	}
	untilEmpty(t, pool)

	for _, k := range keys {
		var topics []string
		rows := []int64{}
		for _, m := range b.accepted {
			if m.Key == string(k) {
				topics, rows = append(topics, m.Topic), append(rows, m.Row)
			}
		}
		require.True(t, slices.IsSorted(rows))
		require.Len(t, slices.Compact(rows), 1+rounds*sides+rounds*sides+1)
		require.True(t, slices.IsSorted(b.told(string(k))), "versions, too")
		require.Equal(t, "order_created", topics[0])
		require.Equal(t, "payment_query_due", topics[rounds*sides])
		require.Equal(t, "order_paid", topics[rounds*sides+1])
		require.Equal(t, "refund_due", topics[2*rounds*sides])
		require.Equal(t, "payment_query_due", topics[2*rounds*sides+1])
	}
}

// together runs do from several sides at once.
func together(n int, do func(side int)) {
	var wg sync.WaitGroup
	for side := range n {
		wg.Go(func() { do(side) })
	}
	wg.Wait()
}
