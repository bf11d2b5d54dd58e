package shop

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm/consume"
	"github.com/pawl-go/pawl/fsm/relay"
	"github.com/pawl-go/pawl/gen/db"
)

const (
	mailLease = 5 * time.Second // to write one row; a process that died is taken over then
	mailTries = 5
	// keepSent is how long what was delivered is remembered, on both sides.
	keepSent = 30 * 24 * time.Hour
)

// mails is the consumer that books a mail for each order that was paid.
func (s *Service) mails() *consume.Consumer {
	return &consume.Consumer{DB: s.pool, Name: "mails", Lease: mailLease, Tries: mailTries, Observe: s.telemetry.Consumed}
}

// bookMail books the mail of an order that was paid: once, however many messages say
// so. What the consumer gave up is a dead letter, and counts as delivered.
func (s *Service) bookMail(ctx context.Context, m relay.Message) error {
	outcome, err := s.mails().Consume(ctx, m.Topic+"/"+m.Key, consume.Message{Topic: m.Topic, ID: m.ID, Payload: m.Payload},
		func(ctx context.Context, tx pgx.Tx, _ consume.Message) error {
			return db.New(tx).ShopMailAdd(ctx, db.ShopMailAddParams{OrderID: m.Key, Kind: m.Topic})
		})
	if outcome.Ack() {
		return nil
	}
	return err
}

// sweepSent forgets what was delivered long ago.
func (s *Service) sweepSent(ctx context.Context) error {
	if _, err := relay.Sweep(ctx, s.pool, keepSent); err != nil {
		return err
	}
	_, _, err := s.mails().Sweep(ctx, consume.Sweep{Retention: keepSent})
	return err
}
