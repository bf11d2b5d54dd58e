package acceptance

import (
	"context"
	"os"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/rueidis"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/consume"
	"github.com/pawl-go/pawl/fsm/consume/consumeredis"
	"github.com/pawl-go/pawl/fsm/consume/consumewatermill"
	"github.com/pawl-go/pawl/fsm/relay"
	"github.com/pawl-go/pawl/gen/order"
)

// The code of the page about consumers.
var _ = []any{pageConsume, pageLetters, pageRequeue, pageConsumeCommand, pageRelayed, pageFront, pageWatermill}

// delivery is what a broker's client gives.
type delivery interface {
	Ack()
	Nack()
}

func pageConsume(ctx context.Context, pool *pgxpool.Pool, id order.Key, body []byte, delivery delivery) error {
	consumer := &consume.Consumer{DB: pool, Name: "shipping", Lease: time.Minute, Tries: 10}

	outcome, err := consumer.Consume(ctx, "paid/order-17", consume.Message{Topic: "paid", Payload: body},
		func(ctx context.Context, tx pgx.Tx, m consume.Message) error {
			result, err := order.Ship(ctx, tx, id) // commits with the mark "done", or not at all
			if err == nil {
				err = result.Err() // the machine refused: not done, so it comes again, and at last becomes a dead letter
			}
			return err
		})
	if outcome.Ack() {
		delivery.Ack()
	} else {
		delivery.Nack() // it comes again
	}
	return err
}

func pageLetters(ctx context.Context, consumer *consume.Consumer) ([]consume.Letter, error) {
	letters, err := consumer.Letters(ctx, 0, 100) // a person reads them
	return letters, err
}

func pageRequeue(ctx context.Context, consumer *consume.Consumer, id int64, publish func(context.Context, pgx.Tx, consume.Message) error) (consume.Letter, error) {
	letter, err := consumer.Requeue(ctx, id, fsm.Correction{Actor: "ada", Reason: "fixed in 1.4"}, publish)
	return letter, err
}

func pageConsumeCommand(ctx context.Context, consumer *consume.Consumer, publish func(context.Context, pgx.Tx, consume.Message) error) error {
	commands := consume.Command{Consumer: consumer, Out: os.Stdout, Publish: publish}
	err := commands.Run(ctx, os.Args[1:]...)
	return err
}

func pageRelayed(pool *pgxpool.Pool, consumer *consume.Consumer, ship consume.Handler) *relay.Relay {
	r := &relay.Relay{DB: pool, Publisher: relay.PublisherFunc(func(ctx context.Context, m relay.Message) error {
		if m.Topic != "order_paid" {
			return nil // nobody waits for it: it counts as delivered
		}
		outcome, err := consumer.Consume(ctx, m.ID, consume.Message{Topic: m.Topic, ID: m.ID, Payload: m.Payload}, ship)
		if outcome.Ack() {
			return nil // done, done before, or a dead letter
		}
		return err // given back: the relay sends it again, after a pause
	})}
	return r
}

func pageFront(consumer *consume.Consumer) error {
	front, err := consumeredis.New(rueidis.ClientOption{InitAddress: []string{"localhost:6379"}}, consumeredis.Options{})
	consumer.Front = front
	return err
}

func pageWatermill(router *message.Router, subscriber message.Subscriber, consumer *consume.Consumer, ship func(context.Context, pgx.Tx, []byte) error) {
	handler := router.AddConsumerHandler("ship", "paid", subscriber, func(m *message.Message) error {
		tx := consumewatermill.Tx(m.Context())
		return ship(m.Context(), tx, m.Payload)
	})
	handler.AddMiddleware(consumewatermill.Middleware(consumer, consumewatermill.Options{}))
}
