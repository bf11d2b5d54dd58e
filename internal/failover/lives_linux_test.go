package failover

import (
	"context"
	"fmt"
	"strings"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

// life is an order from its creation to where it stays: what is told of it, in turn,
// and what must be left of that in the database.
type life struct {
	key   order.Key
	steps []step
	want  kept
}

// step is one call. effect is what it does once; told again it is Replayed.
type step struct {
	event  string
	effect fsm.Outcome
	call   func(ctx context.Context, on fsm.DB) (order.Result, error)
}

// kept is what the database has of one order.
type kept struct {
	Row     string // state version paid/refund/refunded
	History string // event:from>to@version
	Facts   string // event identity=outcome@version
	Outbox  string // topic@version
}

const total = 100

// lifeOf is the life of the n-th order, one of several kinds.
func lifeOf(n int, kinds ...func(n int, l *life)) *life {
	l := &life{key: order.Key(fmt.Sprintf("00000000-0000-4000-8000-%012x", n))}
	l.add("create", fsm.Applied, func(ctx context.Context, on fsm.DB) (order.Result, error) {
		return order.Create(ctx, on, order.CreateParams{Key: l.key, CustomerID: "ann", Sku: "tea", Quantity: 1, TotalCents: total})
	})
	kinds[n%len(kinds)](n, l)
	return l
}

// add adds a step.
func (l *life) add(event string, effect fsm.Outcome, call func(context.Context, fsm.DB) (order.Result, error)) {
	l.steps = append(l.steps, step{event, effect, call})
}

// fire adds an event without parameters.
func (l *life) fire(event string, call func(context.Context, fsm.DB, order.Key, ...fsm.Option) (order.Result, error)) {
	l.add(event, fsm.Applied, func(ctx context.Context, on fsm.DB) (order.Result, error) { return call(ctx, on, l.key) })
}

func (l *life) paid(no string, cents int64, effect fsm.Outcome) {
	l.add("payment_succeeded", effect, func(ctx context.Context, on fsm.DB) (order.Result, error) {
		return order.PaymentSucceeded(ctx, on, l.key, order.PaymentSucceededParams{PaymentNo: no, PaidCents: cents})
	})
}

func (l *life) refund(no string, cents int64) {
	l.add("refund", fsm.Applied, func(ctx context.Context, on fsm.DB) (order.Result, error) {
		return order.Refund(ctx, on, l.key, order.RefundParams{RefundNo: no, AmountCents: cents})
	})
}

func (l *life) refunded(no, payment string, cents int64) {
	l.add("refund_succeeded", fsm.Applied, func(ctx context.Context, on fsm.DB) (order.Result, error) {
		return order.RefundSucceeded(ctx, on, l.key, order.RefundSucceededParams{RefundNo: no, PaymentNo: payment, AmountCents: cents})
	})
}

// numbered writes n where the text has a #.
func numbered(text string, n int) string { return strings.ReplaceAll(text, "#", fmt.Sprint(n)) }

// delivered is paid and arrives.
func delivered(n int, l *life) {
	l.fire("pay", order.Pay)
	l.paid(numbered("P#", n), total, fsm.Applied)
	l.fire("ship", order.Ship)
	l.fire("receive", order.Receive)
	l.want = kept{"COMPLETED 5 100/0/0",
		"create:>PENDING@1 pay:PENDING>PAYING@2 payment_succeeded:PAYING>PAID@3 ship:PAID>SHIPPED@4 receive:SHIPPED>COMPLETED@5",
		numbered("payment_succeeded P#=Applied@3", n), "order_created@1 order_paid@3"}
}

// returned is paid, and all of it goes back in two parts. Each step but the first is a
// fact: told from the beginning at any time, it comes to the same end.
func returned(n int, l *life) {
	p, r, s := numbered("P#", n), numbered("R#", n), numbered("S#", n)
	l.paid(p, total, fsm.Applied)
	l.refund(r, 40)
	l.refund(s, 60)
	l.refunded(r, p, 40)
	l.refunded(s, p, 60)
	l.want = kept{"REFUNDED 6 100/100/100",
		"create:>PENDING@1 payment_succeeded:PENDING>PAID@2 refund:PAID>PAID@3 refund:PAID>REFUNDING@4 refund_succeeded:REFUNDING>REFUNDING@5 refund_succeeded:REFUNDING>REFUNDED@6",
		numbered("payment_succeeded P#=Applied@2 refund R#=Applied@3 refund S#=Applied@4 refund_succeeded R#=Applied@5 refund_succeeded S#=Applied@6", n),
		"order_created@1 order_paid@2 refund_due@3 refund_due@4"}
}

// late is paid after it was cancelled.
func late(n int, l *life) {
	p, r := numbered("P#", n), numbered("R#", n)
	l.fire("cancel", order.Cancel)
	l.paid(p, total, fsm.Applied)
	l.refunded(r, p, total)
	l.want = kept{"REFUNDED 4 100/100/100",
		"create:>PENDING@1 cancel:PENDING>CANCELLED@2 payment_succeeded:CANCELLED>REFUNDING@3 refund_succeeded:REFUNDING>REFUNDED@4",
		numbered("payment_succeeded P#=Applied@3 refund_succeeded R#=Applied@4", n), "order_created@1 refund_due@3"}
}

// twice is paid with a wrong amount, then right, then again.
func twice(n int, l *life) {
	l.paid(numbered("A#", n), total-1, fsm.Compensated)
	l.paid(numbered("B#", n), total, fsm.Applied)
	l.paid(numbered("C#", n), total, fsm.Compensated)
	l.fire("ship", order.Ship)
	l.want = kept{"SHIPPED 3 100/0/0",
		"create:>PENDING@1 payment_succeeded:PENDING>PAID@2 ship:PAID>SHIPPED@3",
		numbered("payment_succeeded A#=Compensated@1 payment_succeeded B#=Applied@2 payment_succeeded C#=Compensated@2", n),
		"order_created@1 refund_due@1 order_paid@2 refund_due@2"}
}
