package load

import (
	"context"
	"maps"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
	"github.com/pawl-go/pawl/gen/payment"
	"github.com/pawl-go/pawl/gen/refund"
	"github.com/pawl-go/pawl/internal/torture/journal"
)

// params are those of all events; each takes what it has.
type params struct {
	no, paymentNo, orderID string
	cents                  int64
}

// told is an answer in the words of the journal, whatever the machine.
type told struct {
	outcome  fsm.Outcome
	state    string
	version  int64
	columns  map[string]any
	made     journal.Made
	snapshot bool
}

// effect is what hangs on a transition, in its transaction.
type effect func(ctx context.Context, tx pgx.Tx, key string, version int64) error

// verb is one event in all the ways in which it is called.
type verb struct {
	single func(ctx context.Context, db fsm.DB, key string, p params, then effect, options ...fsm.Option) (told, error)
	batch  func(ctx context.Context, db fsm.DB, keys []string, ps []params, ids []string) ([]told, []error)
	// gather opens a coalescer, and returns what makes a call of it and what closes it.
	gather func(ctx context.Context, pool *pgxpool.Pool, o fsm.Coalescing) (gathered, error)
	// values are the parameters by their names in the definition, and identity the
	// text of those that make it a fact.
	values   func(p params) map[string]any
	identity func(p params) string
}

// gathered is an open coalescer.
type gathered struct {
	fire  func(ctx context.Context, key string, p params, id string) (told, error)
	close func(ctx context.Context) error
}

// verbOf makes a verb of an event's generated calls.
func verbOf[K ~string, P any, S ~string, R any](
	single func(context.Context, fsm.DB, K, P, ...fsm.Option) (fsm.Result[S, R], error),
	batch func(context.Context, fsm.DB, []fsm.Item[K, P], ...fsm.Option) ([]fsm.BatchResult[S, R], error),
	columns func(R) map[string]any, of func(params) P, values func(params) map[string]any, identity func(params) string,
) verb {
	item := func(key string, p params, id string) fsm.Item[K, P] {
		return fsm.Item[K, P]{Key: K(key), Params: of(p), RequestID: id}
	}
	return verb{
		values: values, identity: identity,
		single: func(ctx context.Context, db fsm.DB, key string, p params, then effect, options ...fsm.Option) (told, error) {
			if then != nil {
				options = append(options, fsm.Then(func(ctx context.Context, tx pgx.Tx, r fsm.Result[S, R]) error {
					return then(ctx, tx, key, r.Version)
				}))
			}
			r, err := single(ctx, db, K(key), of(p), options...)
			return tell(r, columns), err
		},
		batch: func(ctx context.Context, db fsm.DB, keys []string, ps []params, ids []string) ([]told, []error) {
			items := make([]fsm.Item[K, P], len(keys))
			for i := range keys {
				items[i] = item(keys[i], ps[i], ids[i])
			}
			results, err := batch(ctx, db, items)
			all, errs := make([]told, len(keys)), make([]error, len(keys))
			for i := range keys {
				if i >= len(results) {
					errs[i] = err // none has an answer
					continue
				}
				all[i], errs[i] = tell(results[i].Result, columns), results[i].Err
			}
			return all, errs
		},
		gather: func(ctx context.Context, pool *pgxpool.Pool, o fsm.Coalescing) (gathered, error) {
			c, err := fsm.NewCoalescer(ctx, pool, batch, o)
			if err != nil {
				return gathered{}, err
			}
			return gathered{close: c.Close, fire: func(ctx context.Context, key string, p params, id string) (told, error) {
				r, err := c.Fire(ctx, item(key, p, id))
				return tell(r, columns), err
			}}, nil
		},
	}
}

// bare is an event without parameters.
func bare[K ~string, S ~string, R any](
	single func(context.Context, fsm.DB, K, ...fsm.Option) (fsm.Result[S, R], error),
	batch func(context.Context, fsm.DB, []fsm.Item[K, struct{}], ...fsm.Option) ([]fsm.BatchResult[S, R], error),
	columns func(R) map[string]any,
) verb {
	with := func(ctx context.Context, db fsm.DB, key K, _ struct{}, options ...fsm.Option) (fsm.Result[S, R], error) {
		return single(ctx, db, key, options...)
	}
	return verbOf(with, batch, columns, func(params) struct{} { return struct{}{} }, nothing, nobody)
}

func nothing(params) map[string]any { return nil }
func nobody(params) string          { return "" }

func tell[S ~string, R any](r fsm.Result[S, R], columns func(R) map[string]any) told {
	if r.Outcome == "" {
		return told{}
	}
	t := r.Transition
	return told{
		outcome: r.Outcome, state: string(r.State), version: r.Version, columns: columns(r.Row), snapshot: r.Snapshot,
		made: journal.Made{Event: t.Event, Outcome: string(t.Outcome), From: string(t.From), To: string(t.To), Version: t.Version},
	}
}

func ofOrder(r order.Row) map[string]any {
	return map[string]any{
		"customer_id": r.CustomerID, "sku": r.Sku, "quantity": int64(r.Quantity), "total_cents": r.TotalCents,
		"paid_cents": r.PaidCents, "refund_cents": r.RefundCents, "refunded_cents": r.RefundedCents,
		"payment_no": r.PaymentNo,
	}
}

func ofPayment(r payment.Row) map[string]any {
	return map[string]any{"order_id": r.OrderID, "amount_cents": r.AmountCents, "paid_cents": r.PaidCents, "provider_ref": r.ProviderRef}
}

func ofRefund(r refund.Row) map[string]any {
	return map[string]any{"order_id": r.OrderID, "payment_no": r.PaymentNo, "amount_cents": r.AmountCents, "attempts": int64(r.Attempts)}
}

// number is a fact's own number.
func number(p params) string { return p.no }

// verbs has all calls, by machine and event.
func verbs() map[string]verb {
	all := orderVerbs()
	maps.Copy(all, otherVerbs())
	return all
}

func orderVerbs() map[string]verb {
	return map[string]verb{
		"order pay":     bare(order.Pay, order.PayBatch, ofOrder),
		"order cancel":  bare(order.Cancel, order.CancelBatch, ofOrder),
		"order ship":    bare(order.Ship, order.ShipBatch, ofOrder),
		"order receive": bare(order.Receive, order.ReceiveBatch, ofOrder),
		"order expire":  bare(order.Expire, order.ExpireBatch, ofOrder),
		"order payment_succeeded": verbOf(order.PaymentSucceeded, order.PaymentSucceededBatch, ofOrder,
			func(p params) order.PaymentSucceededParams {
				return order.PaymentSucceededParams{PaymentNo: p.no, PaidCents: p.cents}
			},
			func(p params) map[string]any { return map[string]any{"payment_no": p.no, "paid_cents": p.cents} }, number),
		"order payment_failed": verbOf(order.PaymentFailed, order.PaymentFailedBatch, ofOrder,
			func(p params) order.PaymentFailedParams { return order.PaymentFailedParams{PaymentNo: p.no} },
			func(p params) map[string]any { return map[string]any{"payment_no": p.no} }, number),
		"order refund": verbOf(order.Refund, order.RefundBatch, ofOrder,
			func(p params) order.RefundParams { return order.RefundParams{RefundNo: p.no, AmountCents: p.cents} },
			func(p params) map[string]any { return map[string]any{"refund_no": p.no, "amount_cents": p.cents} }, number),
		"order refund_succeeded": verbOf(order.RefundSucceeded, order.RefundSucceededBatch, ofOrder,
			func(p params) order.RefundSucceededParams {
				return order.RefundSucceededParams{RefundNo: p.no, PaymentNo: p.paymentNo, AmountCents: p.cents}
			},
			func(p params) map[string]any {
				return map[string]any{"refund_no": p.no, "payment_no": p.paymentNo, "amount_cents": p.cents}
			}, number),
		"order refund_failed": verbOf(order.RefundFailed, order.RefundFailedBatch, ofOrder,
			func(p params) order.RefundFailedParams { return order.RefundFailedParams{RefundNo: p.no} },
			func(p params) map[string]any { return map[string]any{"refund_no": p.no} }, number),
	}
}

func otherVerbs() map[string]verb {
	provider := func(cents string) func(params) map[string]any {
		return func(p params) map[string]any { return map[string]any{"provider_ref": p.no, cents: p.cents} }
	}
	return map[string]verb{
		"payment submit": bare(payment.Submit, payment.SubmitBatch, ofPayment),
		"payment close":  bare(payment.Close, payment.CloseBatch, ofPayment),
		"payment fail":   bare(payment.Fail, payment.FailBatch, ofPayment),
		"payment succeed": verbOf(payment.Succeed, payment.SucceedBatch, ofPayment,
			func(p params) payment.SucceedParams {
				return payment.SucceedParams{ProviderRef: p.no, PaidCents: p.cents}
			},
			provider("paid_cents"), number),
		"refund send":  bare(refund.Send, refund.SendBatch, ofRefund),
		"refund retry": bare(refund.Retry, refund.RetryBatch, ofRefund),
		"refund stick": bare(refund.Stick, refund.StickBatch, ofRefund),
		"refund close": bare(refund.Close, refund.CloseBatch, ofRefund),
		"refund succeed": verbOf(refund.Succeed, refund.SucceedBatch, ofRefund,
			func(p params) refund.SucceedParams {
				return refund.SucceedParams{ProviderRef: p.no, AmountCents: p.cents}
			},
			provider("amount_cents"), number),
		"order create":   creation(order.Create, ofOrder, orderOf, orderValues),
		"payment create": creation(payment.Create, ofPayment, paymentOf, paymentValues),
		"refund create":  creation(refund.Create, ofRefund, refundOf, refundValues),
		"order correct": {values: correction, identity: nobody, single: func(ctx context.Context, db fsm.DB, key string, _ params, _ effect, options ...fsm.Option) (told, error) {
			r, err := order.Correct(ctx, db, order.Key(key), order.StateCompleted, fsm.Correction{Actor: "support", Reason: "a person knows better"}, options...)
			return tell(r, ofOrder), err
		}},
	}
}

func correction(params) map[string]any { return map[string]any{"to": string(order.StateCompleted)} }

// creation is a verb that makes a row.
func creation[P any, S ~string, R any](
	create func(context.Context, fsm.DB, P, ...fsm.Option) (fsm.Result[S, R], error),
	columns func(R) map[string]any, of func(string, params) P, values func(params) map[string]any,
) verb {
	return verb{values: values, identity: nobody, single: func(ctx context.Context, db fsm.DB, key string, p params, _ effect, options ...fsm.Option) (told, error) {
		r, err := create(ctx, db, of(key, p), options...)
		return tell(r, columns), err
	}}
}

func orderOf(key string, p params) order.CreateParams {
	return order.CreateParams{Key: order.Key(key), CustomerID: "c", Sku: p.no, Quantity: 1, TotalCents: p.cents}
}

func orderValues(p params) map[string]any {
	return map[string]any{"customer_id": "c", "sku": p.no, "quantity": int64(1), "total_cents": p.cents}
}

func paymentOf(key string, p params) payment.CreateParams {
	return payment.CreateParams{Key: payment.Key(key), OrderID: p.orderID, AmountCents: p.cents}
}

func paymentValues(p params) map[string]any {
	return map[string]any{"order_id": p.orderID, "amount_cents": p.cents}
}

func refundOf(key string, p params) refund.CreateParams {
	return refund.CreateParams{Key: refund.Key(key), OrderID: p.orderID, PaymentNo: p.paymentNo, AmountCents: p.cents}
}

func refundValues(p params) map[string]any {
	return map[string]any{"order_id": p.orderID, "payment_no": p.paymentNo, "amount_cents": p.cents}
}
