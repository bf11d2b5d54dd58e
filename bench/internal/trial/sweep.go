package trial

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/bench/internal/contender"
	"github.com/pawl-go/pawl/bench/internal/goal"
	"github.com/pawl-go/pawl/bench/internal/load"
	"github.com/pawl-go/pawl/bench/internal/place"
	"github.com/pawl-go/pawl/bench/internal/result"
	"github.com/pawl-go/pawl/bench/internal/stock"
	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

// payers is how many pay while the sweep goes on.
const payers = 4

const countSwept = `SELECT count(*) FILTER (WHERE o.status = 'CANCELLED' AND o.version = 2 AND o.deadline_at IS NULL
  AND (SELECT count(*) = 2 AND bool_and(h.version = 1 OR h.event = 'expire' AND h.from_status = 'PENDING' AND h.to_status = 'CANCELLED')
       FROM order_history AS h WHERE h.order_id = o.order_id))
FROM generate_series($1::bigint, $2::bigint) AS n JOIN orders AS o ON o.order_id = md5('order ' || n)::uuid`

// Sweep lets n orders expire and measures how long the generated sweeps take to
// cancel them, while others are paid, in each of turns.
func Sweep(ctx context.Context, server string, turns, n int) (figures []result.Figure, err error) {
	p, err := place.New(ctx, server)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Drop(ctx)) }()
	s := stock.New(p.Pool)
	var took, paid []float64
	for range turns {
		seconds, rate, err := sweep(ctx, p, s, n)
		if err != nil {
			return nil, err
		}
		took, paid = append(took, seconds), append(paid, rate)
	}
	return []result.Figure{
		{Name: goal.SweepTime, Unit: "s", Samples: took, Note: fmt.Sprintf("%d orders, one sweeper, pages of 1,000", n)},
		{Name: goal.SweepPayments, Unit: "/s", Samples: paid, Note: fmt.Sprintf("%d callers", payers)},
	}, nil
}

func sweep(ctx context.Context, p *place.Place, s *stock.Stock, n int) (seconds, rate float64, err error) {
	expired, err := s.Peek(ctx, n)
	if err != nil {
		return 0, 0, err
	}
	s.Take(n)
	if _, err := p.Pool.Exec(ctx, "UPDATE orders SET deadline_at = now() - interval '1 minute' WHERE status = 'PENDING'"); err != nil {
		return 0, 0, err
	}
	others, err := s.Peek(ctx, n/2)
	if err != nil {
		return 0, 0, err
	}
	s.Take(n / 2)
	if _, err := p.Pool.Exec(ctx, "VACUUM ANALYZE orders"); err != nil {
		return 0, 0, err
	}
	queue := load.Once(others)
	took, tally, err := besides(ctx, p, queue)
	if err != nil {
		return 0, 0, err
	}
	var swept int
	if err := p.Pool.QueryRow(ctx, countSwept, expired[0].N, expired[n-1].N).Scan(&swept); err != nil {
		return 0, 0, err
	}
	if swept != n {
		return 0, 0, fmt.Errorf("of %d expired orders %d were cancelled once", n, swept)
	}
	counts, err := stock.Count(ctx, p.Pool, contender.Paid, load.Numbers(queue.Taken()))
	if err == nil {
		err = counts.Err()
	}
	return took.Seconds(), tally.Rate(), err
}

// besides sweeps while orders are paid.
func besides(ctx context.Context, p *place.Place, queue *load.Queue) (time.Duration, load.Tally, error) {
	pay := contender.Pawl()
	opened, err := pay.Open(ctx, contender.Env{URL: p.URL, Conns: payers, Callers: payers, Event: contender.Paid})
	if err != nil {
		return 0, load.Tally{}, err
	}
	defer opened.Close()
	pool, err := pgxpool.New(ctx, p.URL)
	if err != nil {
		return 0, load.Tally{}, err
	}
	defer pool.Close()
	var paying sync.WaitGroup
	var tally load.Tally
	var failed error
	paying.Go(func() { tally, failed = load.Run(ctx, opened.Call, pay.Size, queue, payers, time.Hour) })
	started := time.Now()
	_, err = (&fsm.Sweeper{DB: pool, Sweeps: order.Sweeps()}).Once(ctx)
	took := time.Since(started)
	queue.End()
	paying.Wait()
	return took, tally, errors.Join(err, failed)
}
