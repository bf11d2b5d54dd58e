package fsm

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/jackc/pgx/v5"
)

// EventInfo names the event of a call. Generated code makes one for each event.
type EventInfo struct {
	Machine, Event string
	// NeedsVersion says that the call must give the expected version.
	NeedsVersion bool
}

// Answers of a statement that are no outcome.
const (
	answerRaced        = "raced"
	answerUnknownState = "UnknownState"
	answerBadArgument  = "BadArgument" // and a blank, and the parameter
)

// maxRaces bounds how often a statement is run again after it was raced. Each
// run waits for the row's holder, so even two in a row are rare.
const maxRaces = 8

// Fire runs one call of a generated machine: run executes the statement once
// and returns its answer. Generated code alone has a use for it.
//
// Errors are *CallError: ErrNotFound when run returns no row, ErrArgument,
// ErrContended, ErrNothingDone, ErrUnknown, and *UnknownStateError. A context
// that has ended before the statement, or before the COMMIT, is ErrNothingDone. The
// context's [Observer] is told of it.
func Fire[S ~string, R any](ctx context.Context, db DB, e *EventInfo, options []Option, guards func(S) []Guard, run func(context.Context, DB, *Call) (Answer[S, R], error)) (Result[S, R], error) {
	if o := observerOf(ctx); o != nil {
		return observeCall(ctx, o, db, e, options, guards, run)
	}
	return makeCall(ctx, db, e, options, guards, run)
}

// makeCall is a call that nobody is told of.
func makeCall[S ~string, R any](ctx context.Context, db DB, e *EventInfo, options []Option, guards func(S) []Guard, run func(context.Context, DB, *Call) (Answer[S, R], error)) (Result[S, R], error) {
	var none Result[S, R]
	if missing(db) {
		return none, &CallError{e.Machine, e.Event, ErrArgument, errors.New("no database was given")}
	}
	call := callOf(options)
	then, err := thenOf[S, R](&call)
	if err != nil {
		return none, &CallError{e.Machine, e.Event, ErrArgument, err}
	}
	if e.NeedsVersion && call.Version == nil {
		return none, &CallError{e.Machine, e.Event, ErrArgument, errors.New("the event needs ExpectVersion")}
	}
	if then == nil {
		return judge(ctx, db, e, &call, guards, run)
	}

	_, savepoint := db.(pgx.Tx)
	if !savepoint && InTx(db) {
		return none, &CallError{e.Machine, e.Event, ErrArgument, errBegun}
	}
	tx, err := db.Begin(ctx)
	if err != nil {
		return none, &CallError{e.Machine, e.Event, ErrNothingDone, err} // no statement of the call has run
	}
	defer rollback(ctx, tx) // after a commit it does nothing
	r, err := judge(ctx, tx, e, &call, guards, run)
	if err != nil {
		return none, err
	}
	if r.Outcome == Applied {
		if err := then(ctx, tx, r); err != nil {
			return none, &CallError{e.Machine, e.Event, nil, fmt.Errorf("then: %w", err)}
		}
	}
	if kind, err := commit(ctx, tx, savepoint); err != nil {
		return none, &CallError{e.Machine, e.Event, kind, err}
	}
	return r, nil
}

// missing reports whether db is nil, or a nil pool or connection in disguise.
func missing(db DB) bool {
	if db == nil {
		return true
	}
	v := reflect.ValueOf(db)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// judge runs the statement until its answer can be trusted.
func judge[S ~string, R any](ctx context.Context, db DB, e *EventInfo, call *Call, guards func(S) []Guard, run func(context.Context, DB, *Call) (Answer[S, R], error)) (Result[S, R], error) {
	var none Result[S, R]
	for range maxRaces {
		if err := ctx.Err(); err != nil { // earlier runs were raced, so they did nothing
			return none, &CallError{e.Machine, e.Event, ErrNothingDone, err}
		}
		a, err := run(ctx, db, call)
		if err != nil {
			if errors.Is(err, sql.ErrNoRows) { // pgx.ErrNoRows is one too
				return none, &CallError{e.Machine, e.Event, ErrNotFound, nil}
			}
			return none, &CallError{e.Machine, e.Event, kindOf(err), err}
		}
		if r, raced, err := resultOf(e, a, guards); !raced {
			return r, err
		}
	}
	return none, &CallError{e.Machine, e.Event, ErrContended, nil}
}

// resultOf reads an answer: a result, or the error that it stands for. raced
// says that it cannot be trusted, since others were at the row.
func resultOf[S ~string, R any](e *EventInfo, a Answer[S, R], guards func(S) []Guard) (r Result[S, R], raced bool, err error) {
	if param, bad := strings.CutPrefix(a.Outcome, answerBadArgument); bad {
		return r, false, &CallError{e.Machine, e.Event, ErrArgument, fmt.Errorf("the check of%s is not true", param)}
	}
	switch a.Outcome {
	case answerRaced:
		return r, true, nil
	case answerUnknownState:
		return r, false, &CallError{e.Machine, e.Event, ErrNothingDone, &UnknownStateError{e.Machine, string(a.State)}}
	}
	r = Result[S, R]{
		Machine: e.Machine, Event: e.Event,
		Outcome: Outcome(a.Outcome), Row: a.Row, State: a.State, Version: a.Version,
		Transition: a.Transition, Snapshot: a.Snapshot,
	}
	if r.Outcome == GuardFailed && guards != nil {
		r.Guards = guards(r.State)
	}
	return r, false, nil
}

// FireCreate is Fire for a creation, where no row back means that another
// creation of the same key was committed after the statement began: it is run
// again, and then sees that row.
func FireCreate[S ~string, R any](ctx context.Context, db DB, e *EventInfo, options []Option, run func(context.Context, DB, *Call) (Answer[S, R], error)) (Result[S, R], error) {
	return Fire(ctx, db, e, options, nil, func(ctx context.Context, db DB, c *Call) (Answer[S, R], error) {
		a, err := run(ctx, db, c)
		if errors.Is(err, sql.ErrNoRows) {
			return Answer[S, R]{Outcome: answerRaced}, nil
		}
		return a, err
	})
}

// ReadError classifies the error of a query that changes nothing: ErrNotFound
// for no row, otherwise ErrNothingDone with the cause. Generated code calls it.
func ReadError(e *EventInfo, err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return &CallError{e.Machine, e.Event, ErrNotFound, nil}
	}
	return &CallError{e.Machine, e.Event, ErrNothingDone, err}
}

// SweepError classifies the error of a sweep as Fire does that of a call.
// Generated code calls it.
func SweepError(e *EventInfo, err error) error {
	return &CallError{e.Machine, e.Event, kindOf(err), err}
}
