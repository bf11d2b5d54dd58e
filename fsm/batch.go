package fsm

import (
	"context"
	"time"
)

// Item is one call of a batch. Generated packages name it for each event, as
// order.PaymentSucceededItem.
type Item[K comparable, P any] struct {
	Key    K
	Params P
	// Version is the expected version, as [ExpectVersion] gives it; nil for none.
	Version *int64
	// Actor, Reason and RequestID go into the history. Those of the batch's
	// options are taken where they are empty.
	Actor, Reason, RequestID string
}

// BatchResult is what became of one item of a batch: what the single call would
// return.
type BatchResult[S ~string, R any] struct {
	// Result is zero when there is an error.
	Result Result[S, R]
	Err    error
}

// Batch is an event as a batch fires it. Generated code alone has a use for it.
type Batch[K comparable, P any, S ~string, R any] struct {
	Event *EventInfo
	// Facts says that what the event writes is known by its identity from then on.
	Facts bool
	// Check returns ErrArgument for what cannot be right, before any SQL; nil
	// where nothing can be seen then.
	Check func(K, P) error
	// Guards names the guards tried in a state; nil for an event without.
	Guards func(S) []Guard
	// Run runs the statement once for items of which no two have the same key.
	Run func(context.Context, DB, *BatchCall[K, P]) ([]BatchAnswer[S, R], error)
	// Lock locks the rows of all keys, in the order of the keys.
	Lock func(context.Context, DB, []K) error
	// Held returns the positions of the keys whose rows somebody else has locked.
	Held func(context.Context, DB, []K) ([]int32, error)
}

// BatchCall is what one statement of a batch is given. Its slices are equally
// long: position n is item n.
type BatchCall[K comparable, P any] struct {
	N      []int32 // 0, 1, 2 and so on
	Keys   []K
	Params []P
	// Versions counts where Expects is true.
	Versions                    []int64
	Expects                     []bool
	Actors, Reasons, RequestIDs []string
	// Now is nil for the database's clock.
	Now *time.Time
}

// BatchAnswer is what the statement says of item N.
type BatchAnswer[S ~string, R any] struct {
	N int32
	Answer[S, R]
}

// Answers reads the rows of a batch's statement. Generated code calls it.
func Answers[T any, S ~string, R any](rows []T, err error, of func(T) BatchAnswer[S, R]) ([]BatchAnswer[S, R], error) {
	if err != nil {
		return nil, err
	}
	answers := make([]BatchAnswer[S, R], len(rows))
	for i, row := range rows {
		answers[i] = of(row)
	}
	return answers, nil
}

// Positions are 0, 1, 2 and so on, n of them. Generated code calls it.
func Positions(n int) []int32 {
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// OrZero is the value of an optional parameter, the zero value for none.
// Generated code calls it, and says beside it whether there was one.
func OrZero[T any](p *T) T {
	if p == nil {
		var none T
		return none
	}
	return *p
}

// FireBatch fires one event on many rows, by a statement for up to some
// thousands of items: each gets what the single call would answer, in the order
// of the items. Generated code alone has a use for it.
//
// Of items with the same row, each goes into a statement of its own, in their
// order. An item that repeats an earlier one in all parameters needs none: it is
// answered Replayed once that one has written its fact, and as that one when
// nothing was written between them. An item whose row others changed meanwhile
// is asked again in the next statement, a few times, and is then [ErrContended]
// by itself.
//
// On a pool or a connection each statement commits by itself, and one that the
// data of an item breaks is run again in halves, until that item alone has the
// error. In a caller's transaction, be it one that was begun on the connection by
// hand, it is as with every statement: the error aborts the transaction, and the
// batch with it.
//
// Rows are locked in the order of their keys, before any fact, and facts are
// written in the order of their identities: batches and single calls never
// deadlock, in whatever order their items are. In a caller's transaction a batch
// that needs several statements locks all its rows first. Facts of its later
// statements still follow those of the earlier ones, and locks that the
// transaction took before come before all: such a transaction can be the victim
// of a deadlock, 40P01, which is [Retryable].
//
// The error is nil when every item has its answer, be it an error of the item's
// own: [ErrNotFound], [ErrArgument], ErrContended, data that the database
// refuses. Otherwise it is that of the statement at which the batch ended, and
// the items tell what is done: those of the finished statements have their
// results, those of the one that failed its error, perhaps [ErrUnknown], and all
// others [ErrNothingDone]. [Then] is refused with ErrArgument, since the
// statements commit one by one; in a transaction of the caller's own the results
// can be gone through. An empty batch sends nothing, answers nothing, and is told
// nobody; of any other the context's [Observer] is told.
func FireBatch[K comparable, P any, S ~string, R any](ctx context.Context, db DB, b *Batch[K, P, S, R], items []Item[K, P], options []Option) ([]BatchResult[S, R], error) {
	if o := observerOf(ctx); o != nil && len(items) > 0 {
		return observeBatch(ctx, o, db, b, items, options)
	}
	return makeBatch(ctx, db, b, items, options)
}

// makeBatch is a batch that nobody is told of.
func makeBatch[K comparable, P any, S ~string, R any](ctx context.Context, db DB, b *Batch[K, P, S, R], items []Item[K, P], options []Option) ([]BatchResult[S, R], error) {
	r := &batchRun[K, P, S, R]{
		Batch: b, db: db, options: callOf(options), items: items,
		results: make([]BatchResult[S, R], len(items)),
	}
	if len(items) == 0 {
		if r.options.event != nil {
			*r.options.event = b.Event
		}
		return r.results, nil
	}
	if err := r.refused(); err != nil {
		for n := range r.results {
			r.results[n].Err = err
		}
		return r.results, err
	}
	r.line()
	if err := r.run(ctx); err != nil {
		r.ended(err)
		return r.results, err
	}
	return r.results, nil
}

// canonical is the key as all that name the same row are spelled. Keys that have
// several spellings have the method Canonical.
func canonical[K comparable](key K) K {
	if k, ok := any(key).(interface{ Canonical() K }); ok {
		return k.Canonical()
	}
	return key
}
