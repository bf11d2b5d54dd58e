package due

import (
	"context"
	"fmt"
	"strconv"

	"github.com/pawl-go/pawl/bench/internal/stock"
	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

// step fires one event on order number n, which must move.
type step func(ctx context.Context, db fsm.DB, n int) error

// Kind is transitions of one kind, or of several that follow each other.
type Kind struct {
	Name  string
	from  string
	steps []step
}

// Kinds are the transitions of the sample, one of each event at least. Only
// refund_failed has none: it leaves a fact, and no row moves.
func Kinds() []Kind {
	pay, paid, ship, receive := plain(order.Pay), of(order.PaymentSucceeded, payment), plain(order.Ship), plain(order.Receive)
	return []Kind{
		{"pay", "PENDING", []step{pay}},
		{"query_payment", "PAYING", []step{plain(order.QueryPayment)}},
		{"payment_failed", "PAYING", []step{of(order.PaymentFailed, func(n int) order.PaymentFailedParams {
			return order.PaymentFailedParams{PaymentNo: number(n)}
		})}},
		{"payment_succeeded", "PAYING", []step{paid}},
		{"payment_succeeded, too late", "CANCELLED", []step{paid}},
		{"cancel", "PENDING", []step{plain(order.Cancel)}},
		{"expire", "PENDING", []step{plain(order.Expire)}},
		{"ship", "PAID", []step{ship}},
		{"receive", "SHIPPED", []step{receive}},
		{"refund of a part", "PAID", []step{of(order.Refund, refund(1))}},
		{"refund of all", "PAID", []step{of(order.Refund, refund(stock.Cents))}},
		{"query_refund", "REFUNDING", []step{plain(order.QueryRefund)}},
		{"refund_succeeded", "REFUNDING", []step{of(order.RefundSucceeded, func(n int) order.RefundSucceededParams {
			return order.RefundSucceededParams{RefundNo: number(n), PaymentNo: number(n), AmountCents: stock.Cents}
		})}},
		{"pay to receive, 4 steps", "PENDING", []step{pay, paid, ship, receive}},
	}
}

func number(n int) string { return "P" + strconv.Itoa(n) }

func payment(n int) order.PaymentSucceededParams {
	return order.PaymentSucceededParams{PaymentNo: number(n), PaidCents: stock.Cents}
}

func refund(cents int64) func(int) order.RefundParams {
	return func(n int) order.RefundParams {
		return order.RefundParams{RefundNo: number(n), AmountCents: cents}
	}
}

// plain is a step of an event without parameters.
func plain(fire func(context.Context, fsm.DB, order.Key, ...fsm.Option) (order.Result, error)) step {
	return func(ctx context.Context, db fsm.DB, n int) error {
		r, err := fire(ctx, db, order.Key(stock.Key(n)))
		return moved(n, r, err)
	}
}

// of is a step of an event with parameters.
func of[P any](fire func(context.Context, fsm.DB, order.Key, P, ...fsm.Option) (order.Result, error), params func(n int) P) step {
	return func(ctx context.Context, db fsm.DB, n int) error {
		r, err := fire(ctx, db, order.Key(stock.Key(n)), params(n))
		return moved(n, r, err)
	}
}

func moved(n int, r order.Result, err error) error {
	if err == nil && r.Outcome != fsm.Applied {
		err = fmt.Errorf("order %d: %s, not Applied", n, r.Outcome)
	}
	return err
}
