package runbook

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/inbox"
	"github.com/pawl-go/pawl/fsm/webhook"
)

// ErrNoInbox: an event is to be processed again, and there are no handlers for it.
// Nothing was done.
var ErrNoInbox = errors.New("no handlers of the event's provider: its settings are missing")

// replay processes a parked or dead event again, at once.
func replay(text string, open OpenInbox) (action, error) {
	id, err := number(text)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, _ *pgxpool.Pool, who fsm.Correction) (string, error) {
		if open == nil {
			return "", ErrNoInbox
		}
		in, err := open()
		if err != nil {
			return "", err
		}
		if in == nil {
			return "", ErrNoInbox
		}
		told, err := in.Replay(ctx, id, who.Actor, who.Reason)
		switch {
		case errors.Is(err, inbox.ErrProvider):
			return "", fmt.Errorf("%w (%w)", ErrNoInbox, err)
		case err != nil:
			return "", err
		}
		done := fmt.Sprintf("the event is %s", told.State)
		if told.Outcome != "" {
			done += fmt.Sprintf(", the machine says %s", told.Outcome)
		}
		if told.Reason != "" {
			done += ": " + shown(told.Reason)
		}
		return done, nil
	}, nil
}

// endEvent closes an event of whatever provider.
func endEvent(text string) (action, error) {
	return closing("event", "fsm_inbox", text, (*inbox.Inbox).End)
}

// endDelivery closes an odd delivery, and unreadable ones of the same body with it.
func endDelivery(text string) (action, error) {
	return closing("delivery", "fsm_deliveries", text, (*inbox.Inbox).EndOdd)
}

// closing has a row of the inbox's closed, of whatever provider. The inbox that does so
// receives nothing; its secret is random.
func closing(name, table, text string, end func(*inbox.Inbox, context.Context, int64, string, string) error) (action, error) {
	id, err := number(text)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, pool *pgxpool.Pool, who fsm.Correction) (string, error) {
		var provider string
		err := pool.QueryRow(ctx, "SELECT r.provider FROM "+table+" AS r WHERE r.id = $1", id).Scan(&provider)
		if errors.Is(err, pgx.ErrNoRows) {
			return "", fmt.Errorf("%s: %w", name, fsm.ErrNotFound)
		}
		if err != nil {
			return "", err
		}
		key := make([]byte, 32)
		_, _ = rand.Read(key) // it never fails
		deaf, err := webhook.NewStandard([]webhook.Secret{webhook.NewSecret("whsec_" + base64.StdEncoding.EncodeToString(key))})
		if err != nil {
			return "", err
		}
		nothing := func(context.Context, pgx.Tx, inbox.Event) (fsm.Outcome, error) { return "", inbox.ErrTooEarly }
		in, err := inbox.New(inbox.Config{Pool: pool, Providers: []inbox.Provider{inbox.Standard(provider, deaf, nothing)}})
		if err != nil {
			return "", err
		}
		return "the " + name + " is closed", end(in, ctx, id, who.Actor, who.Reason)
	}, nil
}
