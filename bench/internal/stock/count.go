package stock

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/bench/internal/contender"
)

// Counts is what the database has of some orders that an event was told of.
type Counts struct {
	Orders int64 `json:"orders"`
	// Moved are those that stand where one transition leads.
	Moved int64 `json:"moved"`
	// Again are those that were moved more than once.
	Again int64 `json:"again"`
	// Broken are those of which row, history, facts and outbox do not tell the same,
	// each exactly once.
	Broken int64 `json:"broken"`
}

// Err is nil when every order was moved once and left all its traces.
func (c Counts) Err() error {
	if c.Moved != c.Orders || c.Again != 0 || c.Broken != 0 {
		return fmt.Errorf("of %d orders %d moved, %d of them more than once, and %d do not tell the same everywhere",
			c.Orders, c.Moved, c.Again, c.Broken)
	}
	return nil
}

const countPaid = `WITH told AS (
  SELECT md5('order ' || n)::uuid AS order_id, 'P' || n AS payment_no FROM unnest($1::bigint[]) AS n
), sent AS (
  SELECT x.key, count(*) AS n, bool_and(x.topic = 'order_paid' AND x.version = 2
    AND x.payload->>'identity' = t.payment_no AND x.payload->>'to' = 'PAID') AS true
  FROM told AS t JOIN fsm_outbox AS x ON x.machine = 'order' AND x.key = t.order_id::text GROUP BY x.key
), each AS (
  SELECT o.status, o.version,
    o.paid_cents = o.total_cents AND o.payment_no = t.payment_no AND o.paid_at IS NOT NULL AND o.deadline_at IS NULL
      AND (SELECT count(*) = 2 AND bool_and(h.version = 1 AND h.to_status = 'PENDING'
             OR h.version = 2 AND h.event = 'payment_succeeded' AND h.from_status = 'PENDING' AND h.to_status = 'PAID')
           FROM order_history AS h WHERE h.order_id = t.order_id)
      AND (SELECT count(*) = 1 AND bool_and(f.event = 'payment_succeeded' AND f.identity = t.payment_no AND f.outcome = 'Applied' AND f.version = 2)
           FROM order_facts AS f WHERE f.order_id = t.order_id)
      AND s.n = 1 AND s.true AS whole
  FROM told AS t LEFT JOIN orders AS o ON o.order_id = t.order_id LEFT JOIN sent AS s ON s.key = t.order_id::text
)
SELECT count(*), count(*) FILTER (WHERE status = 'PAID' AND version >= 2), count(*) FILTER (WHERE version > 2), count(*) FILTER (WHERE whole IS NOT TRUE) FROM each`

const countPay = `WITH told AS (
  SELECT md5('order ' || n)::uuid AS order_id FROM unnest($1::bigint[]) AS n
), each AS (
  SELECT o.status, o.version,
    o.deadline_at > now() AND (SELECT count(*) = 2 AND bool_and(h.version = 1 AND h.to_status = 'PENDING'
             OR h.version = 2 AND h.event = 'pay' AND h.from_status = 'PENDING' AND h.to_status = 'PAYING')
           FROM order_history AS h WHERE h.order_id = t.order_id) AS whole
  FROM told AS t LEFT JOIN orders AS o ON o.order_id = t.order_id
)
SELECT count(*), count(*) FILTER (WHERE status = 'PAYING' AND version >= 2), count(*) FILTER (WHERE version > 2), count(*) FILTER (WHERE whole IS NOT TRUE) FROM each`

// Count looks at the orders of the numbers, which an event was told of once or
// more.
func Count(ctx context.Context, pool *pgxpool.Pool, event contender.Event, numbers []int64) (Counts, error) {
	sql := countPaid
	if event == contender.Pay {
		sql = countPay
	}
	var c Counts
	if err := pool.QueryRow(ctx, sql, numbers).Scan(&c.Orders, &c.Moved, &c.Again, &c.Broken); err != nil {
		return Counts{}, fmt.Errorf("count orders: %w", err)
	}
	return c, nil
}
