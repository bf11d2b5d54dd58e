package fsm

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// HistoryPart is one thing that KeepHistory did.
type HistoryPart struct {
	// Partition is a table: one of the history's partitions.
	Partition string
	// Did is "created", "dropped", or "deleted" for old entries of the partition
	// that takes what no other one does.
	Did string
	// Entries is how many entries were moved into a partition that was created,
	// or deleted; nobody counts those of one that was dropped.
	Entries int64
}

// KeepHistory calls the function by which a machine keeps its partitioned
// history. Generated code alone has a use for it, as KeepHistory.
//
// asOf is the time by which partitions are due: the current one and three more.
// Old is what is old by asOf and by the server's clock, so no asOf drops more
// than today's date does.
//
// A call with nothing to do takes no lock. Any other needs the history to
// itself, and while it waits for whoever reads or writes it, all transitions of
// the machine wait behind it. It waits as long as lock_timeout says, 200 ms where
// it says nothing; then it is ErrNothingDone and Retryable, and a later call does
// the work: call it again after a minute rather than in a loop. In a transaction
// of the caller's the lock is held until that ends.
//
// Errors are *CallError: ErrArgument for a zero asOf or no database,
// ErrNothingDone, also for a role that does not own the history, ErrUnknown.
func KeepHistory(ctx context.Context, db DB, machine, function string, asOf time.Time) ([]HistoryPart, error) {
	const event = "keep history"
	switch {
	case missing(db):
		return nil, &CallError{machine, event, ErrArgument, errors.New("no database was given")}
	case asOf.IsZero():
		return nil, &CallError{machine, event, ErrArgument, errors.New("no time was given")}
	}
	rows, err := db.Query(ctx, "SELECT k.partition, k.did, COALESCE(k.entries, 0) FROM "+pgx.Identifier{function}.Sanitize()+"($1) AS k", asOf)
	if err != nil {
		return nil, &CallError{machine, event, kindOf(err), err}
	}
	parts, err := pgx.CollectRows(rows, pgx.RowToStructByPos[HistoryPart])
	if err != nil {
		return nil, &CallError{machine, event, kindOf(err), err}
	}
	return parts, nil
}
