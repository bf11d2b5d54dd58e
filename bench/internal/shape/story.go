package shape

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/bench/internal/contender"
	"github.com/pawl-go/pawl/bench/internal/stock"
)

// told is a delivery of the story, and what is to be said of it.
type told struct {
	key    string
	number string
	cents  int64
	want   Answer
	first  bool // of an order that is paid for the first time, and rightly
}

// The orders of the story: a new one, one that is being paid, two cancelled ones.
var orders = []string{"PENDING", "PAYING", "CANCELLED", "CANCELLED", "PENDING"}

func keyOf(i int) string { return stock.Key(i + 1) }

// wanted is the story: one delivery after the other, by nobody else disturbed.
var wanted = []told{
	{keyOf(0), "A", 1000, Answer{"Applied", "PAID", 2}, true},
	{keyOf(0), "A", 1000, Answer{"Replayed", "PAID", 2}, false},
	{keyOf(0), "A", 999, Answer{"Mismatched", "PAID", 2}, false},
	{keyOf(1), "A", 1000, Answer{"Mismatched", "PAYING", 2}, false},
	{keyOf(0), "B", 1000, Answer{"Compensated", "PAID", 2}, false},
	{keyOf(0), "B", 1000, Answer{"Replayed", "PAID", 2}, false},
	{keyOf(1), "C", 1000, Answer{"Applied", "PAID", 3}, true},
	{keyOf(2), "D", 1000, Answer{"Applied", "REFUNDING", 3}, false},
	{keyOf(2), "D", 1000, Answer{"Replayed", "REFUNDING", 3}, false},
	{keyOf(3), "E", 7, Answer{"Applied", "REFUNDING", 3}, false},
	{keyOf(4), "F", 7, Answer{"Compensated", "PENDING", 1}, false},
}

const tellOrders = `INSERT INTO orders (order_id, status, version, customer_id, sku, quantity, total_cents)
SELECT k, s, CASE s WHEN 'PENDING' THEN 1 ELSE 2 END, 'c', 's', 1, 1000 FROM unnest($1::uuid[], $2::text[]) AS x(k, s)`

// empty leaves the tables as the migrations made them.
const empty = "TRUNCATE orders, order_history, order_facts, fsm_outbox"

// begin has the story's orders and nothing else.
func begin(ctx context.Context, pool *pgxpool.Pool) error {
	keys := make([]string, len(orders))
	for i := range orders {
		keys[i] = keyOf(i)
	}
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		for _, sql := range []string{empty, "SET LOCAL session_replication_role = replica"} { // no row begins as cancelled
			if _, err := tx.Exec(ctx, sql); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, tellOrders, keys, orders)
		return err
	})
}

// dump is all that a shape left, less the clock.
const dump = `SELECT string_agg(line, E'\n' ORDER BY line) FROM (
  SELECT concat_ws(' ', 'order', order_id, status, version, deadline_at IS NULL, deadline_runs, paid_cents, refund_cents, refunded_cents, payment_no, paid_at IS NULL) AS line FROM orders
  UNION ALL SELECT concat_ws(' ', 'history', order_id, version, event, from_status, to_status, actor, reason, request_id) FROM order_history
  UNION ALL SELECT concat_ws(' ', 'fact', event, identity, order_id, fingerprint, outcome, from_status, to_status, version) FROM order_facts
  UNION ALL SELECT concat_ws(' ', 'outbox', machine, key, version, event, topic, payload) FROM fsm_outbox) AS l`

// Differ says whether two shapes leave the same, as far as both have something to
// say.
func Differ(ctx context.Context, pool *pgxpool.Pool, a, b Shape) error {
	var left [2]string
	for i, s := range []Shape{a, b} {
		var err error
		if left[i], err = story(ctx, pool, s, a.Silent || b.Silent); err != nil {
			return err
		}
	}
	if left[0] != left[1] {
		return fmt.Errorf("%s and %s do not leave the same:\n%s", a.Name, b.Name, difference(left[0], left[1]))
	}
	return nil
}

// story tells the story by a shape and returns what the tables have then. The error
// says what is wrong with an answer.
func story(ctx context.Context, pool *pgxpool.Pool, s Shape, firstOnly bool) (left string, err error) {
	if err := begin(ctx, pool); err != nil {
		return "", err
	}
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return "", err
	}
	defer conn.Release()
	for i, t := range wanted {
		if firstOnly && !t.first {
			continue
		}
		got, err := s.Tell(ctx, conn.Conn(), contender.Delivery{Key: t.key, PaymentNo: t.number, Cents: t.cents})
		if err != nil {
			return "", fmt.Errorf("%s, delivery %d: %w", s.Name, i+1, err)
		}
		if got != t.want {
			return "", fmt.Errorf("%s, delivery %d: it says %v, not %v", s.Name, i+1, got, t.want)
		}
	}
	return left, conn.QueryRow(ctx, dump).Scan(&left)
}

// difference is the lines that only one of two texts has.
func difference(a, b string) string {
	lines := [2][]string{strings.Split(a, "\n"), strings.Split(b, "\n")}
	var out []string
	for i, sign := range []string{"-", "+"} {
		for _, line := range lines[i] {
			if !slices.Contains(lines[1-i], line) {
				out = append(out, sign+" "+line)
			}
		}
	}
	return strings.Join(out, "\n")
}
