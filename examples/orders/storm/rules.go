package storm

import (
	"time"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

// after is what an action that is no old news makes of an order.
func (o account) after(a action, now time.Duration) (account, fsm.Outcome) {
	was := o
	enter := func(s order.State) (account, fsm.Outcome) {
		o.status, o.since = s, now
		return o, fsm.Applied
	}
	switch a.event {
	case order.EventPay:
		switch o.status {
		case order.StatePending:
			return enter(order.StatePaying)
		case order.StatePaying:
			return was, fsm.Replayed
		}
		return was, fsm.Rejected
	case order.EventExpire:
		if o.status == order.StatePending && now >= o.since+payWithin {
			return enter(order.StateCancelled)
		}
		return was, fsm.Ignored
	case order.EventCancel:
		switch o.status {
		case order.StatePending, order.StatePaying:
			return enter(order.StateCancelled)
		case order.StateCancelled:
			return was, fsm.Replayed
		}
		return was, fsm.Rejected
	case order.EventShip:
		switch o.status {
		case order.StatePaid:
			return enter(order.StateShipped)
		case order.StateShipped, order.StateCompleted:
			return was, fsm.Replayed
		}
		return was, fsm.Rejected
	case order.EventReceive:
		switch o.status {
		case order.StateShipped:
			return enter(order.StateCompleted)
		case order.StateCompleted:
			return was, fsm.Replayed
		}
		return was, fsm.Rejected
	case order.EventPaymentFailed:
		if o.status == order.StatePaying {
			return enter(order.StatePending)
		}
		return was, fsm.Ignored
	case order.EventPaymentSucceeded:
		return o.afterPayment(a, now)
	case order.EventRefund:
		return o.afterRefund(a, now)
	case order.EventRefundSucceeded:
		return o.afterReturn(a, now)
	}
	return was, fsm.Compensated // refund_failed: a person has to look, whatever the state
}

func (o account) afterPayment(a action, now time.Duration) (account, fsm.Outcome) {
	next := o
	next.paid, next.payment, next.since = a.amount, a.number, now
	switch {
	case (o.status == order.StatePending || o.status == order.StatePaying) && a.amount == o.total:
		next.status = order.StatePaid
		return next, fsm.Applied
	case o.status == order.StateCancelled: // too late: all of it goes back
		next.status, next.promised = order.StateRefunding, a.amount
		return next, fsm.Applied
	}
	return o, fsm.Compensated
}

func (o account) delivering() bool {
	return o.status == order.StatePaid || o.status == order.StateShipped || o.status == order.StateCompleted
}

func (o account) afterRefund(a action, now time.Duration) (account, fsm.Outcome) {
	next := o
	next.promised += a.amount
	switch {
	case !o.delivering():
		return o, fsm.Rejected
	case next.promised > o.paid:
		return o, fsm.GuardFailed
	case next.promised == o.paid:
		next.status, next.since = order.StateRefunding, now
	}
	return next, fsm.Applied
}

func (o account) afterReturn(a action, now time.Duration) (account, fsm.Outcome) {
	next := o
	next.returned += a.amount
	ours := o.payment == a.payment && (o.delivering() || o.status == order.StateRefunding)
	switch {
	case ours && o.status == order.StateRefunding && next.returned == o.paid:
		next.status, next.since = order.StateRefunded, now
		return next, fsm.Applied
	case ours && next.returned <= o.promised && next.returned < o.paid:
		return next, fsm.Applied
	}
	return o, fsm.Compensated
}
