package shop

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/relay"
	"github.com/pawl-go/pawl/gen/db"
	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/gen/refund"
)

// Somebody at the provider's desk gives money back, and we are told of it: the
// machines take it as it comes, since it is true. It is not known to be owed, and
// what was promised beside it would go back as well. Hence the questions here, which
// the ledger answers: is money that went back a case, and is enough of it left.

// notPromised is the outcome of a case, beside those of calls.
const notPromised fsm.Outcome = "NotPromised"

// explainReturn opens a case for money that went back otherwise than the order and
// the refund expect. It comes last, so that the refund's own case, which says more,
// is the one of this delivery.
func (c *settling) explainReturn(ctx context.Context, judged order.Result) error {
	if c.n.Type != refundSucceeded || judged.Outcome != fsm.Applied && judged.Outcome != fsm.Compensated {
		return nil
	}
	d := c.n.Data
	own := judged.Row.PaymentNo != nil && *judged.Row.PaymentNo == d.PaymentNo
	counted := judged.Outcome == fsm.Applied
	row, err := refund.Get(ctx, c.tx, refund.Key(d.RefundNo))
	switch {
	case errors.Is(err, fsm.ErrNotFound):
		return c.explainStrange(ctx, judged.Row, own, counted)
	case err != nil:
		return err
	case row.PaymentNo != d.PaymentNo:
		detail := fmt.Sprintf("the refund was asked for of payment_no=%q, and came of another; ", row.PaymentNo)
		return c.open(ctx, string(order.EventRefundSucceeded), fsm.Mismatched, detail)
	case own && !counted:
		detail := fmt.Sprintf("the order is %s, %d cents were promised, and it cannot count these; ", judged.State, judged.Row.RefundCents)
		return c.open(ctx, string(order.EventRefundSucceeded), fsm.Compensated, detail)
	}
	return nil
}

// explainStrange judges a refund that is not ours. It is no case where that much has
// to go back and no refund of ours is about to do it: of a payment that the order
// does not keep, or that came too late, all of it; of the order's own, what was
// promised and then refused.
func (c *settling) explainStrange(ctx context.Context, row order.Row, own, counted bool) error {
	books, err := db.New(c.tx).ShopPaymentBooks(ctx, db.ShopPaymentBooksParams{OrderID: string(row.OrderID), PaymentNo: c.n.Data.PaymentNo})
	if err != nil {
		return err
	}
	owed := books.InCents
	if own {
		owed = row.RefundCents
	}
	if (counted || !own) && books.StrangeCents+books.RefundsCents <= owed {
		return nil
	}
	detail := fmt.Sprintf("this refund was never promised: of this payment %d cents have to go back, refunds of ours are of %d, and others have brought back %d; ",
		owed, books.RefundsCents, books.StrangeCents)
	return c.open(ctx, string(order.EventRefundSucceeded), notPromised, detail)
}

// mayPromise refuses to promise what has gone back already. The order's guards know
// the promises; the ledger has the money that went back beside them, under numbers
// that are not ours. The order's lock is held, which whoever books waits for, and
// the row has the promise.
func mayPromise(ctx context.Context, tx pgx.Tx, promised order.Row, refundNo string, cents int64) error {
	q := db.New(tx)
	booked, err := q.ShopLedgerHasRefund(ctx, db.ShopLedgerHasRefundParams{RefundNo: refundNo})
	if err != nil {
		return err
	}
	if booked {
		return &statusError{status: http.StatusConflict, detail: "money has gone back under this refund number already"}
	}
	books, err := q.ShopRefundBooks(ctx, db.ShopRefundBooksParams{OrderID: string(promised.OrderID), PaymentNo: *promised.PaymentNo})
	if err != nil {
		return err
	}
	left := promised.PaidCents - max(promised.RefundCents-cents+books.BesideCents, books.BackCents+books.UnderwayCents)
	if cents > left {
		return &statusError{status: http.StatusConflict, detail: fmt.Sprintf(
			"money of this order has gone back that was not promised: the books say that %d cents are left, and a person has to look", max(left, 0))}
	}
	return nil
}

// goneBack reports whether the refund of a payment that the order does not keep is
// not to be made, since money of it has gone back under numbers that are not ours:
// the whole of it, and nothing is left to do; or a part, and the rest is a case.
func (s *Service) goneBack(ctx context.Context, tx pgx.Tx, m relay.Message, number string, cents int64) (bool, error) {
	q := db.New(tx)
	if err := q.ShopOrderLock(ctx, db.ShopOrderLockParams{OrderID: m.Key}); err != nil { // whoever books waits for it
		return false, err
	}
	if _, err := refund.Get(ctx, tx, refund.Key(number)); !errors.Is(err, fsm.ErrNotFound) {
		return false, err
	}
	books, err := q.ShopPaymentBooks(ctx, db.ShopPaymentBooksParams{OrderID: m.Key, PaymentNo: number})
	switch {
	case err != nil || books.StrangeCents == 0:
		return false, err
	case books.StrangeCents >= cents:
		s.log.Info("the money has gone back already", "order_id", m.Key, "payment_no", number)
		return true, nil
	}
	detail := fmt.Sprintf("payment_no=%q amount_cents=%d has to go back, and %d of it has already, under other numbers: no refund is made of the rest",
		number, cents, books.StrangeCents)
	return true, openCase(ctx, tx, origin{providerRefunds, number}, m.Key, "refund.create", notPromised, detail)
}
