package consume_test

import (
	"context"
	"log"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm/consume"
)

// delivery is what a broker's client gives: a message that is acknowledged or given
// back.
type delivery struct {
	key       string
	body      []byte
	ack, nack func()
}

// receive handles one delivery.
func receive(ctx context.Context, c *consume.Consumer, d delivery) {
	m := consume.Message{Topic: "paid", Payload: d.body}
	outcome, err := c.Consume(ctx, d.key, m, func(ctx context.Context, tx pgx.Tx, m consume.Message) error {
		_, err := tx.Exec(ctx, `INSERT INTO effects (key) VALUES ($1)`, string(m.Payload))
		return err
	})
	if err != nil {
		log.Printf("%s: %v", outcome, err)
	}
	if outcome.Ack() {
		d.ack()
	} else {
		d.nack()
	}
}

func Example() {
	ctx := context.Background()
	db, err := pgxpool.New(ctx, "postgres://localhost/shop")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	consumer := &consume.Consumer{DB: db, Name: "shipping", Lease: time.Minute, Tries: 10}
	for d := range deliveries() {
		receive(ctx, consumer, d)
	}
}

// deliveries stands for the broker's client.
func deliveries() <-chan delivery {
	out := make(chan delivery)
	close(out)
	return out
}

// What the example shows is true.
func TestExample(t *testing.T) {
	t.Parallel()
	c, db := newConsumer(t)
	var acks, nacks int
	d := delivery{"order-17", []byte("order-17"), func() { acks++ }, func() { nacks++ }}
	receive(t.Context(), c, d)
	receive(t.Context(), c, d)
	require.Equal(t, 2, acks)
	require.Zero(t, nacks)
	require.Equal(t, 1, effects(t, db, "order-17"))
}
