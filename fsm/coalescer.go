package fsm

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Errors of a [Coalescer]'s own, for errors.Is.
var (
	// ErrClosed: it is closed. Nothing was done.
	ErrClosed = errors.New("the coalescer is closed")
	// ErrRowFull: as many calls as may be wait for that row. Nothing was done; it
	// comes with [ErrContended], which alone says that others changed the row.
	ErrRowFull = errors.New("too many calls wait for the row")
)

// Coalescer gathers single calls of one event, which come at the same time, into
// batches: one round trip and one commit serve all that came while the last batch
// was under way. Each caller gets what its single call would answer.
//
// Calls of one row go in the order in which they came, by one worker. Where rows
// are many, each row has its turn: a batch takes one call of a row, and those that
// repeat it. It is safe for concurrent use.
type Coalescer[K comparable, P any, S ~string, R any] struct {
	batch func(context.Context, DB, []Item[K, P], ...Option) ([]BatchResult[S, R], error)
	event *EventInfo
	o     Coalescing
	seed  maphash.Seed
	lanes []*lane[K, P, S, R]
	pool  *pgxpool.Pool // nil in this package's own tests

	room    chan struct{} // a place for each call that may wait
	work    context.Context
	cut     context.CancelFunc
	workers sync.WaitGroup
	stats   coalescerCounts
}

// NewCoalescer returns a Coalescer of an event, by its batch: order.PayBatch say. A
// function of your own around a batch hands its options on to it, or a row that is
// held fails all calls of the batch. It is called once without items, and a nil DB,
// to learn the names of machine and event.
//
// It opens connections of its own, one a worker, as pool's are, but READ COMMITTED
// with the lock timeout, with generic plans, and with indexes where there are any,
// all as start-up parameters. PgBouncer refuses those, in every pooling mode, unless
// told to ignore them: the role should have the settings then.
//
// The first connection is opened at once, while ctx lasts; for the calls and batches
// later ctx means nothing, but that its [Observer] is told of the batches. The caller closes the Coalescer. The error is
// [ErrArgument] for a nil pool or batch and for negative settings, and
// [ErrNothingDone] with the cause where ctx has ended or the server cannot be
// reached, or refuses.
func NewCoalescer[K comparable, P any, S ~string, R any](
	ctx context.Context, pool *pgxpool.Pool,
	batch func(context.Context, DB, []Item[K, P], ...Option) ([]BatchResult[S, R], error), o Coalescing,
) (*Coalescer[K, P, S, R], error) {
	if pool == nil || batch == nil {
		return nil, fmt.Errorf("%w: a coalescer needs a pool and a batch", ErrArgument)
	}
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	event := eventOf(batch)
	if err := ctx.Err(); err != nil {
		return nil, event.error(ErrNothingDone, err)
	}
	config := pool.Config()
	config.MaxConns, config.MinConns, config.MinIdleConns = int32(o.Workers), 0, 0
	config.ConnConfig.RuntimeParams["default_transaction_isolation"] = "read committed"
	// To plan a batch anew can take as long as to run it, and its plan serves any.
	config.ConnConfig.RuntimeParams["plan_cache_mode"] = "force_generic_plan"
	// A plan made while the tables were nearly empty is kept until they are analyzed,
	// and would read all facts for each item of a batch until then.
	config.ConnConfig.RuntimeParams["enable_seqscan"] = "off"
	// The pool's may be right for single calls, which a batch is not.
	config.ConnConfig.RuntimeParams["statement_timeout"] = serverTime(o.Timeout)
	config.ConnConfig.RuntimeParams["lock_timeout"] = serverTime(o.LockTimeout)
	own, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, event.error(ErrNothingDone, err)
	}
	if err := own.Ping(ctx); err != nil {
		own.Close()
		return nil, event.error(ErrNothingDone, err)
	}
	dbs := make([]DB, o.Workers)
	for i := range dbs {
		dbs[i] = own
	}
	o.observer = observerOf(ctx)
	c := newCoalescer(event, dbs, batch, o)
	c.pool = own
	return c, nil
}

// serverTime is a time limit as the server takes it: at least a millisecond, since 0
// is none, and no more than it can count.
func serverTime(d time.Duration) string {
	return fmt.Sprint(min(max(d.Milliseconds(), 1), math.MaxInt32))
}

// newCoalescer starts a worker for each of dbs.
func newCoalescer[K comparable, P any, S ~string, R any](
	event *EventInfo, dbs []DB, batch func(context.Context, DB, []Item[K, P], ...Option) ([]BatchResult[S, R], error), o Coalescing,
) *Coalescer[K, P, S, R] {
	c := &Coalescer[K, P, S, R]{batch: batch, event: event, o: o, seed: maphash.MakeSeed(), room: make(chan struct{}, o.Waiting)}
	c.work, c.cut = context.WithCancel(WithObserver(context.Background(), o.observer))
	for _, db := range dbs {
		l := &lane[K, P, S, R]{rows: map[K]*laneRow[K, P, S, R]{}, more: make(chan struct{}, 1)}
		c.lanes = append(c.lanes, l)
		c.workers.Go(func() { c.serve(db, l) })
	}
	return c
}

// Fire makes one call, and returns when its batch is done: what the event's single
// call would return, its errors too: [CallError] with machine and event. It names
// "coalescer" and "call" where the batch is a function that keeps its options to
// itself.
//
// When ctx ends first, others of the batch go on. The error wraps ctx's, and is
// [ErrNothingDone] while no batch had taken the call, and [ErrUnknown] from then
// on. No other error is context.Canceled or context.DeadlineExceeded: a batch that
// Close or Timeout has cut off says so in words.
//
// [ErrClosed], with ErrNothingDone, after Close; [ErrRowFull], with [ErrContended],
// when as many calls as may be wait for that row already.
func (c *Coalescer[K, P, S, R]) Fire(ctx context.Context, item Item[K, P]) (Result[S, R], error) {
	item.Key = canonical(item.Key)
	if o := observerOf(ctx); o != nil {
		return c.observe(ctx, o, item)
	}
	return c.join(ctx, item)
}

// join has a call wait for its batch.
func (c *Coalescer[K, P, S, R]) join(ctx context.Context, item Item[K, P]) (Result[S, R], error) {
	if err := c.enter(ctx); err != nil {
		return Result[S, R]{}, err
	}
	l := c.lanes[maphash.Comparable(c.seed, item.Key)%uint64(len(c.lanes))]
	call := &laneCall[K, P, S, R]{item: item, came: time.Now(), done: make(chan struct{})}
	if err := l.put(call, c.o.PerRow); err != nil {
		<-c.room
		if errors.Is(err, ErrClosed) {
			return Result[S, R]{}, c.closed()
		}
		c.stats.refused.Add(1)
		return Result[S, R]{}, c.event.error(ErrContended, err)
	}
	select {
	case <-call.done:
		return call.result.Result, call.result.Err
	case <-ctx.Done():
	}
	if l.remove(call) {
		<-c.room
		return Result[S, R]{}, c.cancelled(ctx)
	}
	select {
	case <-call.done: // its batch ended in the same moment
		return call.result.Result, call.result.Err
	default:
		c.stats.abandoned.Add(1)
		return Result[S, R]{}, c.event.error(ErrUnknown, ctx.Err())
	}
}

// enter takes a place for a call, and waits for one where all are taken.
func (c *Coalescer[K, P, S, R]) enter(ctx context.Context) error {
	if ctx.Err() != nil {
		return c.cancelled(ctx)
	}
	select {
	case c.room <- struct{}{}:
		return nil
	default:
	}
	select {
	case c.room <- struct{}{}:
		return nil
	case <-ctx.Done():
		return c.cancelled(ctx)
	case <-c.work.Done():
		return c.closed()
	}
}

// cancelled counts a call whose context ended before a batch took it.
func (c *Coalescer[K, P, S, R]) cancelled(ctx context.Context) error {
	c.stats.cancelled.Add(1)
	return c.event.error(ErrNothingDone, ctx.Err())
}

// closed counts a call that Close kept out.
func (c *Coalescer[K, P, S, R]) closed() error {
	c.stats.closed.Add(1)
	return c.event.error(ErrNothingDone, ErrClosed)
}

// Close lets no more calls in, waits until all that are in have their answers, and
// closes the connections. When ctx ends first it returns its error, and the batches
// that are under way are cut off: their calls are ErrUnknown, or ErrNothingDone where
// they were not sent, and those that wait ErrClosed. A second Close waits as well.
func (c *Coalescer[K, P, S, R]) Close(ctx context.Context) error {
	for _, l := range c.lanes {
		l.close()
	}
	drained := make(chan struct{})
	go func() {
		c.workers.Wait()
		close(drained)
	}()
	var err error
	select {
	case <-drained:
	case <-ctx.Done():
		err = ctx.Err()
	}
	c.cut()
	<-drained
	if c.pool != nil {
		c.pool.Close()
	}
	return err
}
