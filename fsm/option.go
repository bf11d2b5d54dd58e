package fsm

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Option sets something about one call.
type Option func(*Call)

// Call holds what the options of a call set. Generated code reads it.
type Call struct {
	// Actor, Reason and RequestID go into the history, empty when not given.
	Actor, Reason, RequestID string
	// Version is nil when the caller expects no version.
	Version *int64
	// Now is nil for the database's clock.
	Now *time.Time

	then any
	// event gets the event that an empty batch would fire: a Coalescer asks for it.
	event **EventInfo
	// passHeld has a batch go on without the rows that somebody else holds, once it
	// has waited for one of them as long as it may. A Coalescer sets it.
	passHeld bool
}

// Actor says who makes the call: a user, a service, a provider.
func Actor(name string) Option { return func(c *Call) { c.Actor = name } }

// Reason says why the call is made, for people who read the history.
func Reason(text string) Option { return func(c *Call) { c.Reason = text } }

// RequestID ties the history entry to a request of the caller's.
func RequestID(id string) Option { return func(c *Call) { c.RequestID = id } }

// ExpectVersion makes the call Stale unless the row has this version. It is
// compared only where the event would move the row.
func ExpectVersion(v int64) Option { return func(c *Call) { c.Version = &v } }

// At gives the time of the call. Without it the database's now() is used, the
// start of the transaction.
func At(now time.Time) Option { return func(c *Call) { c.Now = &now } }

// Then runs fn in the transition's own transaction when the outcome is
// Applied, and not otherwise. An error of fn, or a panic, rolls back the
// transition with everything that fn did; the call then returns that error,
// wrapped. On a pool or connection the call opens and commits the
// transaction; in a caller's transaction it uses a savepoint and leaves the
// commit to the caller. On a connection after a BEGIN by hand, which it would
// have to commit, the call fails with ErrArgument before any SQL. fn must not
// commit or roll back tx itself: then nobody knows what took effect, and the
// call returns [ErrUnknown]. Of several Then options the last one counts.
//
// Generated packages offer it with their own types, as order.Then. Given to a
// call of another machine, the call fails with ErrArgument before any SQL.
func Then[S ~string, R any](fn func(ctx context.Context, tx pgx.Tx, r Result[S, R]) error) Option {
	return func(c *Call) { c.then = fn }
}

// callOf applies the options in order; a later one wins.
func callOf(options []Option) Call {
	var c Call
	for _, o := range options {
		if o != nil {
			o(&c)
		}
	}
	return c
}

// thenOf returns the call's Then function, or nil.
func thenOf[S ~string, R any](c *Call) (func(context.Context, pgx.Tx, Result[S, R]) error, error) {
	if c.then == nil {
		return nil, nil
	}
	fn, ok := c.then.(func(context.Context, pgx.Tx, Result[S, R]) error)
	if !ok {
		return nil, fmt.Errorf("Then is for another machine: %T", c.then)
	}
	return fn, nil
}
