package runbook

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/examples/orders/shop"
	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/attempt"
	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/gen/payment"
	"github.com/pawl-go/pawl/gen/refund"
)

// Why a refund is not tried again under another number. Nothing was done.
var (
	ErrNotClosed = errors.New("only a refund that is CLOSED has another try under another number")
	ErrReturned  = errors.New("this refund came back after it was closed: the ledger has it")
	ErrTried     = errors.New("this refund has had another try already")
	ErrTaken     = errors.New("the new number is another refund's")
	ErrStranger  = errors.New("the refund's payment is another order's")
	ErrTooMuch   = errors.New("with that more would go back than was promised, or is left")
)

// again is how fsm_audit says, at the old refund, which one tries in its place.
const again = "again as "

// tryAgain gives a refund that was refused another try: under a number that is new,
// of the same payment and amount, as part of what was promised already. The order
// promises nothing anew. Of a payment that the order did not keep, all that came in
// is promised.
//
// The new refund has its attempt in the same commit, where the old one had one;
// otherwise it waits for its deadline, as any that is asked for without a provider.
// The same command again finds the refund that it made.
func tryAgain(old, number string) (action, error) {
	if strings.ContainsFunc(number, func(r rune) bool { return r <= ' ' || r > '~' }) || number == "" || len(number) > 128 {
		return nil, fmt.Errorf("%w: want a new number of 1 to 128 visible ASCII characters", ErrUsage)
	}
	return func(ctx context.Context, pool *pgxpool.Pool, who fsm.Correction) (done string, err error) {
		err = fsm.RunTx(ctx, pool, fsm.TxPolicy{}, func(ctx context.Context, tx pgx.Tx) error {
			row, err := tryInTx(ctx, tx, refund.Key(old), refund.Key(number), who)
			done = fmt.Sprintf("the refund %s of %d, in place of %s, is %s", row.RefundNo, row.AmountCents, old, row.Status)
			return err
		})
		return done, err
	}, nil
}

func tryInTx(ctx context.Context, tx pgx.Tx, old, number refund.Key, who fsm.Correction) (refund.Row, error) {
	was, err := refund.Get(ctx, tx, old)
	if err != nil {
		return refund.Row{}, err
	}
	// The order's lock first, as always: no promise and no other try meanwhile. A
	// refund never changes its order.
	if _, err := tx.Exec(ctx, "SELECT 1 FROM orders AS o WHERE o.order_id = $1::uuid FOR NO KEY UPDATE", was.OrderID); err != nil {
		return refund.Row{}, err
	}
	if was, err = refund.Get(ctx, tx, old); err != nil {
		return refund.Row{}, err
	}
	if was.Status != refund.StateClosed {
		return refund.Row{}, fmt.Errorf("%w: it is %s", ErrNotClosed, was.Status)
	}
	switch other, err := triedAs(ctx, tx, old); {
	case err != nil:
		return refund.Row{}, err
	case other == number:
		return refund.Get(ctx, tx, number)
	case other != "":
		return refund.Row{}, fmt.Errorf("%w, as %s: look at that one", ErrTried, other)
	}
	if err := mayGoBack(ctx, tx, was, number); err != nil {
		return refund.Row{}, err
	}
	return begin(ctx, tx, was, number, who)
}

// triedAs is the number of the refund that was made in place of an old one, "" for
// none.
func triedAs(ctx context.Context, tx pgx.Tx, old refund.Key) (refund.Key, error) {
	var action string
	err := tx.QueryRow(ctx, `SELECT a.action FROM fsm_audit AS a
		WHERE a.machine = 'refund' AND a.key = $1 AND a.action LIKE $2 || '%' ORDER BY a.id LIMIT 1`, string(old), again).Scan(&action)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	return refund.Key(strings.TrimPrefix(action, again)), err
}

// Of one payment: what is on its way back, and what has come. The ledger counts too,
// for a refund that came after it was closed.
const backSQL = `SELECT
	coalesce(sum(r.amount_cents) FILTER (WHERE r.status IN ('REQUESTED', 'SENT', 'ABNORMAL') AND l.number IS NULL), 0)::bigint,
	coalesce(sum(r.amount_cents) FILTER (WHERE r.status = 'SUCCEEDED' OR l.number IS NOT NULL), 0)::bigint,
	coalesce(bool_or(r.refund_no = $2 AND l.number IS NOT NULL), false)
	FROM refunds AS r LEFT JOIN shop_ledger AS l ON l.kind = 'refund' AND l.number = r.refund_no
	WHERE r.payment_no = $1`

// leftSQL is what the books have left of a payment: what came in, which is $3 where
// the ledger does not have it, and what went back under any number, ours or not.
const leftSQL = `SELECT
	(coalesce(sum(l.cents) FILTER (WHERE l.kind = 'payment'), $3::bigint) + coalesce(sum(l.cents) FILTER (WHERE l.kind = 'refund'), 0))::bigint
	FROM shop_ledger AS l WHERE l.order_id = $2::uuid AND (l.kind = 'payment' AND l.number = $1 OR l.kind = 'refund' AND l.payment_no = $1)`

// cameInSQL is what came in by a payment.
const cameInSQL = `SELECT coalesce(sum(l.cents), 0)::bigint FROM shop_ledger AS l
	WHERE l.kind = 'payment' AND l.number = $1 AND l.order_id = $2::uuid`

// mayGoBack judges whether the amount of a closed refund is promised and has not
// come back. The guard of order.refund_succeeded judges again when it has.
func mayGoBack(ctx context.Context, tx pgx.Tx, was refund.Row, number refund.Key) error {
	o, err := order.Get(ctx, tx, order.Key(was.OrderID))
	if err != nil {
		return err
	}
	paid, err := payment.Get(ctx, tx, payment.Key(was.PaymentNo))
	switch {
	case err != nil && !errors.Is(err, fsm.ErrNotFound):
		return err
	case err == nil && paid.OrderID != was.OrderID:
		return ErrStranger
	}
	var underway, returned, promised int64
	var came bool
	if err := tx.QueryRow(ctx, backSQL, was.PaymentNo, string(was.RefundNo)).Scan(&underway, &returned, &came); err != nil {
		return err
	}
	if came {
		return ErrReturned
	}
	if o.PaymentNo != nil && *o.PaymentNo == was.PaymentNo {
		// The provider may have given back what we have no row of.
		promised, returned = o.RefundCents, max(returned, o.RefundedCents)
	} else if err := tx.QueryRow(ctx, cameInSQL, was.PaymentNo, was.OrderID).Scan(&promised); err != nil {
		return err
	}
	if left := promised - returned - underway; was.AmountCents > left {
		return fmt.Errorf("%w: of %d promised, %d came back and %d are on their way", ErrTooMuch, promised, returned, underway)
	}
	// Money may have gone back that nobody promised: it is gone all the same.
	var left int64
	if err := tx.QueryRow(ctx, leftSQL, was.PaymentNo, was.OrderID, o.PaidCents).Scan(&left); err != nil {
		return err
	}
	if left -= underway; was.AmountCents > left {
		return fmt.Errorf("%w: the books have %d left of the payment", ErrTooMuch, max(left, 0))
	}
	var booked bool
	err = tx.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM shop_ledger AS l WHERE l.kind = 'refund' AND l.number = $1)", string(number)).Scan(&booked)
	if err == nil && booked {
		err = ErrTaken
	}
	return err
}

// begin makes the new refund, with its attempt where the old one had one.
func begin(ctx context.Context, tx pgx.Tx, was refund.Row, number refund.Key, who fsm.Correction) (refund.Row, error) {
	by := []fsm.Option{fsm.Actor(who.Actor), fsm.Reason(who.Reason)}
	made, err := refund.Create(ctx, tx, refund.CreateParams{
		Key: number, OrderID: was.OrderID, PaymentNo: was.PaymentNo, AmountCents: was.AmountCents,
	}, by...)
	if err != nil {
		return refund.Row{}, err
	}
	if made.Outcome != fsm.Applied {
		return refund.Row{}, ErrTaken
	}
	switch _, err := attempt.Find(ctx, tx, shop.RefundKind, string(was.RefundNo)); {
	case err == nil, errors.Is(err, attempt.ErrSpent):
		if made, err = refund.Send(ctx, tx, number, by...); err != nil {
			return refund.Row{}, err
		}
		if err := shop.StartRefund(ctx, tx, made.Row); err != nil {
			return refund.Row{}, err
		}
	case !errors.Is(err, attempt.ErrNotFound):
		return refund.Row{}, err
	}
	note := audit{"refund", string(was.RefundNo), was.Version, again + string(number), string(was.Status), string(made.State)}
	return made.Row, note.write(ctx, tx, who)
}
