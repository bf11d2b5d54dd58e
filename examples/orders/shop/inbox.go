package shop

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/inbox"
	"github.com/pawl-go/pawl/fsm/lock"
	"github.com/pawl-go/pawl/fsm/webhook"
)

const (
	// A body holds customers' data: it is kept for as long as anybody asks.
	keepBodies = 30 * 24 * time.Hour
	// An event that is told after this is known to machine and ledger alone.
	keepEvents = 400 * 24 * time.Hour
)

// newInbox returns the inbox of the providers that can be verified, nil without
// any.
func (s *Service) newInbox(c Config) (*inbox.Inbox, error) {
	var providers []inbox.Provider
	if c.Standard != nil {
		providers = append(providers, reading(inbox.Standard(providerStandard, nil, s.handleNotice), c.Standard))
	}
	if c.Stripe != nil {
		providers = append(providers, reading(inbox.Stripe(nil, s.handleNotice), c.Stripe))
	}
	if c.Alipay != nil {
		providers = append(providers, inbox.Alipay(c.Alipay, s.handleAlipay()))
	}
	if c.WeChat != nil {
		providers = append(providers, s.wechat(c.WeChat))
	}
	if len(providers) == 0 {
		return nil, nil
	}
	return inbox.New(inbox.Config{
		Pool: tallied{c.Pool, s}, Providers: providers, Clock: s.now, Observe: s.observe,
		Failed: func(err error) {
			if !errors.Is(err, inbox.ErrUnreadable) { // observe has it
				s.Failed("the inbox could not take a callback", err)
			}
		},
	})
}

// reading has a provider of notices verified by v, and its notices read before
// they are stored: what is none is refused at the door, and its body kept.
func reading(p inbox.Provider, v webhook.Verifier) inbox.Provider {
	preset := p.Parse
	p.Verifier = v
	p.Parse = func(d webhook.Delivery, body []byte) ([]inbox.Event, error) {
		events, err := preset(d, body)
		if err != nil {
			return nil, err
		}
		n, err := parseNotice(body)
		var unknown unknownTypeError
		switch {
		case errors.As(err, &unknown): // an event without a notice, which the handler ignores
			return events, nil
		case err != nil:
			return nil, err
		}
		e := &events[0] // both presets tell of one
		e.Data = n
		e.Object, e.Status, e.Fingerprint = n.change()
		return events, nil
	}
	return p
}

// change is what a notice tells of what, and all that equal ones agree on. An
// abnormal refund may become abnormal again, so that each telling of that is an
// event of its own.
func (n notice) change() (object, status, fingerprint string) {
	d := n.Data
	fingerprint = d.OrderID + " " + d.PaymentNo + " " + strconv.FormatInt(d.AmountCents, 10)
	switch n.Type {
	case paymentSucceeded, paymentFailed:
		return d.PaymentNo, string(n.Type), fingerprint
	case refundSucceeded:
		return d.RefundNo, string(n.Type), fingerprint
	}
	return "", "", fingerprint + " " + d.RefundNo
}

// handleNotice is the inbox's handler of what Standard Webhooks and Stripe's
// scheme bring.
func (s *Service) handleNotice(ctx context.Context, tx pgx.Tx, e inbox.Event) (fsm.Outcome, error) {
	n, ours := e.Data.(notice)
	if !ours {
		return "", inbox.ErrUnknownType
	}
	return s.settleKept(ctx, tx, e, n)
}

// settleKept settles a notice in the inbox's transaction, under the lock of its
// order. The lock is free when the notice is settled, and the inbox commits after
// that: who comes next may have to wait for the order's row, for that long.
func (s *Service) settleKept(ctx context.Context, tx pgx.Tx, e inbox.Event, n notice) (fsm.Outcome, error) {
	var locker lock.Locker
	if s.lock != nil {
		locker = hasty{s.lock}
	}
	return s.inTurn(ctx, locker, n.Data.OrderID, func() (fsm.Outcome, error) {
		outcome, seen, err := s.settle(ctx, savepoint(tx), origin{provider: e.Provider, delivery: e.ID}, n)
		if t, ok := tx.(*talliedTx); ok && err == nil {
			t.seen = seen
		}
		return outcome, err
	})
}

// observe counts what became of an event, and logs what somebody may look for.
func (s *Service) observe(t inbox.Told) {
	s.counters.verdict(t.Provider, t.Verdict)
	s.telemetry.Told(t)
	switch t.Verdict {
	case inbox.VerdictRefused:
		s.counters.refuse(t.Provider, t.Reason)
		s.log.Warn("callback refused", "provider", t.Provider, "reason", t.Reason)
	case inbox.VerdictIgnored:
		s.counters.ignore(t.Provider)
		s.log.Info("callback ignored", "provider", t.Provider, "delivery", t.ID)
	case inbox.VerdictParked:
		s.log.Info("callback parked", "provider", t.Provider, "delivery", t.ID, "event", t.Event, "reason", t.Reason)
	case inbox.VerdictDead, inbox.VerdictConflict, inbox.VerdictUnreadable:
		s.log.Warn("callback for a person", "provider", t.Provider, "delivery", t.ID, "event", t.Event, "verdict", string(t.Verdict), "reason", t.Reason)
	}
}

// serveInbox adds the endpoints of the inbox's providers.
func (s *Service) serveInbox(mux *http.ServeMux) {
	for _, provider := range []string{providerStandard, providerStripe, providerAlipay, providerWeChat} {
		if endpoint, err := s.inbox.Handler(provider); err == nil { // the others have no verifier
			mux.Handle(callbacks+provider, endpoint)
		}
	}
}

// Inbox returns the inbox of Config.Inbox, for a person's commands; nil for none.
func (s *Service) Inbox() *inbox.Inbox { return s.inbox }

// Retry returns what settles the callbacks that wait in the inbox, nil without an
// inbox. The caller runs it, as Serve does; several may run at once.
func (s *Service) Retry() *inbox.Retry {
	if s.inbox == nil {
		return nil
	}
	return &inbox.Retry{Inbox: s.inbox, Failed: func(err error) { s.Failed("what waits in the inbox could not be tried again", err) }}
}

// SweepInbox forgets what the inbox has kept for long, bodies first, and puts the
// events into the archive. Without an inbox it does nothing.
func (s *Service) SweepInbox(ctx context.Context) (inbox.Swept, error) {
	if s.inbox == nil {
		return inbox.Swept{}, nil
	}
	return s.inbox.Sweep(ctx, inbox.Retention{Bodies: keepBodies, Rows: keepEvents, Archive: true})
}
