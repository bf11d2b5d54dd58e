package due

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/bench/internal/meter"
	"github.com/pawl-go/pawl/bench/internal/place"
	"github.com/pawl-go/pawl/bench/internal/rounds"
)

// Size says how much is measured: of so many Rows, in each of Rounds, so many Calls
// are timed, after a fifth more to warm up. Many is the rows of the larger table that a
// checkpoint meets.
type Size struct{ Rows, Many, Rounds, Calls int }

func (s Size) warmed() int { return s.Calls + s.Calls/5 }

// Column is a scheme on orders with a fill factor.
type Column struct {
	Scheme     Scheme
	FillFactor int
	place      *place.Place
}

// Cell is what a kind of transition came to in a column: microseconds of one, one
// sample a round, and the counts of one.
type Cell struct {
	Micros []float64
	Counts meter.Counts
}

// Report is what was measured: a row a kind, a cell a column.
type Report struct {
	Columns []Column
	Kinds   []Kind
	Cells   [][]Cell
	// Fresh are counts of payment_succeeded right after a checkpoint, a column each.
	Fresh  []meter.Counts
	Sweeps []SweepCost
}

// Measure measures all schemes, each in a database of its own.
func Measure(ctx context.Context, server string, random *rand.Rand, size Size) (r *Report, err error) {
	r = &Report{Kinds: Kinds()}
	defer func() {
		for _, c := range r.Columns {
			err = errors.Join(err, c.place.Drop(ctx))
		}
	}()
	for _, s := range Schemes() {
		for _, fill := range []int{100, 90, 70} {
			p, err := place.New(ctx, server)
			if err != nil {
				return r, err
			}
			c := Column{s, fill, p}
			r.Columns = append(r.Columns, c)
			if err := c.prepare(ctx); err != nil {
				return r, err
			}
		}
	}
	for _, k := range r.Kinds {
		cells, err := r.measure(ctx, k, random, size)
		if err != nil {
			return r, fmt.Errorf("%s: %w", k.Name, err)
		}
		r.Cells = append(r.Cells, cells)
	}
	for _, c := range r.Columns {
		fresh, err := c.fresh(ctx, r.Kinds[3], random, size)
		if err != nil {
			return r, err
		}
		r.Fresh = append(r.Fresh, fresh)
	}
	r.Sweeps, err = sweeps(ctx, r.Columns, random, size)
	return r, err
}

// prepare changes a migrated database into what the scheme needs.
func (c Column) prepare(ctx context.Context) error {
	for _, sql := range []string{c.Scheme.tables, fmt.Sprintf("ALTER TABLE orders SET (fillfactor = %d)", c.FillFactor)} {
		if _, err := c.place.Pool.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// measure measures one kind in all columns, in shuffled rounds.
func (r *Report) measure(ctx context.Context, k Kind, random *rand.Rand, size Size) ([]Cell, error) {
	cells := make([]Cell, len(r.Columns))
	for _, c := range r.Columns {
		if err := c.begin(ctx, k.from, size.Rows, false); err != nil {
			return nil, err
		}
	}
	numbers := random.Perm(size.Rows)
	each := size.warmed() / len(k.steps) // orders a round
	micros, err := rounds.Run(random, size.Rounds, len(cells), func(round, i int) (float64, error) {
		took, counts, err := r.Columns[i].turn(ctx, k, numbers[round*each:(round+1)*each])
		cells[i].Counts = cells[i].Counts.Plus(counts)
		return took, err
	})
	if err != nil {
		return nil, err
	}
	for i := range cells {
		cells[i].Micros, cells[i].Counts = micros[i], cells[i].Counts.Per(size.Rounds*each*len(k.steps))
	}
	return cells, nil
}

// makeOrders makes orders in a state, as they would be there.
const makeOrders = `INSERT INTO orders (order_id, status, version, deadline_at, customer_id, sku, quantity, total_cents, paid_cents, refund_cents, payment_no, paid_at)
SELECT md5('order ' || n)::uuid, s.status, 2,
  CASE WHEN s.status IN ('PENDING', 'PAYING', 'SHIPPED', 'REFUNDING') THEN now() + interval '30 minutes' + n * interval '1 millisecond' END,
  'customer ' || n % 1000, 'sku ' || n % 100, 1, 1000, CASE WHEN s.paid THEN 1000 ELSE 0 END, CASE s.status WHEN 'REFUNDING' THEN 1000 ELSE 0 END,
  CASE WHEN s.paid THEN 'P' || n END, CASE WHEN s.paid THEN now() END
FROM generate_series(1, $1::int) AS n CROSS JOIN (SELECT $2::text AS status, $2::text IN ('PAID', 'SHIPPED', 'REFUNDING') AS paid) AS s`

// begin has so many orders in a state, on pages as a vacuum leaves them. Those pages
// are in the WAL since the last checkpoint, unless one comes afterwards.
func (c Column) begin(ctx context.Context, state string, rows int, checkpoint bool) error {
	if _, err := c.place.Pool.Exec(ctx, "TRUNCATE orders, order_history, order_facts, fsm_outbox"); err != nil {
		return err
	}
	if c.Scheme.fill != "" {
		if _, err := c.place.Pool.Exec(ctx, "TRUNCATE order_due"); err != nil {
			return err
		}
	}
	err := pgx.BeginFunc(ctx, c.place.Pool, func(tx pgx.Tx) error {
		// No order begins as paid.
		if _, err := tx.Exec(ctx, "SET LOCAL session_replication_role = replica"); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, makeOrders, rows, state)
		return err
	})
	after := []string{c.Scheme.fill, "VACUUM (FREEZE, ANALYZE)"}
	if checkpoint {
		after = append(after, "CHECKPOINT")
	}
	for _, sql := range after {
		if err == nil {
			_, err = c.place.Pool.Exec(ctx, sql)
		}
	}
	if err != nil {
		return err
	}
	return meter.Rest(ctx, c.place.URL, c.place.Pool)
}

// turn takes orders through a kind's steps, each of them through the first one
// before any goes through the next. The first sixth is not timed.
func (c Column) turn(ctx context.Context, k Kind, numbers []int) (micros float64, counts meter.Counts, err error) {
	counts, err = meter.Of(ctx, c.place.URL, "orders", func(conn *pgx.Conn) error {
		db := newRewriter(conn, c.Scheme)
		cold := len(numbers) / 6
		timed, took := 0, time.Duration(0)
		for _, fire := range k.steps {
			started := time.Now()
			for i, n := range numbers {
				if i == cold {
					started = time.Now()
				}
				if err := fire(ctx, db, n+1); err != nil {
					return err
				}
			}
			took, timed = took+time.Since(started), timed+len(numbers)-cold
		}
		micros = float64(took.Microseconds()) / float64(max(timed, 1))
		return nil
	})
	return micros, counts, err
}

// fresh counts what a kind costs right after a checkpoint, when each page that is
// touched has to go into the WAL as a whole.
func (c Column) fresh(ctx context.Context, k Kind, random *rand.Rand, size Size) (meter.Counts, error) {
	if err := c.begin(ctx, k.from, size.Many, true); err != nil {
		return meter.Counts{}, err
	}
	numbers := random.Perm(size.Many)[:size.Rounds*size.warmed()]
	_, counts, err := c.turn(ctx, k, numbers)
	return counts.Per(len(numbers)), err
}
