package shop

import (
	"cmp"
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/relay"
	"github.com/pawl-go/pawl/gen/db"
	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/gen/payment"
)

const (
	// providerPayments is where cases of payments come from that nobody told of.
	providerPayments = "payments"
	// noAnswer is the outcome of a case, beside those of calls.
	noAnswer fsm.Outcome = "NoAnswer"
)

// hearQuery hands payments that no callback has come of to a person, once a number,
// when the machine has asked for them for the last time: it would wait for ever.
// Before that it does nothing. The shop has no way to ask a provider for a payment;
// one that has asks it here, and settles the answer as a callback's.
func (s *Service) hearQuery(ctx context.Context, m relay.Message) error {
	orderID, numbers, err := s.unanswered(ctx, m)
	if err != nil || orderID == "" {
		return err
	}
	return fsm.RunTx(ctx, s.pool, fsm.TxPolicy{}, func(ctx context.Context, tx pgx.Tx) error {
		for _, number := range numbers {
			detail := fmt.Sprintf("payment_no=%q: no callback has come, and none is waited for any more: look it up at its provider", number)
			if err := openCase(ctx, tx, origin{providerPayments, cmp.Or(number, orderID)}, orderID, "payment."+string(payment.EventQuery), noAnswer, detail); err != nil {
				return err
			}
		}
		return nil
	})
}

// unanswered returns the order that a message is about, and its payments that nobody
// told of; no order when it is not the last message, or an answer has come.
func (s *Service) unanswered(ctx context.Context, m relay.Message) (orderID string, numbers []string, err error) {
	if m.Machine == "payment" {
		row, err := payment.Get(ctx, s.pool, payment.Key(m.Key))
		if err != nil || row.Status != payment.StateSubmitted || row.DeadlineAt != nil {
			return "", nil, err
		}
		return row.OrderID, []string{m.Key}, nil
	}
	row, err := order.Get(ctx, s.pool, order.Key(m.Key))
	if err != nil || row.Status != order.StatePaying || row.DeadlineAt != nil {
		return "", nil, err
	}
	numbers, err = db.New(s.pool).ShopPaymentsSubmitted(ctx, db.ShopPaymentsSubmittedParams{OrderID: m.Key})
	if len(numbers) == 0 {
		numbers = []string{""} // it waits for a payment that is not ours
	}
	return m.Key, numbers, err
}

// hearRefundQuery hands an order that waits for money to have gone back to a person,
// once, when the machine has asked for it for the last time: it would wait for ever.
// Its refunds have their own queries; the order may wait for what none of them is.
func (s *Service) hearRefundQuery(ctx context.Context, m relay.Message) error {
	row, err := order.Get(ctx, s.pool, order.Key(m.Key))
	if err != nil || row.Status != order.StateRefunding || row.DeadlineAt != nil {
		return err
	}
	detail := fmt.Sprintf("%d cents were promised, and %d are known to have gone back; none is waited for any more: look up the refunds at the provider",
		row.RefundCents, row.RefundedCents)
	return fsm.RunTx(ctx, s.pool, fsm.TxPolicy{}, func(ctx context.Context, tx pgx.Tx) error {
		return openCase(ctx, tx, origin{providerRefunds, m.Key}, m.Key, string(order.EventQueryRefund), noAnswer, detail)
	})
}
