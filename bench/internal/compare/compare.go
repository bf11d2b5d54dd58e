// Package compare runs contenders beside each other under one load, and counts
// afterwards what they did.
package compare

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/pawl-go/pawl/bench/internal/contender"
	"github.com/pawl-go/pawl/bench/internal/load"
	"github.com/pawl-go/pawl/bench/internal/place"
	"github.com/pawl-go/pawl/bench/internal/result"
	"github.com/pawl-go/pawl/bench/internal/rounds"
	"github.com/pawl-go/pawl/bench/internal/stat"
	"github.com/pawl-go/pawl/bench/internal/stock"
)

// The kinds of load.
const (
	// First tells of each order once.
	First = "first deliveries"
	// Duplicates tells again of what took effect before.
	Duplicates = "duplicates"
	// Storm tells of each order 1 to 7 times, mixed.
	Storm = "callback storm"
	// Hot tells of one order at a time, 200 times.
	Hot = "one hot row"
)

const (
	// maxConns is how many connections a contender may have, as many as it has
	// callers below that.
	maxConns = 32
	// known is how many orders duplicates are told of.
	known = 10_000
	// hot is how often a hot order is told of.
	hot = 200
	// patience is how much longer than its time a turn may take.
	patience = time.Minute
)

var errPatience = errors.New("it did not end")

// Runner runs comparisons.
type Runner struct {
	Server string
	Rounds int
	// Time is how long a contender runs in a round, after a quarter of it to warm
	// up.
	Time   time.Duration
	Random *rand.Rand
}

// comparison is one that runs.
type comparison struct {
	*Runner
	load       result.Load
	contenders []contender.Contender
	place      *place.Place
	stock      *stock.Stock
	url        string
	rows       []result.Row
	rates      []float64 // of the last round
	paid       []contender.Delivery
	stood      stock.Counts // of those paid, after the last turn
}

// Run compares contenders in a database of their own. A contender of others that
// fails is left out from then on and says why; one of ours ends it, and so does one
// of ours that breaks an invariant.
func (r *Runner) Run(ctx context.Context, l result.Load, contenders []contender.Contender) (done result.Comparison, err error) {
	c := &comparison{Runner: r, load: l, contenders: contenders, rows: make([]result.Row, len(contenders)), rates: make([]float64, len(contenders))}
	for i, of := range contenders {
		c.rows[i].Contender, c.rows[i].Writes = of.Name, of.Writes
	}
	if c.place, err = place.New(ctx, r.Server); err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, c.place.Drop(ctx)) }()
	away, back, err := c.place.Away(l.Delay)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, back()) }()
	c.url, c.stock = away, stock.New(c.place.Pool)
	if l.Kind == Duplicates {
		if err := c.pay(ctx); err != nil {
			return done, err
		}
	}
	samples, err := rounds.Run(r.Random, r.Rounds, len(contenders), func(_, i int) (float64, error) { return c.turn(ctx, i) })
	if err != nil {
		return done, err
	}
	for i := range c.rows {
		if c.rows[i].Failed == "" {
			c.rows[i].Samples, c.rows[i].Sum = samples[i], stat.Of(samples[i])
		}
	}
	return result.Comparison{Load: l, Unit: "deliveries/s", Rows: c.rows}, nil
}

// pay pays the orders that duplicates will be told of.
func (c *comparison) pay(ctx context.Context) error {
	orders, err := c.stock.Peek(ctx, known)
	if err != nil {
		return err
	}
	c.stock.Take(known)
	of := contender.PawlBatch()
	opened, err := of.Open(ctx, contender.Env{URL: c.place.URL, Conns: 1, Callers: 1, Event: contender.Paid})
	if err != nil {
		return err
	}
	defer opened.Close()
	if _, err := load.Run(ctx, opened.Call, of.Size, load.Once(orders), 1, time.Hour); err != nil {
		return err
	}
	if c.stood, err = stock.Count(ctx, c.place.Pool, contender.Paid, load.Numbers(orders)); err != nil {
		return err
	}
	if err := c.stood.Err(); err != nil {
		return err
	}
	c.Random.Shuffle(len(orders), func(i, j int) { orders[i], orders[j] = orders[j], orders[i] })
	c.paid = orders
	_, err = c.place.Pool.Exec(ctx, "VACUUM ANALYZE")
	return err
}

// turn is one contender's turn in a round.
func (c *comparison) turn(ctx context.Context, i int) (float64, error) {
	of, row := c.contenders[i], &c.rows[i]
	if row.Failed != "" {
		return 0, nil
	}
	within, cancel := context.WithTimeoutCause(ctx, 2*c.Time+patience, errPatience)
	defer cancel()
	rate, err := c.measure(within, i)
	switch {
	case err == nil:
		c.rates[i] = rate
		return rate, nil
	case of.Ours || ctx.Err() != nil:
		return 0, fmt.Errorf("%s, %s: %w", c.load.Kind, of.Name, err)
	}
	row.Failed = err.Error()
	return 0, nil
}

// measure runs a contender and counts what it did.
func (c *comparison) measure(ctx context.Context, i int) (float64, error) {
	of := c.contenders[i]
	queue, orders, err := c.queue(ctx, c.need(i))
	if err != nil {
		return 0, err
	}
	defer c.stock.Take(orders) // those that nobody was told of are left out too
	opened, err := of.Open(ctx, contender.Env{
		URL: c.url, Conns: min(c.load.Callers, maxConns), Callers: c.load.Callers, Event: contender.Event(c.load.Event),
	})
	if err != nil {
		return 0, err
	}
	runtime.GC()
	warm, err := load.Run(ctx, opened.Call, of.Size, queue, c.load.Callers, c.Time/4)
	var tally load.Tally
	if err == nil {
		tally, err = load.Run(ctx, opened.Call, of.Size, queue, c.load.Callers, c.Time)
	}
	opened.Close()
	if err != nil {
		return 0, err
	}
	return tally.Rate(), c.check(ctx, i, queue, warm.Moved+tally.Moved)
}

// check compares what a contender says that it moved with what the database has.
func (c *comparison) check(ctx context.Context, i int, queue *load.Queue, moved int64) error {
	if c.load.Kind == Duplicates {
		return c.unchanged(ctx, moved)
	}
	counts, err := stock.Count(ctx, c.place.Pool, contender.Event(c.load.Event), load.Numbers(queue.Taken()))
	if err != nil {
		return err
	}
	all := &c.rows[i].Counts
	all.Orders += counts.Orders
	all.Moved += counts.Moved
	all.Again += counts.Again
	all.Broken += counts.Broken
	of := c.contenders[i]
	switch {
	case of.Ours && counts.Err() != nil:
		return counts.Err()
	case of.Once && (counts.Moved != counts.Orders || counts.Again != 0 || moved != counts.Orders):
		return fmt.Errorf("of %d orders it moved %d, %d of them more than once, and says %d", counts.Orders, counts.Moved, counts.Again, moved)
	}
	return nil
}

// unchanged compares the orders that duplicates are told of with what they were
// before the turn: who is left out for changing them changes them for all others.
func (c *comparison) unchanged(ctx context.Context, moved int64) error {
	counts, err := stock.Count(ctx, c.place.Pool, contender.Paid, load.Numbers(c.paid))
	if err != nil {
		return err
	}
	before := c.stood
	c.stood = counts
	switch {
	case moved != 0:
		return fmt.Errorf("%d duplicates had an effect, it says", moved)
	case counts != before:
		return fmt.Errorf("duplicates had an effect: of %d orders %d, before %d, were moved more than once, and %d, before %d, do not tell the same everywhere",
			counts.Orders, counts.Again, before.Again, counts.Broken, before.Broken)
	}
	return nil
}

// need guesses how many deliveries a turn can take; the queue of a turn that takes
// more ends before its time.
func (c *comparison) need(i int) int {
	rate := c.rates[i] * 1.5
	if rate == 0 {
		rate = 8000
		if c.contenders[i].Size > 1 || c.contenders[i].Name == contender.PawlCoalesced().Name {
			rate = 50_000
		}
	}
	return max(int(rate*1.25*c.Time.Seconds()), 4*c.load.Callers*c.contenders[i].Size)
}

// queue makes n deliveries, and says how many orders they are of.
func (c *comparison) queue(ctx context.Context, n int) (*load.Queue, int, error) {
	switch c.load.Kind {
	case Duplicates:
		return load.Round(c.paid), 0, nil
	case Storm:
		n = n/4 + 1
	case Hot:
		n = n/hot + 1
	}
	orders, err := c.stock.Peek(ctx, n)
	if err != nil {
		return nil, 0, err
	}
	switch c.load.Kind {
	case Storm:
		return load.Once(load.Storm(c.Random, orders)), n, nil
	case Hot:
		return load.Once(load.Hot(orders, hot)), n, nil
	}
	return load.Once(orders), n, nil
}
