package attemptriver

import (
	"context"
	"errors"
	"time"

	"github.com/riverqueue/river"

	"github.com/pawl-go/pawl/fsm/attempt"
)

// grace is how long an attempt is left to its own job after it is due.
const grace = time.Minute

// CompleterArgs are those of the job that runs the completer.
type CompleterArgs struct{}

// Kind is the job's name at River.
func (CompleterArgs) Kind() string { return "fsm_attempt_completer" }

// InsertOpts leave a failed run to the next period. The job is not unique: one
// whose worker died would be in the way of all others until River rescues it,
// and two completers at once share the work.
func (CompleterArgs) InsertOpts() river.InsertOpts { return river.InsertOpts{MaxAttempts: 1} }

// CompleterWorker drives attempts that are overdue by a minute: those without a
// live job, and those whose worker died, long before River rescues its job.
// [AddWorkers] makes it.
type CompleterWorker struct {
	river.WorkerDefaults[CompleterArgs]
	completer attempt.Completer
	timeout   time.Duration
}

// Work runs the completer once.
func (w *CompleterWorker) Work(ctx context.Context, _ *river.Job[CompleterArgs]) error {
	_, err := w.completer.Once(ctx)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil // time is up: the next run goes on where this one stopped
	}
	return err
}

// Timeout bounds one run.
func (w *CompleterWorker) Timeout(*river.Job[CompleterArgs]) time.Duration { return w.timeout }

// Periodic is the job for river.Config.PeriodicJobs that runs the completer, at
// once and then every so often; a minute when every is not positive.
func Periodic(every time.Duration) *river.PeriodicJob {
	if every <= 0 {
		every = time.Minute
	}
	return river.NewPeriodicJob(river.PeriodicInterval(every),
		func() (river.JobArgs, *river.InsertOpts) { return CompleterArgs{}, nil },
		&river.PeriodicJobOpts{ID: "fsm_attempt_completer", RunOnStart: true})
}
