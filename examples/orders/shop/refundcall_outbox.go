package shop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/attempt"
	"github.com/pawl-go/pawl/fsm/relay"
	"github.com/pawl-go/pawl/gen/db"
	"github.com/pawl-go/pawl/gen/refund"
)

// noProvider is the outcome of a case, beside those of calls.
const noProvider fsm.Outcome = "NoProvider"

// giveBack makes the refund of a payment that the order does not keep: one that
// came after it was cancelled, a second one, or one of another amount. It goes
// back whole, under the payment's own number.
//
// Without a provider the refund is made all the same, and a person gets a case:
// nobody else would learn of the money. The refund's deadlines send it and ask for
// it, so that a service that has a provider takes it up.
func (s *Service) giveBack(ctx context.Context, m relay.Message) error {
	var told struct {
		Params struct {
			PaymentNo string `json:"payment_no"`
			PaidCents int64  `json:"paid_cents"`
		} `json:"params"`
	}
	if err := json.Unmarshal(m.Payload, &told); err != nil {
		return err
	}
	number, cents := told.Params.PaymentNo, told.Params.PaidCents
	var seen tally
	err := fsm.RunTx(ctx, s.pool, fsm.TxPolicy{}, func(ctx context.Context, tx pgx.Tx) error {
		seen = nil
		if done, err := s.goneBack(ctx, tx, m, number, cents); err != nil || done {
			return err
		}
		created, err := refund.Create(ctx, tx, refund.CreateParams{
			Key: refund.Key(number), OrderID: m.Key, PaymentNo: number, AmountCents: cents,
		}, s.at())
		if err != nil {
			return err
		}
		seen.add("refund", "create", created.Outcome)
		switch {
		case created.Outcome == fsm.Applied && s.calls == nil:
			detail := fmt.Sprintf("payment_no=%q amount_cents=%d has to go back, and no provider of refunds is set: its refund waits for one", number, cents)
			return openCase(ctx, tx, origin{providerRefunds, m.ID}, m.Key, "refund.create", noProvider, detail)
		case created.Outcome == fsm.Applied:
			seen.add("refund", string(refund.EventSend), fsm.Applied)
			return s.calls.send(ctx, tx, number)
		case created.Outcome == fsm.Mismatched: // a customer took this number for a refund of their own
			detail := fmt.Sprintf("payment_no=%q amount_cents=%d has to go back, and its number has another refund", number, cents)
			return openCase(ctx, tx, origin{providerRefunds, m.ID}, m.Key, "refund.create", fsm.Mismatched, detail)
		}
		return nil
	})
	if err == nil {
		s.count(seen)
	}
	return err
}

// lastQuery hands a refund to a person when it has been asked for in vain for the
// last time and there is no provider: its machine would never speak of it again.
// Once there is one, it goes on when that person releases it.
func (s *Service) lastQuery(ctx context.Context, key refund.Key) error {
	row, err := refund.Get(ctx, s.pool, key)
	if err != nil || row.Status != refund.StateSent || row.DeadlineAt != nil {
		return err
	}
	stuck, err := refund.Stick(ctx, s.pool, key, fsm.Actor("shop"), fsm.Reason("no provider is set, and no callback has come"), s.at())
	if err != nil {
		return err
	}
	var seen tally
	seen.add("refund", string(refund.EventStick), stuck.Outcome)
	s.count(seen)
	return nil
}

// heardSend starts the attempt of a refund that became SENT in another way: by its
// deadline, since it is older than the provider's setting, or by a person. Without
// a provider it waits, and its next query starts the attempt. The refund's lock has a
// person who settles it by hand come before or after, never beside.
func (c *refundCalls) heardSend(ctx context.Context, key refund.Key) error {
	if c == nil {
		return nil
	}
	return fsm.RunTx(ctx, c.pool, fsm.TxPolicy{}, func(ctx context.Context, tx pgx.Tx) error {
		if err := db.New(tx).ShopRefundLock(ctx, db.ShopRefundLockParams{RefundNo: string(key)}); err != nil {
			return err
		}
		row, err := refund.Get(ctx, tx, key)
		if err != nil {
			return err
		}
		return c.start(ctx, tx, row)
	})
}

// errWorking says that the attempt waits for nobody.
var errWorking = errors.New("the attempt does not wait for a person")

// heardQuery hands the refund to a person when its attempt has been. Otherwise the
// attempt looks up by itself, and this is no news.
func (c *refundCalls) heardQuery(ctx context.Context, key refund.Key) error {
	var seen tally
	err := fsm.RunTx(ctx, c.pool, fsm.TxPolicy{}, func(ctx context.Context, tx pgx.Tx) error {
		seen = nil
		// The refund's lock comes first, as it does for whoever resumes the attempt, so
		// that this cannot happen in between.
		stuck, err := refund.Stick(ctx, tx, key, fsm.Actor("shop"), fsm.Reason("its provider call waits for a person"), c.at(),
			refund.Then(func(ctx context.Context, tx pgx.Tx, _ refund.Result) error {
				a, err := attempt.Find(ctx, tx, RefundKind, string(key))
				if err == nil && a.StuckAt == nil {
					err = errWorking
				}
				return err
			}))
		seen.add("refund", string(refund.EventStick), stuck.Outcome)
		return err
	})
	switch {
	case errors.Is(err, errWorking):
		return nil
	case errors.Is(err, attempt.ErrNotFound): // SENT before there was a provider
		return c.heardSend(ctx, key)
	case err == nil:
		c.count(seen)
	}
	return err
}
