package fsmtest

import (
	"context"
	"time"

	"github.com/pawl-go/pawl/fsm"
)

// Machine is a machine as its definition says, its cases, and its generated
// calls. Names are as they are, not quoted for SQL. Expressions are SQL in which
// o is the row before the call, p has the event's parameters as columns, and
// c.now is the time of the call.
type Machine struct {
	Name string
	// Table is the guarded table; Facts is empty for a machine that keeps none.
	Table, History, Facts string
	// Birth is the trigger that lets rows begin in the initial state alone. It is
	// switched off while the tests make rows in any state.
	Birth string
	Key   []Column
	// Status, Version, Deadline and Runs are the machine's own columns; the last
	// two are empty where it has none.
	Status, Version, Deadline, Runs string
	// StatusType is the status column's type.
	StatusType string
	Columns    []Column
	// States are in the order of the definition. The initial one is first in no
	// way: see Initial.
	States  []State
	Initial string
	Events  []Event
	// CreateEmit is what a creation writes to the outbox.
	CreateEmit []string

	Cases []Case
	Races []Race

	// Create, Correct and Get run the generated calls; Get returns the row.
	Create, Correct func(*Call) (Answer, error)
	Get             func(*Call) (any, error)
	// Entries reads a page of a row's history.
	Entries func(call *Call, after int64, limit int32) ([]fsm.Entry[string], error)
	// Row reads a generated Row from the columns key, status, version, deadline
	// and runs where there are any, and then Columns, in that order.
	Row func(scan func(dest ...any) error) (any, error)
	// Sweeps are the generated sweeps, one for each event in Deadlines.
	Sweeps    []fsm.Sweep
	Deadlines []string

	// Migrate brings the database at url to its present version.
	Migrate func(ctx context.Context, url string) error
	// Before is a file of SQL that runs in the empty database before Migrate, where
	// it is there: it makes what the migrations expect to be there.
	Before string
}

// Column is a column of the guarded table, or a parameter of an event.
type Column struct {
	Name, Type string
	// Optional says that it may be NULL.
	Optional bool
	// Default is what a row has where nobody gave the column, as SQL; empty for a
	// column without.
	Default string
	// Given says that the creator of a row gives the column, Set that a transition
	// sets it.
	Given, Set bool
	// Value is a value that suits, as SQL; empty where none is known.
	Value string
	// Check is the parameter's condition, as SQL over p, or the column's, over o;
	// empty for none.
	Check string
}

// State is one value of the status column.
type State struct {
	Name string
	// Stored are the texts by which the column may hold the state, the first
	// being the one to write.
	Stored []string
	// After is how long the row may stay until the deadline's event comes; 0 for
	// a state without deadline. Max ends its self-loop; 0 is without end.
	After time.Duration
	Event string
	Max   int
	// Retired says that no row may enter the state.
	Retired bool
}

// Event is one event: its transitions in the order in which they are tried, and
// what is said where none is taken.
type Event struct {
	Name                  string
	Params                []Column
	Identity, Fingerprint []string
	// NeedsVersion says that a call must give the expected version.
	NeedsVersion bool
	Transitions  []Transition
	Otherwise    []Decision
	Call         func(*Call) (Answer, error)
}

// Transition moves a row that stands in one of From.
type Transition struct {
	From []string
	To   string
	// Name is the guard's; Guard is empty for an unguarded transition.
	Name, Guard string
	Set         []Assignment
	Emit        []string
}

// Assignment sets a column of the row.
type Assignment struct{ Column, SQL string }

// Decision is what is said in some states when no transition is taken.
type Decision struct {
	In      []string
	Outcome fsm.Outcome
	Emit    []string
}

// Values are columns or parameters with SQL literals.
type Values map[string]string

// Case is one cell, or one way of it, in each of the states In: a row that
// stands there with the values Given, fired at with Params.
type Case struct {
	In    []string
	Event string
	// Variant tells the ways of one cell apart; empty for a cell with one way.
	Variant       string
	Given, Params Values
	Outcome       fsm.Outcome
	// To is where the row must stand afterwards; empty where it does not move.
	To   string
	Emit []string
	// Unsure are the columns and, with @, the parameters of which a CHECK speaks
	// that only the database can answer: Given and Params suit the guards, and
	// others are tried where a CHECK refuses them.
	Unsure []string
	// Skip says why no values are known. Some are tried then, and the test fails
	// where none suits.
	Skip string
}

// Race is two calls in two sessions at one row that stands in the state In: the
// first writes, and the second comes before that is committed.
type Race struct {
	In string
	// Variant tells the races of one pair apart; empty for the only one.
	Variant       string
	Given         Values
	First, Second RaceCall
	// Outcome is that of the second call when the first is committed.
	Outcome fsm.Outcome
	// Unsure and Skip are as those of a Case.
	Unsure []string
	Skip   string
}

// RaceCall is one of the two calls.
type RaceCall struct {
	Event  string
	Params Values
}
