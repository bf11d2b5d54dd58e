package contender

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

func params(d Delivery) order.PaymentSucceededParams {
	return order.PaymentSucceededParams{PaymentNo: d.PaymentNo, PaidCents: d.Cents}
}

// fire is the generated call.
func fire(ctx context.Context, db fsm.DB, event Event, d Delivery) (bool, error) {
	var result order.Result
	var err error
	if event == Pay {
		result, err = order.Pay(ctx, db, order.Key(d.Key))
	} else {
		result, err = order.PaymentSucceeded(ctx, db, order.Key(d.Key), params(d))
	}
	if err == nil {
		err = result.Err()
	}
	return result.Outcome == fsm.Applied, err
}

// Pawl is the generated call, on a pool.
func Pawl() Contender {
	return Contender{Name: "Pawl", Writes: everything, Ours: true, Once: true, Size: 1, Open: onPool(func(pool *pgxpool.Pool, event Event) (Caller, error) {
		return each(func(ctx context.Context, d Delivery) (bool, error) { return fire(ctx, pool, event, d) }), nil
	})}
}

// PawlTx is the generated call, in a transaction of the caller's.
func PawlTx() Contender {
	return Contender{Name: "Pawl in a transaction", Writes: everything, Ours: true, Once: true, Size: 1, Open: onPool(func(pool *pgxpool.Pool, event Event) (Caller, error) {
		return each(func(ctx context.Context, d Delivery) (moved bool, err error) {
			err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
				moved, err = fire(ctx, tx, event, d)
				return err
			})
			return moved, err
		}), nil
	})}
}

// BatchSize is how many deliveries a batch has.
const BatchSize = 1000

// PawlBatch is the generated batch.
func PawlBatch() Contender {
	return Contender{Name: "Pawl batch", Writes: everything, Ours: true, Once: true, Size: BatchSize, Open: onPool(func(pool *pgxpool.Pool, event Event) (Caller, error) {
		if event == Pay {
			return batch(pool, order.PayBatch, payItem), nil
		}
		return batch(pool, order.PaymentSucceededBatch, paidItem), nil
	})}
}

func payItem(d Delivery) order.PayItem { return order.PayItem{Key: order.Key(d.Key)} }

func paidItem(d Delivery) order.PaymentSucceededItem {
	return order.PaymentSucceededItem{Key: order.Key(d.Key), Params: params(d)}
}

type batchOf[P any] = func(context.Context, fsm.DB, []fsm.Item[order.Key, P], ...fsm.Option) ([]order.BatchResult, error)

func batch[P any](pool *pgxpool.Pool, of batchOf[P], item func(Delivery) fsm.Item[order.Key, P]) Caller {
	return func(ctx context.Context, deliveries []Delivery) (int, error) {
		items := make([]fsm.Item[order.Key, P], len(deliveries))
		for i, d := range deliveries {
			items[i] = item(d)
		}
		results, err := of(ctx, pool, items)
		moved := 0
		for _, r := range results {
			if err == nil {
				err = r.Err
			}
			if err == nil {
				err = r.Result.Err()
			}
			if r.Err == nil && r.Result.Outcome == fsm.Applied {
				moved++
			}
		}
		return moved, err
	}
}

// PawlCoalesced is the generated batch behind a Coalescer: single calls to those
// who make them.
func PawlCoalesced() Contender {
	return Contender{Name: "Pawl coalesced", Writes: everything, Ours: true, Once: true, Size: 1, Open: func(ctx context.Context, env Env) (Opened, error) {
		env.Conns = 1 // the coalescer opens its own
		pool, err := open(ctx, env)
		if err != nil {
			return Opened{}, err
		}
		if env.Event == Pay {
			return coalesced(ctx, pool, order.PayBatch, payItem)
		}
		return coalesced(ctx, pool, order.PaymentSucceededBatch, paidItem)
	}}
}

func coalesced[P any](ctx context.Context, pool *pgxpool.Pool, of batchOf[P], item func(Delivery) fsm.Item[order.Key, P]) (Opened, error) {
	c, err := fsm.NewCoalescer(ctx, pool, of, fsm.Coalescing{})
	if err != nil {
		pool.Close()
		return Opened{}, err
	}
	call := each(func(ctx context.Context, d Delivery) (bool, error) {
		result, err := c.Fire(ctx, item(d))
		if err == nil {
			err = result.Err()
		}
		return result.Outcome == fsm.Applied, err
	})
	return Opened{call, func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_ = c.Close(ctx)
		pool.Close()
	}}, nil
}
