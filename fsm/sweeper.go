package fsm

import (
	"context"
	"errors"
	"time"
)

// SweepPage says what one page of a sweep may take.
type SweepPage struct {
	// Limit is the greatest number of rows of one page;
	// 0 means 1,000, and more than 100,000 means 100,000.
	Limit int
	// Now is nil for the database's clock.
	Now *time.Time
	// Actor goes into the history; "deadline" when empty.
	Actor string
}

// Size is the limit of the page, within what one statement may take.
func (p SweepPage) Size() int32 {
	switch {
	case p.Limit <= 0:
		return defaultPage
	case p.Limit > maxPage:
		return maxPage
	}
	return int32(p.Limit)
}

const (
	defaultPage = 1000
	maxPage     = 100_000
)

// Sweep moves one page of the rows whose deadline of one event is due, in one
// statement, skipping rows that others hold. It returns what moved, fewer than
// the page when nothing more is due and free. Generated packages offer theirs
// as Sweeps().
type Sweep func(ctx context.Context, db DB, page SweepPage) ([]Swept, error)

// Sweeper runs sweeps again and again. Many may run at once, in one process
// or in several: a row is moved by one of them, or not at all when it has left
// its state meanwhile, since the statement judges state, due time and guard on
// the locked row.
type Sweeper struct {
	DB     DB
	Sweeps []Sweep
	Page   SweepPage
	// Every is the pause after a round in which nothing more was due; 0 means 1 s.
	Every time.Duration
	// Swept is told of every page that moved something; nil for nobody.
	Swept func([]Swept)
	// Failed is told of the errors of Run, which goes on; nil for nobody.
	Failed func(error)
	// Wait waits between rounds and returns an error when ctx ends; nil means
	// a timer. Tests put theirs here.
	Wait func(ctx context.Context, d time.Duration) error
}

// Once moves everything that is due now, page by page, and returns how many
// rows moved. A failed sweep does not keep the others from running; their
// errors come joined. 0 and nil when nothing is due.
func (s *Sweeper) Once(ctx context.Context) (int, error) {
	page := s.Page
	if page.Actor == "" {
		page.Actor = "deadline"
	}
	moved, errs := 0, []error(nil)
	for _, sweep := range s.Sweeps {
		for {
			rows, err := sweep(ctx, s.DB, page)
			if err != nil {
				errs = append(errs, err)
				break
			}
			moved += len(rows)
			if len(rows) > 0 && s.Swept != nil {
				s.Swept(rows)
			}
			if len(rows) < int(page.Size()) {
				break
			}
		}
	}
	return moved, errors.Join(errs...)
}

// Run sweeps until ctx ends and returns ctx's error, or that of Wait. A failed
// round is told to Failed and tried again after the pause; errors that come
// because ctx has ended are not told.
func (s *Sweeper) Run(ctx context.Context) error {
	every, wait := s.Every, s.Wait
	if every <= 0 {
		every = time.Second
	}
	if wait == nil {
		wait = sleep
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := s.Once(ctx); err != nil && ctx.Err() == nil && s.Failed != nil {
			s.Failed(err)
		}
		if err := wait(ctx, every); err != nil {
			return err
		}
	}
}
