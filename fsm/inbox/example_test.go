package inbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/inbox"
	"github.com/pawl-go/pawl/fsm/webhook"
	"github.com/pawl-go/pawl/gen/order"
)

// An endpoint for Stripe's callbacks, the worker beside it, and a sweep.
func Example() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, "postgres://localhost/shop")
	if err != nil {
		log.Fatal(err)
	}
	verifier, err := webhook.NewStripe(webhook.Secrets("whsec_from_the_dashboard"))
	if err != nil {
		log.Fatal(err)
	}
	in, err := inbox.New(inbox.Config{
		Pool: pool,
		Providers: []inbox.Provider{inbox.Stripe(verifier, func(ctx context.Context, tx pgx.Tx, e inbox.Event) (fsm.Outcome, error) {
			var told struct {
				Data struct {
					Object struct {
						ID       string
						Amount   int64
						Metadata struct{ Order string }
					}
				}
			}
			if err := json.Unmarshal(e.Data.(json.RawMessage), &told); err != nil {
				return "", err
			}
			paid := told.Data.Object
			if e.Type != "payment_intent.succeeded" {
				return "", inbox.ErrUnknownType
			}
			result, err := order.PaymentSucceeded(ctx, tx, order.Key(paid.Metadata.Order),
				order.PaymentSucceededParams{PaymentNo: e.Identity(paid.ID), PaidCents: paid.Amount},
				fsm.Actor("provider:"+e.Provider), fsm.RequestID(e.ID))
			return result.Outcome, err
		})},
		Observe: func(t inbox.Told) { log.Println(t.Provider, t.ID, t.Verdict, t.Outcome, t.Reason) },
	})
	if err != nil {
		log.Fatal(err)
	}
	endpoint, err := in.Handler("stripe")
	if err != nil {
		log.Fatal(err)
	}
	http.Handle("/callbacks/stripe", endpoint)
	go func() { _ = (&inbox.Retry{Inbox: in}).Run(ctx) }()
	go func() {
		for range time.Tick(24 * time.Hour) {
			swept, err := in.Sweep(ctx, inbox.Retention{Bodies: 30 * 24 * time.Hour, Rows: 400 * 24 * time.Hour})
			log.Println(swept, err)
		}
	}()
	log.Fatal(http.ListenAndServe(":8080", nil))
}

// The status map of the definition says what a provider's word means.
func ExampleWords() {
	// In a program: payment.AlipayEvent, which fsmgen writes from the definition.
	meaning := func(word string) (string, error) {
		switch word {
		case "TRADE_SUCCESS", "TRADE_FINISHED":
			return "succeed", nil
		case "WAIT_BUYER_PAY":
			return "", nil
		}
		return "", &fsm.UnknownWordError{Machine: "payment", Map: "alipay", Word: word}
	}
	handle := inbox.Words(func(e inbox.Event) string { return e.Status }, meaning,
		func(_ context.Context, _ pgx.Tx, _ inbox.Event, event string) (fsm.Outcome, error) {
			fmt.Println("fire", event)
			return fsm.Applied, nil
		})
	for _, word := range []string{"TRADE_FINISHED", "WAIT_BUYER_PAY", "TRADE_MAYBE"} {
		outcome, err := handle(context.Background(), nil, inbox.Event{Provider: "alipay", Status: word})
		fmt.Printf("%s: %s %v\n", word, outcome, err)
	}
	// Output:
	// fire succeed
	// TRADE_FINISHED: Applied <nil>
	// WAIT_BUYER_PAY: Ignored <nil>
	// TRADE_MAYBE:  status of alipay: payment: alipay has no word "TRADE_MAYBE"
}
