package consume

import (
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
	try     int
	front   bool  // the front knew it
	ran     bool  // the handler began
	indexes []int // of the items with the key, its own first
}

// ConsumeBatch handles several messages, claimed together and handled in one
// transaction, each behind a savepoint: one that is a duplicate, fails, or is given
// up changes nothing for the others. Where the transaction as a whole fails, at its
// COMMIT say, each message is handled in one of its own. The lease holds for the
// whole batch.
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
	// The context ends no later than the lease in the database, which begins later.
	held, cancel := context.WithTimeout(ctx, c.Lease)
	defer cancel()
	mine, owner := c.claim(held, open(jobs))
	if len(mine) > 0 {
		c.work(held, mine, owner, handle)
		for _, j := range mine {
			c.settle(ctx, j, owner)
		}
	}
	c.committed(ctx, jobs, mine)
}

// work handles the jobs that are claimed and leaves an error in those that failed.
func (c *Consumer) work(ctx context.Context, mine []*job, owner string, handle Handler) {
	err := fault.At(ctx, Claimed)
	if err == nil {
		err = c.together(ctx, mine, owner, handle)
		if err != nil && len(mine) > 1 && ctx.Err() == nil && !errors.Is(err, fsm.ErrUnknown) {
			c.apart(ctx, mine, owner, handle)
			return
		}
	}
	if err != nil {
		for _, j := range mine {
			j.Err = err
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
func (c *Consumer) committed(ctx context.Context, jobs, mine []*job) {
	for _, j := range mine {
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
