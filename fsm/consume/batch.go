package consume

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/fault"
)

// Item is one delivery of a batch.
type Item struct {
	Key     string
	Message Message
}

// Result is what became of one item, as [Consumer.Consume] returns it.
type Result struct {
	Outcome Outcome
	Err     error
}

// job is the first item of its key in a batch.
type job struct {
	Item
	Result
	owner   string // of the last claim
	before  int    // the tries before this delivery, where it was not shared
	try     int
	front   bool  // the front knew it
	ran     bool  // the handler began
	indexes []int // of the items with the key, its own first
}

// ConsumeBatch handles several messages. Those that were never tried are claimed
// together and handled in one transaction, each behind a savepoint. No try is counted
// there: a message that fails there, that was tried before, or whose batch failed as a
// whole, at its COMMIT say, by the end of its lease or of its process, is handled alone,
// under a claim and a lease of its own. So one that is a duplicate, fails, hangs, kills
// its process or is given up costs the others nothing but time.
//
// No message is begun when a lease has passed since the call: it is Failed with
// context.DeadlineExceeded and comes again. So a call takes two leases at most, and of
// those handled alone the least tried are first.
//
// There is one result for each item, in their order; none for none. Of items with
// equal keys the first is handled; the others are its duplicates when it is done,
// dead as it is, and in progress otherwise.
func (c *Consumer) ConsumeBatch(ctx context.Context, items []Item, handle Handler) []Result {
	results := make([]Result, len(items))
	err := c.check()
	if err == nil && handle == nil {
		err = fmt.Errorf("%w: there is no handler", fsm.ErrArgument)
	}
	if err != nil {
		for i := range results {
			results[i] = Result{Failed, err}
		}
		return results
	}
	jobs := c.jobs(ctx, items)
	c.run(ctx, jobs, handle)
	for _, j := range jobs {
		for n, i := range j.indexes {
			results[i] = j.Result
			if n > 0 {
				results[i] = j.Result.again()
			}
			if c.Observe != nil {
				c.Observe(ctx, Report{c.Name, j.Key, results[i].Outcome, j.try, j.front, results[i].Err})
			}
		}
	}
	return results
}

// again is the result of a further item with the same key in the batch.
func (r Result) again() Result {
	switch r.Outcome {
	case Done, Duplicate:
		return Result{Outcome: Duplicate}
	case Dead:
		return r
	}
	return Result{InProgress, ErrInProgress}
}

// jobs makes one job of each key, in the order of the items. An item whose key is
// none is a job of its own, and is dead already.
func (c *Consumer) jobs(ctx context.Context, items []Item) []*job {
	var jobs []*job
	byKey := map[string]*job{}
	for i, item := range items {
		if j := byKey[item.Key]; j != nil {
			j.indexes = append(j.indexes, i)
			continue
		}
		j := &job{Item: item, indexes: []int{i}}
		jobs = append(jobs, j)
		if err := checkKey(item.Key); err != nil {
			j.Result = c.refuse(ctx, item, err)
			continue
		}
		byKey[item.Key] = j
	}
	return jobs
}

// open returns the jobs that have no outcome yet.
func open(jobs []*job) []*job {
	return slices.DeleteFunc(slices.Clone(jobs), func(j *job) bool { return j.Outcome != "" })
}

// keysOf returns the keys of the jobs.
func keysOf(jobs []*job) []string {
	keys := make([]string, len(jobs))
	for i, j := range jobs {
		keys[i] = j.Key
	}
	return keys
}

// run gives every job its result.
func (c *Consumer) run(ctx context.Context, jobs []*job, handle Handler) {
	c.askFront(ctx, open(jobs))
	// The context ends no later than a lease in the database, which begins later.
	held, cancel := context.WithTimeout(ctx, c.Lease)
	defer cancel()
	if left := open(jobs); len(left) > 1 {
		c.share(ctx, held, left, handle)
	}
	left := open(jobs)
	slices.SortStableFunc(left, func(a, b *job) int { return cmp.Compare(a.before, b.before) })
	for _, j := range left {
		if err := held.Err(); err != nil {
			if j.Err == nil {
				j.Err = fmt.Errorf("not begun: %w", err)
			}
			j.Outcome = Failed
			continue
		}
		c.alone(ctx, j, handle)
	}
	c.committed(ctx, jobs)
}

// alone handles one job under a claim of its own, which counts the try.
func (c *Consumer) alone(ctx context.Context, j *job, handle Handler) {
	j.ran, j.Err = false, nil
	held, cancel := context.WithTimeout(ctx, c.Lease)
	defer cancel()
	if !c.claim(held, j) {
		return
	}
	if j.Err = fault.At(held, Claimed); j.Err == nil {
		j.Err = c.together(held, []*job{j}, handle)
	}
	c.settle(ctx, j)
}

// share claims those that were never tried and handles them in one transaction. A job
// that did not come through it has no result, and can be claimed again at once.
func (c *Consumer) share(ctx, held context.Context, jobs []*job, handle Handler) {
	mine := c.claimShared(held, jobs)
	if len(mine) == 0 {
		return
	}
	err := fault.At(held, Claimed)
	ran := err == nil
	if ran {
		err = c.together(held, mine, handle)
	}
	for _, j := range mine {
		switch {
		case err != nil && (!ran || errors.Is(ctx.Err(), context.Canceled)):
			j.ran, j.Err = false, err // and may be shared again
			c.settle(ctx, j)
		case err != nil:
			j.Err = err
		case j.Err == nil:
			j.Outcome, j.try = Done, 1
		}
	}
	c.lapse(ctx, open(mine))
}

// lapse ends what is left of a shared claim. A COMMIT whose answer was lost may have
// taken effect, and then the job is done.
func (c *Consumer) lapse(ctx context.Context, jobs []*job) {
	if len(jobs) == 0 {
		return
	}
	ctx, cancel := detach(ctx)
	defer cancel()
	keys, owner := keysOf(jobs), jobs[0].owner
	tag, err := c.DB.Exec(ctx, lapseSQL, c.Name, keys, owner)
	if err != nil || tag.RowsAffected() == int64(len(jobs)) {
		return // where it failed the lease ends by itself
	}
	rows, _ := c.read(ctx, keys)
	for _, j := range jobs {
		if r := rows[j.Key]; r.state == stateDone && r.owner == owner {
			j.Result, j.try = Result{Outcome: Done}, 1
		}
	}
}

// askFront gives those that the front knows their result.
func (c *Consumer) askFront(ctx context.Context, jobs []*job) {
	if c.Front == nil || len(jobs) == 0 {
		return
	}
	known := map[string]bool{}
	for _, key := range c.Front.Known(ctx, c.Name, keysOf(jobs)) {
		known[key] = true
	}
	for _, j := range jobs {
		if known[j.Key] {
			j.Result, j.front = Result{Outcome: Duplicate}, true
		}
	}
}

// committed passes the point after the commit and tells the front what is done.
func (c *Consumer) committed(ctx context.Context, jobs []*job) {
	for _, j := range jobs {
		if j.Outcome != Done {
			continue
		}
		if err := fault.At(ctx, Committed); err != nil {
			j.Result = Result{Failed, err} // the acknowledgement failed; the work is done
		}
	}
	if c.Front == nil {
		return
	}
	var done []string
	for _, j := range jobs {
		if !j.front && (j.Outcome == Done || j.Outcome == Duplicate) {
			done = append(done, j.Key)
		}
	}
	if len(done) > 0 {
		c.Front.Remember(ctx, c.Name, done)
	}
}
