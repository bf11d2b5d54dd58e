package storm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// naiveOrder is an order as a transaction read it, and what is asked of it.
type naiveOrder struct {
	tx                                    pgx.Tx
	now                                   time.Time
	id, status, payment                   string
	customer, sku                         string
	quantity                              int32
	version, total, paid, promised, given int64
	asked                                 naiveBody
	expect                                string // the version that the caller expects, if any
}

// naiveBody is what requests and callbacks bring.
type naiveBody struct {
	PaymentNo   string `json:"payment_no"`
	RefundNo    string `json:"refund_no"`
	AmountCents int64  `json:"amount_cents"`
}

var errNaiveNotFound = errors.New("no such order")

// inOrder reads the order in a transaction, lets fn check and act, and commits.
func (n *Naive) inOrder(ctx context.Context, id string, fn func(context.Context, *naiveOrder) (string, error)) (outcome string, err error) {
	err = pgx.BeginTxFunc(ctx, n.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		o := &naiveOrder{tx: tx, id: id, now: n.clock()}
		row := tx.QueryRow(ctx, `SELECT status, version, customer_id, sku, quantity, total_cents, paid_cents,
			refund_cents, refunded_cents, COALESCE(payment_no, '') FROM orders WHERE order_id = $1`, id)
		err := row.Scan(&o.status, &o.version, &o.customer, &o.sku, &o.quantity, &o.total, &o.paid, &o.promised, &o.given, &o.payment)
		if errors.Is(err, pgx.ErrNoRows) {
			return errNaiveNotFound
		}
		if err != nil {
			return err
		}
		outcome, err = fn(ctx, o)
		return err
	})
	return outcome, err
}

// move sets the status and writes the history.
func (o *naiveOrder) move(ctx context.Context, event, to string) error {
	var deadline *time.Time
	if to == "PENDING" {
		at := o.now.Add(payWithin)
		deadline = &at
	}
	if _, err := o.tx.Exec(ctx, "UPDATE orders SET status = $2, version = $3, deadline_at = $4 WHERE order_id = $1",
		o.id, to, o.version+1, deadline); err != nil {
		return err
	}
	_, err := o.tx.Exec(ctx, "INSERT INTO order_history (order_id, version, event, from_status, to_status, at) VALUES ($1, $2, $3, $4, $5, $6)",
		o.id, o.version+1, event, o.status, to, o.now)
	o.status, o.version = to, o.version+1
	return err
}

// emit writes an outbox row.
func (o *naiveOrder) emit(ctx context.Context, event, topic, from, number string, params map[string]any) error {
	payload := map[string]any{
		"machine": "order", "key": o.id, "version": o.version, "event": event,
		"from": from, "to": o.status, "params": params, "identity": number,
	}
	_, err := o.tx.Exec(ctx, "INSERT INTO fsm_outbox (machine, key, version, event, topic, payload, at) VALUES ('order', $1, $2, $3, $4, $5, $6)",
		o.id, o.version, event, topic, payload, o.now)
	return err
}

// known looks whether a fact has been told before, and answers if so.
func (o *naiveOrder) known(ctx context.Context, event, number, meaning string) (string, error) {
	var order, before string
	err := o.tx.QueryRow(ctx, "SELECT order_id::text, fingerprint FROM order_facts WHERE event = $1 AND identity = $2 LIMIT 1",
		event, number).Scan(&order, &before)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return "", nil
	case err != nil:
		return "", err
	case order == o.id && before == meaning:
		return "Replayed", nil
	}
	return "Mismatched", nil
}

// remember writes a fact down.
func (o *naiveOrder) remember(ctx context.Context, event, number, meaning, outcome, from string) error {
	_, err := o.tx.Exec(ctx, `INSERT INTO order_facts (event, identity, order_id, fingerprint, outcome, from_status, to_status, version, at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`, event, number, o.id, meaning, outcome, from, o.status, o.version, o.now)
	return err
}

// foreign looks whether a number was begun for another order.
func (o *naiveOrder) foreign(ctx context.Context) (bool, error) {
	var foreign bool
	err := o.tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM attempts WHERE payment_no = $1 AND order_id <> $3)
		OR EXISTS (SELECT 1 FROM promises WHERE refund_no = $2 AND order_id <> $3)`, o.asked.PaymentNo, o.asked.RefundNo, o.id).Scan(&foreign)
	return foreign, err
}

// unpromised looks whether a refund of the order's own payment was never asked for.
func (o *naiveOrder) unpromised(ctx context.Context) (bool, error) {
	var begun bool
	err := o.tx.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM promises WHERE refund_no = $1)`, o.asked.RefundNo).Scan(&begun)
	return !begun && o.payment == o.asked.PaymentNo, err
}

// effects takes pieces out of stock and books points.
func (o *naiveOrder) effects(ctx context.Context) error {
	if _, err := o.tx.Exec(ctx, "UPDATE shop_stock SET quantity = quantity - $2 WHERE sku = $1", o.sku, o.quantity); err != nil {
		return err
	}
	if _, err := o.tx.Exec(ctx, "INSERT INTO shop_stock_moves (order_id, kind, sku, quantity) VALUES ($1, 'paid', $2, $3)",
		o.id, o.sku, -int64(o.quantity)); err != nil {
		return err
	}
	_, err := o.tx.Exec(ctx, "INSERT INTO shop_points (order_id, kind, customer_id, points) VALUES ($1, 'paid', $2, $3)",
		o.id, o.customer, o.total/100)
	return err
}

// openCase records a conflict for a person, unless it is there.
func (o *naiveOrder) openCase(ctx context.Context, provider, delivery, event, outcome string) error {
	var there bool
	if err := o.tx.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM shop_cases WHERE provider = $1 AND delivery_id = $2 AND outcome = $3)",
		provider, delivery, outcome).Scan(&there); err != nil || there {
		return err
	}
	_, err := o.tx.Exec(ctx, "INSERT INTO shop_cases (provider, delivery_id, order_id, event, outcome, detail) VALUES ($1, $2, $3, $4, $5, '')",
		provider, delivery, o.id, event, outcome)
	return err
}

func (o *naiveOrder) delivering() bool {
	return o.status == "PAID" || o.status == "SHIPPED" || o.status == "COMPLETED"
}

// stale reports that the caller expects another version.
func (o *naiveOrder) stale() bool {
	return o.expect != "" && o.expect != fmt.Sprintf("%q", fmt.Sprint(o.version))
}
