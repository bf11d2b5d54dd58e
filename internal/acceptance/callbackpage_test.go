package acceptance

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/inbox"
	"github.com/pawl-go/pawl/fsm/webhook"
	"github.com/pawl-go/pawl/gen/order"
)

// The code of the page about callbacks.
var _ = []any{pageInbox, pageStandard, pageInboxBeside}

func pageInbox(ctx context.Context, pool *pgxpool.Pool, mux *http.ServeMux, current, previous webhook.Secret, log *slog.Logger) error {
	verifier, err := webhook.NewStripe([]webhook.Secret{current, previous}) // both count while one replaces the other
	if err != nil {
		return err
	}
	stripe := inbox.Stripe(verifier, handle)
	stripe.Change = change
	in, err := inbox.New(inbox.Config{
		Pool:      pool,
		Providers: []inbox.Provider{stripe},
		Observe:   func(t inbox.Told) { log.Info("callback", "verdict", t.Verdict, "reason", t.Reason) },
	})
	if err != nil {
		return err
	}
	endpoint, err := in.Handler("stripe")
	if err != nil {
		return err
	}
	mux.Handle("/callbacks/stripe", endpoint)
	go (&inbox.Retry{Inbox: in}).Run(ctx)
	return nil
}

func pageStandard(secret webhook.Secret) ([]inbox.Provider, error) {
	verifier, err := webhook.NewStandard([]webhook.Secret{secret})
	if err != nil {
		return nil, err
	}
	courier := inbox.Standard("courier", verifier, handle) // the name is yours: it has its endpoint and its events
	courier.Change = change
	return []inbox.Provider{courier}, nil
}

// intent is what we read of the event payment_intent.succeeded.
type intent struct {
	Data struct {
		Object struct {
			ID       string `json:"id"`
			Cents    int64  `json:"amount_received"`
			Metadata struct {
				Order string `json:"order"`
			} `json:"metadata"`
		} `json:"object"`
	} `json:"data"`
}

func read(e inbox.Event) (p intent, err error) {
	body, ok := e.Data.(json.RawMessage) // Stripe's; the table below has the others'
	if !ok || e.Type != "payment_intent.succeeded" {
		return p, inbox.ErrUnknownType
	}
	if err = json.Unmarshal(body, &p); err == nil && p.Data.Object.Metadata.Order == "" {
		err = inbox.ErrUnknownType // genuine, and another system's: our own payments carry their order
	}
	return p, err
}

// change tells what an event says of what: events with other ids that agree are one.
func change(e inbox.Event) (object, status, fingerprint string) {
	p, err := read(e)
	if err != nil {
		return "", "", ""
	}
	return p.Data.Object.ID, e.Type, fmt.Sprintf("%d for %s", p.Data.Object.Cents, p.Data.Object.Metadata.Order)
}

func handle(ctx context.Context, tx pgx.Tx, e inbox.Event) (fsm.Outcome, error) {
	p, err := read(e)
	if err != nil {
		return "", err
	}
	result, err := order.PaymentSucceeded(ctx, tx, order.Key(p.Data.Object.Metadata.Order), order.PaymentSucceededParams{
		PaymentNo: e.Identity(p.Data.Object.ID), // with the provider's name: two providers may use one number
		PaidCents: p.Data.Object.Cents,
	})
	return result.Outcome, err // the inbox judges the outcome, by the table below
}

func pageInboxBeside(ctx context.Context, in *inbox.Inbox) (inbox.Swept, error) {
	const day = 24 * time.Hour
	// What is parked, what there was no time for, and what a process that died left.
	go (&inbox.Retry{Inbox: in}).Run(ctx)
	// Daily.
	swept, err := in.Sweep(ctx, inbox.Retention{Bodies: 30 * day, Rows: 400 * day})
	return swept, err
}
