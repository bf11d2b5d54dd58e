package load

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/consume"
	"github.com/pawl-go/pawl/fsm/lock"
	"github.com/pawl-go/pawl/fsm/relay"
	"github.com/pawl-go/pawl/fsm/token"
	"github.com/pawl-go/pawl/gen/order"
)

// Tables are what the effects are written to. None has a key: what is done twice must
// be seen twice.
const Tables = `
CREATE TABLE torture_then (machine text NOT NULL, key text NOT NULL, version bigint NOT NULL, event text NOT NULL, request_id text NOT NULL);
CREATE TABLE torture_heard (row_id bigint NOT NULL, machine text NOT NULL, key text NOT NULL, version bigint NOT NULL, topic text NOT NULL);
CREATE TABLE torture_uses (purpose text NOT NULL);
CREATE TABLE torture_held (name text NOT NULL, fence bigint NOT NULL);`

// Stock is what each article has at first.
const Stock = 1_000_000_000

// Heard are the topics that have a consumer.
var Heard = []string{"order_paid", "payment_twice", "refund_stuck"}

// effect is what hangs on a step's transition.
func (c *client) effect(s step, id string) effect {
	machine, event, _ := strings.Cut(s.verb, " ")
	return func(ctx context.Context, tx pgx.Tx, key string, version int64) error {
		if _, err := tx.Exec(ctx, `INSERT INTO torture_then VALUES ($1, $2, $3, $4, $5)`, machine, key, version, event, id); err != nil {
			return err
		}
		if s.verb != "order payment_succeeded" {
			return nil
		}
		_, err := tx.Exec(ctx, `UPDATE shop_stock SET quantity = quantity - 1 WHERE sku = $1 AND quantity >= 1`, Sku(s.order))
		return err
	}
}

// hear does what a message of the outbox is for, once.
func (s *service) hear(ctx context.Context, m relay.Message) error {
	for _, topic := range Heard {
		if m.Topic == topic {
			return s.consumed(ctx, m)
		}
	}
	return nil // nobody waits for it
}

func (s *service) consumed(ctx context.Context, m relay.Message) error {
	outcome, err := s.consumer.Consume(ctx, m.ID, consume.Message{Topic: m.Topic, ID: m.ID, Payload: m.Payload},
		func(ctx context.Context, tx pgx.Tx, _ consume.Message) error {
			_, err := tx.Exec(ctx, `INSERT INTO torture_heard VALUES ($1, $2, $3, $4, $5)`, m.Row, m.Machine, m.Key, m.Version, m.Topic)
			return err
		})
	if outcome.Ack() {
		return nil
	}
	return err
}

// signUp is the kind of the tokens. The server's clock jumps by hours.
var signUp = token.Kind{Name: "torture", AnyTTL: true, TTL: 60 * 24 * time.Hour, Keep: 90 * 24 * time.Hour}

// useToken issues a token and uses it, twice at once.
func (c *client) useToken(ctx context.Context, order int) {
	if c.tokens == nil {
		return
	}
	purpose := fmt.Sprintf("order %d life %d", order, c.Life)
	var t token.Token
	for try := 0; ; try++ {
		if ctx.Err() != nil {
			return
		}
		var err error
		calling, cancel := context.WithTimeout(ctx, callTimeout)
		t, err = c.tokens.Issue(calling, signUp, "somebody", purpose)
		cancel()
		if err == nil {
			break
		}
		if errors.Is(err, fsm.ErrArgument) {
			c.journal.Note("violation", "a token cannot be issued: "+err.Error())
			return
		}
		c.pause(ctx, try)
	}
	both := make(chan struct{}, 2)
	for range 2 {
		go func() {
			defer func() { both <- struct{}{} }()
			c.consume(ctx, t, purpose)
		}()
	}
	<-both
	<-both
}

// consume uses a token until it is told what came of it.
func (c *client) consume(ctx context.Context, t token.Token, purpose string) {
	for try := 0; ctx.Err() == nil; try++ {
		calling, cancel := context.WithTimeout(ctx, callTimeout)
		_, err := c.tokens.Use(calling, t, "somebody", purpose, func(ctx context.Context, tx pgx.Tx) ([]byte, error) {
			_, err := tx.Exec(ctx, `INSERT INTO torture_uses VALUES ($1)`, purpose)
			return []byte("done"), err
		})
		cancel()
		switch {
		case err == nil:
			c.journal.Note("used", purpose)
			return
		case errors.Is(err, token.ErrInvalid):
			c.journal.Note("violation", "a token that was issued is refused: "+purpose+": "+err.Error())
			return
		}
		c.pause(ctx, try)
	}
}

// errNoLock is the error of a call that was not made since its lock was not to be had.
var errNoLock = errors.New("no lock")

// locked runs fn under a lock, in Redis or, while that is away, in PostgreSQL. That the
// lock was lost meanwhile does no harm: the statement judges.
func (s *service) locked(ctx context.Context, name string, fn func(context.Context) error) error {
	began, inner := false, error(nil)
	err := s.locks.With(ctx, name, func(ctx context.Context, held lock.Held) error {
		began = true
		inner = fn(ctx)
		return inner
	})
	if began {
		return inner
	}
	return errors.Join(errNoLock, err)
}

// Engine is what takes payments in the place of the generated call, wrong on purpose:
// for trials that must be refused. Then runs what hangs on the transition.
type Engine func(ctx context.Context, db fsm.DB, p Payment) (order.Result, error)

// Payment is what an Engine is given.
type Payment struct {
	Key, PaymentNo, RequestID string
	Cents                     int64
	Then                      func(ctx context.Context, tx pgx.Tx, version int64) error
}

func brokenCall(ctx context.Context, e Engine, db fsm.DB, s step, then effect, options []fsm.Option) (told, error) {
	var call fsm.Call
	for _, o := range options {
		o(&call)
	}
	p := Payment{Key: s.key, PaymentNo: s.p.no, Cents: s.p.cents, RequestID: call.RequestID}
	p.Then = func(ctx context.Context, tx pgx.Tx, version int64) error {
		if then == nil {
			return nil
		}
		return then(ctx, tx, s.key, version)
	}
	r, err := e(ctx, db, p)
	return tell(r, ofOrder), err
}
