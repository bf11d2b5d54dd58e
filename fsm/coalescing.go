package fsm

import (
	"cmp"
	"fmt"
	"sync/atomic"
	"time"
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
	// Timeout bounds a batch, after which those of its calls that have no answer are
	// ErrUnknown, or ErrNothingDone where they were not sent; 0 means 30 s.
	Timeout time.Duration
	// LockTimeout is how long a batch waits for rows that somebody else holds. Then
	// the calls of all rows that are held have the error, which is Retryable, and the
	// batch is run without them. 0 means 500 ms, and less than a millisecond means a
	// millisecond.
	LockTimeout time.Duration
	// Ran is told of every batch when its calls have their answers; nil for nobody.
	// Its worker calls it, and runs no other batch before it returns: keep it short,
	// and ready for as many calls at once as there are workers.
	Ran func(Coalesced)

	observer *Observer // of the batches; nil for nobody
}

const (
	defaultCoalescingWorkers = 4
	defaultCoalescingSize    = 1000
	defaultCoalescingWaiting = 10_000
	defaultCoalescingTimeout = 30 * time.Second
	defaultCoalescingLock    = 500 * time.Millisecond
)

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

// CoalescerStats counts what has become of the calls of a Coalescer since it was
// made. When none is under way, Calls, Cancelled, Refused and Closed together are
// all calls that were made.
type CoalescerStats struct {
	// Calls are those that a batch has answered, with whatever answer, and Batches
	// the batches.
	Calls, Batches int64
	// Unknown are those of the Calls of which their batch does not know what they
	// did. Abandoned are the calls whose context ended when a batch had taken them:
	// their callers were told ErrUnknown, and Calls counts them as the others.
	Unknown, Abandoned int64
	// Cancelled are those whose context ended before a batch took them, Refused
	// those that found PerRow calls of their row waiting, and Closed those that Close
	// kept out, or that waited when it ran out of patience.
	Cancelled, Refused, Closed int64
	// Waiting is how many calls wait or are under way now; those that wait to be let
	// in are not among them.
	Waiting int
}

// coalescerCounts are the CoalescerStats as they grow.
type coalescerCounts struct {
	calls, batches, unknown, abandoned, cancelled, refused, closed atomic.Int64
}

// Stats returns the counts so far.
func (c *Coalescer[K, P, S, R]) Stats() CoalescerStats {
	s := &c.stats
	return CoalescerStats{
		Calls: s.calls.Load(), Batches: s.batches.Load(),
		Unknown: s.unknown.Load(), Abandoned: s.abandoned.Load(),
		Cancelled: s.cancelled.Load(), Refused: s.refused.Load(), Closed: s.closed.Load(),
		Waiting: len(c.room),
	}
}
