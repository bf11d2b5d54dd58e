package attemptriver

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/pawl-go/pawl/fsm/attempt"
)

// Args are a job's: which attempt to drive.
type Args struct {
	AttemptID string `json:"attempt_id" river:"unique"`
	// AttemptKind says which of a worker's kinds it is.
	AttemptKind string `json:"attempt_kind"`
}

// Kind is the job's name at River.
func (Args) Kind() string { return "fsm_attempt" }

// InsertOpts make one live job an attempt. Jobs that have ended do not count, so
// that an attempt can get another one after Resume.
func (Args) InsertOpts() river.InsertOpts {
	return river.InsertOpts{UniqueOpts: river.UniqueOpts{
		ByArgs: true,
		ByState: []rivertype.JobState{
			rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRunning,
			rivertype.JobStateRetryable, rivertype.JobStateScheduled,
		},
	}}
}

// errClient refuses a call without a client, before any SQL.
var errClient = fmt.Errorf("%w: no River client", attempt.ErrArgument)

// Start is attempt.Start with a job that drives the attempt, both in tx: they are
// there if and only if it commits. Results and errors are attempt.Start's, and
// River's for the job; after those tx must be rolled back. An attempt that was
// there before gets a job too, if it has none and is not completed.
func Start(ctx context.Context, client *river.Client[pgx.Tx], tx pgx.Tx, kind *attempt.Kind, businessKey string, request any) (attempt.Attempt, bool, error) {
	if client == nil {
		return attempt.Attempt{}, false, errClient
	}
	a, started, err := attempt.Start(ctx, tx, kind, businessKey, request)
	if err != nil {
		return a, started, err
	}
	return a, started, Enqueue(ctx, client, tx, a)
}

// Enqueue makes a job that drives the attempt, for after attempt.Resume or
// attempt.Settle in the same transaction, or when the attempt was started by
// attempt.Start. It does nothing when the attempt has a live job, or needs none.
func Enqueue(ctx context.Context, client *river.Client[pgx.Tx], tx pgx.Tx, a attempt.Attempt) error {
	switch {
	case client == nil:
		return errClient
	case a.ID == "" || a.Kind == "":
		return errors.Join(attempt.ErrArgument, errors.New("no attempt"))
	case a.Completed():
		return nil
	}
	if _, err := client.InsertTx(ctx, tx, Args{AttemptID: a.ID, AttemptKind: a.Kind}, nil); err != nil {
		return fmt.Errorf("insert the job of attempt %s: %w", a.ID, err)
	}
	return nil
}
