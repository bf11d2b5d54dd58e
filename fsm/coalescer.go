package fsm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Coalescing says how a [Coalescer] works. The zero value will do.
type Coalescing struct {
	// Workers is how many batches are under way at once, each on a connection of
	// its own; 0 means 4.
	Workers int
	// Size is the most rows of one batch; 0 means 1,000, and more than 2,000 means
	// 2,000.
	Size int
	// Wait is how long a batch that is not full is held open after its first call
	// came. 0 means not at all: a call that comes alone goes alone, and what comes
	// while a batch is under way is the next one.
	Wait time.Duration
	// Waiting is the most calls that wait or are under way; one more waits to be
	// let in. 0 means 10,000.
	Waiting int
	// PerRow is the most calls that wait for one row; one more is ErrContended at
	// once, so that a hot row does not keep all others out. 0 means a tenth of
	// Waiting, and at least 1.
	PerRow int
	// Timeout bounds a batch, after which its calls are ErrUnknown; 0 means 30 s.
	Timeout time.Duration
	// LockTimeout is how long a batch waits for a row that somebody else holds.
	// Then its halves are tried, and theirs, until the calls of that row alone have
	// the error, which is Retryable. 0 means 500 ms, and less than a millisecond
	// means a millisecond.
	LockTimeout time.Duration
	// Ran is told of every batch, by its worker; nil for nobody.
	Ran func(Coalesced)
}

const (
	defaultCoalescingWorkers = 4
	defaultCoalescingSize    = 1000
	defaultCoalescingWaiting = 10_000
	defaultCoalescingTimeout = 30 * time.Second
	defaultCoalescingLock    = 500 * time.Millisecond
)

// Coalesced is what a Coalescer tells of one batch.
type Coalesced struct {
	// Calls is how many calls it answered, Rows of how many rows.
	Calls, Rows int
	// Waited is how long the first of its calls had waited, Took how long the batch
	// took.
	Waited, Took time.Duration
	// Err is the error at which the batch ended, nil when each call has an answer of
	// its own.
	Err error
}

// CoalescerStats counts what a Coalescer has done since it was made.
type CoalescerStats struct {
	// Calls are those that were answered by a batch, Batches the batches.
	Calls, Batches int64
	// Cancelled are those whose context ended before a batch took them, Refused
	// those that a hot row kept out, and Abandoned those whose context ended while
	// their batch was under way.
	Cancelled, Refused, Abandoned int64
	// Waiting is how many calls wait or are under way now.
	Waiting int
}

// ErrClosed says that a [Coalescer] is closed. Nothing was done.
var ErrClosed = errors.New("the coalescer is closed")

// Coalescer gathers single calls of one event, which come at the same time, into
// batches: one round trip and one commit serve all that came while the last batch
// was under way. Each caller gets what its single call would answer.
//
// Calls of one row go in the order in which they came, by one worker. Where rows
// are many, each row has its turn: a batch takes one call of a row, and those that
// repeat it. It is safe for concurrent use.
type Coalescer[K comparable, P any, S ~string, R any] struct {
	batch func(context.Context, DB, []Item[K, P], ...Option) ([]BatchResult[S, R], error)
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

// NewCoalescer returns a Coalescer of an event, by its batch: order.PayBatch say.
//
// It opens connections of its own, one a worker, as pool's are, but READ COMMITTED
// with the lock timeout, with generic plans, and with indexes where there are any.
// PgBouncer refuses these settings in transaction pooling, unless told to ignore
// them: the role should have them then. The caller closes it. The error is
// [ErrArgument] for a nil pool or batch and for negative settings.
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
	config := pool.Config()
	config.MaxConns, config.MinConns, config.MinIdleConns = int32(o.Workers), 0, 0
	config.ConnConfig.RuntimeParams["default_transaction_isolation"] = "read committed"
	// To plan a batch anew can take as long as to run it, and its plan serves any.
	config.ConnConfig.RuntimeParams["plan_cache_mode"] = "force_generic_plan"
	// A plan made while the tables were nearly empty is kept until they are analyzed,
	// and would read all facts for each item of a batch until then.
	config.ConnConfig.RuntimeParams["enable_seqscan"] = "off"
	// The pool's may be right for single calls, which a batch is not.
	config.ConnConfig.RuntimeParams["statement_timeout"] = fmt.Sprint(o.Timeout.Milliseconds())
	config.ConnConfig.RuntimeParams["lock_timeout"] = fmt.Sprint(max(o.LockTimeout.Milliseconds(), 1))
	own, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNothingDone, err)
	}
	dbs := make([]DB, o.Workers)
	for i := range dbs {
		dbs[i] = own
	}
	c := newCoalescer(dbs, batch, o)
	c.pool = own
	return c, nil
}

// newCoalescer starts a worker for each of dbs.
func newCoalescer[K comparable, P any, S ~string, R any](
	dbs []DB, batch func(context.Context, DB, []Item[K, P], ...Option) ([]BatchResult[S, R], error), o Coalescing,
) *Coalescer[K, P, S, R] {
	c := &Coalescer[K, P, S, R]{batch: batch, o: o, seed: maphash.MakeSeed(), room: make(chan struct{}, o.Waiting)}
	c.work, c.cut = context.WithCancel(context.Background())
	for _, db := range dbs {
		l := &lane[K, P, S, R]{rows: map[K]*laneRow[K, P, S, R]{}, more: make(chan struct{}, 1)}
		c.lanes = append(c.lanes, l)
		c.workers.Go(func() { c.serve(db, l) })
	}
	return c
}

// complete fills in what is 0.
func (o Coalescing) complete() (Coalescing, error) {
	if o.Workers < 0 || o.Size < 0 || o.Wait < 0 || o.Waiting < 0 || o.PerRow < 0 || o.Timeout < 0 || o.LockTimeout < 0 {
		return o, fmt.Errorf("%w: a setting of the coalescer is negative", ErrArgument)
	}
	o.Workers = cmp.Or(o.Workers, defaultCoalescingWorkers)
	o.Size = min(cmp.Or(o.Size, defaultCoalescingSize), batchSize)
	o.Waiting = cmp.Or(o.Waiting, defaultCoalescingWaiting)
	o.PerRow = cmp.Or(o.PerRow, max(o.Waiting/10, 1))
	o.Timeout = cmp.Or(o.Timeout, defaultCoalescingTimeout)
	o.LockTimeout = cmp.Or(o.LockTimeout, defaultCoalescingLock)
	return o, nil
}

// Fire makes one call, and returns when its batch is done: what the event's single
// call would return.
//
// When ctx ends first, others of the batch go on. The error wraps ctx's, and is
// [ErrNothingDone] while no batch had taken the call, and [ErrUnknown] from then
// on. [ErrClosed], with ErrNothingDone, after Close; [ErrContended] when as many
// calls as may be wait for that row already.
func (c *Coalescer[K, P, S, R]) Fire(ctx context.Context, item Item[K, P]) (Result[S, R], error) {
	item.Key = canonical(item.Key)
	select {
	case c.room <- struct{}{}:
	default: // full: it waits to be let in
		select {
		case c.room <- struct{}{}:
		case <-ctx.Done():
			c.stats.cancelled.Add(1)
			return Result[S, R]{}, fmt.Errorf("%w: %w", ErrNothingDone, ctx.Err())
		case <-c.work.Done():
			return Result[S, R]{}, errClosed()
		}
	}
	l := c.lanes[maphash.Comparable(c.seed, item.Key)%uint64(len(c.lanes))]
	call := &laneCall[K, P, S, R]{item: item, came: time.Now(), done: make(chan struct{})}
	if err := l.put(call, c.o.PerRow); err != nil {
		<-c.room
		if errors.Is(err, ErrContended) {
			c.stats.refused.Add(1)
		}
		return Result[S, R]{}, err
	}
	select {
	case <-call.done:
		return call.result.Result, call.result.Err
	case <-ctx.Done():
	}
	if l.remove(call) {
		<-c.room
		c.stats.cancelled.Add(1)
		return Result[S, R]{}, fmt.Errorf("%w: %w", ErrNothingDone, ctx.Err())
	}
	select {
	case <-call.done: // its batch ended in the same moment
		return call.result.Result, call.result.Err
	default:
		c.stats.abandoned.Add(1)
		return Result[S, R]{}, fmt.Errorf("%w: %w", ErrUnknown, ctx.Err())
	}
}

func errClosed() error { return fmt.Errorf("%w: %w", ErrNothingDone, ErrClosed) }

// Close lets no more calls in, waits until all that are in have their answers, and
// closes the connections. When ctx ends first it returns its error, and the batches
// that are under way are cut off: their calls are ErrUnknown, and those that wait
// ErrClosed. A second Close waits as well.
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

// Stats returns the counts so far.
func (c *Coalescer[K, P, S, R]) Stats() CoalescerStats {
	s := &c.stats
	return CoalescerStats{
		Calls: s.calls.Load(), Batches: s.batches.Load(),
		Cancelled: s.cancelled.Load(), Refused: s.refused.Load(), Abandoned: s.abandoned.Load(),
		Waiting: len(c.room),
	}
}
