package shop

import (
	"context"
	"errors"
	"log/slog"

	"github.com/pawl-go/pawl/fsm/relay"
	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/gen/refund"
)

// relayParallel leaves most of the pool's connections to requests.
const relayParallel = 2

// Relay returns a relay of the outbox. The caller runs it, as Serve does; several
// may run at once.
//
// There is no broker between: the relay has delivered a message when whoever hears
// it is done with it, so that nothing is lost with this process. What was given back
// comes again.
func (s *Service) Relay() *relay.Relay {
	return &relay.Relay{
		DB: s.pool, Parallel: relayParallel, Publisher: s.telemetry.Publisher(relay.PublisherFunc(s.hear)),
		Delivered: s.telemetry.Delivered,
		Failed:    s.relayFailed,
	}
}

// relayFailed counts and logs what the relay could not do. A message that is tried
// again by itself is no error yet.
func (s *Service) relayFailed(err error) {
	s.telemetry.RelayFailed(err)
	level := slog.LevelError
	if refused := (*relay.PublishError)(nil); errors.As(err, &refused) && !refused.Parked {
		level = slog.LevelWarn
	}
	s.failed(level, "the relay could not deliver", err)
}

// hear does what a message of the outbox is for; a second time does nothing. Topics
// that nobody here waits for are delivered to nobody.
func (s *Service) hear(ctx context.Context, m relay.Message) error {
	switch m.Machine + " " + m.Topic {
	case "order order_paid":
		return s.bookMail(ctx, m)
	case "order payment_query_due", "payment payment_query_due":
		return s.hearQuery(ctx, m)
	case "order refund_due":
		if m.Event == string(order.EventPaymentSucceeded) { // what a customer asked for has its refund
			return s.giveBack(ctx, m)
		}
	case "order refund_query_due":
		return s.hearRefundQuery(ctx, m)
	case "order refund_stuck", "refund refund_stuck":
		return s.hearStuck(ctx, m)
	case "refund refund_send":
		return s.calls.heardSend(ctx, refund.Key(m.Key))
	case "refund refund_query_due":
		if s.calls == nil {
			return s.lastQuery(ctx, refund.Key(m.Key))
		}
		return s.calls.heardQuery(ctx, refund.Key(m.Key))
	}
	return nil
}
