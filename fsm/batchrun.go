package fsm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// batchSize is the most items of one statement. More gain nothing: see the
// benchmark of the batches.
const batchSize = 2000

var (
	errBatchThen  = errors.New("Then has no place in a batch: go through the results, in a transaction of your own")
	errUnreached  = errors.New("the batch ended before this item")
	errTwoAnswers = errors.New("the statement answers twice for an item, or for none")
)

// batchRun is a batch at work.
type batchRun[K comparable, P any, S ~string, R any] struct {
	*Batch[K, P, S, R]
	db      DB
	tx      bool // db is, or is in, a transaction of the caller's
	options Call
	items   []Item[K, P]
	results []BatchResult[S, R]

	// rows have the items that wait, by row.
	rows []*batchRow[K]
	// like has, for each item, the first of those of its row that have equal
	// parameters.
	like []int
	// replays have the transitions of the facts that were written, by the number of
	// the first of the items with those parameters.
	replays map[int]Transition[S]
}

// batchRow is a row with the numbers of its items that have no answer yet.
type batchRow[K comparable] struct {
	key     K
	waiting []int
	races   int // how often the first of them was raced
}

// refused is the error of a call that no item can have an answer to.
func (r *batchRun[K, P, S, R]) refused() error {
	var err error
	switch {
	case missing(r.db):
		err = errors.New("no database was given")
	case r.options.then != nil:
		err = errBatchThen
	default:
		return nil
	}
	return r.error(ErrArgument, err)
}

func (r *batchRun[K, P, S, R]) error(kind, err error) error {
	return &CallError{r.Event.Machine, r.Event.Event, kind, err}
}

// expected is the version that an item expects, nil for none.
func (r *batchRun[K, P, S, R]) expected(n int) *int64 {
	if v := r.items[n].Version; v != nil {
		return v
	}
	return r.options.Version
}

// line lines the items up by row, all but those that cannot be right.
func (r *batchRun[K, P, S, R]) line() {
	at := make(map[K]*batchRow[K], len(r.items))
	r.like = make([]int, len(r.items))
	r.replays = map[int]Transition[S]{}
	for n := range r.items {
		item := &r.items[n]
		r.like[n] = n
		if r.Event.NeedsVersion && r.expected(n) == nil {
			r.results[n].Err = r.error(ErrArgument, errors.New("the event needs ExpectVersion"))
			continue
		}
		if r.Check != nil {
			if err := r.Check(item.Key, item.Params); err != nil {
				r.results[n].Err = err
				continue
			}
		}
		key := canonical(item.Key)
		row := at[key]
		if row == nil {
			row = &batchRow[K]{key: key}
			at[key] = row
			r.rows = append(r.rows, row)
		}
		row.waiting = append(row.waiting, n)
	}
	for _, row := range r.rows {
		r.liken(row.waiting)
	}
}

// liken finds the items that have equal parameters, of those of one row.
func (r *batchRun[K, P, S, R]) liken(items []int) {
	if len(items) < 2 {
		return
	}
	first := make(map[string]int, len(items))
	for _, n := range items {
		text, err := json.Marshal(r.items[n].Params) // to look up; texts that are not UTF-8 come to the same
		if err != nil {
			continue
		}
		if is, ok := first[string(text)]; !ok {
			first[string(text)] = n
		} else if reflect.DeepEqual(r.items[is].Params, r.items[n].Params) {
			r.like[n] = is
		}
	}
}

// run runs statements until each item has its answer.
func (r *batchRun[K, P, S, R]) run(ctx context.Context) error {
	if r.tx = InTx(r.db); r.tx && r.several() {
		if err := r.lock(ctx); err != nil {
			return err
		}
	}
	for {
		r.rows = slices.DeleteFunc(r.rows, func(row *batchRow[K]) bool { return len(row.waiting) == 0 })
		if len(r.rows) == 0 {
			return nil
		}
		slices.SortFunc(r.rows, func(a, b *batchRow[K]) int { return cmp.Compare(a.waiting[0], b.waiting[0]) })
		for part := range slices.Chunk(r.rows, batchSize) {
			if err := r.statement(ctx, part, 0); err != nil {
				return err
			}
		}
	}
}

// several reports whether the batch will need more than one statement, races
// aside.
func (r *batchRun[K, P, S, R]) several() bool {
	return len(r.rows) > batchSize || slices.ContainsFunc(r.rows, func(row *batchRow[K]) bool {
		return slices.ContainsFunc(row.waiting[1:], func(n int) bool { return !r.Facts || r.like[n] != row.waiting[0] })
	})
}

// lock locks all rows.
func (r *batchRun[K, P, S, R]) lock(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return r.error(ErrNothingDone, err)
	}
	if err := r.Lock(ctx, r.db, keysOf(r.rows)); err != nil {
		return r.failed(r.rows, err)
	}
	return nil
}

func keysOf[K comparable](rows []*batchRow[K]) []K {
	keys := make([]K, len(rows))
	for i, row := range rows {
		keys[i] = row.key
	}
	return keys
}

// statement fires the first waiting item of each row. The error ends the batch. Waits
// counts how often it has waited in vain for one of them.
func (r *batchRun[K, P, S, R]) statement(ctx context.Context, rows []*batchRow[K], waits int) error {
	if err := ctx.Err(); err != nil {
		return r.error(ErrNothingDone, err)
	}
	answers, err := r.Run(ctx, r.db, r.call(rows))
	if err == nil {
		return r.read(rows, answers)
	}
	switch {
	case !r.tx && r.options.passHeld && sqlState(err) == lockNotAvailable:
		return r.pass(ctx, rows, waits, err)
	case r.tx || !ofData(err):
		return r.failed(rows, err)
	case len(rows) == 1:
		r.settle(rows[0], BatchResult[S, R]{Err: r.error(kindOf(err), err)})
		return nil
	}
	return r.halves(ctx, rows, waits)
}

// halves fires the first waiting items of rows by two statements.
func (r *batchRun[K, P, S, R]) halves(ctx context.Context, rows []*batchRow[K], waits int) error {
	for _, half := range [][]*batchRow[K]{rows[:len(rows)/2], rows[len(rows)/2:]} {
		if err := r.statement(ctx, half, waits); err != nil {
			return err
		}
	}
	return nil
}

// call is what the statement is given for the first waiting items of rows.
func (r *batchRun[K, P, S, R]) call(rows []*batchRow[K]) *BatchCall[K, P] {
	c := &BatchCall[K, P]{
		N: make([]int32, 0, len(rows)), Keys: make([]K, 0, len(rows)), Params: make([]P, 0, len(rows)),
		Versions: make([]int64, 0, len(rows)), Expects: make([]bool, 0, len(rows)),
		Actors: make([]string, 0, len(rows)), Reasons: make([]string, 0, len(rows)), RequestIDs: make([]string, 0, len(rows)),
		Now: r.options.Now,
	}
	for i, row := range rows {
		n := row.waiting[0]
		item, version := &r.items[n], r.expected(n)
		c.N = append(c.N, int32(i)) // no more than batchSize
		c.Keys = append(c.Keys, row.key)
		c.Params = append(c.Params, item.Params)
		c.Versions = append(c.Versions, OrZero(version))
		c.Expects = append(c.Expects, version != nil)
		c.Actors = append(c.Actors, cmp.Or(item.Actor, r.options.Actor))
		c.Reasons = append(c.Reasons, cmp.Or(item.Reason, r.options.Reason))
		c.RequestIDs = append(c.RequestIDs, cmp.Or(item.RequestID, r.options.RequestID))
	}
	return c
}

// read gives the rows' first waiting items their answers. An item of which the
// statement says nothing has no row.
func (r *batchRun[K, P, S, R]) read(rows []*batchRow[K], answers []BatchAnswer[S, R]) error {
	of := make([]*Answer[S, R], len(rows))
	for i := range answers {
		n := int(answers[i].N)
		if n < 0 || n >= len(rows) || of[n] != nil {
			return r.failed(rows, errTwoAnswers)
		}
		of[n] = &answers[i].Answer
	}
	for i, row := range rows {
		if of[i] == nil {
			r.settle(row, BatchResult[S, R]{Err: r.error(ErrNotFound, nil)})
			continue
		}
		result, raced, err := resultOf(r.Event, *of[i], r.Guards)
		if raced {
			if row.races++; row.races < maxRaces {
				continue
			}
			err = r.error(ErrContended, nil)
		}
		r.settle(row, BatchResult[S, R]{result, err})
	}
	return nil
}

// settle answers a row's first waiting item, and those behind it that need no
// statement of their own.
func (r *batchRun[K, P, S, R]) settle(row *batchRow[K], got BatchResult[S, R]) {
	n := row.waiting[0]
	r.results[n] = got
	row.waiting, row.races = row.waiting[1:], 0
	wrote := got.Err == nil && (got.Result.Outcome == Applied || got.Result.Outcome == Compensated)
	if wrote && r.Facts {
		r.replays[r.like[n]] = got.Result.Transition
	}
	for len(row.waiting) > 0 {
		next := row.waiting[0]
		made, known := r.replays[r.like[next]]
		switch {
		case known && got.Err == nil: // the row is as the last answer shows it
			again := got
			again.Result.Outcome, again.Result.Transition, again.Result.Guards = Replayed, made, nil
			r.results[next] = again
		case !wrote && r.repeats(n, next):
			r.results[next] = got
		default:
			return
		}
		row.waiting = row.waiting[1:]
	}
}

// repeats reports whether item b asks for the same as a, of the same row. What
// goes into the history alone counts where it may be what the database refused.
func (r *batchRun[K, P, S, R]) repeats(a, b int) bool {
	if r.like[a] != r.like[b] || !reflect.DeepEqual(r.expected(a), r.expected(b)) {
		return false
	}
	x, y := &r.items[a], &r.items[b]
	return r.results[a].Err == nil || x.Actor == y.Actor && x.Reason == y.Reason && x.RequestID == y.RequestID
}

// failed is the error of a statement for the first waiting items of rows. In a
// transaction that it has aborted nothing of the batch remains.
func (r *batchRun[K, P, S, R]) failed(rows []*batchRow[K], err error) error {
	is := r.error(kindOf(err), err)
	for _, row := range rows {
		r.results[row.waiting[0]].Err = is
		row.waiting = row.waiting[1:]
	}
	if r.tx && sqlState(err) != "" {
		for n := range r.results {
			if r.results[n].Err == nil {
				r.results[n] = BatchResult[S, R]{Err: is}
			}
		}
	}
	return is
}

// ended answers the items that the batch did not come to.
func (r *batchRun[K, P, S, R]) ended(err error) {
	cause := errUnreached
	if kind := (&CallError{}); errors.As(err, &kind) && kind.Kind == ErrNothingDone && kind.Err != nil {
		cause = fmt.Errorf("%w: %w", errUnreached, kind.Err)
	}
	for _, row := range r.rows {
		for _, n := range row.waiting {
			r.results[n] = BatchResult[S, R]{Err: r.error(ErrNothingDone, cause)}
		}
	}
}

// ofData reports whether a statement failed for what it was given, so that
// without that item it may succeed.
func ofData(err error) bool {
	state := sqlState(err)
	if len(state) != 5 || endsSession(err, state) {
		return false
	}
	switch state[:2] {
	case "21", "22", "23", "27", "44", "54":
		return true
	}
	return strings.HasPrefix(state, "P0") || state == insufficientPrivilege && !denied(err)
}

// denied reports whether a statement lacks a privilege, as it does whatever it
// is given. A policy that refuses a row, and a trigger that says so, have the
// same SQLSTATE; the function of the server that reported it tells them apart.
func denied(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && strings.HasPrefix(pg.Routine, "aclcheck_error")
}
