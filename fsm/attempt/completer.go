package attempt

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pawl-go/pawl/fsm/internal/sleep"
)

// Completer drives every attempt that is due: those whose round ended nothing,
// and those whose owner died. Any number may run at once, in one process and in
// many; a lease lets one of them have an attempt.
//
// Kinds do not wait for each other, so one provider that times out does not hold
// up the others. Attempts under a lease are not due, and pages go on behind what
// was seen, so neither long rounds nor failing ones hide what is behind them.
type Completer struct {
	DB    Pool
	Kinds []*Kind
	// Workers is how many rounds of one kind run at once; 0 means 4.
	Workers int
	// Page is how many attempts one page lists; 0 means 100.
	Page int
	// Grace leaves an attempt alone for so long after it is due, for another
	// driver, River say, to come first.
	Grace time.Duration
	// Every is the pause between rounds of Run; 0 means 5 s.
	Every time.Duration
	// Failed is told of the errors of Run, which goes on; nil for nobody.
	Failed func(error)
	// Wait waits between rounds and returns an error when ctx ends; nil means a
	// timer. Tests put theirs here.
	Wait func(ctx context.Context, d time.Duration) error
}

// Once drives one round of every attempt that was due when it began, and returns
// how many it saw completed. 0 and nil when nothing is due. Rounds that end
// nothing are no errors; Kind.Notify tells of them. A database's errors, and what
// panicked, come joined, at most 20 of each kind, after the others were driven.
func (c *Completer) Once(ctx context.Context) (int, error) {
	tallies := make([]tally, len(c.Kinds))
	var wg sync.WaitGroup
	for i, kind := range c.Kinds {
		if err := kind.check(); err != nil {
			tallies[i].add(false, err)
			continue
		}
		wg.Go(func() { c.drain(ctx, kind, &tallies[i]) })
	}
	wg.Wait()
	completed, errs := 0, []error(nil)
	for i := range tallies {
		completed += tallies[i].completed
		errs = append(errs, tallies[i].errs...)
	}
	return completed, errors.Join(errs...)
}

// Run calls Once again and again until ctx ends, and returns ctx's error or that
// of Wait.
func (c *Completer) Run(ctx context.Context) error {
	return run(ctx, c.Every, 5*time.Second, c.Wait, c.Failed, c.Once)
}

// tally is what came of one kind's rounds.
type tally struct {
	mu        sync.Mutex
	completed int
	errs      []error
}

const maxErrors = 20

func (t *tally) add(completed bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if completed {
		t.completed++
	}
	if err != nil && len(t.errs) < maxErrors {
		t.errs = append(t.errs, err)
	}
}

// drain drives what is due of one kind.
func (c *Completer) drain(ctx context.Context, kind *Kind, t *tally) {
	ids := make(chan string)
	var wg sync.WaitGroup
	for range positive(c.Workers, 4) {
		wg.Go(func() {
			for id := range ids {
				t.add(c.drive(ctx, kind, id))
			}
		})
	}
	err := c.list(ctx, kind.Name, ids)
	close(ids)
	wg.Wait()
	t.add(false, err)
}

// drive is one round; only errors that are news to an operator come back.
func (c *Completer) drive(ctx context.Context, kind *Kind, id string) (completed bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			completed, err = false, fmt.Errorf("attempt %s: panic: %v", id, p)
		}
	}()
	a, err := Drive(ctx, c.DB, kind, id)
	for _, usual := range []error{ErrUnfinished, ErrStuck, ErrBusy, ErrLost, ErrNotFound} {
		if errors.Is(err, usual) {
			return false, nil
		}
	}
	return a.Completed(), err
}

const nowSQL = `SELECT clock_timestamp() - $1::interval`

const dueSQL = `SELECT a.id::text, a.due
FROM fsm_attempts AS a
WHERE a.kind = $1 AND a.due IS NOT NULL AND a.due <= $2 AND (a.due, a.id) > ($3, $4::uuid)
ORDER BY a.due, a.id
LIMIT $5`

type dueRow struct {
	id  string
	due time.Time
}

// list hands out what was due when it began, page by page behind the last one
// seen: a round moves its attempt's due time behind that moment.
func (c *Completer) list(ctx context.Context, kind string, ids chan<- string) error {
	var until time.Time
	if err := c.DB.QueryRow(ctx, nowSQL, c.Grace).Scan(&until); err != nil {
		return dbError("list", err)
	}
	last, page := dueRow{id: "00000000-0000-0000-0000-000000000000"}, positive(c.Page, 100)
	for {
		rows, err := c.page(ctx, kind, until, last, page)
		if err != nil {
			return dbError("list", err)
		}
		for _, row := range rows {
			select {
			case ids <- row.id:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if len(rows) < page {
			return nil
		}
		last = rows[len(rows)-1]
	}
}

func (c *Completer) page(ctx context.Context, kind string, until time.Time, last dueRow, size int) ([]dueRow, error) {
	rows, err := c.DB.Query(ctx, dueSQL, kind, until, last.due, last.id, size)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var page []dueRow
	for rows.Next() {
		var row dueRow
		if err := rows.Scan(&row.id, &row.due); err != nil {
			return nil, err
		}
		page = append(page, row)
	}
	return page, rows.Err()
}

func positive(n, otherwise int) int {
	if n > 0 {
		return n
	}
	return otherwise
}

// run repeats once until ctx ends.
func run(ctx context.Context, every, otherwise time.Duration, wait func(context.Context, time.Duration) error, failed func(error), once func(context.Context) (int, error)) error {
	if every <= 0 {
		every = otherwise
	}
	if wait == nil {
		wait = sleep.For
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := once(ctx); err != nil && ctx.Err() == nil && failed != nil {
			failed(err)
		}
		if err := wait(ctx, every); err != nil {
			return err
		}
	}
}
