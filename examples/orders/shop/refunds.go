package shop

import (
	"context"
	"fmt"
	"net/http"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/gen/refund"
)

type refundView struct {
	RefundNo string      `json:"refund_no"`
	Outcome  fsm.Outcome `json:"outcome"`
	Order    orderView   `json:"order"`
}

// refundOrder promises money back: 202, since the provider has yet to give it.
func (s *Service) refundOrder(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	var body struct {
		RefundNo    string `json:"refund_no"`
		AmountCents int64  `json:"amount_cents"`
	}
	if err := decode(r, &body); err != nil {
		return err
	}
	var f fields
	f.number("refund_no", body.RefundNo)
	f.between("amount_cents", body.AmountCents, 1, maxCents)
	if f.err != nil {
		return f.err
	}
	options, err := s.callOptions(r)
	if err != nil {
		return err
	}
	// The refund's own row hangs on Applied alone and shares the transaction:
	// neither a promise without a refund, nor a refund without a promise.
	options = append(options, order.Then(func(ctx context.Context, tx pgx.Tx, promised order.Result) error {
		return s.beginRefund(ctx, tx, promised.Row, body.RefundNo, body.AmountCents)
	}))
	result, err := order.Refund(r.Context(), s.db(r.Context()), order.Key(id),
		order.RefundParams{RefundNo: body.RefundNo, AmountCents: body.AmountCents}, options...)
	if err != nil {
		return err
	}
	var seen tally
	seen.add("order", string(order.EventRefund), result.Outcome)
	status := http.StatusOK
	if result.Outcome == fsm.Applied {
		status = http.StatusAccepted
		seen.add("refund", "create", fsm.Applied)
		if s.calls != nil {
			seen.add("refund", string(refund.EventSend), fsm.Applied)
		}
	}
	s.did(r.Context(), seen)
	if err := result.Err(); err != nil {
		return err
	}
	return writeJSON(w, status, refundView{RefundNo: body.RefundNo, Outcome: result.Outcome, Order: viewOf(result.Row)})
}

// beginRefund makes the refund's row, of the payment that the order keeps, and has
// it sent where there is a provider to send it to.
func (s *Service) beginRefund(ctx context.Context, tx pgx.Tx, row order.Row, refundNo string, amountCents int64) error {
	if row.PaymentNo == nil { // no edge leads here; a correction by hand can
		return fmt.Errorf("order in state %s keeps no payment to refund", row.Status)
	}
	if err := mayPromise(ctx, tx, row, refundNo, amountCents); err != nil {
		return err
	}
	created, err := refund.Create(ctx, tx, refund.CreateParams{
		Key: refund.Key(refundNo), OrderID: string(row.OrderID),
		PaymentNo: *row.PaymentNo, AmountCents: amountCents,
	}, s.at())
	if err != nil {
		return err
	}
	// The promise is new, so that an equal refund is of somebody else too: a person
	// gave an older promise another try under this number.
	if created.Outcome != fsm.Applied {
		return &statusError{status: http.StatusConflict, detail: "this refund number belongs to another refund"}
	}
	return s.calls.send(ctx, tx, refundNo)
}
