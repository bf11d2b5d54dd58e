package shop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/relay"
	"github.com/pawl-go/pawl/gen/refund"
)

// hearStuck hands a refund that goes no further by itself to a person, since the
// provider refused it or could not do it: a case, once for each message, and a line in
// the log. One that came back otherwise than it was asked for, refund_disputed, has
// its case from who settled it. It does so without a provider too, since callbacks
// tell of refused refunds as well.
//
// A callback that says "failed" is two messages: of the order, which has promised
// the money, and of the refund, which waits. The answer to our own call is one, of
// the order.
func (s *Service) hearStuck(ctx context.Context, m relay.Message) error {
	number, err := refundOf(m)
	if err != nil {
		return err
	}
	orderID, event, outcome, why := m.Key, m.Event, fsm.Compensated, "the provider did not give it back"
	if m.Machine == "refund" {
		orderID, event, outcome, why = "", "refund."+m.Event, fsm.Applied, "it waits for a person"
	}
	err = fsm.RunTx(ctx, s.pool, fsm.TxPolicy{}, func(ctx context.Context, tx pgx.Tx) error {
		detail := fmt.Sprintf("refund_no=%q: %s", number, why)
		row, err := refund.Get(ctx, tx, refund.Key(number))
		switch {
		case err == nil:
			orderID = row.OrderID
			detail += fmt.Sprintf("; it is %s, of payment_no=%q amount_cents=%d", row.Status, row.PaymentNo, row.AmountCents)
		case !errors.Is(err, fsm.ErrNotFound) || orderID == "":
			return err
		}
		return openCase(ctx, tx, origin{providerRefunds, m.ID}, orderID, event, outcome, detail)
	})
	if err == nil {
		s.log.WarnContext(ctx, "refund for a person", "refund_no", number, "order_id", orderID, "event", event)
	}
	return err
}

// refundOf is the number of the refund that a message is about.
func refundOf(m relay.Message) (string, error) {
	if m.Machine == "refund" {
		return m.Key, nil
	}
	var told struct {
		Params struct {
			RefundNo string `json:"refund_no"`
		} `json:"params"`
	}
	err := json.Unmarshal(m.Payload, &told)
	return told.Params.RefundNo, err
}
