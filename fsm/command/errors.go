package command

import (
	"errors"
	"fmt"
	"time"

	"github.com/pawl-go/pawl/fsm"
)

// Errors of a command, for errors.Is, beside [fsm.ErrArgument],
// [fsm.ErrNothingDone] and [fsm.ErrUnknown].
var (
	// ErrMismatch: the key was used for another request. Nothing was done.
	ErrMismatch = errors.New("the key was used for another request")
	// ErrInProgress: an equal request is being worked on; ask again later. It
	// comes as an *InProgressError. Nothing was done by this call.
	ErrInProgress = errors.New("an equal request is in progress")
	// ErrLeaseLost: the lease ran out, and another call may own the command now.
	// What was written in the transaction of the completion must be rolled back.
	ErrLeaseLost = errors.New("the lease was lost")
	// ErrReply: the work's reply cannot be kept, such as one over the size cap or
	// with a status outside 200 to 499. It is as if the work had failed.
	ErrReply = errors.New("the reply cannot be kept")
	// ErrBody: the body says that it is JSON and is none, or repeats a name in one
	// object, in the same case or another.
	// Nothing was done.
	ErrBody = errors.New("the body is not proper JSON")
	// ErrAlgorithm: the record's fingerprint is of an algorithm that this
	// program does not know: a newer one wrote it. Nothing was done.
	ErrAlgorithm = errors.New("unknown fingerprint algorithm")
	// ErrTables: the database has no tables for commands.
	ErrTables = errors.New("the tables are missing: run fsmgen tables command, and migrate")
)

// Error is the error of a command: it says which, what kind of failure, and wraps
// the cause. It holds no key, no scope and nothing of request or reply.
type Error struct {
	Command string
	// Kind is one of the sentinel errors, or nil when the error is the work's.
	Kind error
	// Err is the cause, nil when Kind says all.
	Err error
}

// Error names command, kind and cause.
func (e *Error) Error() string {
	switch {
	case e.Kind == nil:
		return fmt.Sprintf("command %s: %v", e.Command, e.Err)
	case e.Err == nil:
		return fmt.Sprintf("command %s: %v", e.Command, e.Kind)
	}
	return fmt.Sprintf("command %s: %v: %v", e.Command, e.Kind, e.Err)
}

// Unwrap gives errors.Is and errors.As both the kind and the cause.
func (e *Error) Unwrap() []error {
	var errs []error
	if e.Kind != nil {
		errs = append(errs, e.Kind)
	}
	if e.Err != nil {
		errs = append(errs, e.Err)
	}
	return errs
}

// InProgressError is an [ErrInProgress] with what is known about the first call.
type InProgressError struct {
	// Since is when the call that is at work claimed the command.
	Since time.Time
	// Lease is how long its lease is good for unless renewed; 0 for a call that
	// works in a transaction.
	Lease time.Duration
}

// Error says that the command is in progress, and since when.
func (e *InProgressError) Error() string {
	return fmt.Sprintf("%v since %s", ErrInProgress, e.Since.UTC().Format(time.RFC3339))
}

// Is makes the error an ErrInProgress.
func (e *InProgressError) Is(target error) bool { return target == ErrInProgress }

// wrap makes an *Error of err, once.
func (c *Command) wrap(kind, err error) error {
	var already *Error
	if kind == nil && errors.As(err, &already) {
		return err
	}
	return &Error{Command: c.Name, Kind: kind, Err: err}
}

// SQLSTATE codes that this package tells apart.
// https://www.postgresql.org/docs/current/errcodes-appendix.html
const (
	undefinedTable       = "42P01"
	lockNotAvailable     = "55P03"
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
)

// runsAgain reports an error after which the same statement, in a transaction of its
// own, may succeed: it did nothing, for another transaction's sake.
func runsAgain(err error) bool {
	state := sqlState(err)
	return state == serializationFailure || state == deadlockDetected
}

// sqlState returns the SQLSTATE of a database error, or "".
func sqlState(err error) string {
	var state interface{ SQLState() string }
	if errors.As(err, &state) {
		return state.SQLState()
	}
	return ""
}

// own is the error of one of this package's own statements. Nothing was done
// whatever it is, since what counts is done by a later COMMIT.
func (c *Command) own(doing string, err error) error {
	if err == nil {
		return nil
	}
	kind := fsm.ErrNothingDone
	if sqlState(err) == undefinedTable {
		kind = ErrTables
	}
	return c.wrap(kind, fmt.Errorf("%s: %w", doing, err))
}
