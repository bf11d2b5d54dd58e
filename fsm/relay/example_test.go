package relay_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/fsm/relay"
)

// A relay beside a service. It polls, and wakes at once where the trigger
// fsm_outbox_notify is enabled.
func ExampleRelay_Run() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, "postgres://localhost/shop")
	if err != nil {
		log.Print(err)
		return
	}
	r := &relay.Relay{
		DB: pool,
		Publisher: relay.PublisherFunc(func(ctx context.Context, m relay.Message) error {
			return nil // hand m over here, and return nil when it was accepted
		}),
		Tries:  20, // then a person decides
		Listen: func(ctx context.Context) (*pgx.Conn, error) { return pgx.ConnectConfig(ctx, pool.Config().ConnConfig) },
		Failed: func(err error) {
			var refused *relay.PublishError
			if errors.As(err, &refused) && refused.Parked {
				log.Printf("somebody has to look at this: %v", err)
			}
		},
	}
	if err := r.Run(ctx); err != nil && !errors.Is(err, context.Canceled) {
		log.Print(err)
	}
}

// What was sent is kept for a week; a program does this once an hour, say.
func ExampleSweep() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, "postgres://localhost/shop")
	if err != nil {
		log.Print(err)
		return
	}
	n, err := relay.Sweep(ctx, pool, 7*24*time.Hour)
	log.Print(n, err)
}

// An id says which message it is, over all deliveries.
func ExampleMessage_Identify() {
	m := relay.Message{Row: 7, Machine: "order", Key: "42", Version: 3, Event: "ship", Topic: "order_shipped", At: time.UnixMicro(1)}
	fmt.Println(m.Identify())
	// Output: 1148be6b-827f-8ffe-a256-6ff6ebb56171
}
