package fsm

import (
	"errors"
	"fmt"
)

// Errors of a call, for errors.Is. An outcome that refuses is no error; see
// [Result.Err].
var (
	// ErrNotFound: there is no row with that key. Nothing was done. In a transaction
	// stricter than READ COMMITTED its snapshot had none.
	ErrNotFound = errors.New("no such row")
	// ErrArgument: an argument is missing or impossible, such as an empty
	// identity, a text that is no uuid, or NaN for an amount. Nothing was done;
	// nothing was sent either, unless a parameter's check was what failed.
	ErrArgument = errors.New("bad argument")
	// ErrContended: others changed the row during each of several tries.
	// Nothing was done; it is Retryable. A row-level-security policy that hides
	// the row from the UPDATE looks the same, for ever.
	ErrContended = errors.New("row is contended")
	// ErrNothingDone: the database refused, and certainly nothing was done by
	// this call. The database's own error is wrapped.
	ErrNothingDone = errors.New("nothing was done")
	// ErrUnknown: whether the call took effect is not known, since the
	// connection or the COMMIT was lost, or the context ended after sending.
	// The same call again does nothing twice: if the first took effect, it
	// answers Replayed where the event has an identity or a replay cell, Stale
	// with an expected version, and otherwise what its cell says, Rejected say.
	ErrUnknown = errors.New("outcome is unknown")
	// ErrUnknownWord: an outside system used a status word that the definition
	// does not list. No call was made; see [UnknownWordError].
	ErrUnknownWord = errors.New("unknown word")
)

// CallError is the error of a call: it says which call and what kind of
// failure, and wraps the cause. It adds no parameter values of its own to what
// the cause says.
type CallError struct {
	Machine, Event string
	// Kind is one of this package's sentinel errors, or nil when the error is
	// that of a Then function.
	Kind error
	// Err is the cause, nil when Kind says all.
	Err error
}

// Error names machine, event, kind and cause.
func (e *CallError) Error() string {
	switch {
	case e.Kind == nil:
		return fmt.Sprintf("%s %s: %v", e.Machine, e.Event, e.Err)
	case e.Err == nil:
		return fmt.Sprintf("%s %s: %v", e.Machine, e.Event, e.Kind)
	}
	return fmt.Sprintf("%s %s: %v: %v", e.Machine, e.Event, e.Kind, e.Err)
}

// Unwrap gives errors.Is and errors.As both the kind and the cause.
func (e *CallError) Unwrap() []error {
	var errs []error
	if e.Kind != nil {
		errs = append(errs, e.Kind)
	}
	if e.Err != nil {
		errs = append(errs, e.Err)
	}
	return errs
}

// UnknownStateError says that a row stands in a state that the program's
// definition does not have. Nothing was done.
type UnknownStateError struct {
	Machine, State string
}

// Error names the state.
func (e *UnknownStateError) Error() string {
	return fmt.Sprintf("%s has no state %q", e.Machine, e.State)
}

// Is makes the error an ErrNothingDone too.
func (e *UnknownStateError) Is(target error) bool { return target == ErrNothingDone }

// UnknownWordError says that a status word of an outside system is not in the
// machine's map. Whoever gets it keeps the row as it is and reports the word:
// nothing may be stored on the strength of it.
type UnknownWordError struct {
	Machine, Map, Word string
}

// Error names machine, map and word; the word is quoted, since it comes from
// outside.
func (e *UnknownWordError) Error() string {
	return fmt.Sprintf("%s: %s has no word %q", e.Machine, e.Map, e.Word)
}

// Is makes the error an ErrUnknownWord.
func (e *UnknownWordError) Is(target error) bool { return target == ErrUnknownWord }
