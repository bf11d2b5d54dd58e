package shape

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/bench/internal/contender"
	"github.com/pawl-go/pawl/gen/order"
)

// Race is a delivery that comes while somebody else's transaction is under way.
type Race struct {
	Name string
	// meanwhile is what the other one does, and leaves open until the delivery waits.
	meanwhile func(ctx context.Context, tx pgx.Tx) error
	rollback  bool
	number    string
	cents     int64
	order     int
	want      Answer
	// left is the facts and messages that there are afterwards, and the former state
	// in the history of the order's last move.
	left string
}

// Races are those that decide whether a shape can be trusted. The other one pays
// order 0 with number A, unless said otherwise.
func Races() []Race {
	pays := func(ctx context.Context, tx pgx.Tx) error {
		_, err := order.PaymentSucceeded(ctx, tx, order.Key(keyOf(0)), order.PaymentSucceededParams{PaymentNo: "A", PaidCents: 1000})
		return err
	}
	cancels := func(ctx context.Context, tx pgx.Tx) error {
		_, err := order.Cancel(ctx, tx, order.Key(keyOf(0)))
		return err
	}
	starts := func(ctx context.Context, tx pgx.Tx) error {
		_, err := order.Pay(ctx, tx, order.Key(keyOf(0)))
		return err
	}
	return []Race{
		{"the same delivery", pays, false, "A", 1000, 0, Answer{"Replayed", "PAID", 2}, "1 1 PENDING"},
		{"the same number, another amount", pays, false, "A", 999, 0, Answer{"Mismatched", "PAID", 2}, "1 1 PENDING"},
		{"the same number, another order", pays, false, "A", 1000, 4, Answer{"Mismatched", "PENDING", 1}, "1 1 -"},
		{"a second payment", pays, false, "B", 1000, 0, Answer{"Compensated", "PAID", 2}, "2 2 PENDING"},
		{"the customer cancels", cancels, false, "A", 1000, 0, Answer{"Applied", "REFUNDING", 3}, "1 1 CANCELLED"},
		{"the customer begins to pay", starts, false, "A", 1000, 0, Answer{"Applied", "PAID", 3}, "1 1 PAYING"},
		{"a payment that is rolled back", pays, true, "A", 1000, 0, Answer{"Applied", "PAID", 2}, "1 1 PENDING"},
	}
}

const leftOf = `SELECT concat_ws(' ', (SELECT count(*) FROM order_facts), (SELECT count(*) FROM fsm_outbox),
  COALESCE((SELECT from_status FROM order_history WHERE order_id = $1 ORDER BY version DESC LIMIT 1), '-'))`

// Run stages the race and returns "" when the shape says and leaves what is true,
// else what it did instead.
func (r Race) Run(ctx context.Context, pool *pgxpool.Pool, s Shape) (wrong string, err error) {
	if err := begin(ctx, pool); err != nil {
		return "", err
	}
	conn, err := pgx.ConnectConfig(ctx, pool.Config().ConnConfig)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	tx, err := pool.Begin(ctx)
	if err != nil {
		return "", err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	if err := r.meanwhile(ctx, tx); err != nil {
		return "", err
	}
	var got Answer
	var failed error
	done := make(chan struct{})
	go func() {
		defer close(done)
		got, failed = s.Tell(ctx, conn, contender.Delivery{Key: keyOf(r.order), PaymentNo: r.number, Cents: r.cents})
	}()
	err = waits(ctx, pool, conn.PgConn().PID(), done)
	if r.rollback {
		err = errors.Join(err, tx.Rollback(ctx))
	} else {
		err = errors.Join(err, tx.Commit(ctx))
	}
	<-done
	if err != nil {
		return "", err
	}
	return r.judge(ctx, pool, got, failed)
}

func (r Race) judge(ctx context.Context, pool *pgxpool.Pool, got Answer, failed error) (wrong string, err error) {
	switch {
	case failed != nil:
		return state(failed), nil
	case got != r.want:
		return fmt.Sprintf("says %s %s %d, not %s %s %d", got.Outcome, got.Status, got.Version, r.want.Outcome, r.want.Status, r.want.Version), nil
	}
	var left string
	if err := pool.QueryRow(ctx, leftOf, keyOf(r.order)).Scan(&left); err != nil {
		return "", err
	}
	if left != r.left {
		return fmt.Sprintf("leaves %s, not %s", left, r.left), nil
	}
	return "", nil
}

// patience is how long a delivery may take to end or to wait.
const patience = 10 * time.Second

// waits returns when the process waits for another one, or when done is closed.
func waits(ctx context.Context, pool *pgxpool.Pool, pid uint32, done <-chan struct{}) error {
	for until := time.Now().Add(patience); time.Now().Before(until); {
		var blocked bool
		if err := pool.QueryRow(ctx, "SELECT cardinality(pg_blocking_pids($1)) > 0", int64(pid)).Scan(&blocked); err != nil {
			return err
		}
		select {
		case <-done:
			return nil
		default:
		}
		if blocked {
			return nil
		}
		time.Sleep(time.Millisecond) // between two looks
	}
	return errors.New("a delivery neither ends nor waits")
}
