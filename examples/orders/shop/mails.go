package shop

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm/consume"
	"github.com/pawl-go/pawl/fsm/relay"
	"github.com/pawl-go/pawl/gen/db"
)

// topicPaid is the topic of the outbox that a consumer waits for.
const topicPaid = "order_paid"

const (
	mailLease = 5 * time.Second // to write one row; a process that died is taken over then
	mailTries = 5
	// relayParallel leaves most of the pool's connections to requests.
	relayParallel = 2
	// keepSent is how long what was delivered is remembered, on both sides.
	keepSent = 30 * 24 * time.Hour
)

// mails is the consumer that books a mail for each order that was paid.
func (s *Service) mails() *consume.Consumer {
	return &consume.Consumer{DB: s.pool, Name: "mails", Lease: mailLease, Tries: mailTries}
}

// Relay returns a relay of the outbox. The caller runs it, as Serve does; several
// may run at once.
//
// There is no broker between: the relay has delivered a message when the consumer
// is done with it, so that nothing is lost with this process. What the consumer
// gives back comes again; what it gave up is a dead letter, and those behind go on.
// What it tells of refunds goes to the provider calls; what is stuck of them, and
// money that has to go back where no provider is set, to a person. Topics that
// nobody here waits for are delivered to nobody.
func (s *Service) Relay() *relay.Relay {
	mails := s.mails()
	return &relay.Relay{
		DB: s.pool, Parallel: relayParallel,
		Publisher: relay.PublisherFunc(func(ctx context.Context, m relay.Message) error {
			switch m.Topic {
			case topicPaid:
			case topicStuck:
				return s.hearStuck(ctx, m)
			default:
				return s.hear(ctx, m)
			}
			// An order is paid once, however many messages say so.
			outcome, err := mails.Consume(ctx, m.Topic+"/"+m.Key, consume.Message{Topic: m.Topic, ID: m.ID, Payload: m.Payload},
				func(ctx context.Context, tx pgx.Tx, _ consume.Message) error {
					return db.New(tx).ShopMailAdd(ctx, db.ShopMailAddParams{OrderID: m.Key, Kind: m.Topic})
				})
			if outcome.Ack() {
				return nil
			}
			return err
		}),
		Failed: func(err error) { s.log.Error("relay", "error", err) },
	}
}

// sweepSent forgets what was delivered long ago.
func (s *Service) sweepSent(ctx context.Context) error {
	if _, err := relay.Sweep(ctx, s.pool, keepSent); err != nil {
		return err
	}
	_, _, err := s.mails().Sweep(ctx, consume.Sweep{Retention: keepSent})
	return err
}
