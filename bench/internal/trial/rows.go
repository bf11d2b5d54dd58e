package trial

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pawl-go/pawl/bench/internal/contender"
	"github.com/pawl-go/pawl/bench/internal/goal"
	"github.com/pawl-go/pawl/bench/internal/load"
	"github.com/pawl-go/pawl/bench/internal/place"
	"github.com/pawl-go/pawl/bench/internal/result"
	"github.com/pawl-go/pawl/bench/internal/rounds"
	"github.com/pawl-go/pawl/bench/internal/stat"
	"github.com/pawl-go/pawl/bench/internal/stock"
)

const (
	// few is the small table's number of rows.
	few = 10_000
	// step is how many orders a turn pays, the first tenth of them to warm up.
	step        = 1_000
	rowsCallers = 8
)

// table is one size of tables.
type table struct {
	rows   int
	place  *place.Place
	orders []contender.Delivery // those to be paid, from all over the table
	bytes  []float64            // of WAL, a transition
	images []float64            // of full pages in it
}

// Rows pays orders all over a table of 10,000 rows and all over larger ones, and
// compares the time that one takes in the last of them. Keys are spread evenly, which is the worst that
// can happen to a large table: nearly every transition is the first on its pages
// after a checkpoint, and has to put them into the WAL as a whole.
func Rows(ctx context.Context, server string, random *rand.Rand, turns int, many ...int) (figures []result.Figure, err error) {
	tables := []*table{{rows: few}}
	for _, rows := range many {
		tables = append(tables, &table{rows: rows})
	}
	for _, t := range tables {
		if t.place, err = place.New(ctx, server); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, t.place.Drop(ctx)) }()
		if err := stock.New(t.place.Pool).Fill(ctx, t.rows); err != nil {
			return nil, err
		}
		for _, n := range some(random, turns*step, t.rows) {
			t.orders = append(t.orders, stock.Of(n+1))
		}
	}
	if _, err := tables[0].place.Pool.Exec(ctx, "CHECKPOINT"); err != nil {
		return nil, err
	}
	micros, err := rounds.Run(random, min(turns, few/step), len(tables), func(_, i int) (float64, error) { return tables[i].turn(ctx) })
	if err != nil {
		return nil, err
	}
	for i, t := range tables {
		name := goal.Number(float64(t.rows)) + " rows, a transition"
		figures = append(figures,
			result.Figure{Name: name, Unit: "µs", Samples: micros[i], Note: fmt.Sprintf("%d callers", rowsCallers)},
			result.Figure{Name: name + ", WAL", Unit: "bytes", Samples: t.bytes},
			result.Figure{Name: name + ", full-page images", Samples: t.images})
	}
	last := len(tables) - 1
	note := fmt.Sprintf("%s rows", goal.Number(float64(tables[last].rows)))
	return append(figures, result.Figure{Name: goal.RowsRatio, Unit: "×", Samples: stat.Ratios(micros[last], micros[0]), Note: note}), nil
}

// some is n different numbers below limit, in no order.
func some(random *rand.Rand, n, limit int) []int {
	n = min(n, limit)
	seen := make(map[int]bool, n)
	numbers := make([]int, 0, n)
	for len(numbers) < n {
		if i := random.IntN(limit); !seen[i] {
			seen[i] = true
			numbers = append(numbers, i)
		}
	}
	return numbers
}

// turn pays a step's orders and returns the microseconds that one took.
func (t *table) turn(ctx context.Context) (float64, error) {
	orders := t.orders[:step]
	t.orders = t.orders[step:]
	pawl := contender.Pawl()
	opened, err := pawl.Open(ctx, contender.Env{URL: t.place.URL, Conns: rowsCallers, Callers: rowsCallers, Event: contender.Paid})
	if err != nil {
		return 0, err
	}
	closed := false
	defer func() {
		if !closed {
			opened.Close()
		}
	}()
	if _, err := load.Run(ctx, opened.Call, 1, load.Once(orders[:step/10]), rowsCallers, time.Hour); err != nil {
		return 0, err
	}
	before, err := readWAL(ctx, t.place.Pool)
	if err != nil {
		return 0, err
	}
	tally, err := load.Run(ctx, opened.Call, 1, load.Once(orders[step/10:]), rowsCallers, time.Hour)
	if err != nil {
		return 0, err
	}
	opened.Close() // a connection tells of its WAL at its end
	closed = true
	after, err := readWAL(ctx, t.place.Pool)
	if err != nil {
		return 0, err
	}
	t.bytes = append(t.bytes, (after.bytes-before.bytes)/float64(tally.Calls))
	t.images = append(t.images, (after.images-before.images)/float64(tally.Calls))
	counts, err := stock.Count(ctx, t.place.Pool, contender.Paid, load.Numbers(orders))
	if err == nil {
		err = counts.Err()
	}
	return float64(tally.Took.Microseconds()) / float64(tally.Calls), err
}

// wal is how much WAL the server has written since it began to count.
type wal struct{ bytes, images float64 }

// settled is how many equal readings in a row are enough: connections tell of what
// they wrote within a second.
const settled = 12

// readWAL reads when nothing has been told for more than a second, or after five
// seconds on a server where others write.
func readWAL(ctx context.Context, pool *pgxpool.Pool) (w wal, err error) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	last := wal{-1, -1}
	for same, readings := 0, 0; same < settled && readings < 50; readings++ {
		err = pool.QueryRow(ctx, "SELECT wal_bytes::float8, wal_fpi::float8 FROM pg_stat_wal").Scan(&w.bytes, &w.images)
		if err != nil {
			return w, err
		}
		if same++; w != last {
			same, last = 0, w
		}
		select {
		case <-ctx.Done():
			return w, ctx.Err()
		case <-tick.C:
		}
	}
	return w, nil
}
