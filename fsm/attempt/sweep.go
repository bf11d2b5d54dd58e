package attempt

import (
	"context"
	"errors"
	"time"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/internal/alone"
)

// Sweeper moves attempts that were completed Policy.Keep ago into
// fsm_attempts_archive, where Start, Get and Find still see them. Their keys in
// fsm_attempt_keys stay for good. Nothing but completed attempts is ever moved,
// and no round claims those, so a sweep cannot race one. Many may run at once.
type Sweeper struct {
	DB    fsm.DB
	Kinds []*Kind
	// Page is how many attempts one statement moves; 0 means 1,000.
	Page int
	// Every is the pause between rounds of Run; 0 means 1 h.
	Every time.Duration
	// Failed is told of the errors of Run, which goes on; nil for nobody.
	Failed func(error)
	// Wait waits between rounds and returns an error when ctx ends; nil means a
	// timer. Tests put theirs here.
	Wait func(ctx context.Context, d time.Duration) error
}

// sweepSQL archives first and deletes what was archived. now() instead of the
// clock itself lets the index find the old ones.
const sweepSQL = `WITH old AS (
  SELECT a.id
  FROM fsm_attempts AS a
  WHERE a.kind = $1 AND a.completed_at < now() - $2::interval
  ORDER BY a.completed_at, a.id
  LIMIT $3
  FOR UPDATE SKIP LOCKED
), kept AS (
  INSERT INTO fsm_attempts_archive AS k (id, kind, business_key, request, state, ref, result, code, last_error,
    sends, rounds, fence, steps, created_at, first_sent_at, answered_at, completed_at, archived_at)
  SELECT a.id, a.kind, a.business_key, a.request, a.state, a.ref, a.result, a.code, a.last_error,
    a.sends, a.rounds, a.fence,
    coalesce((SELECT json_agg(json_build_object('name', s.name, 'data', s.data) ORDER BY s.position)
              FROM fsm_attempt_steps AS s WHERE s.attempt_id = a.id), '[]'),
    a.created_at, a.first_sent_at, a.answered_at, a.completed_at, clock_timestamp()
  FROM fsm_attempts AS a
  JOIN old ON old.id = a.id
  RETURNING k.id
)
DELETE FROM fsm_attempts AS a
USING kept
WHERE a.id = kept.id`

// Once moves all that is old enough, page by page, and returns how many. Rows
// that others lock are left for the next time. One kind's error does not keep the
// others from being swept; errors come joined.
func (s *Sweeper) Once(ctx context.Context) (int, error) {
	moved, errs := 0, []error(nil)
	for _, kind := range s.Kinds {
		n, err := s.kind(ctx, kind)
		moved += n
		if err != nil {
			errs = append(errs, err)
		}
	}
	return moved, errors.Join(errs...)
}

func (s *Sweeper) kind(ctx context.Context, kind *Kind) (int, error) {
	if err := kind.check(); err != nil {
		return 0, err
	}
	keep, page, moved := kind.Policy.filled().Keep, positive(s.Page, 1000), 0
	for {
		n, err := alone.Exec(ctx, s.DB, sweepSQL, kind.Name, keep, page)
		if err != nil {
			return moved, dbError("sweep", err)
		}
		moved += int(n)
		if n < int64(page) {
			return moved, nil
		}
	}
}

// Run calls Once again and again until ctx ends, and returns ctx's error or that
// of Wait.
func (s *Sweeper) Run(ctx context.Context) error {
	return run(ctx, s.Every, time.Hour, s.Wait, s.Failed, s.Once)
}
