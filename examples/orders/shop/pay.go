package shop

import (
	"context"
	"net/http"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/gen/payment"
)

type paidView struct {
	PaymentNo string    `json:"payment_no"`
	Order     orderView `json:"order"`
}

// payOrder begins an attempt to pay. Order and attempt move in one transaction,
// the order first, as everywhere.
func (s *Service) payOrder(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r)
	if err != nil {
		return err
	}
	var body struct {
		PaymentNo string `json:"payment_no"`
	}
	if err := decode(r, &body); err != nil {
		return err
	}
	var f fields
	f.number("payment_no", body.PaymentNo)
	if f.err != nil {
		return f.err
	}
	options, err := s.callOptions(r)
	if err != nil {
		return err
	}
	var (
		paying order.Result
		seen   tally
	)
	err = fsm.RunTx(r.Context(), s.pool, fsm.TxPolicy{}, func(ctx context.Context, tx pgx.Tx) error {
		seen = nil
		var err error
		if paying, err = order.Pay(ctx, tx, order.Key(id), options...); err != nil {
			return err
		}
		seen.add("order", "pay", paying.Outcome)
		if err := paying.Err(); err != nil {
			return err
		}
		// Replayed goes on as well: the customer tries another channel. Should
		// both bring money, the order keeps one and the other goes back. Under
		// one number at two providers it cannot, and is a case for a person.
		return s.attempt(ctx, tx, paying.Row, body.PaymentNo, &seen)
	})
	if err != nil {
		return err
	}
	s.count(seen)
	return writeJSON(w, http.StatusOK, paidView{PaymentNo: body.PaymentNo, Order: viewOf(paying.Row)})
}

// attempt records that the payment was created and went to the provider. A
// number of another order, or one whose attempt is over, is refused.
func (s *Service) attempt(ctx context.Context, tx pgx.Tx, row order.Row, paymentNo string, seen *tally) error {
	created, err := payment.Create(ctx, tx, payment.CreateParams{
		Key: payment.Key(paymentNo), OrderID: string(row.OrderID), AmountCents: row.TotalCents,
	}, s.at())
	if err != nil {
		return err
	}
	seen.add("payment", "create", created.Outcome)
	if created.Outcome == fsm.Mismatched {
		return &statusError{status: http.StatusConflict, detail: "this payment number belongs to another attempt"}
	}
	submitted, err := payment.Submit(ctx, tx, payment.Key(paymentNo), s.at())
	if err != nil {
		return err
	}
	seen.add("payment", "submit", submitted.Outcome)
	if !submitted.Outcome.OK() {
		return &statusError{status: http.StatusConflict, detail: "this attempt is over; take a new payment number"}
	}
	return nil
}
