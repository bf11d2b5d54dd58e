package fsm

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
)

// nameless is the event of a batch that does not say which it fires.
var nameless = &EventInfo{Machine: "coalescer", Event: "call"}

// error is the error of a call of the event.
func (e *EventInfo) error(kind, err error) error { return &CallError{e.Machine, e.Event, kind, err} }

// eventOf returns the event that a batch fires. An empty batch sends nothing, and
// tells its event to whom the option asks for it.
func eventOf[K comparable, P any, S ~string, R any](batch func(context.Context, DB, []Item[K, P], ...Option) ([]BatchResult[S, R], error)) (e *EventInfo) {
	e = nameless
	defer func() { _ = recover() }() // a function of somebody's that takes items for granted
	_, _ = batch(context.Background(), nil, nil, func(c *Call) { c.event = &e })
	return e
}

var (
	errCutOff  = errors.New("the coalescer was closed while the batch was under way")
	errTooLong = errors.New("the batch took longer than the coalescer's Timeout")
)

// ownEnd is the error of a batch or of one of its calls, as callers get it: the
// contexts that end in a batch are not theirs, so that no error wraps them.
func (c *Coalescer[K, P, S, R]) ownEnd(ctx context.Context, err error) error {
	if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var cause error
	switch {
	case c.work.Err() != nil:
		cause = errCutOff
	case ctx.Err() != nil:
		cause = errTooLong
	default: // to connect took too long, say
		cause = errors.New(err.Error())
	}
	kind := ErrUnknown
	if errors.Is(err, ErrNothingDone) && !errors.Is(err, ErrUnknown) {
		kind = ErrNothingDone
	}
	if kind == ErrNothingDone && pgconn.SafeToRetry(err) {
		cause = notSent{cause}
	}
	return c.event.error(kind, cause)
}

// notSent is the cause of a statement that never reached the server.
type notSent struct{ error }

// SafeToRetry makes it Retryable, as pgx's own error was.
func (notSent) SafeToRetry() bool { return true }
