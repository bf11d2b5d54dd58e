package fsm

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// HistoryPart is one thing that KeepHistory did.
type HistoryPart struct {
	// Partition is a table: one of the history's partitions.
	Partition string
	// Did is "created", "dropped", "deleted" for old entries of the partition that
	// takes what no other one does, or "not dropped" for an old partition that
	// stays, since the database refuses to drop it.
	Did string
	// Why is the database's reason for one that was not dropped, such as a view
	// that reads it; else empty.
	Why string
	// Entries is how many entries were moved into a partition that was created,
	// or deleted; nobody counts those of one that was dropped.
	Entries int64
}

// KeepHistory calls the function by which a machine keeps its partitioned
// history. Generated code alone has a use for it, as KeepHistory.
//
// asOf is the time by which partitions are due: the current one and three more.
// Old is what is old by asOf and by the server's clock, so no asOf drops more
// than today's date does. Calls for the same history take turns, and wait for
// theirs as long as lock_timeout lets them; one with nothing to do keeps nobody
// else waiting.
//
// Any other needs the history to itself, and while it waits for whoever reads or
// writes it, all transitions of the machine wait behind it. It waits as long as
// lock_timeout says, 200 ms where it says nothing; then it is ErrNothingDone and
// Retryable, and a later call does the work: call it again after a minute rather
// than in a loop. An old partition that cannot be dropped is "not dropped" in the
// result, by this call and each later one, and keeps nothing else from being done.
//
// On a pool or a connection it runs in a READ COMMITTED transaction of its own,
// whatever the server's default is. In a transaction of the caller's the locks
// are held until that ends, and it must be READ COMMITTED too: a stricter one
// does not see the entries that were written while it waited, and ends with
// ErrNothingDone, 23514, which another transaction may not.
//
// Errors are *CallError: ErrArgument for a zero asOf or no database,
// ErrNothingDone, also for a role that does not own the history, ErrUnknown.
func KeepHistory(ctx context.Context, db DB, machine, function string, asOf time.Time) (parts []HistoryPart, err error) {
	const event = "keep history"
	switch {
	case missing(db):
		return nil, &CallError{machine, event, ErrArgument, errors.New("no database was given")}
	case asOf.IsZero():
		return nil, &CallError{machine, event, ErrArgument, errors.New("no time was given")}
	}
	own, begins := db.(TxBeginner)
	if !begins || InTx(db) {
		if parts, err = keepHistory(ctx, db, function, asOf); err != nil {
			return nil, &CallError{machine, event, kindOf(err), err}
		}
		return parts, nil
	}
	tx, err := own.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted})
	if err != nil {
		return nil, &CallError{machine, event, ErrNothingDone, err}
	}
	defer rollback(ctx, tx)
	if parts, err = keepHistory(ctx, tx, function, asOf); err != nil {
		return nil, &CallError{machine, event, ErrNothingDone, err} // it never came to a COMMIT
	}
	if kind, err := commit(ctx, tx, false); err != nil {
		return nil, &CallError{machine, event, kind, err}
	}
	return parts, nil
}

// keepHistory runs the function. It says "not dropped: " and why in one column,
// so that functions of before have the same ones.
func keepHistory(ctx context.Context, db DB, function string, asOf time.Time) ([]HistoryPart, error) {
	rows, err := db.Query(ctx, "SELECT k.partition, k.did, COALESCE(k.entries, 0) FROM "+pgx.Identifier{function}.Sanitize()+"($1) AS k", asOf)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (p HistoryPart, err error) {
		err = row.Scan(&p.Partition, &p.Did, &p.Entries)
		p.Did, p.Why, _ = strings.Cut(p.Did, ": ")
		return p, err
	})
}
