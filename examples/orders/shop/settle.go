package shop

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/db"
	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/gen/payment"
	"github.com/pawl-go/pawl/gen/refund"
)

// settling is one notice on its way through the machines, in one transaction or
// one savepoint. The order goes before the payment, the payment before the refund.
type settling struct {
	*Service
	tx      pgx.Tx
	from    origin
	n       notice
	options []fsm.Option
	seen    tally
	booked  bool // the money is in the ledger
}

// within runs work where all that it did can be undone: in a transaction, or in
// one's savepoint.
type within func(ctx context.Context, work func(ctx context.Context, tx pgx.Tx) error) error

// transaction is a transaction of our own, committed.
func (s *Service) transaction(ctx context.Context, work func(context.Context, pgx.Tx) error) error {
	return fsm.RunTx(ctx, s.pool, fsm.TxPolicy{}, work)
}

// savepoint is a part of a transaction that is another's to commit.
func savepoint(tx pgx.Tx) within {
	return func(ctx context.Context, work func(context.Context, pgx.Tx) error) error {
		return pgx.BeginFunc(ctx, tx, func(part pgx.Tx) error { return work(ctx, part) })
	}
}

// settleNow settles a notice in a transaction of its own, and returns the order's
// outcome, committed and counted. An error means that nothing was committed, or
// ErrUnknown; the same notice again is safe.
func (s *Service) settleNow(ctx context.Context, from origin, n notice) (fsm.Outcome, error) {
	outcome, seen, err := s.settle(ctx, s.transaction, from, n)
	if err != nil {
		return "", err
	}
	s.count(seen)
	return outcome, nil
}

// settle fires what the notice says and returns the order's outcome, with what is
// to be counted when it is committed. Mismatched and GuardFailed have left a case
// for a person, and so has a second machine that does not agree. After an error
// nothing of it is left. The options are for both machines.
func (s *Service) settle(ctx context.Context, in within, from origin, n notice, options ...fsm.Option) (fsm.Outcome, tally, error) {
	var (
		outcome fsm.Outcome
		seen    tally
	)
	run := func(work func(*settling, context.Context) error) error {
		return in(ctx, func(ctx context.Context, tx pgx.Tx) error {
			c := &settling{Service: s, tx: tx, from: from, n: n, options: append([]fsm.Option{
				fsm.Actor("provider:" + from.provider), fsm.RequestID(from.delivery), s.at(),
			}, options...)}
			err := work(c, ctx)
			seen = c.seen
			return err
		})
	}
	err := run(func(c *settling, ctx context.Context) (err error) {
		outcome, err = c.run(ctx)
		return err
	})
	if errors.Is(err, errBooked) { // all of it was undone
		outcome = fsm.Mismatched
		err = run(func(c *settling, ctx context.Context) error {
			event, _, _ := c.plan()
			c.seen.add("order", string(event), fsm.Mismatched)
			return c.open(ctx, string(event), fsm.Mismatched, "the ledger has this number already; ")
		})
	}
	if err != nil {
		return "", nil, err
	}
	return outcome, seen, nil
}

// run judges the order, and then has the notice's second machine follow. That
// one is called after a replay, too: it mends a second half that was lost.
func (c *settling) run(ctx context.Context) (fsm.Outcome, error) {
	event, judge, follow := c.plan()
	if stranger, err := c.stranger(ctx); err != nil || stranger {
		return c.refuseStranger(ctx, event, err)
	}
	result, err := judge(ctx)
	if err != nil {
		return "", err
	}
	if result.Outcome == fsm.Replayed && c.n.Type == paymentSucceeded {
		if other, err := c.otherProvider(ctx); err != nil || other != "" {
			return c.refuseProvider(ctx, event, other, err)
		}
	}
	c.seen.add("order", string(event), result.Outcome)
	switch {
	case result.Outcome.OK():
		if err := c.book(ctx, result.Outcome); err != nil {
			return "", err
		}
		if err := follow(ctx); err != nil {
			return "", err
		}
		return result.Outcome, c.explainReturn(ctx, result)
	case result.Outcome == fsm.Mismatched || result.Outcome == fsm.GuardFailed:
		detail := fmt.Sprintf("state %s, version %d, guards tried %v; ", result.State, result.Version, result.Guards)
		return result.Outcome, c.open(ctx, string(event), result.Outcome, detail)
	}
	return result.Outcome, nil
}

// errBooked says that the ledger has the number of money that the machine holds
// to be new.
var errBooked = errors.New("booked before")

// book puts money that this notice is the first to tell of into the ledger, in
// the same transaction. The machine has its own memory of numbers; the ledger's
// key stands behind it, for the day on which somebody has repaired rows by hand.
//
// It comes before the effects of the money, whose keys would refuse a second time
// as well, but cannot say why.
func (c *settling) book(ctx context.Context, outcome fsm.Outcome) error {
	if c.booked || outcome != fsm.Applied && outcome != fsm.Compensated {
		return nil
	}
	c.booked = true
	d := c.n.Data
	entry := db.ShopLedgerAddParams{OrderID: d.OrderID, Cents: d.AmountCents, Outcome: string(outcome), Provider: c.from.provider, PaymentNo: d.PaymentNo}
	switch c.n.Type {
	case paymentSucceeded:
		entry.Kind, entry.Number = "payment", d.PaymentNo
	case refundSucceeded:
		entry.Kind, entry.Number, entry.Cents = "refund", d.RefundNo, -d.AmountCents
	default:
		return nil
	}
	booked, err := db.New(c.tx).ShopLedgerAdd(ctx, entry)
	if err == nil && booked == 0 {
		err = errBooked
	}
	return err
}

// plan says which event of the order the notice is, and what follows.
func (c *settling) plan() (order.Event, func(context.Context) (order.Result, error), func(context.Context) error) {
	key := order.Key(c.n.Data.OrderID)
	switch c.n.Type {
	case paymentSucceeded:
		return order.EventPaymentSucceeded, func(ctx context.Context) (order.Result, error) {
			effects := order.Then(func(ctx context.Context, tx pgx.Tx, paid order.Result) error {
				if err := c.book(ctx, paid.Outcome); err != nil {
					return err
				}
				return paidEffects(ctx, tx, paid, c.from)
			})
			return order.PaymentSucceeded(ctx, c.tx, key, order.PaymentSucceededParams{
				PaymentNo: c.n.Data.PaymentNo, PaidCents: c.n.Data.AmountCents,
			}, append(slices.Clip(c.options), effects)...)
		}, c.succeedPayment
	case paymentFailed:
		return order.EventPaymentFailed, func(ctx context.Context) (order.Result, error) {
			return order.PaymentFailed(ctx, c.tx, key, order.PaymentFailedParams{PaymentNo: c.n.Data.PaymentNo}, c.options...)
		}, c.failPayment
	case refundSucceeded:
		return order.EventRefundSucceeded, func(ctx context.Context) (order.Result, error) {
			return order.RefundSucceeded(ctx, c.tx, key, order.RefundSucceededParams{
				RefundNo: c.n.Data.RefundNo, PaymentNo: c.n.Data.PaymentNo, AmountCents: c.n.Data.AmountCents,
			}, c.options...)
		}, c.succeedRefund
	case refundClosed: // to the order it is a refund that failed
		judge := func(ctx context.Context) (order.Result, error) {
			return order.RefundFailed(ctx, c.tx, key, order.RefundFailedParams{RefundNo: c.n.Data.RefundNo}, c.options...)
		}
		return order.EventRefundFailed, judge, c.closeRefund
	default: // refundFailed: no other comes here
		return order.EventRefundFailed, func(ctx context.Context) (order.Result, error) {
			return order.RefundFailed(ctx, c.tx, key, order.RefundFailedParams{RefundNo: c.n.Data.RefundNo}, c.options...)
		}, c.stickRefund
	}
}

// stranger reports whether the attempt or the refund is known to belong to
// another order. Then neither order may move, even if this notice is the first
// with that number. The rows' order never changes, so that no lock is needed.
func (c *settling) stranger(ctx context.Context) (bool, error) {
	d := c.n.Data
	if d.PaymentNo != "" {
		row, err := payment.Get(ctx, c.tx, payment.Key(d.PaymentNo))
		if err != nil && !errors.Is(err, fsm.ErrNotFound) {
			return false, err
		}
		if err == nil && row.OrderID != d.OrderID {
			return true, nil
		}
	}
	if d.RefundNo != "" {
		row, err := refund.Get(ctx, c.tx, refund.Key(d.RefundNo))
		if err != nil && !errors.Is(err, fsm.ErrNotFound) {
			return false, err
		}
		if err == nil && row.OrderID != d.OrderID {
			return true, nil
		}
	}
	return false, nil
}

// refuseStranger answers as the order would have, had it known the number.
func (c *settling) refuseStranger(ctx context.Context, event order.Event, err error) (fsm.Outcome, error) {
	if err != nil {
		return "", err
	}
	if _, err := order.Get(ctx, c.tx, order.Key(c.n.Data.OrderID)); err != nil {
		return "", err
	}
	c.seen.add("order", string(event), fsm.Mismatched)
	return fsm.Mismatched, c.open(ctx, string(event), fsm.Mismatched, "the number belongs to another order; ")
}

// otherProvider says which other provider has told of this payment, empty for none.
// A customer who has one number at two providers may pay at both: to the machine,
// which knows the number alone, the second is the first told again. What the ledger
// has of the first is committed, since the order's row or fact was waited for.
func (c *settling) otherProvider(ctx context.Context) (string, error) {
	return db.New(c.tx).ShopLedgerOtherProvider(ctx, db.ShopLedgerOtherProviderParams{
		Kind: "payment", Number: c.n.Data.PaymentNo, Provider: c.from.provider,
	})
}

// refuseProvider leaves money that came under another provider's number to a person:
// it has to go back there, and the number is taken.
func (c *settling) refuseProvider(ctx context.Context, event order.Event, other string, err error) (fsm.Outcome, error) {
	if err != nil {
		return "", err
	}
	c.seen.add("order", string(event), fsm.Mismatched)
	detail := fmt.Sprintf("the number was paid at %s before, and now at %s, where the money has to go back; ", other, c.from.provider)
	return fsm.Mismatched, c.open(ctx, string(event), fsm.Mismatched, detail)
}

func (c *settling) succeedPayment(ctx context.Context) error {
	result, err := payment.Succeed(ctx, c.tx, payment.Key(c.n.Data.PaymentNo),
		payment.SucceedParams{ProviderRef: c.n.Data.PaymentNo, PaidCents: c.n.Data.AmountCents}, c.options...)
	return c.followed(ctx, "payment", string(payment.EventSucceed), result.Outcome, err)
}

func (c *settling) failPayment(ctx context.Context) error {
	result, err := payment.Fail(ctx, c.tx, payment.Key(c.n.Data.PaymentNo), c.options...)
	return c.followed(ctx, "payment", string(payment.EventFail), result.Outcome, err)
}

func (c *settling) succeedRefund(ctx context.Context) error {
	result, err := refund.Succeed(ctx, c.tx, refund.Key(c.n.Data.RefundNo),
		refund.SucceedParams{ProviderRef: c.n.Data.RefundNo, AmountCents: c.n.Data.AmountCents}, c.options...)
	return c.followed(ctx, "refund", string(refund.EventSucceed), result.Outcome, err)
}

func (c *settling) stickRefund(ctx context.Context) error {
	result, err := refund.Stick(ctx, c.tx, refund.Key(c.n.Data.RefundNo), c.options...)
	return c.followed(ctx, "refund", string(refund.EventStick), result.Outcome, err)
}

func (c *settling) closeRefund(ctx context.Context) error {
	result, err := refund.Close(ctx, c.tx, refund.Key(c.n.Data.RefundNo), c.options...)
	return c.followed(ctx, "refund", string(refund.EventClose), result.Outcome, err)
}

// followed takes the second machine's answer. A number without a row of ours is
// no mistake by itself: the provider knows payments and refunds that we did not
// begin. Whether such a refund's money was to go back, explainReturn judges.
func (c *settling) followed(ctx context.Context, machine, event string, outcome fsm.Outcome, err error) error {
	if errors.Is(err, fsm.ErrNotFound) {
		c.log.InfoContext(ctx, "no row of ours for this number", "machine", machine, "order_id", c.n.Data.OrderID, "delivery", c.from.delivery)
		return nil
	}
	if err != nil {
		return err
	}
	c.seen.add(machine, event, outcome)
	switch {
	case outcome == fsm.Compensated: // the money is booked as it was told
		return c.open(ctx, machine+"."+event, outcome, "the "+machine+" is of another amount, or was over; ")
	case outcome.OK():
		return nil
	}
	return c.open(ctx, machine+"."+event, outcome, "the order has it, its "+machine+" not; ")
}

// open records a case, with what a person needs to look into it.
func (c *settling) open(ctx context.Context, event string, outcome fsm.Outcome, detail string) error {
	d := c.n.Data
	detail += fmt.Sprintf("told: %s payment_no=%q refund_no=%q amount_cents=%d", c.n.Type, d.PaymentNo, d.RefundNo, d.AmountCents)
	return openCase(ctx, c.tx, c.from, d.OrderID, event, outcome, detail)
}
