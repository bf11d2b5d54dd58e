// Package stock makes orders for the benchmark, and counts afterwards what became
// of them.
package stock

import (
	"context"
	"crypto/md5" // #nosec G501 -- spreads keys, as PostgreSQL's md5 does
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/bench/internal/contender"
)

// Cents is what every order costs.
const Cents = 1000

// Stock is orders numbered from 1, all of them new: PENDING, version 1. It is for
// one goroutine.
type Stock struct {
	pool *pgxpool.Pool
	made int // the last one that there is
	used int // the last one that was taken
}

// New returns the stock of a migrated database without orders.
func New(pool *pgxpool.Pool) *Stock { return &Stock{pool: pool} }

// chunk is how many orders one statement makes.
const chunk = 100_000

const insertOrders = `WITH made AS (
  INSERT INTO orders (order_id, status, version, deadline_at, customer_id, sku, quantity, total_cents)
  SELECT md5('order ' || n)::uuid, 'PENDING', 1, now() + interval '30 minutes', 'customer ' || n % 1000, 'sku ' || n % 100, 1, $3::bigint
  FROM generate_series($1::bigint, $2::bigint) AS n
  RETURNING order_id
)
INSERT INTO order_history (order_id, version, event, to_status, at)
SELECT order_id, 1, 'create', 'PENDING', now() FROM made`

// Have makes orders until n are there that nobody has taken.
func (s *Stock) Have(ctx context.Context, n int) error {
	for s.made < s.used+n {
		to := min(s.made+chunk, s.used+n)
		if _, err := s.pool.Exec(ctx, insertOrders, s.made+1, to, Cents); err != nil {
			return fmt.Errorf("make orders: %w", err)
		}
		if s.made == 0 { // what is known of the tables decides the plans; facts that were known to be none would be read one by one for ever
			if _, err := s.pool.Exec(ctx, "VACUUM ANALYZE orders, order_history"); err != nil {
				return err
			}
		}
		s.made = to
	}
	return nil
}

// Indexes that grow by keys in no order take most of the time of many rows; they
// are made afterwards.
const (
	dropIndexes = `ALTER TABLE orders DROP CONSTRAINT orders_pkey;
ALTER TABLE order_history DROP CONSTRAINT order_history_pkey;
DROP INDEX orders_deadline_idx`
	makeIndexes = `ALTER TABLE orders ADD CONSTRAINT orders_pkey PRIMARY KEY (order_id);
ALTER TABLE order_history ADD CONSTRAINT order_history_pkey PRIMARY KEY (order_id, version);
CREATE INDEX orders_deadline_idx ON orders (deadline_at) WHERE deadline_at IS NOT NULL`
)

// Fill makes many orders of a stock that has none, as Have does, but faster.
func (s *Stock) Fill(ctx context.Context, n int) error {
	if _, err := s.pool.Exec(ctx, dropIndexes); err != nil {
		return err
	}
	if err := s.Have(ctx, n); err != nil {
		return err
	}
	for _, sql := range strings.Split(makeIndexes, ";") {
		if _, err := s.pool.Exec(ctx, sql); err != nil {
			return err
		}
	}
	_, err := s.pool.Exec(ctx, "VACUUM ANALYZE orders, order_history")
	return err
}

// Peek is one delivery for each of the next n orders, which stay in the stock.
func (s *Stock) Peek(ctx context.Context, n int) ([]contender.Delivery, error) {
	if err := s.Have(ctx, n); err != nil {
		return nil, err
	}
	deliveries := make([]contender.Delivery, n)
	for i := range deliveries {
		deliveries[i] = Of(s.used + 1 + i)
	}
	return deliveries, nil
}

// Take takes the next n orders out of the stock.
func (s *Stock) Take(n int) { s.used += n }

// Of is the delivery of an order's payment.
func Of(n int) contender.Delivery {
	return contender.Delivery{N: n, Key: Key(n), PaymentNo: "P" + strconv.Itoa(n), Cents: Cents}
}

// Key is the key of order n: spread evenly, as random ones are.
func Key(n int) string {
	sum := md5.Sum([]byte("order " + strconv.Itoa(n))) // #nosec G401 -- no secret
	b := make([]byte, 0, 36)
	for i, part := range [][]byte{sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:]} {
		if i > 0 {
			b = append(b, '-')
		}
		b = hex.AppendEncode(b, part)
	}
	return string(b)
}
