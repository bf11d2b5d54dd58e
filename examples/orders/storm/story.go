package storm

import (
	"time"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

// eventCreate is what makes an order, as the history names it.
const eventCreate order.Event = "create"

// purchase is what a customer orders.
type purchase struct {
	id, customer, sku string
	quantity          int32
	total             int64
}

// action is one thing that someone tells the shop.
type action struct {
	event order.Event
	// order is a position among the script's purchases.
	order int
	// number is that of the payment or the refund.
	number string
	// payment is the payment that a refund gives back.
	payment string
	amount  int64
	trick   trick
	// delivery is the callback's id; all copies carry the same.
	delivery string
	// stripe says which of the two schemes signs.
	stripe bool
}

// trick is what is wrong with a request, if anything.
type trick int

const (
	honest     trick = iota
	forged           // signed with a secret that is not the provider's
	outdated         // signed by the provider, too long ago
	oldVersion       // expects a version that has passed
)

func (a action) callback() bool { return callback(a.event) }

func callback(e order.Event) bool {
	switch e {
	case order.EventPaymentSucceeded, order.EventPaymentFailed, order.EventRefundSucceeded, order.EventRefundFailed:
		return true
	}
	return false
}

// step is an action with its time and its copies.
type step struct {
	action
	wave waveNo
	// copies are told in the wave, late ones in the last.
	copies, late int
}

// story is what happens to one order, or to two that share a payment number.
type story struct {
	name   string
	orders []int
	steps  []step
	// still says that no deadline passes while it is told.
	still bool
}

// waveNo is a part of the storm. What is told in one wave comes concurrently
// and in any order; a wave begins when the one before has been answered.
type waveNo int

const (
	waveOrders waveNo = iota
	waveChoice
	wavePayments
	waveRetries
	waveDeadlines
	waveLate
	waveRefunds
	waveReturns
	waveAgain
	waveCount
)

// waves says how far the clock goes before each wave, and what people see.
var waves = [waveCount]struct {
	title string
	after time.Duration
}{
	waveOrders:    {"orders come in", 0},
	waveChoice:    {"customers pay", time.Minute},
	wavePayments:  {"payments and cancellations", time.Minute},
	waveRetries:   {"second tries", time.Minute},
	waveDeadlines: {"deadlines pass", 40 * time.Minute},
	waveLate:      {"late payments, parcels", time.Minute},
	waveRefunds:   {"refunds are asked for", time.Minute},
	waveReturns:   {"money goes back", time.Minute},
	waveAgain:     {"everything told again", time.Minute},
}

// Words for answers that are no outcomes of a call.
const (
	// toldDone: applied or replayed, which the answer does not tell apart.
	toldDone fsm.Outcome = "Done"
	// toldRefused: the signature was not believed.
	toldRefused fsm.Outcome = "Refused"
	// toldNotYet: there is no such order yet; the provider comes again.
	toldNotYet fsm.Outcome = "NotYet"
)

// asTold is what the caller of an event sees of an outcome.
func asTold(e order.Event, o fsm.Outcome) fsm.Outcome {
	switch e {
	case eventCreate, order.EventPay, order.EventCancel, order.EventShip, order.EventReceive:
		if o == fsm.Applied || o == fsm.Replayed {
			return toldDone
		}
	}
	return o
}

// question is what copies of one request have in common.
type question struct {
	order  int
	event  order.Event
	number string
	amount int64
	trick  trick
}

func (a action) question() question {
	return question{a.order, a.event, a.number, a.amount, a.trick}
}

// answer is what one of them was told.
type answer struct {
	question
	told fsm.Outcome
}
