package consume

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/fault"
)

// doneSQL marks the owner's claims done, in the handler's transaction. Rows are
// locked in the order in which claims lock them.
const doneSQL = `
WITH mine AS (
  SELECT c.key
  FROM fsm_consumed AS c
  WHERE c.consumer = $1 AND c.key = ANY ($2) AND c.owner = $3 AND c.state = 'claimed'
  ORDER BY c.key
  FOR UPDATE
)
UPDATE fsm_consumed AS c
SET state = 'done', tries = greatest(c.tries, 1), changed_at = clock_timestamp()
FROM mine
WHERE c.consumer = $1 AND c.key = mine.key`

// releaseSQL gives the owner's claims back. It waits for a transaction of the owner
// that is about to commit, and then finds them done. A shared claim has counted no try.
const releaseSQL = `
UPDATE fsm_consumed AS c
SET state = 'failed', tries = greatest(c.tries - $4::int, 0), lease_until = clock_timestamp(), changed_at = clock_timestamp()
WHERE c.consumer = $1 AND c.key = ANY ($2) AND c.owner = $3 AND c.state = 'claimed'`

// lapseSQL ends the lease of a shared claim. The keys can be claimed at once, and are
// not shared again.
const lapseSQL = `
UPDATE fsm_consumed AS c
SET lease_until = clock_timestamp(), changed_at = clock_timestamp()
WHERE c.consumer = $1 AND c.key = ANY ($2) AND c.owner = $3 AND c.state = 'claimed'`

// together handles the jobs in one transaction and commits it; the errors of single
// jobs are left in them. One job needs no savepoint.
func (c *Consumer) together(ctx context.Context, jobs []*job, handle Handler) error {
	return fsm.RunTx(ctx, c.DB, c.Tx, func(ctx context.Context, tx pgx.Tx) error {
		var done []string
		for _, j := range jobs {
			j.ran, j.Err = true, nil
			if len(jobs) == 1 {
				if err := guarded(ctx, tx, j.Message, handle); err != nil {
					return err
				}
			} else if err := behindSavepoint(ctx, tx, j, handle); err != nil {
				return err
			}
			if j.Err == nil {
				done = append(done, j.Key)
			}
		}
		if err := c.mark(ctx, tx, done, jobs[0].owner); err != nil {
			return err
		}
		return fault.At(ctx, Handled)
	})
}

// behindSavepoint handles one job and leaves its error in it. It returns an error
// where the whole transaction cannot go on.
func behindSavepoint(ctx context.Context, tx pgx.Tx, j *job, handle Handler) error {
	point, err := tx.Begin(ctx)
	if err != nil {
		return err
	}
	err = guarded(ctx, point, j.Message, handle)
	if err == nil {
		return point.Commit(ctx)
	}
	if undo := point.Rollback(ctx); undo != nil {
		return errors.Join(err, undo)
	}
	if fsm.Retryable(err) {
		return err
	}
	j.Err = err
	return nil
}

// guarded runs the handler and makes an error of its panic.
func guarded(ctx context.Context, tx pgx.Tx, m Message, handle Handler) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &PanicError{value, debug.Stack()}
		}
	}()
	return handle(ctx, tx, m)
}

// mark marks the keys done, or returns ErrLost when one is not the owner's any more.
func (c *Consumer) mark(ctx context.Context, tx pgx.Tx, keys []string, owner string) error {
	if len(keys) == 0 {
		return nil
	}
	tag, err := tx.Exec(ctx, doneSQL, c.Name, keys, owner)
	if err != nil {
		return told("mark done", err)
	}
	if tag.RowsAffected() != int64(len(keys)) {
		return ErrLost
	}
	return nil
}

// settle gives a claimed job its result, and ends the claim of one that failed.
func (c *Consumer) settle(ctx context.Context, j *job) {
	if j.Err == nil {
		j.Outcome = Done
		return
	}
	cancelled := errors.Is(ctx.Err(), context.Canceled)
	ctx, cancel := detach(ctx)
	defer cancel()
	counts := j.ran && !cancelled
	ended, err := false, error(nil)
	if counts && j.try >= c.Tries {
		if ended, err = c.bury(ctx, j, j.owner); ended {
			j.Result = Result{Dead, fmt.Errorf("%w: %w", ErrDead, j.Err)}
			return
		}
	} else if ended, err = c.release(ctx, []string{j.Key}, j.owner, counts); ended {
		j.Outcome = Failed
		return
	}
	if err != nil {
		j.Result = Result{Failed, errors.Join(j.Err, err)}
		return
	}
	c.find(ctx, j)
}

// find gives the result of a job whose claim is not the owner's any more: either
// its COMMIT took effect although the answer was lost, or another took it over.
func (c *Consumer) find(ctx context.Context, j *job) {
	rows, err := c.read(ctx, []string{j.Key})
	switch r := rows[j.Key]; {
	case err != nil:
		j.Result = Result{Failed, errors.Join(j.Err, told("read claim", err))}
	case r.state == stateDone && r.owner == j.owner:
		j.Result = Result{Outcome: Done}
	case r.state == stateDone:
		j.Result = Result{Outcome: Duplicate}
	case r.state == stateDead:
		j.Result = Result{Dead, fmt.Errorf("%w: %w", ErrDead, j.Err)}
	default:
		j.Result = Result{InProgress, fmt.Errorf("%w: %w", ErrLost, j.Err)}
	}
}

// release gives claims back and reports whether there were any. Without counting,
// the try that the claim counted is taken back.
func (c *Consumer) release(ctx context.Context, keys []string, owner string, counts bool) (bool, error) {
	back := 1
	if counts {
		back = 0
	}
	tag, err := c.DB.Exec(ctx, releaseSQL, c.Name, keys, owner, back)
	return tag.RowsAffected() > 0, told("release", err)
}
