package lock

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/fsm/fault"
)

// Points to fail at.
const (
	// PointAcquired: the back-end has given the lock, and the holder has no
	// fencing value yet.
	PointAcquired fault.Point = "lock.acquired"
	// PointJudged: LockJudgeUpdate has judged, and updated nothing.
	PointJudged fault.Point = "lock.judged"
)

// Errors of this package, for errors.Is.
var (
	// ErrNotAcquired: others held the lock for as long as it was waited for.
	// The function did not run.
	ErrNotAcquired = errors.New("lock was not to be had in time")
	// ErrLost: the lock was lost while the function ran, or held for longer than
	// allowed. What the function did, it did not certainly do alone. It is the
	// cause of the function's context too.
	ErrLost = errors.New("lock was lost")
	// ErrStale: the guarded update of LockJudgeUpdate found no row, since that is
	// no longer as judged or a later holder has written it. Nothing was done.
	ErrStale = errors.New("row is not as it was judged")
	// ErrUnavailable: the back-end does not work. The function did not run.
	ErrUnavailable = errors.New("locks are not available")
	// ErrIsolation: the transaction is not READ COMMITTED, so that what is read
	// after waiting for the lock may be from before. Nothing was done.
	ErrIsolation = errors.New("transaction is not READ COMMITTED")
	// ErrTables: the sequence of fencing values is missing. It comes with
	// ErrUnavailable.
	ErrTables = errors.New("there is no sequence fsm_fence, which `fsmgen tables lock` makes")
)

// Locker holds a lock by name while a function runs.
type Locker interface {
	// With acquires the lock, runs fn and releases the lock, also when fn fails
	// or panics. fn's context ends with ctx, and when the lock is lost, with
	// ErrLost as its cause. nil says that fn returned nil and that the lock was
	// held all the time. Errors are fn's; ErrLost, joined with fn's; and
	// ErrNotAcquired, ErrUnavailable, fsm.ErrArgument for a name that cannot
	// be, and ctx's, for which fn did not run.
	With(ctx context.Context, name string, fn func(ctx context.Context, held Held) error) error
}

// Held is a lock that is held.
type Held struct {
	name  string
	fence int64
}

// NewHeld is for those who write a Locker.
func NewHeld(name string, fence int64) Held { return Held{name, fence} }

// Name is the lock's name.
func (h Held) Name() string { return h.name }

// Fence is the holder's fencing value, from 1: greater than that of every holder
// before it, of whatever back-end. An UPDATE stores it, and demands that the one
// stored is not greater, so that a holder may write more than once:
//
//	UPDATE accounts SET balance = $2, fence = $3
//	WHERE id = $1 AND version = $4 AND fence <= $3
func (h Held) Fence() int64 { return h.fence }

const fenceSQL = `SELECT nextval('fsm_fence')`

// NextFence takes the next fencing value. Who writes a Locker calls it after it
// has acquired the lock, and makes sure afterwards that it still has it: then
// values are in the order of the holders. The error is ErrUnavailable.
func NextFence(ctx context.Context, db fsm.DB) (int64, error) {
	var fence int64
	if err := db.QueryRow(ctx, fenceSQL).Scan(&fence); err != nil {
		return 0, unavailable("fencing value", err)
	}
	return fence, nil
}

// undefinedTable is the SQLSTATE of a sequence that is not there, too.
const undefinedTable = "42P01"

func unavailable(what string, err error) error {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == undefinedTable {
		return fmt.Errorf("%w: %s: %w: %w", ErrUnavailable, what, ErrTables, err)
	}
	return fmt.Errorf("%w: %s: %w", ErrUnavailable, what, err)
}

// maxName is the greatest size of a name, in bytes.
const maxName = 256

// CheckName refuses a name that is empty, over 256 bytes, not UTF-8, or with a
// control character. The error is fsm.ErrArgument and does not repeat the name.
func CheckName(name string) error {
	if problem := fsm.TextProblem(name, maxName); problem != "" {
		return fmt.Errorf("%w: the name of a lock %s", fsm.ErrArgument, problem)
	}
	return nil
}
