package storm

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

// say is a step of a test's own story.
func say(wave waveNo, e order.Event, i int, number string, amount int64, copies int) step {
	return step{wave: wave, copies: copies, action: action{event: e, order: i, number: number, amount: amount, delivery: "evt-" + number}}
}

// scriptOf makes a script of stories, with an order of 100.00 for each that they
// name.
func scriptOf(stories ...story) *Script {
	s := &Script{stories: stories, stock: []shelf{{"mug", 10}}}
	n := 0
	for i := range stories {
		for _, o := range stories[i].orders {
			s.purchases = append(s.purchases, purchase{id: fmt.Sprintf("00000000-0000-4000-8000-%012d", o), customer: "ann", sku: "mug", quantity: 2, total: 10_000})
			stories[i].steps = append([]step{say(waveOrders, eventCreate, o, "", 0, 1)}, stories[i].steps...)
			n++
		}
	}
	return s
}

// fiveOrders are worked out by hand in the test that follows.
func fiveOrders() *Script {
	back := say(waveReturns, order.EventRefundSucceeded, 3, "r1", 4_000, 2)
	back.payment = "p4"
	return scriptOf(
		story{name: "paid", orders: []int{0}, steps: []step{
			say(waveChoice, order.EventPay, 0, "p1", 0, 1),
			say(wavePayments, order.EventPaymentSucceeded, 0, "p1", 10_000, 3),
		}},
		story{name: "a wrong amount, then the right one, then a second", orders: []int{1}, steps: []step{
			say(wavePayments, order.EventPaymentSucceeded, 1, "p2a", 9_900, 2),
			say(waveRetries, order.EventPaymentSucceeded, 1, "p2b", 10_000, 1),
			say(waveLate, order.EventPaymentSucceeded, 1, "p2c", 10_000, 1),
		}},
		story{name: "expired, then paid", orders: []int{2}, steps: []step{
			say(waveLate, order.EventPaymentSucceeded, 2, "p3", 10_000, 2),
		}},
		story{name: "refunded in part", orders: []int{3}, steps: []step{
			say(wavePayments, order.EventPaymentSucceeded, 3, "p4", 10_000, 1),
			say(waveRefunds, order.EventRefund, 3, "r1", 4_000, 2),
			back,
		}},
		story{name: "told with another amount", orders: []int{4}, steps: []step{
			say(wavePayments, order.EventPaymentSucceeded, 4, "p5", 10_000, 1),
			say(waveRetries, order.EventPaymentSucceeded, 4, "p5", 12_000, 2),
		}},
	)
}

func TestOracleOnFiveOrdersByHand(t *testing.T) {
	t.Parallel()
	s := fiveOrders()
	ends := map[string]end{
		s.purchases[0].id: {order.StatePaid, 10_000, 0, 0, "p1"},
		s.purchases[1].id: {order.StatePaid, 10_000, 0, 0, "p2b"},
		s.purchases[2].id: {order.StateRefunding, 10_000, 10_000, 0, "p3"},
		s.purchases[3].id: {order.StatePaid, 10_000, 4_000, 4_000, "p4"},
		s.purchases[4].id: {order.StatePaid, 10_000, 0, 0, "p5"},
	}
	f := foresee(s, newLog(), ends)

	require.Empty(t, f.strangeEnds)
	// p1, p2a + p2b + p2c, p3, p4, p5; what p5 said the second time is no payment.
	require.Equal(t, []int64{10_000, 29_900, 10_000, 10_000, 10_000}, f.ins)
	require.Equal(t, int64(69_900), f.in)
	// One for each of the seven payments, r1 asked for, r1 given.
	require.Equal(t, int64(9), f.facts)
	require.Equal(t, []string{"p2a", "p2c", "p3"}, f.dueNumbers)
	require.Equal(t, []int64{9_900, 10_000, 10_000}, f.dueAmounts)
	require.Equal(t, []string{"evt-p5"}, f.cases)

	// Kept is 10,000 three times and 6,000; owed are the dues and the refund.
	var kept, owed int64
	for _, e := range ends {
		kept += e.paid - e.promised
	}
	for _, amount := range f.dueAmounts {
		owed += amount
	}
	require.Equal(t, int64(36_000), kept)
	require.Equal(t, int64(33_900), owed+4_000)
	require.Equal(t, f.in, kept+owed+4_000)

	told := outcomesOf(s.stories[1], s.purchases)[0].told
	require.Equal(t, map[answer]int{
		{question{order: 1, event: eventCreate}, toldDone}:                                 1,
		{question{1, order.EventPaymentSucceeded, "p2a", 9_900, honest}, fsm.Compensated}:  1,
		{question{1, order.EventPaymentSucceeded, "p2a", 9_900, honest}, fsm.Replayed}:     1,
		{question{1, order.EventPaymentSucceeded, "p2b", 10_000, honest}, fsm.Applied}:     1,
		{question{1, order.EventPaymentSucceeded, "p2c", 10_000, honest}, fsm.Compensated}: 1,
	}, told)
}

func TestOracleCountsStrangeEndsAndAnswers(t *testing.T) {
	t.Parallel()
	s := scriptOf(story{orders: []int{0}, steps: []step{say(wavePayments, order.EventPaymentSucceeded, 0, "p", 10_000, 2)}})
	l := newLog()
	l.told = outcomesOf(s.stories[0], s.purchases)[0].clone().told
	paid := map[string]end{s.purchases[0].id: {order.StatePaid, 10_000, 0, 0, "p"}}

	f := foresee(s, l, paid)
	require.Empty(t, f.strangeAnswers)
	require.Empty(t, f.strangeEnds)

	f = foresee(s, l, map[string]end{s.purchases[0].id: {order.StatePaid, 20_000, 0, 0, "p"}})
	require.Empty(t, f.strangeAnswers)
	require.Equal(t, []string{s.purchases[0].id}, f.strangeEnds)

	l.told[answer{say(0, order.EventPaymentSucceeded, 0, "p", 10_000, 0).question(), fsm.Applied}]++
	require.Len(t, foresee(s, l, paid).strangeAnswers, 1)
}

func TestRacesEndInEachWayThatTheyCan(t *testing.T) {
	t.Parallel()
	type states []order.State
	for name, c := range map[string]struct {
		story story
		want  []states
	}{
		"cancel against payment": {
			story{orders: []int{0}, steps: []step{
				say(wavePayments, order.EventCancel, 0, "", 0, 1),
				say(wavePayments, order.EventPaymentSucceeded, 0, "p", 10_000, 3),
			}},
			[]states{{order.StateRefunding}, {order.StatePaid}},
		},
		"deadline against payment": {
			story{orders: []int{0}, steps: []step{say(waveDeadlines, order.EventPaymentSucceeded, 0, "p", 10_000, 3)}},
			[]states{{order.StatePaid}, {order.StateRefunding}},
		},
		"one number for two orders": {
			story{orders: []int{0, 1}, steps: []step{
				say(wavePayments, order.EventPaymentSucceeded, 0, "p", 10_000, 2),
				say(wavePayments, order.EventPaymentSucceeded, 1, "p", 10_000, 2),
			}},
			// The other order stays as it was, and then expires.
			[]states{{order.StatePaid, order.StateCancelled}, {order.StateCancelled, order.StatePaid}},
		},
		"a callback that may come before its order": {
			story{orders: []int{0}, steps: []step{say(waveOrders, order.EventPaymentSucceeded, 0, "p", 10_000, 2)}},
			[]states{{order.StatePaid}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scriptOf(c.story)
			var got []states
			for _, w := range outcomesOf(s.stories[0], s.purchases) {
				var ends states
				for _, i := range c.story.orders {
					ends = append(ends, w.orders[i].status)
				}
				// Two ways may differ in nothing but when it happened.
				if !slices.ContainsFunc(got, func(g states) bool { return slices.Equal(g, ends) }) {
					got = append(got, ends)
				}
			}
			require.ElementsMatch(t, c.want, got)
		})
	}
}

func TestTwoRefundsOf60OutOf100(t *testing.T) {
	t.Parallel()
	s := scriptOf(story{orders: []int{0}, steps: []step{
		say(wavePayments, order.EventPaymentSucceeded, 0, "p", 10_000, 1),
		say(waveRefunds, order.EventRefund, 0, "r1", 6_000, 1),
		say(waveRefunds, order.EventRefund, 0, "r2", 6_000, 1),
	}})
	ways := outcomesOf(s.stories[0], s.purchases)
	require.Len(t, ways, 2)
	for _, w := range ways {
		require.Equal(t, end{order.StatePaid, 10_000, 6_000, 0, "p"}, w.orders[0].end())
		require.Len(t, w.dues, 1)
	}
	require.NotEqual(t, ways[0].dues, ways[1].dues)
}

// Money of a payment that the order keeps went back, and nobody had asked for it: that
// is for a person. Of one that it does not keep, all has to go back.
func TestOracleExpectsACaseOfMoneyThatNobodyAskedFor(t *testing.T) {
	t.Parallel()
	back := func(number, payment string) step {
		s := say(waveReturns, order.EventRefundSucceeded, 0, number, 10_000, 2)
		s.payment = payment
		return s
	}
	s := scriptOf(story{name: "both go back", orders: []int{0}, steps: []step{
		say(wavePayments, order.EventPaymentSucceeded, 0, "p1", 10_000, 1),
		say(waveLate, order.EventPaymentSucceeded, 0, "p2", 10_000, 1),
		back("b1", "p1"), back("b2", "p2"),
	}})
	f := foresee(s, newLog(), map[string]end{s.purchases[0].id: {order.StatePaid, 10_000, 0, 0, "p1"}})
	require.Empty(t, f.strangeEnds)
	require.Equal(t, []string{"evt-b1"}, f.cases)
}
