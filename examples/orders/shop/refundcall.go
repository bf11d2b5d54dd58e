package shop

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/attempt"
	"github.com/pawl-go/pawl/gen/refund"
)

const (
	// RefundKind is the attempts' kind; their business key is the refund's number.
	RefundKind = "refund"
	// providerRefunds is the provider of refunds, as actors and cases name it.
	providerRefunds = "refunds"
	// codeSettled is the code of an attempt that was not needed any more.
	codeSettled = "settled before it was sent"
)

// refundCalls has the provider give money back, once a refund. The machine says
// what a refund is for the shop, the attempt what is known about the call:
//
//   - A refund is SENT and has its attempt in one commit. So no deadline of
//     REQUESTED runs beside an attempt, and SENT has what will send it.
//   - The attempt alone sends and looks up, by its own schedule. It sends only what
//     is SENT: not a refund that is settled, nor one that a person looks at.
//   - Its end moves order, refund and ledger by the way that callbacks take, in the
//     transaction that completes it. Whoever comes second is Replayed or Ignored.
//   - A refund whose attempt waits for a person is ABNORMAL, an hour later at most:
//     its next query notices. Who resumes the attempt retries the refund with it.
type refundCalls struct {
	*Service
	api  RefundProvider
	kind *attempt.Kind

	mu   sync.Mutex
	made map[string]tally // by attempt: what its completion did, until it is committed
	seen map[attempt.What]int64
}

// refundRequest is what the provider is sent, each time the same.
type refundRequest struct {
	RefundNo    string `json:"refund_no"`
	OrderID     string `json:"order_id"`
	PaymentNo   string `json:"payment_no"`
	AmountCents int64  `json:"amount_cents"`
}

// newRefundCalls returns nil without a provider.
func (s *Service) newRefundCalls(api RefundProvider, policy attempt.Policy) (*refundCalls, error) {
	if api == nil {
		return nil, nil
	}
	c := &refundCalls{Service: s, api: api, made: map[string]tally{}, seen: map[attempt.What]int64{}}
	c.kind = &attempt.Kind{
		Name: RefundKind, Call: c.call, Complete: c.complete, Notify: c.notify, Policy: policy,
		Query: func(ctx context.Context, a attempt.Attempt) (attempt.Result, error) { return api.Find(ctx, a.ID) },
	}
	if c.kind.MaxRound() == 0 {
		return nil, errors.New("shop: the policy of refunds is impossible")
	}
	return c, nil
}

// send moves a new refund to SENT and starts its attempt, both or neither. Without
// a provider it does nothing.
func (c *refundCalls) send(ctx context.Context, tx pgx.Tx, refundNo string) error {
	if c == nil {
		return nil
	}
	result, err := refund.Send(ctx, tx, refund.Key(refundNo), c.at())
	if err != nil {
		return err
	}
	return c.start(ctx, tx, result.Row)
}

// start starts the attempt of a refund that is SENT, unless it has one.
func (c *refundCalls) start(ctx context.Context, db fsm.DB, row refund.Row) error {
	return startRefund(ctx, db, c.kind, row)
}

func startRefund(ctx context.Context, db fsm.DB, kind *attempt.Kind, row refund.Row) error {
	if row.Status != refund.StateSent {
		return nil
	}
	request := refundRequest{RefundNo: string(row.RefundNo), OrderID: row.OrderID, PaymentNo: row.PaymentNo, AmountCents: row.AmountCents}
	_, _, err := attempt.Start(ctx, db, kind, request.RefundNo, request)
	return err
}

// StartRefund starts the attempt of a refund that is SENT, as a service with a
// provider does, for programs that have none: a service will call. Of any other
// refund, or where it has its attempt, nothing is done. The error is Start's.
func StartRefund(ctx context.Context, db fsm.DB, row refund.Row) error {
	away := errors.New("this program calls no provider")
	return startRefund(ctx, db, &attempt.Kind{
		Name: RefundKind, RepeatIsQuery: true,
		Call:     func(context.Context, attempt.Attempt) (attempt.Result, error) { return attempt.Result{}, away },
		Complete: func(context.Context, pgx.Tx, attempt.Attempt) error { return away },
	}, row)
}

// call has the provider give the money back, if that is still wanted.
func (c *refundCalls) call(ctx context.Context, a attempt.Attempt) (attempt.Result, error) {
	row, err := refund.Get(ctx, c.pool, refund.Key(a.BusinessKey))
	switch {
	case err != nil:
		return attempt.Result{}, fmt.Errorf("%w: %w", attempt.ErrNotSent, err)
	case row.Status == refund.StateSucceeded, row.Status == refund.StateClosed:
		return attempt.Result{}, attempt.Refuse(codeSettled)
	case row.Status != refund.StateSent:
		return attempt.Result{}, fmt.Errorf("%w: the refund is %s", attempt.ErrNotSent, row.Status)
	}
	return c.api.Refund(ctx, a.ID, a.Request)
}

// complete settles what the provider answered, in the attempt's own transaction.
func (c *refundCalls) complete(ctx context.Context, tx pgx.Tx, a attempt.Attempt) error {
	if a.State == attempt.Refused && a.Code == codeSettled {
		return nil
	}
	var asked refundRequest
	if err := json.Unmarshal(a.Request, &asked); err != nil {
		return err
	}
	n := notice{ID: a.ID, Type: refundSucceeded}
	if a.State == attempt.Refused {
		n.Type = refundClosed // the provider's last word under this number
	}
	n.Data.OrderID, n.Data.PaymentNo = asked.OrderID, asked.PaymentNo
	n.Data.RefundNo, n.Data.AmountCents = asked.RefundNo, asked.AmountCents
	outcome, seen, err := c.settle(ctx, savepoint(tx), origin{provider: providerRefunds, delivery: a.ID}, n)
	if err != nil {
		return err
	}
	switch outcome {
	case fsm.Rejected, fsm.Stale: // no case was opened: it is tried again
		return &fsm.RefusedError{Outcome: outcome}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made[a.ID] = seen
	return nil
}

// notify counts and logs what happens to attempts, and counts what a completion
// did once it is committed.
func (c *refundCalls) notify(n attempt.Notice) {
	if n.What == attempt.WasStarted { // it may yet be rolled back
		return
	}
	c.telemetry.Noticed(n)
	c.mu.Lock()
	c.seen[n.What]++
	made := c.made[n.ID]
	delete(c.made, n.ID)
	c.mu.Unlock()
	switch n.What {
	case attempt.WasCompleted:
		c.count(made)
	case attempt.WasPutOff:
		c.log.Warn("a refund call was put off", "attempt", n.ID, "error", n.Err)
	case attempt.WasStuck:
		c.log.Error("a refund call waits for a person", "attempt", n.ID, "error", n.Err)
	}
}

// counted is what happened to attempts, by name.
func (c *refundCalls) counted() []CallCount {
	out := []CallCount{}
	if c == nil {
		return out
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for what, n := range c.seen {
		out = append(out, CallCount{What: what, Count: n})
	}
	slices.SortFunc(out, func(a, b CallCount) int { return cmp.Compare(a.What, b.What) })
	return out
}

// RefundCompleter returns a completer of the provider calls for refunds, nil
// without Config.Refunds. The caller runs it, as Serve does; several may run at
// once.
func (s *Service) RefundCompleter() *attempt.Completer {
	if s.calls == nil {
		return nil
	}
	return &attempt.Completer{
		DB: s.pool, Kinds: []*attempt.Kind{s.calls.kind}, Every: s.sweep,
		Failed: func(err error) { s.Failed("refund calls could not be driven", err) },
	}
}

// run drives attempts and archives those that are completed, until ctx ends.
func (c *refundCalls) run(ctx context.Context) {
	if c == nil {
		return
	}
	archive := &attempt.Sweeper{
		DB: c.pool, Kinds: []*attempt.Kind{c.kind},
		Failed: func(err error) { c.Failed("a sweep of refund calls failed", err) },
	}
	var work sync.WaitGroup
	work.Go(func() { _ = c.RefundCompleter().Run(ctx) }) // they end by their context alone
	work.Go(func() { _ = archive.Run(ctx) })
	work.Wait()
}
