package attemptriver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"github.com/pawl-go/pawl/fsm/attempt"
)

// Worker drives one round a job. [AddWorkers] makes it.
//
// A round that ends nothing is an error to River, whose retry policy then says
// when the next one is. Two things are no failures, and use up none of the job's
// attempts: that the provider is not done, and that another owner is at work; the
// job is snoozed. A stuck attempt cancels its job, since a person has to decide.
type Worker struct {
	river.WorkerDefaults[Args]
	pool  attempt.Pool
	kinds map[string]*attempt.Kind
}

// unknownWait is how long a job waits that this program has no kind for, so that
// another program, or the next release, can take it.
const unknownWait = time.Minute

// Work drives the attempt.
func (w *Worker) Work(ctx context.Context, job *river.Job[Args]) error {
	kind, ok := w.kinds[job.Args.AttemptKind]
	if !ok {
		return river.JobSnooze(unknownWait)
	}
	_, err := attempt.Drive(ctx, w.pool, kind, job.Args.AttemptID)
	var busy *attempt.BusyError
	var unfinished *attempt.UnfinishedError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &busy):
		return river.JobSnooze(busy.Left + time.Second)
	case errors.Is(err, attempt.ErrStuck), errors.Is(err, attempt.ErrNotFound), errors.Is(err, attempt.ErrArgument):
		return river.JobCancel(err)
	case errors.As(err, &unfinished) && errors.Is(err, attempt.ErrPending):
		return river.JobSnooze(unfinished.Wait)
	}
	return err
}

// Timeout is the longest that a round of the kind may take. It is never "for
// ever", for River does not rescue such jobs when their worker dies.
func (w *Worker) Timeout(job *river.Job[Args]) time.Duration {
	if kind, ok := w.kinds[job.Args.AttemptKind]; ok {
		return kind.MaxRound()
	}
	return 0 // River's own
}

// AddWorkers adds the worker that drives attempts of these kinds and the one that
// runs the completer for [Periodic]. Its error is attempt.ErrArgument for kinds
// that cannot work or are there twice, or River's when the workers are there
// already.
func AddWorkers(workers *river.Workers, pool attempt.Pool, kinds ...*attempt.Kind) error {
	w := &Worker{pool: pool, kinds: map[string]*attempt.Kind{}}
	longest := time.Duration(0)
	for _, kind := range kinds {
		round := kind.MaxRound()
		if round == 0 {
			return fmt.Errorf("%w: a kind that cannot work", attempt.ErrArgument)
		}
		if w.kinds[kind.Name] != nil {
			return fmt.Errorf("%w: kind %s is there twice", attempt.ErrArgument, kind.Name)
		}
		w.kinds[kind.Name] = kind
		longest = max(longest, round)
	}
	if workers == nil || pool == nil {
		return fmt.Errorf("%w: no workers or no pool", attempt.ErrArgument)
	}
	if err := river.AddWorkerSafely(workers, w); err != nil {
		return err
	}
	return river.AddWorkerSafely(workers, &CompleterWorker{
		completer: attempt.Completer{DB: pool, Kinds: kinds, Grace: grace},
		timeout:   max(10*time.Minute, 2*longest),
	})
}
