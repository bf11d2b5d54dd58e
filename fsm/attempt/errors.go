package attempt

import (
	"errors"
	"fmt"
	"time"

	"github.com/pawl-go/pawl/fsm"
)

// What Call and Query say with their errors, for errors.Is. Any other error, a
// time-out or a 500 say, means that the outcome is not known.
var (
	// ErrRefused: the provider did not do it, and will not under this key. Make
	// one with [Refuse]. A step may return it too: then nothing is sent.
	ErrRefused = errors.New("refused by the provider")
	// ErrNotSent: certainly nothing reached the provider, so it may be sent
	// without looking it up. [Do] says so of an HTTP request; a connection
	// that was refused is no proof by itself, since net/http repeats requests.
	ErrNotSent = errors.New("not sent")
	// ErrPending: the provider has the call and is not done. It is asked again.
	ErrPending = errors.New("the provider is not done")
	// ErrNotThere: Query found no call with this key, so it may be sent.
	ErrNotThere = errors.New("not known to the provider")
)

// Errors of this package's calls, for errors.Is.
var (
	// ErrArgument: an argument or a Kind is impossible. Nothing was done. It is
	// fsm.ErrArgument.
	ErrArgument = fsm.ErrArgument
	// ErrNotFound: there is no such attempt. It is fsm.ErrNotFound.
	ErrNotFound = fsm.ErrNotFound
	// ErrMismatch: the business key has an attempt already, with another request.
	// Nothing was done.
	ErrMismatch = errors.New("the business key has an attempt with another request")
	// ErrSpent: the business key had an attempt, which is gone from the archive
	// too. Nothing was done, and nothing may be started with this key.
	ErrSpent = errors.New("the business key was used by an attempt that is kept no more")
	// ErrBusy: another owner drives the attempt. Nothing was done; see [BusyError].
	ErrBusy = errors.New("another owner drives the attempt")
	// ErrStuck: the attempt waits for a person; see Resume and Settle.
	ErrStuck = errors.New("the attempt waits for a person")
	// ErrLost: the lease ended and another owner took over. What this round
	// learnt was not recorded; the new owner asks the provider itself.
	ErrLost = errors.New("another owner took the attempt over")
	// ErrUnfinished: this round did not end it, another will be due; see
	// [UnfinishedError].
	ErrUnfinished = errors.New("the attempt is not finished")
	// ErrSteps: the attempt passed steps that this program's Kind does not have
	// in this order.
	ErrSteps = errors.New("the attempt passed other steps")
	// ErrTables: the tables are missing; `fsmgen tables attempt` writes them.
	ErrTables = errors.New("a table is missing: write its migration with `fsmgen tables attempt`")
)

// RefusedError is a refusal with the provider's code. It is ErrRefused.
type RefusedError struct {
	Code string
}

// Refuse returns a refusal for Call, Query or a step to return. The code is kept
// in Attempt.Code: at most 200 bytes, without control characters.
func Refuse(code string) error { return &RefusedError{Code: clip(code, maxCode)} }

// Error names the code.
func (e *RefusedError) Error() string { return fmt.Sprintf("%v: %s", ErrRefused, e.Code) }

// Is makes the error an ErrRefused.
func (e *RefusedError) Is(target error) bool { return target == ErrRefused }

// BusyError says how long the other owner's lease has yet to run. It is ErrBusy.
type BusyError struct {
	Left time.Duration
}

// Error says how long.
func (e *BusyError) Error() string { return fmt.Sprintf("%v for %v more", ErrBusy, e.Left) }

// Is makes the error an ErrBusy.
func (e *BusyError) Is(target error) bool { return target == ErrBusy }

// UnfinishedError says why a round did not end the attempt, and when the next one
// is due. It is ErrUnfinished, and ErrStuck when no round will be due.
type UnfinishedError struct {
	State State
	// Wait is the time to the next round.
	Wait time.Duration
	// Stuck says that the attempt waits for a person instead.
	Stuck bool
	// Err is the cause: what Call, Query, a step or Complete returned.
	Err error
}

// Error names state and cause.
func (e *UnfinishedError) Error() string {
	if e.Stuck {
		return fmt.Sprintf("%v in state %s: %v", ErrStuck, e.State, e.Err)
	}
	return fmt.Sprintf("%v, in state %s, to be tried again in %v: %v", ErrUnfinished, e.State, e.Wait, e.Err)
}

// Is makes the error an ErrUnfinished or an ErrStuck.
func (e *UnfinishedError) Is(target error) bool {
	return target == ErrStuck && e.Stuck || target == ErrUnfinished && !e.Stuck
}

// Unwrap gives the cause.
func (e *UnfinishedError) Unwrap() error { return e.Err }
