package storm

import (
	"maps"
	"slices"
	"time"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

// payWithin is how long a new order waits for its customer.
const payWithin = 30 * time.Minute

// account is what the model knows of one order.
type account struct {
	status             order.State // empty before the order is there
	since              time.Duration
	total, paid        int64
	promised, returned int64 // to be given back, given back
	payment            string
	delivered          bool // pieces have left the stock, points are booked
	in                 int64
}

// fact is what counts once.
type fact struct {
	event  order.Event
	number string
}

// meaning is what a fact must say again when it is told again.
type meaning struct {
	order   int
	payment string
	amount  int64
}

// due is money that has to go back to a customer.
type due struct {
	order  int
	event  order.Event
	number string
	amount int64
}

// world is the model: one story's orders as they should be, judged by rules that
// are written down here a second time, by hand.
type world struct {
	orders   map[int]account
	facts    map[fact]meaning
	attempts map[string]int // which order a payment number was begun for
	refunds  map[string]int // which order a refund number was begun for
	dues     []due
	cases    []string // deliveries that a person looks into
	told     map[answer]int
	again    []step // told before their order was there
}

func newWorld(s story, purchases []purchase) *world {
	w := &world{orders: map[int]account{}, facts: map[fact]meaning{}, attempts: map[string]int{}, refunds: map[string]int{}, told: map[answer]int{}}
	for _, i := range s.orders {
		w.orders[i] = account{total: purchases[i].total}
	}
	return w
}

func (w *world) clone() *world {
	return &world{
		orders: maps.Clone(w.orders), facts: maps.Clone(w.facts), attempts: maps.Clone(w.attempts), refunds: maps.Clone(w.refunds),
		dues: slices.Clone(w.dues), cases: slices.Clone(w.cases), told: maps.Clone(w.told),
	}
}

// tell is one request at a moment; the answer is part of the world.
func (w *world) tell(a action, now time.Duration) fsm.Outcome {
	o := w.judge(a, now)
	if (o == fsm.Mismatched && a.callback() || w.unpromised(a, o)) && !slices.Contains(w.cases, a.delivery) {
		w.cases = append(w.cases, a.delivery)
	}
	if o != toldNotYet && a.event != order.EventExpire {
		w.told[answer{a.question(), asTold(a.event, o)}]++
	}
	return o
}

// unpromised reports whether money of the order's own payment went back, in a refund
// that nobody asked for.
func (w *world) unpromised(a action, o fsm.Outcome) bool {
	_, begun := w.refunds[a.number]
	return a.event == order.EventRefundSucceeded && o == fsm.Compensated && !begun && w.orders[a.order].payment == a.payment
}

func (w *world) judge(a action, now time.Duration) fsm.Outcome {
	if a.trick == forged || a.trick == outdated {
		return toldRefused
	}
	o := w.orders[a.order]
	if a.event == eventCreate {
		if o.status != "" {
			return fsm.Replayed
		}
		o.status, o.since = order.StatePending, now
		w.orders[a.order] = o
		return fsm.Applied
	}
	if o.status == "" {
		return toldNotYet
	}
	if w.foreign(a) {
		return fsm.Mismatched
	}
	f, m := fact{a.event, a.number}, meaningOf(a)
	if hasIdentity(a.event) {
		if known, ok := w.facts[f]; ok && known == m {
			return fsm.Replayed
		} else if ok {
			return fsm.Mismatched
		}
	}
	next, outcome := o.after(a, now)
	if a.trick == oldVersion && outcome == fsm.Applied {
		return fsm.Stale
	}
	if hasIdentity(a.event) && (outcome == fsm.Applied || outcome == fsm.Compensated) {
		w.facts[f] = m
	}
	w.follow(a, outcome, &next)
	w.orders[a.order] = next
	return outcome
}

// foreign reports whether the number was begun for another order.
func (w *world) foreign(a action) bool {
	payment := a.payment
	if a.event == order.EventPaymentSucceeded || a.event == order.EventPaymentFailed {
		payment = a.number
	}
	if of, begun := w.attempts[payment]; a.callback() && begun && of != a.order {
		return true
	}
	of, begun := w.refunds[a.number]
	return a.callback() && begun && of != a.order
}

// follow does what an outcome brings beside the transition.
func (w *world) follow(a action, outcome fsm.Outcome, o *account) {
	applied := outcome == fsm.Applied
	switch {
	case a.event == order.EventPay && (applied || outcome == fsm.Replayed):
		w.attempts[a.number] = a.order
	case a.event == order.EventRefund && applied:
		w.refunds[a.number] = a.order
		w.dues = append(w.dues, due{a.order, a.event, a.number, a.amount})
	case a.event == order.EventPaymentSucceeded:
		o.in += a.amount
		if applied && o.status == order.StatePaid {
			o.delivered = true
			return
		}
		w.dues = append(w.dues, due{a.order, a.event, a.number, a.amount})
	}
}

func hasIdentity(e order.Event) bool {
	switch e {
	case order.EventPaymentSucceeded, order.EventPaymentFailed, order.EventRefund, order.EventRefundSucceeded, order.EventRefundFailed:
		return true
	}
	return false
}

func meaningOf(a action) meaning {
	m := meaning{order: a.order}
	switch a.event {
	case order.EventPaymentSucceeded, order.EventRefund:
		m.amount = a.amount
	case order.EventRefundSucceeded:
		m.amount, m.payment = a.amount, a.payment
	}
	return m
}
