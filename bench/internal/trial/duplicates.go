package trial

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/bench/internal/goal"
	"github.com/pawl-go/pawl/bench/internal/place"
	"github.com/pawl-go/pawl/bench/internal/result"
	"github.com/pawl-go/pawl/bench/internal/stock"
	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/gen/order"
)

// Duplicates tells n times again of a payment, and counts round trips and the
// transaction ids that the database gave out meanwhile: who writes needs one.
func Duplicates(ctx context.Context, server string, n int) (figures []result.Figure, err error) {
	p, err := place.New(ctx, server)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Drop(ctx)) }()
	if err := stock.New(p.Pool).Have(ctx, 1000); err != nil {
		return nil, err
	}
	pool, conn, err := counting(ctx, p.URL)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	d := stock.Of(1)
	params := order.PaymentSucceededParams{PaymentNo: d.PaymentNo, PaidCents: d.Cents}
	tell := func(want fsm.Outcome) error {
		r, err := order.PaymentSucceeded(ctx, pool, order.Key(d.Key), params)
		if err == nil && r.Outcome != want {
			err = fmt.Errorf("%s, not %s", r.Outcome, want)
		}
		return err
	}
	if err := tell(fsm.Applied); err != nil {
		return nil, err
	}
	before := conn.Trips()
	wrote, err := quietly(ctx, p.Pool, func() error {
		before = conn.Trips()
		for range n {
			if err := tell(fsm.Replayed); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return []result.Figure{
		{Name: goal.RoundTrips, Unit: "a call", Samples: []float64{float64(conn.Trips()-before) / float64(n)}, Note: fmt.Sprintf("%d calls", n)},
		{Name: goal.DuplicateXids, Samples: []float64{float64(wrote)}, Note: fmt.Sprintf("of %d", n)},
	}, nil
}

// quietly is how many transaction ids were given out during work. Others, as
// autovacuum, may get some as well: the least of a few attempts counts.
func quietly(ctx context.Context, pool *pgxpool.Pool, work func() error) (int64, error) {
	const sql = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint"
	least := int64(-1)
	for range 5 {
		var before, after int64
		if err := pool.QueryRow(ctx, sql).Scan(&before); err != nil {
			return 0, err
		}
		if err := work(); err != nil {
			return 0, err
		}
		if err := pool.QueryRow(ctx, sql).Scan(&after); err != nil {
			return 0, err
		}
		if got := after - before; least < 0 || got < least {
			least = got
		}
		if least == 0 {
			break
		}
	}
	return least, nil
}
