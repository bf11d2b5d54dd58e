package fsm

import "fmt"

// Result is what a call answers. S is the machine's State, R its Row.
type Result[S ~string, R any] struct {
	// Machine and Event say which call it was.
	Machine, Event string

	Outcome Outcome
	// Row is the row as it was committed at the moment of judgement, after the
	// transition when this call applied one. In a caller's transaction it
	// includes what that transaction wrote.
	Row R
	// State and Version are the row's.
	State   S
	Version int64
	// Transition is the one that made it so: this call's when it was Applied or
	// Compensated, the first result when Replayed, otherwise the last one in
	// the row's history. It is zero when there is none to show: nothing is
	// known any more, or Mismatched concerns another row.
	Transition Transition[S]
	// Guards holds the guards tried, in order, when the outcome is GuardFailed.
	Guards []Guard
	// Snapshot says that the transaction is REPEATABLE READ or SERIALIZABLE, so
	// that a call which wrote nothing was answered from the transaction's
	// snapshot: something newer may have been committed since.
	Snapshot bool
}

// Transition is one entry of a row's life, as far as a result tells it.
type Transition[S ~string] struct {
	Event   string
	Outcome Outcome
	// From is empty for the creation of the row.
	From, To S
	// Version is the row's version after it.
	Version int64
}

// Guard is a condition that a call tried.
type Guard struct {
	// Name is empty for a guard written inside its transition.
	Name string
	// Describe is the definition's description, or the guard's SQL without one.
	Describe string
}

// String returns the name, or the description of a guard without a name.
func (g Guard) String() string {
	if g.Name != "" {
		return g.Name
	}
	return g.Describe
}

// Err returns nil when the outcome is OK, and a *RefusedError otherwise, for
// callers who would rather have an error than a refused outcome.
func (r Result[S, R]) Err() error {
	if r.Outcome.OK() {
		return nil
	}
	return &RefusedError{Machine: r.Machine, Event: r.Event, Outcome: r.Outcome, State: string(r.State), Version: r.Version, Guards: r.Guards}
}

// RefusedError says that a call changed nothing since the machine forbids it.
type RefusedError struct {
	Machine, Event string

	Outcome Outcome
	State   string
	Version int64
	Guards  []Guard
}

// Error names the call, the outcome, the state and the guards, and no values.
func (e *RefusedError) Error() string {
	text := fmt.Sprintf("%s %s: %s in state %s at version %d", e.Machine, e.Event, e.Outcome, e.State, e.Version)
	if e.Outcome == GuardFailed {
		text += fmt.Sprintf(", tried %v", e.Guards)
	}
	return text
}

// Answer is what one run of a generated statement says, before [Fire] makes a
// Result of it. Generated code alone has a use for it.
type Answer[S ~string, R any] struct {
	Outcome    string
	Snapshot   bool
	State      S
	Version    int64
	Row        R
	Transition Transition[S]
}
