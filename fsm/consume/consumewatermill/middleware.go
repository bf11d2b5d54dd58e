// Package consumewatermill has consumers of package consume work in a Watermill
// router, and with it for messages of RabbitMQ, NATS JetStream, Kafka, Redis streams,
// SQL and whatever else Watermill subscribes to.
//
//	handler := router.AddConsumerHandler("ship", "paid", subscriber, func(m *message.Message) error {
//		tx := consumewatermill.Tx(m.Context())
//		return ship(m.Context(), tx, m.Payload) // commits with the mark "done"
//	})
//	handler.AddMiddleware(consumewatermill.Middleware(consumer, consumewatermill.Options{}))
//
// Each handler has a consumer of its own: neither topic nor handler is part of what
// a consumer knows a message by.
package consumewatermill

import (
	"context"
	"errors"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm/consume"
)

// ErrProduced: the handler returned messages to publish, which the router publishes
// after the commit, if at all: a process that dies in between loses them, since the
// redelivery is a duplicate. Write them to an outbox in the transaction, by Produced
// say.
var ErrProduced = errors.New("handler produced messages, and there is no outbox for them")

// Options say how a middleware works. The zero value is usable.
type Options struct {
	// Key returns a message's key; nil means its UUID, which must then be the same
	// whenever the message is published again. A key of the business is better. An
	// empty one makes the message a dead letter.
	Key func(*message.Message) string
	// Produced writes the messages that the handler produced to an outbox, in the
	// handler's transaction; nil means that there must be none.
	Produced func(ctx context.Context, tx pgx.Tx, produced []*message.Message) error
}

type txKey struct{}

// Tx returns the transaction that a message is handled in, from its context. It is
// nil for a message that did not come through the middleware.
func Tx(ctx context.Context) pgx.Tx {
	tx, _ := ctx.Value(txKey{}).(pgx.Tx)
	return tx
}

// Middleware has each message handled once, by its key. The message is acknowledged
// when it is done, a duplicate, or stored as a dead letter; it is given back, by an
// error to the router, when it is in progress elsewhere or has failed. That error is
// the one of [consume.Consumer.Consume].
//
// A message that is given back comes again at once unless the subscriber waits:
// NackResendSleep, NakDelay and the like. Middlewares that retry belong outside of
// this one, in front of it in AddMiddleware, and count as deliveries.
func Middleware(c *consume.Consumer, o Options) message.HandlerMiddleware {
	key := o.Key
	if key == nil {
		key = func(m *message.Message) string { return m.UUID }
	}
	return func(next message.HandlerFunc) message.HandlerFunc {
		return func(m *message.Message) ([]*message.Message, error) {
			restore(m)
			ctx := m.Context()
			defer m.SetContext(ctx)
			out, err := c.Consume(ctx, key(m), stored(m), func(ctx context.Context, tx pgx.Tx, _ consume.Message) error {
				m.SetContext(context.WithValue(ctx, txKey{}, tx))
				produced, err := next(m)
				if err != nil || len(produced) == 0 {
					return err
				}
				if o.Produced == nil {
					return ErrProduced
				}
				return o.Produced(ctx, tx, produced)
			})
			if out.Ack() {
				return nil, nil
			}
			return nil, err
		}
	}
}

// stored is the message as a dead letter keeps it.
func stored(m *message.Message) consume.Message {
	return consume.Message{
		Topic:    message.SubscribeTopicFromCtx(m.Context()),
		ID:       m.UUID,
		Payload:  m.Payload,
		Metadata: m.Metadata,
	}
}

// firstID is the metadata that has the UUID of a message as it was first published.
const firstID = "pawl_first_id"

// Message makes a message to publish of one that was stored, for
// [consume.Consumer.Requeue]. Its UUID is new, since a broker that knows duplicates by
// it, as JetStream does with TrackMsgId, would drop the old one unseen. The middleware
// gives it the old one again when it comes: keys, handlers and another dead letter see
// the message as it was.
func Message(m consume.Message) *message.Message {
	out := message.NewMessage(watermill.NewUUID(), m.Payload)
	for name, value := range m.Metadata {
		out.Metadata.Set(name, value)
	}
	if m.ID != "" {
		out.Metadata.Set(firstID, m.ID)
	}
	return out
}

// restore makes a message that was published again the one that it was.
func restore(m *message.Message) {
	if id := m.Metadata.Get(firstID); id != "" {
		m.UUID = id
		delete(m.Metadata, firstID)
	}
}
