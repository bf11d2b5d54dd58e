package footprint

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/bench/internal/contender"
	"github.com/pawl-go/pawl/bench/internal/place"
	"github.com/pawl-go/pawl/bench/internal/stock"
)

// Pages is how many pages of tables and indexes one call looks at, in memory or not,
// itself a measure of its work that no other program disturbs.
type Pages struct {
	// Rows is how many orders the table has, History how many entries each of those
	// that are called has behind the one of pay.
	Rows, History int
	// First is a first payment_succeeded, Told the same told again, Pay a pay that was
	// told before, which looks for its entry in the history.
	First, Told, Pay float64
}

// looked measures calls on tables of all sizes, and on rows with histories of all
// lengths.
func (f *Footprint) looked(ctx context.Context, server string, random *rand.Rand) error {
	for _, rows := range f.Sizes.Rows {
		err := within(ctx, server, func(s *stock.Stock) error { return s.Fill(ctx, rows) }, func(p *place.Place) error {
			if _, err := p.Pool.Exec(ctx, fmt.Sprintf(insertFacts, rows)); err != nil {
				return err
			}
			orders := random.Perm(rows)
			histories := f.Sizes.Histories
			if rows != f.Sizes.Rows[0] {
				histories = []int{0}
			}
			for _, history := range histories {
				n := min(f.Sizes.Measured, 200_000/(history+1))
				if n > len(orders) {
					return fmt.Errorf("%d orders are too few", rows)
				}
				one := Pages{Rows: rows, History: history}
				if err := one.measure(ctx, p, orders[:n]); err != nil {
					return err
				}
				f.Pages, orders = append(f.Pages, one), orders[n:]
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// older gives orders that were paid for by pay, and stand at version 2, so many entries
// of query_payment. The trigger would refuse the version.
const older = `WITH asked AS (SELECT md5('order ' || n + 1)::uuid AS order_id FROM unnest($1::bigint[]) AS n), history AS (
  INSERT INTO order_history (order_id, version, event, from_status, to_status, at)
  SELECT a.order_id, v, 'query_payment', 'PAYING', 'PAYING', now() FROM asked AS a, generate_series(3, 2 + $2::bigint) AS v
)
UPDATE orders AS o SET version = 2 + $2::bigint FROM asked AS a WHERE o.order_id = a.order_id`

func (l *Pages) measure(ctx context.Context, p *place.Place, orders []int) (err error) {
	if _, err = calls(ctx, p, contender.Pay, orders, false); err != nil {
		return err
	}
	numbers := make([]int64, len(orders))
	for i, n := range orders {
		numbers[i] = int64(n)
	}
	if l.History > 0 {
		if err := aged(ctx, p.Pool, numbers, l.History); err != nil {
			return err
		}
	}
	if _, err := p.Pool.Exec(ctx, "VACUUM ANALYZE orders, order_history, order_facts, fsm_outbox"); err != nil {
		return err
	}
	if l.Pay, err = calls(ctx, p, contender.Pay, orders, true); err != nil {
		return err
	}
	if l.First, err = calls(ctx, p, contender.Paid, orders, false); err != nil {
		return err
	}
	l.Told, err = calls(ctx, p, contender.Paid, orders, true)
	return err
}

func aged(ctx context.Context, pool *pgxpool.Pool, numbers []int64, history int) error {
	if _, err := pool.Exec(ctx, "ALTER TABLE orders DISABLE TRIGGER USER"); err != nil {
		return err
	}
	_, err := pool.Exec(ctx, older, numbers, history)
	_, enabled := pool.Exec(ctx, "ALTER TABLE orders ENABLE TRIGGER USER")
	return errors.Join(err, enabled)
}

// calls tells of orders one by one, for the first time or again, on a connection of
// their own, and returns the pages that one looked at.
func calls(ctx context.Context, p *place.Place, event contender.Event, orders []int, again bool) (float64, error) {
	p.Pool.Reset() // what its connections have looked at is told at their end, too
	before, err := lookedAt(ctx, p.Pool, 0)
	if err != nil {
		return 0, err
	}
	pawl := contender.Pawl()
	opened, err := pawl.Open(ctx, contender.Env{URL: p.URL, Conns: 1, Callers: 1, Event: event})
	if err != nil {
		return 0, err
	}
	for _, n := range orders {
		moved, err := opened.Call(ctx, []contender.Delivery{stock.Of(n + 1)})
		if err == nil && (moved == 0) != again {
			err = fmt.Errorf("order %d: %d moved", n+1, moved)
		}
		if err != nil {
			opened.Close()
			return 0, err
		}
	}
	opened.Close() // a connection tells of what it did at its end
	after, err := lookedAt(ctx, p.Pool, before)
	return (after - before) / float64(len(orders)), err
}

// lookedAt is the number of pages that were looked at so far, once it is more than
// before and stays as it is.
func lookedAt(ctx context.Context, pool *pgxpool.Pool, before float64) (pages float64, err error) {
	const sum = `SELECT sum(heap_blks_hit + heap_blks_read + COALESCE(idx_blks_hit + idx_blks_read, 0))::float8 FROM pg_statio_user_tables
WHERE relname IN ('orders', 'order_history', 'order_facts', 'fsm_outbox')`
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for last, same := -1.0, 0; same < 5; {
		if err := pool.QueryRow(ctx, sum).Scan(&pages); err != nil {
			return 0, err
		}
		if same++; pages != last || pages == before && before > 0 {
			last, same = pages, 0
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-tick.C:
		}
	}
	return pages, nil
}
