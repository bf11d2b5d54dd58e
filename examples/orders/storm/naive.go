package storm

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/fsm/webhook"
)

// naiveSchema holds the tables of the handler that checks and then acts.
const naiveSchema = "check_then_act"

// Naive is the same shop as it is often written: in one transaction it reads,
// checks what it read, and acts on that. Told one thing after the other it is
// right in everything; whether it is under a storm is what a storm shows. It
// runs at READ COMMITTED and takes no locks of its own.
//
// Its tables have the shape of the shop's, with primary keys on orders and
// stock, and without the unique facts, the unique ledgers and the edge trigger.
type Naive struct {
	pool             *pgxpool.Pool
	clock            func() time.Time
	standard, stripe webhook.Verifier
	// checked is told after a callback has been checked and before it acts; nil
	// for nobody. Tests hold two callbacks there.
	checked func()
}

// NewNaive creates the tables, in a schema of their own in a migrated database,
// and opens a pool on them, of the same size. close drops and closes them.
func NewNaive(ctx context.Context, pool *pgxpool.Pool, clock func() time.Time, standard, stripe webhook.Verifier) (n *Naive, close func(), err error) {
	if err := createNaive(ctx, pool); err != nil {
		return nil, nil, fmt.Errorf("tables of the handler that checks and then acts: %w", err)
	}
	config := pool.Config()
	config.ConnConfig.RuntimeParams["search_path"] = naiveSchema
	own, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, nil, err
	}
	close = func() {
		own.Close()
		// Left behind it does no harm: the next one drops it first.
		_, _ = pool.Exec(context.WithoutCancel(ctx), "DROP SCHEMA "+naiveSchema+" CASCADE")
	}
	return &Naive{pool: own, clock: clock, standard: standard, stripe: stripe}, close, nil
}

func createNaive(ctx context.Context, pool *pgxpool.Pool) error {
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "DROP SCHEMA IF EXISTS "+naiveSchema+" CASCADE; CREATE SCHEMA "+naiveSchema); err != nil {
			return err
		}
		for _, table := range []string{
			"orders", "order_history", "order_facts", "payments", "payment_history", "payment_facts",
			"refunds", "refund_history", "refund_facts", "fsm_outbox", "fsm_outbox_sent", "shop_stock", "shop_stock_moves", "shop_points", "shop_cases",
		} {
			ddl := fmt.Sprintf("CREATE TABLE %[1]s.%[2]s (LIKE %[2]s INCLUDING DEFAULTS INCLUDING IDENTITY)", naiveSchema, table)
			if _, err := tx.Exec(ctx, ddl); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, `
			SET LOCAL search_path = `+naiveSchema+`;
			ALTER TABLE orders ADD PRIMARY KEY (order_id);
			ALTER TABLE shop_stock ADD PRIMARY KEY (sku), ADD CHECK (quantity >= 0);
			CREATE INDEX ON order_history (order_id);
			CREATE INDEX ON order_facts (event, identity);
			CREATE INDEX ON orders (deadline_at);
			CREATE TABLE attempts (payment_no text PRIMARY KEY, order_id uuid NOT NULL);
			CREATE TABLE promises (refund_no text PRIMARY KEY, order_id uuid NOT NULL);
			CREATE INDEX ON shop_cases (delivery_id)`)
		return err
	})
}

// Target returns the handler as a storm's target.
func (n *Naive) Target() Target {
	return Target{Name: "check-then-act", Note: "it keeps no payments and refunds of their own, so it has less to do",
		Pool: n.pool, Handler: n.handler(), Sweep: n.sweep}
}

func (n *Naive) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("PUT /stock/{sku}", n.putStock)
	mux.HandleFunc("POST /orders", n.create)
	for pattern, event := range map[string]func(context.Context, *naiveOrder) (string, error){
		"DELETE /orders/{id}":       n.cancel,
		"POST /orders/{id}/ship":    n.ship,
		"POST /orders/{id}/receive": n.receive,
	} {
		mux.HandleFunc(pattern, n.onOrder(event))
	}
	mux.HandleFunc("POST /orders/{id}/pay", n.onOrder(n.pay))
	mux.HandleFunc("POST /orders/{id}/refunds", n.onOrder(n.refund))
	mux.HandleFunc("POST /callbacks/standard", n.callback(n.standard))
	mux.HandleFunc("POST /callbacks/stripe", n.callback(n.stripe))
	return mux
}

// sweep cancels orders that were not paid in time: those it reads, one by one.
func (n *Naive) sweep(ctx context.Context) error {
	rows, err := n.pool.Query(ctx, "SELECT order_id::text FROM orders WHERE status = 'PENDING' AND deadline_at <= $1", n.clock())
	if err != nil {
		return err
	}
	due, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, id := range due {
		if _, err := n.inOrder(ctx, id, func(ctx context.Context, o *naiveOrder) (string, error) {
			if o.status != "PENDING" {
				return "Ignored", nil
			}
			return "Applied", o.move(ctx, "expire", "CANCELLED")
		}); err != nil {
			return err
		}
	}
	return nil
}
