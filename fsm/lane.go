package fsm

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// lane has the calls that wait for one worker: those of a row in one line, and the
// rows in the order of their turns.
type lane[K comparable, P any, S ~string, R any] struct {
	mu     sync.Mutex
	rows   map[K]*laneRow[K, P, S, R]
	turns  []*laneRow[K, P, S, R]
	calls  int // in all lines
	closed bool
	more   chan struct{} // has a token when something has come, or the lane was closed
}

// laneRow is a row with the calls that wait for it. It is in the lane's map while
// there are any.
type laneRow[K comparable, P any, S ~string, R any] struct {
	key     K
	waiting []*laneCall[K, P, S, R]
}

// laneCall is one call.
type laneCall[K comparable, P any, S ~string, R any] struct {
	item   Item[K, P]
	came   time.Time
	taken  bool // by a batch; the lane's mutex guards it
	done   chan struct{}
	result BatchResult[S, R]
}

// put lines a call up. The error is ErrClosed or ErrRowFull, bare.
func (l *lane[K, P, S, R]) put(c *laneCall[K, P, S, R], perRow int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return ErrClosed
	}
	row := l.rows[c.item.Key]
	switch {
	case row == nil:
		row = &laneRow[K, P, S, R]{key: c.item.Key}
		l.rows[c.item.Key] = row
		l.turns = append(l.turns, row)
	case len(row.waiting) >= perRow:
		return ErrRowFull
	}
	row.waiting = append(row.waiting, c)
	l.calls++
	l.tell()
	return nil
}

// tell wakes the worker.
func (l *lane[K, P, S, R]) tell() {
	select {
	case l.more <- struct{}{}:
	default:
	}
}

// remove takes a call out again, and reports whether no batch had taken it.
func (l *lane[K, P, S, R]) remove(c *laneCall[K, P, S, R]) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.taken {
		return false
	}
	row := l.rows[c.item.Key]
	row.waiting = slices.DeleteFunc(row.waiting, func(w *laneCall[K, P, S, R]) bool { return w == c })
	l.calls--
	if len(row.waiting) == 0 {
		delete(l.rows, row.key)
		l.turns = slices.DeleteFunc(l.turns, func(r *laneRow[K, P, S, R]) bool { return r == row })
	}
	return true
}

func (l *lane[K, P, S, R]) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.tell()
}

// take takes the first call of each row, for up to size rows, with those behind it
// that repeat it. Rows that have more go to the end.
func (l *lane[K, P, S, R]) take(size int) (calls []*laneCall[K, P, S, R], rows int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	rows = min(len(l.turns), size)
	var again []*laneRow[K, P, S, R]
	for _, row := range l.turns[:rows] {
		n := 1
		for n < len(row.waiting) && row.waiting[n].repeats(row.waiting[0]) {
			n++
		}
		for _, c := range row.waiting[:n] {
			c.taken = true
		}
		calls = append(calls, row.waiting[:n]...)
		if row.waiting = slices.Delete(row.waiting, 0, n); len(row.waiting) > 0 {
			again = append(again, row)
		} else {
			delete(l.rows, row.key)
		}
	}
	l.turns = append(slices.Delete(l.turns, 0, rows), again...)
	l.calls -= len(calls)
	return calls, rows
}

// repeats reports whether c asks for the same as d, of the same row.
func (c *laneCall[K, P, S, R]) repeats(d *laneCall[K, P, S, R]) bool {
	return reflect.DeepEqual(c.item.Params, d.item.Params) && reflect.DeepEqual(c.item.Version, d.item.Version)
}

// oldest returns when the call came that waits for the next turn, and false when none
// waits. full says that a batch is to go at once: it has size rows, or nothing more
// will come.
func (l *lane[K, P, S, R]) oldest(size int) (came time.Time, full, any bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.turns) == 0 {
		return time.Time{}, l.closed, false
	}
	return l.turns[0].waiting[0].came, l.closed || len(l.turns) >= size, true
}

// serve runs one batch of a lane after the other, until it is closed and empty, or
// cut off.
func (c *Coalescer[K, P, S, R]) serve(db DB, l *lane[K, P, S, R]) {
	for c.gather(l) {
		calls, rows := l.take(c.o.Size)
		switch {
		case len(calls) == 0: // they left in the same moment
		case c.work.Err() != nil:
			c.answer(calls, func(int) BatchResult[S, R] { return BatchResult[S, R]{Err: c.closed()} })
		default:
			c.run(db, calls, rows)
		}
	}
}

// gather waits until a batch is to go, and reports whether there will be one.
func (c *Coalescer[K, P, S, R]) gather(l *lane[K, P, S, R]) bool {
	for {
		came, full, any := l.oldest(c.o.Size)
		left := c.o.Wait - time.Since(came)
		switch {
		case any && (full || c.o.Wait == 0 || left <= 0):
			return true
		case any:
			timer := time.NewTimer(left)
			select {
			case <-timer.C:
			case <-l.more:
			}
			timer.Stop()
		case full:
			return false
		default:
			<-l.more
		}
	}
}

// run runs one batch and answers its calls.
func (c *Coalescer[K, P, S, R]) run(db DB, calls []*laneCall[K, P, S, R], rows int) {
	begun := time.Now()
	items := make([]Item[K, P], len(calls))
	first := begun
	for i, call := range calls {
		items[i] = call.item
		if call.came.Before(first) {
			first = call.came
		}
	}
	ctx, cancel := context.WithTimeout(c.work, c.o.Timeout)
	defer cancel()
	results, err := c.fire(ctx, db, items)
	err = c.ownEnd(ctx, err)
	for i := range results {
		results[i].Err = c.ownEnd(ctx, results[i].Err)
		if errors.Is(results[i].Err, ErrUnknown) {
			c.stats.unknown.Add(1)
		}
	}
	c.stats.batches.Add(1)
	c.stats.calls.Add(int64(len(calls)))
	c.answer(calls, func(i int) BatchResult[S, R] { return results[i] })
	if c.o.Ran != nil {
		c.o.Ran(Coalesced{Calls: len(calls), Rows: rows, Waited: begun.Sub(first), Took: time.Since(begun), Err: err})
	}
}

// fire runs the batch until each item has its answer: what a deadlock undid is run
// again, a few times. What has waited in vain for a row is not: the batch has passed
// over those that somebody holds.
func (c *Coalescer[K, P, S, R]) fire(ctx context.Context, db DB, items []Item[K, P]) ([]BatchResult[S, R], error) {
	results, err := c.once(ctx, db, items)
	for tries := 1; tries < maxRaces && Retryable(err) && sqlState(err) != lockNotAvailable; tries++ {
		var undone []int
		var again []Item[K, P]
		for i := range results {
			if Retryable(results[i].Err) && sqlState(results[i].Err) != lockNotAvailable {
				undone, again = append(undone, i), append(again, items[i])
			}
		}
		var got []BatchResult[S, R]
		got, err = c.once(ctx, db, again)
		for i, n := range undone {
			results[n] = got[i]
		}
	}
	return results, err
}

// once runs the batch. A panic of it is an error: it would end the process, and with it
// all who wait.
func (c *Coalescer[K, P, S, R]) once(ctx context.Context, db DB, items []Item[K, P]) (results []BatchResult[S, R], err error) {
	defer func() {
		if p := recover(); p != nil {
			err = c.event.error(ErrUnknown, fmt.Errorf("the batch panicked: %v", p))
		}
		if err == nil && len(results) != len(items) {
			err = c.event.error(ErrUnknown, fmt.Errorf("the batch has %d answers to %d calls", len(results), len(items)))
		}
		if len(results) != len(items) {
			results = make([]BatchResult[S, R], len(items))
			for i := range results {
				results[i].Err = err
			}
		}
	}()
	own, release, err := taken(ctx, db)
	if err != nil {
		return nil, c.event.error(ErrNothingDone, err)
	}
	whole := false
	defer func() { release(whole) }()
	results, err = c.batch(ctx, own, items, func(call *Call) { call.passHeld = true })
	whole = true
	return results, err
}

// taken is a connection of the pool's that is given back afterwards, or given up
// where the work on it did not return: nobody knows what state that left it in. What
// is no pool is taken as it is.
func taken(ctx context.Context, db DB) (own DB, release func(whole bool), err error) {
	pool, ok := db.(*pgxpool.Pool)
	if !ok {
		return db, func(bool) {}, nil
	}
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return nil, nil, err
	}
	return conn, func(whole bool) {
		if whole {
			conn.Release()
			return
		}
		_ = conn.Hijack().PgConn().Conn().Close()
	}, nil
}

// answer gives calls their results and their places to others.
func (c *Coalescer[K, P, S, R]) answer(calls []*laneCall[K, P, S, R], of func(int) BatchResult[S, R]) {
	for i, call := range calls {
		call.result = of(i)
		close(call.done)
		<-c.room
	}
}
