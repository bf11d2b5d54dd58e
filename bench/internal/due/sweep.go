package due

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/bench/internal/meter"
	"github.com/pawl-go/pawl/bench/internal/rounds"
	"github.com/pawl-go/pawl/bench/internal/stock"
	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

// SweepCost is what it costs to cancel orders that were not paid in time, where as
// many others were paid.
type SweepCost struct {
	Column Column
	// Micros are those of a row, one sample a round; Counts are of one row.
	Micros []float64
	Counts meter.Counts
	// Idle is the buffers of a sweep that finds nothing due.
	Idle float64
}

// idle is how often a sweep finds nothing, to see what that costs.
const idle = 500

// sweeps measures the columns whose pages are full.
func sweeps(ctx context.Context, columns []Column, random *rand.Rand, size Size) (costs []SweepCost, err error) {
	for _, c := range columns {
		if c.FillFactor == 100 {
			costs = append(costs, SweepCost{Column: c})
		}
	}
	micros, err := rounds.Run(random, size.Rounds, len(costs), func(_, i int) (float64, error) { return costs[i].turn(ctx, size.Rows) })
	if err != nil {
		return nil, err
	}
	for i := range costs {
		costs[i].Micros, costs[i].Counts = micros[i], costs[i].Counts.Per(size.Rounds*(size.Rows/2))
		costs[i].Idle /= float64(size.Rounds * idle)
	}
	return costs, nil
}

// turn pays every second order and sweeps the others an hour later.
func (s *SweepCost) turn(ctx context.Context, rows int) (micros float64, err error) {
	if err := s.Column.begin(ctx, "PENDING", rows, false); err != nil {
		return 0, err
	}
	if err := s.pay(ctx, rows); err != nil {
		return 0, err
	}
	quiet, err := s.sweep(ctx, time.Now(), func(sweep func() (int, error)) error {
		for range idle {
			if n, err := sweep(); err != nil || n > 0 {
				return fmt.Errorf("%d rows were due too early: %w", n, err)
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	counts, err := s.sweep(ctx, time.Now().Add(time.Hour), func(sweep func() (int, error)) error {
		started, swept := time.Now(), 0
		// A page of appended entries may move none, though others are due.
		for range rows/1000 + 2 {
			n, err := sweep()
			if err != nil {
				return err
			}
			swept += n
		}
		micros = float64(time.Since(started).Microseconds()) / float64(max(swept, 1))
		if swept != rows/2 {
			return fmt.Errorf("%s: %d orders were swept, not %d", s.Column.Scheme.Name, swept, rows/2)
		}
		return nil
	})
	s.Idle, s.Counts = s.Idle+quiet.Buffers, s.Counts.Plus(counts)
	return micros, err
}

func (s *SweepCost) pay(ctx context.Context, rows int) error {
	conn, err := pgx.Connect(ctx, s.Column.place.URL)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var items []order.PaymentSucceededItem
	for n := 1; n <= rows; n += 2 {
		items = append(items, order.PaymentSucceededItem{Key: order.Key(stock.Key(n)), Params: payment(n)})
	}
	results, err := order.PaymentSucceededBatch(ctx, newRewriter(conn, s.Column.Scheme), items)
	for _, r := range results {
		if err == nil {
			err = r.Err
		}
	}
	return err
}

// sweep hands a page of the sweep of unpaid orders to work, as of a time.
func (s *SweepCost) sweep(ctx context.Context, now time.Time, work func(sweep func() (int, error)) error) (meter.Counts, error) {
	return meter.Of(ctx, s.Column.place.URL, "orders", func(conn *pgx.Conn) error {
		db := newRewriter(conn, s.Column.Scheme)
		return work(func() (int, error) {
			rows, err := order.Sweeps()[2](ctx, db, fsm.SweepPage{Now: &now, Actor: "deadline"})
			return len(rows), err
		})
	})
}
