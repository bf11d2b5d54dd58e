// Package footprint measures how many bytes a transition writes: into the WAL, with
// and without the images of pages that are touched for the first time after a
// checkpoint, and into tables and indexes; and how many pages a call looks at. Time
// plays no part in it.
package footprint

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/bench/internal/contender"
	"github.com/pawl-go/pawl/bench/internal/place"
	"github.com/pawl-go/pawl/bench/internal/stock"
)

// Settings are those of a private server beside [place.Settings]: nothing but what is
// measured may write.
var Settings = [][2]string{{"autovacuum", "off"}}

// Sizes say how much is done.
type Sizes struct {
	// Small is the number of orders whose pages are all touched before it counts,
	// Large that of which nearly each transition is the first on its pages.
	Small, Large int
	// Measured is how many transitions one figure of the WAL is of, and Kept how many
	// one of tables.
	Measured, Kept int
	// Rows are the sizes of tables, and Histories the lengths of histories in the first
	// of them, for which pages are counted.
	Rows, Histories []int
}

// Usual are the sizes of the figures that are kept.
var Usual = Sizes{Small: 20_000, Large: 1_000_000, Measured: 2_000, Kept: 100_000, Rows: []int{10_000, 1_000_000}, Histories: []int{0, 100, 10_000}}

// WAL is what one transition writes there, in bytes.
type WAL struct {
	Event contender.Event
	// Batch is how many transitions one statement makes.
	Batch int
	// Checkpoint says that the pages are touched for the first time after one.
	Checkpoint bool
	// Bytes are all, Images those of the images of pages, of which there are Pages.
	Bytes, Images, Pages float64
}

// Disk is what one transition adds to a table, in bytes.
type Disk struct {
	Event         contender.Event
	Table         string
	Heap, Indexes float64
}

// Footprint is all that was measured.
type Footprint struct {
	PostgreSQL string
	Sizes      Sizes
	WAL        []WAL
	Disk       []Disk
	Pages      []Pages
}

// events are those that are measured: one without and one with facts and outbox.
var events = []contender.Event{contender.Pay, contender.Paid}

// ways are a single call and the batch.
func ways() []contender.Contender {
	return []contender.Contender{contender.Pawl(), contender.PawlBatch()}
}

// Measure measures on a server on which nobody else writes, in databases of its own.
// The user must be allowed to read the WAL and to order checkpoints. Errors are
// PostgreSQL's.
func Measure(ctx context.Context, server string, sizes Sizes, random *rand.Rand) (f Footprint, err error) {
	f.Sizes = sizes
	for _, large := range []bool{false, true} {
		if err := f.wal(ctx, server, large, random); err != nil {
			return f, fmt.Errorf("the WAL: %w", err)
		}
	}
	for _, event := range events {
		if err := f.disk(ctx, server, event); err != nil {
			return f, fmt.Errorf("the tables: %w", err)
		}
	}
	if err := f.looked(ctx, server, random); err != nil {
		return f, fmt.Errorf("the pages: %w", err)
	}
	return f, nil
}

// within makes a database with orders, and drops it afterwards.
func within(ctx context.Context, server string, fill func(*stock.Stock) error, do func(*place.Place) error) (err error) {
	p, err := place.New(ctx, server)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Drop(ctx)) }()
	if err := fill(stock.New(p.Pool)); err != nil {
		return err
	}
	return do(p)
}

// insertFacts makes as many facts as there are orders, between the identities of those
// that will be told: in use, facts are as many as payments, and in no order.
const insertFacts = `INSERT INTO order_facts (event, identity, order_id, fingerprint, outcome, from_status, to_status, version, at)
SELECT 'payment_succeeded', 'P' || n || '-', md5('order ' || n)::uuid, '1000', 'Applied', 'PENDING', 'PAID', 2, now()
FROM generate_series(1, %d) AS n`

// wal measures all events in all ways, on a small table behind a warm-up, or on a
// large one behind a checkpoint.
func (f *Footprint) wal(ctx context.Context, server string, large bool, random *rand.Rand) error {
	rows, n := f.Sizes.Small, f.Sizes.Measured
	if large {
		rows = f.Sizes.Large
	}
	if need := len(events) * len(ways()) * 2 * n; need > rows {
		return fmt.Errorf("%d orders are too few for %d transitions", rows, need)
	}
	return within(ctx, server, func(s *stock.Stock) error { return s.Fill(ctx, rows) }, func(p *place.Place) error {
		for _, sql := range []string{"CREATE EXTENSION pg_walinspect", fmt.Sprintf(insertFacts, rows), "VACUUM ANALYZE order_facts"} {
			if _, err := p.Pool.Exec(ctx, sql); err != nil {
				return err
			}
		}
		if err := p.Pool.QueryRow(ctx, "SHOW server_version").Scan(&f.PostgreSQL); err != nil {
			return err
		}
		orders := random.Perm(rows)
		for _, way := range ways() {
			for _, event := range events {
				w, err := written(ctx, p, way, event, large, orders[:2*n])
				if err != nil {
					return err
				}
				f.WAL = append(f.WAL, w)
				orders = orders[2*n:]
			}
		}
		return nil
	})
}

// flush has the WAL up to here on disk, where alone it can be read, also on a server
// that does not wait for it.
const flush = "BEGIN; SET LOCAL synchronous_commit TO on; SELECT pg_logical_emit_message(true, 'pawl', ''); COMMIT"

// written moves half of the orders before it counts and the other half while it does.
func written(ctx context.Context, p *place.Place, way contender.Contender, event contender.Event, checkpoint bool, orders []int) (w WAL, err error) {
	opened, err := way.Open(ctx, contender.Env{URL: p.URL, Conns: 1, Callers: 1, Event: event})
	if err != nil {
		return w, err
	}
	defer opened.Close()
	n := len(orders) / 2
	if err := move(ctx, opened, way.Size, orders[:n]); err != nil {
		return w, err
	}
	if checkpoint {
		if _, err := p.Pool.Exec(ctx, "CHECKPOINT"); err != nil {
			return w, err
		}
	}
	var from, to string
	const here = "SELECT pg_current_wal_insert_lsn()::text"
	if err := p.Pool.QueryRow(ctx, here).Scan(&from); err != nil {
		return w, err
	}
	if err := move(ctx, opened, way.Size, orders[n:]); err != nil {
		return w, err
	}
	if err := p.Pool.QueryRow(ctx, here).Scan(&to); err != nil {
		return w, err
	}
	if _, err := p.Pool.Exec(ctx, flush); err != nil {
		return w, err
	}
	w = WAL{Event: event, Batch: way.Size, Checkpoint: checkpoint}
	const sums = `SELECT ($2::pg_lsn - $1::pg_lsn)::float8 / $3::float8,
  (SELECT sum(fpi_size)::float8 FROM pg_get_wal_stats($1, $2)) / $3::float8,
  (SELECT count(*)::float8 FROM pg_get_wal_records_info($1, $2) WHERE fpi_length > 0) / $3::float8`
	err = p.Pool.QueryRow(ctx, sums, from, to, n).Scan(&w.Bytes, &w.Images, &w.Pages)
	return w, err
}

// move tells of orders, which are numbered from 0 here, and asks that each moves.
func move(ctx context.Context, opened contender.Opened, size int, orders []int) error {
	for len(orders) > 0 {
		var told []contender.Delivery
		for _, n := range orders[:min(size, len(orders))] {
			told = append(told, stock.Of(n+1))
		}
		moved, err := opened.Call(ctx, told)
		if err == nil && moved != len(told) {
			err = fmt.Errorf("%d of %d orders moved", moved, len(told))
		}
		if err != nil {
			return err
		}
		orders = orders[len(told):]
	}
	return nil
}

// disk measures what an event's transitions add to the tables. Indexes have grown row
// by row before, as in use.
func (f *Footprint) disk(ctx context.Context, server string, event contender.Event) error {
	n := f.Sizes.Kept
	return within(ctx, server, func(s *stock.Stock) error { return s.Have(ctx, 2*n) }, func(p *place.Place) error {
		batch := contender.PawlBatch()
		opened, err := batch.Open(ctx, contender.Env{URL: p.URL, Conns: 1, Callers: 1, Event: event})
		if err != nil {
			return err
		}
		defer opened.Close()
		orders := make([]int, 2*n)
		for i := range orders {
			orders[i] = i
		}
		if err := move(ctx, opened, batch.Size, orders[:n]); err != nil {
			return err
		}
		before, err := sizes(ctx, p.Pool)
		if err != nil {
			return err
		}
		if err := move(ctx, opened, batch.Size, orders[n:]); err != nil {
			return err
		}
		after, err := sizes(ctx, p.Pool)
		if err != nil {
			return err
		}
		for i, a := range after {
			b := before[i]
			f.Disk = append(f.Disk, Disk{event, a.Table, (a.Heap - b.Heap) / float64(n), (a.Indexes - b.Indexes) / float64(n)})
		}
		return nil
	})
}

// sizes are those of the tables that a transition writes.
func sizes(ctx context.Context, pool *pgxpool.Pool) ([]Disk, error) {
	var all []Disk
	for _, table := range []string{"orders", "order_history", "order_facts", "fsm_outbox"} {
		d := Disk{Table: table}
		err := pool.QueryRow(ctx, "SELECT pg_table_size($1::regclass)::float8, pg_indexes_size($1::regclass)::float8", table).Scan(&d.Heap, &d.Indexes)
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}
