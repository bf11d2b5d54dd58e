package shape

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/bench/internal/contender"
	"github.com/pawl-go/pawl/bench/internal/load"
	"github.com/pawl-go/pawl/bench/internal/meter"
	"github.com/pawl-go/pawl/bench/internal/place"
	"github.com/pawl-go/pawl/bench/internal/rounds"
	"github.com/pawl-go/pawl/bench/internal/stock"
)

// Cost is what a shape costs.
type Cost struct {
	Shape Shape
	// First and Again are microseconds of a first delivery and of a duplicate, one
	// sample a round, by a single caller.
	First, Again []float64
	// PerFirst and PerAgain are counts of one.
	PerFirst, PerAgain meter.Counts
	told               []contender.Delivery
	// Wrong is what the shape does in races, by their names in their order; "" for
	// what is true.
	Wrong []string
}

// Size says how much is measured.
type Size struct {
	// Rounds of so many Calls each, of which a fifth more goes before to warm up.
	Rounds, Calls int
}

// Measure checks every shape, stages the races, and measures first deliveries and
// their duplicates in shuffled rounds.
func Measure(ctx context.Context, server string, random *rand.Rand, size Size) (costs []Cost, err error) {
	p, err := place.New(ctx, server)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Drop(ctx)) }()
	for _, s := range All(ctx) {
		costs = append(costs, Cost{Shape: s})
	}
	if err := judge(ctx, p, costs); err != nil {
		return nil, err
	}
	orders := stock.New(p.Pool)
	if err := orders.Have(ctx, size.Rounds*len(costs)*warmed(size.Calls)); err != nil {
		return nil, err
	}
	if _, err := p.Pool.Exec(ctx, "VACUUM (FREEZE, ANALYZE)"); err != nil {
		return nil, err
	}
	if err := meter.Rest(ctx, p.URL, p.Pool); err != nil {
		return nil, err
	}
	_, err = rounds.Run(random, size.Rounds, len(costs), func(_, i int) (float64, error) {
		return 0, costs[i].turn(ctx, p, orders, size.Calls)
	})
	if err != nil {
		return nil, err
	}
	for i := range costs {
		kept, err := stock.Count(ctx, p.Pool, contender.Paid, load.Numbers(costs[i].told))
		if err == nil {
			err = kept.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", costs[i].Shape.Name, err)
		}
		n := size.Rounds * warmed(size.Calls)
		costs[i].PerFirst, costs[i].PerAgain = costs[i].PerFirst.Per(n), costs[i].PerAgain.Per(n)
	}
	return costs, nil
}

// warmed is calls and those that go before.
func warmed(calls int) int { return calls + calls/5 }

// judge checks all shapes without others, and races them.
func judge(ctx context.Context, p *place.Place, costs []Cost) error {
	for i := range costs {
		c := &costs[i]
		if _, err := p.Pool.Exec(ctx, c.Shape.Setup); err != nil {
			return err
		}
		if err := Differ(ctx, p.Pool, costs[0].Shape, c.Shape); err != nil {
			return err
		}
		for _, r := range Races() {
			wrong, err := r.Run(ctx, p.Pool, c.Shape)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", c.Shape.Name, r.Name, err)
			}
			c.Wrong = append(c.Wrong, wrong)
		}
	}
	_, err := p.Pool.Exec(ctx, empty)
	return err
}

// turn tells of some orders, and then of the same ones again.
func (c *Cost) turn(ctx context.Context, p *place.Place, s *stock.Stock, calls int) error {
	orders, err := s.Peek(ctx, warmed(calls))
	if err != nil {
		return err
	}
	s.Take(len(orders))
	micros, counts, err := c.tell(ctx, p.URL, orders, calls)
	if err != nil {
		return err
	}
	c.First, c.PerFirst, c.told = append(c.First, micros), c.PerFirst.Plus(counts), append(c.told, orders...)
	if c.Shape.Silent {
		return nil
	}
	micros, counts, err = c.tell(ctx, p.URL, orders, calls)
	c.Again, c.PerAgain = append(c.Again, micros), c.PerAgain.Plus(counts)
	return err
}

// tell tells of each order once, and takes the time of the last calls.
func (c *Cost) tell(ctx context.Context, url string, orders []contender.Delivery, calls int) (micros float64, counts meter.Counts, err error) {
	counts, err = meter.Of(ctx, url, "orders", func(conn *pgx.Conn) error {
		var started time.Time
		for i, d := range orders {
			if i == len(orders)-calls {
				started = time.Now()
			}
			if _, err := c.Shape.Tell(ctx, conn, d); err != nil {
				return fmt.Errorf("%s, order %d: %w", c.Shape.Name, d.N, err)
			}
		}
		micros = float64(time.Since(started).Microseconds()) / float64(max(calls, 1))
		return nil
	})
	return micros, counts, err
}

// True is how many races the shape gets right, of how many.
func (c Cost) True() (right, of int) {
	for _, wrong := range c.Wrong {
		if wrong == "" {
			right++
		}
	}
	return right, len(c.Wrong)
}

// Faults is what the shape does wrong in races, in words.
func (c Cost) Faults() string {
	var all []string
	for i, r := range Races() {
		if i < len(c.Wrong) && c.Wrong[i] != "" {
			all = append(all, r.Name+": "+c.Wrong[i])
		}
	}
	return strings.Join(all, "; ")
}
