package fsm

import (
	"context"
	"errors"
	"time"

	"github.com/pawl-go/pawl/fsm/internal/sleep"
)

// SweepPage says what one page of a sweep may take.
type SweepPage struct {
	// Limit is the greatest number of rows of one page;
	// 0 means 1,000, and more than 100,000 means 100,000.
	Limit int
	// Skip passes over that many of the rows due first; a Sweeper sets it for
	// rows that the database refuses to move.
	Skip int
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

// Skipped is Skip, within what one statement may take.
func (p SweepPage) Skipped() int32 { return int32(min(max(p.Skip, 0), maxPage)) }

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
// rows moved. 0 and nil when nothing is due. A failed sweep does not keep the
// others from running, and a row that the database refuses to move, by a CHECK
// for example, does not keep those behind it from moving: pages get smaller
// until it is alone, and then it is passed over. All errors come joined.
func (s *Sweeper) Once(ctx context.Context) (int, error) {
	page := s.Page
	if page.Actor == "" {
		page.Actor = "deadline"
	}
	page.Limit, page.Skip = int(page.Size()), 0
	moved, errs := 0, []error(nil)
	for _, sweep := range s.Sweeps {
		n, err := s.all(ctx, sweep, page)
		moved += n
		if err != nil {
			errs = append(errs, err)
		}
	}
	return moved, errors.Join(errs...)
}

// maxRefused bounds how many refused rows one round of a sweep passes over.
const maxRefused = 100

// all runs one sweep until a page is not full.
func (s *Sweeper) all(ctx context.Context, sweep Sweep, page SweepPage) (int, error) {
	full := page.Limit
	moved, errs := 0, []error(nil)
	for {
		rows, err := sweep(ctx, s.DB, page)
		if o := observerOf(ctx); o != nil && o.Swept != nil && (err != nil || len(rows) > 0) {
			o.Swept(ctx, rows, err)
		}
		switch {
		case err == nil:
			moved += len(rows)
			if len(rows) > 0 && s.Swept != nil {
				s.Swept(rows)
			}
			if len(rows) < page.Limit {
				return moved, errors.Join(errs...)
			}
			page.Limit = min(page.Limit*2, full)
		case !refused(err) || ctx.Err() != nil || len(errs) == maxRefused:
			return moved, errors.Join(append(errs, err)...)
		case page.Limit > 1:
			page.Limit /= 2
		default:
			errs = append(errs, err)
			page.Skip++
			page.Limit = full
		}
	}
}

// refused reports whether the database refused the rows themselves, data or
// constraint, so that other rows may still move.
func refused(err error) bool {
	state := sqlState(err)
	return len(state) == 5 && (state[:2] == "22" || state[:2] == "23" || state == "P0001")
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
		wait = sleep.For
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
