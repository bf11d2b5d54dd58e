package fsm

import (
	"context"
	"errors"
	"iter"
	"time"
)

// Observer is told of calls as they are made, for metrics and traces; see
// [WithObserver]. What is nil is told nobody. Its functions are called by the
// goroutine that makes the call, which waits for them: they must be quick and safe
// for concurrent use. An Observer must not change once it is in use.
type Observer struct {
	// Begun is told of a call before its first statement. It returns the context
	// that the call is made with, and that the others are told with: ctx, or one
	// made of it.
	Begun func(ctx context.Context, c Observed) context.Context
	// Raced is told of a statement of which so many answers cannot be trusted,
	// since others were at the row: one for a single call. It is run again for
	// these, until that is [ErrContended].
	Raced func(ctx context.Context, c Observed, answers int)
	// Ended is told of every call that Begun was told of, when it has its answer;
	// after a panic too.
	Ended func(ctx context.Context, e Ended)
	// Swept is told of each page of a [Sweeper] that moved rows, and of each that
	// failed.
	Swept func(ctx context.Context, rows []Swept, err error)
	// Retried is told that [RunTx] is about to wait, and to run its function again,
	// after an attempt, counted from 1, that ended with err.
	Retried func(ctx context.Context, attempt int, err error)
}

// Observed is a call, or a batch of calls, as an Observer is told of it.
type Observed struct {
	Machine, Event string
	// Calls is how many calls a batch makes; 0 for a single call.
	Calls int
	// Coalesced says that it is a call of a [Coalescer], or a batch that one runs for
	// its calls. Who counts calls counts one of the two.
	Coalesced bool
	// Provisional says that the caller's transaction may yet undo it.
	Provisional bool
	// RequestID is what [RequestID] gave to all of it, for the history.
	RequestID string
}

// Ended is what became of a call, or of a batch of calls.
type Ended struct {
	Observed
	// Outcome is empty after an error, and for a batch.
	Outcome Outcome
	// From and To are the row's states before and after, equal where the call moved
	// nothing; From is empty for a creation. Version is the version after. They are
	// zero after an error, and for a batch.
	From, To string
	Version  int64
	// Row is Result.Row, for who knows its type; nil after an error, and for a batch.
	Row any
	// Err is the call's error, or that at which the batch ended.
	Err error
	// Statements is how often the statement was run; 0 for a call of a Coalescer.
	Statements int
	Took       time.Duration

	each iter.Seq2[Outcome, error]
}

// Answers yields the outcome or the error of each call: one for a single call, and
// those of its items for a batch.
func (e Ended) Answers() iter.Seq2[Outcome, error] {
	if e.each != nil {
		return e.each
	}
	return func(yield func(Outcome, error) bool) { yield(e.Outcome, e.Err) }
}

// errUnreturned is the error of a call that did not return: it panicked.
var errUnreturned = errors.New("the call did not return")

type observerKey struct{}

// WithObserver returns a context for calls that o is told of: single calls, batches,
// those of a [Coalescer], the pages of a [Sweeper] and the repetitions of [RunTx].
// The batches of a Coalescer are told to the observer of the context that it was
// made with. A later observer takes the place of an earlier one; nil is nobody.
//
// Arguments that generated code refuses before any SQL are told to the caller alone.
// Without an observer a call costs a look into its context, and allocates nothing
// for it.
func WithObserver(ctx context.Context, o *Observer) context.Context {
	if o == observerOf(ctx) {
		return ctx
	}
	return context.WithValue(ctx, observerKey{}, o)
}

// observerOf is the context's observer, nil for none.
func observerOf(ctx context.Context) *Observer {
	o, _ := ctx.Value(observerKey{}).(*Observer)
	return o
}

func (o *Observer) begun(ctx context.Context, c Observed) context.Context {
	if o.Begun == nil {
		return ctx
	}
	return o.Begun(ctx, c)
}

func (o *Observer) raced(ctx context.Context, c Observed, answers int) {
	if o.Raced != nil && answers > 0 {
		o.Raced(ctx, c, answers)
	}
}

// ended tells how long it took, and is deferred: a panic ends a call too.
func (o *Observer) ended(ctx context.Context, e *Ended, begun time.Time) {
	if o.Ended != nil {
		e.Took = time.Since(begun)
		o.Ended(ctx, *e)
	}
}

// of takes over what a single call answered.
func (e *Ended) of(o Outcome, from, to string, version int64, row any, err error) {
	if e.Err = err; err != nil {
		return
	}
	if o != Applied {
		from = to
	}
	e.Outcome, e.From, e.To, e.Version, e.Row = o, from, to, version, row
}

// observeCall is makeCall, told to o.
func observeCall[S ~string, R any](ctx context.Context, o *Observer, db DB, e *EventInfo, options []Option, guards func(S) []Guard, run func(context.Context, DB, *Call) (Answer[S, R], error)) (r Result[S, R], err error) {
	c := Observed{Machine: e.Machine, Event: e.Event, Provisional: InTx(db), RequestID: callOf(options).RequestID}
	ended := Ended{Observed: c, Err: errUnreturned}
	ctx = o.begun(ctx, c)
	defer o.ended(ctx, &ended, time.Now())
	r, err = makeCall(ctx, db, e, options, guards, func(ctx context.Context, db DB, call *Call) (Answer[S, R], error) {
		ended.Statements++
		a, err := run(ctx, db, call)
		if err == nil && a.Outcome == answerRaced {
			o.raced(ctx, c, 1)
		}
		return a, err
	})
	ended.of(r.Outcome, string(r.Transition.From), string(r.State), r.Version, r.Row, err)
	return r, err
}

// observeBatch is makeBatch, told to o.
func observeBatch[K comparable, P any, S ~string, R any](ctx context.Context, o *Observer, db DB, b *Batch[K, P, S, R], items []Item[K, P], options []Option) (results []BatchResult[S, R], err error) {
	call := callOf(options)
	c := Observed{
		Machine: b.Event.Machine, Event: b.Event.Event, Calls: len(items),
		Coalesced: call.passHeld, Provisional: InTx(db), RequestID: call.RequestID,
	}
	ended := Ended{Observed: c, Err: errUnreturned}
	ended.each = func(yield func(Outcome, error) bool) {
		for n := range items {
			r := BatchResult[S, R]{Err: errUnreturned}
			if n < len(results) {
				r = results[n]
			}
			if !yield(r.Result.Outcome, r.Err) {
				return
			}
		}
	}
	ctx = o.begun(ctx, c)
	defer o.ended(ctx, &ended, time.Now())
	counted := *b
	counted.Run = func(ctx context.Context, db DB, call *BatchCall[K, P]) ([]BatchAnswer[S, R], error) {
		ended.Statements++
		answers, err := b.Run(ctx, db, call)
		raced := 0
		for i := range answers {
			if answers[i].Outcome == answerRaced {
				raced++
			}
		}
		o.raced(ctx, c, raced)
		return answers, err
	}
	results, err = makeBatch(ctx, db, &counted, items, options)
	ended.Err = err
	return results, err
}

// observe is join, told to o.
func (c *Coalescer[K, P, S, R]) observe(ctx context.Context, o *Observer, item Item[K, P]) (r Result[S, R], err error) {
	is := Observed{Machine: c.event.Machine, Event: c.event.Event, Coalesced: true, RequestID: item.RequestID}
	ended := Ended{Observed: is, Err: errUnreturned}
	ctx = o.begun(ctx, is)
	defer o.ended(ctx, &ended, time.Now())
	r, err = c.join(ctx, item)
	ended.of(r.Outcome, string(r.Transition.From), string(r.State), r.Version, r.Row, err)
	return r, err
}
