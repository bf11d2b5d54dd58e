package consumewatermill_test

import (
	"context"
	"log"
	"time"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/pubsub/gochannel"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/fsm/consume"
	"github.com/pawl-go/pawl/fsm/consume/consumewatermill"
)

func Example() {
	ctx := context.Background()
	db, err := pgxpool.New(ctx, "postgres://localhost/shop")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	router, err := message.NewRouter(message.RouterConfig{}, watermill.NopLogger{})
	if err != nil {
		log.Fatal(err)
	}
	consumer := &consume.Consumer{DB: db, Name: "shipping", Lease: time.Minute, Tries: 10}
	broker := gochannel.NewGoChannel(gochannel.Config{}, watermill.NopLogger{}) // or any other
	ship := router.AddConsumerHandler("ship", "paid", broker, func(m *message.Message) error {
		ctx := m.Context()
		_, err := consumewatermill.Tx(ctx).Exec(ctx, `INSERT INTO shipments (order_id) VALUES ($1)`, m.Metadata.Get("order"))
		return err
	})
	ship.AddMiddleware(consumewatermill.Middleware(consumer, consumewatermill.Options{ // for this handler alone
		Key: func(m *message.Message) string { return m.Metadata.Get("order") }, // one order is paid once
	}))
	if err := router.Run(ctx); err != nil {
		log.Fatal(err)
	}
}
