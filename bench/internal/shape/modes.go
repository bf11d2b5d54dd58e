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
	"github.com/pawl-go/pawl/bench/internal/place"
	"github.com/pawl-go/pawl/bench/internal/rounds"
	"github.com/pawl-go/pawl/bench/internal/stock"
	"github.com/pawl-go/pawl/gen/order"
)

// ModeCost is what the generated call costs in one of pgx's modes, in microseconds,
// one sample a round.
type ModeCost struct {
	Mode         pgx.QueryExecMode
	First, Again []float64
}

// Modes measures the generated call in the modes that work behind a pooler, beside
// the usual one, which comes first.
func Modes(ctx context.Context, server string, random *rand.Rand, size Size) (costs []ModeCost, err error) {
	p, err := place.New(ctx, server)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Drop(ctx)) }()
	for _, mode := range []pgx.QueryExecMode{
		pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
	} {
		costs = append(costs, ModeCost{Mode: mode})
	}
	orders := stock.New(p.Pool)
	if err := orders.Have(ctx, size.Rounds*len(costs)*warmed(size.Calls)); err != nil {
		return nil, err
	}
	_, err = rounds.Run(random, size.Rounds, len(costs), func(_, i int) (float64, error) {
		return 0, costs[i].turn(ctx, p, orders, size.Calls)
	})
	return costs, err
}

// turn tells of some orders twice, on a connection that does not wait for the disk.
func (c *ModeCost) turn(ctx context.Context, p *place.Place, s *stock.Stock, calls int) error {
	config, err := pgx.ParseConfig(p.URL)
	if err != nil {
		return err
	}
	config.DefaultQueryExecMode = c.Mode
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, "SET synchronous_commit = off"); err != nil {
		return err
	}
	orders, err := s.Peek(ctx, warmed(calls))
	if err != nil {
		return err
	}
	s.Take(len(orders))
	for _, times := range []*[]float64{&c.First, &c.Again} {
		started := time.Now()
		for i, d := range orders {
			if i == len(orders)-calls {
				started = time.Now()
			}
			if _, err := order.PaymentSucceeded(ctx, conn, order.Key(d.Key), order.PaymentSucceededParams{PaymentNo: d.PaymentNo, PaidCents: d.Cents}); err != nil {
				return fmt.Errorf("%s: %w", c.Mode, err)
			}
		}
		*times = append(*times, float64(time.Since(started).Microseconds())/float64(max(calls, 1)))
	}
	kept, err := stock.Count(ctx, p.Pool, contender.Paid, load.Numbers(orders))
	if err == nil {
		err = kept.Err()
	}
	return err
}

// ModesMarkdown is the table of modes, the first of which the others are compared
// with.
func ModesMarkdown(costs []ModeCost) string {
	var b strings.Builder
	b.WriteString("| mode | first × | spread | again × | spread |\n| --- | --: | --: | --: | --: |\n")
	for _, c := range costs {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", c.Mode, times(c.First, costs[0].First), times(c.Again, costs[0].Again))
	}
	return b.String()
}
