package fsm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

// desk is a coalescer with one worker, over a batch that waits to be let go, and
// writes down what it was given.
type desk struct {
	*Coalescer[spelled, terms, state, row]
	mu  sync.Mutex
	log []string
	let chan struct{} // one token a batch
	say func(item batchItem) BatchResult[state, row]
	err func(items []batchItem) error
}

func newDesk(t *testing.T, o Coalescing) *desk {
	t.Helper()
	o, err := o.complete()
	require.NoError(t, err)
	d := &desk{let: make(chan struct{})}
	d.say = func(item batchItem) BatchResult[state, row] {
		return BatchResult[state, row]{Result: Result[state, row]{Outcome: Applied, Row: row{string(item.Key) + "/" + item.Params.No}}}
	}
	d.Coalescer = newCoalescer(pay, []DB{&fakeDB{}}, d.run, o)
	return d
}

func (d *desk) run(ctx context.Context, _ DB, items []batchItem, _ ...Option) ([]BatchResult[state, row], error) {
	given := make([]string, len(items))
	for i, item := range items {
		given[i] = string(item.Key) + "/" + item.Params.No
	}
	d.mu.Lock()
	d.log = append(d.log, strings.Join(given, " "))
	d.mu.Unlock()
	var err error
	select {
	case <-d.let:
		if d.err != nil {
			err = d.err(items)
		}
	case <-ctx.Done():
		err = fmt.Errorf("%w: %w", ErrUnknown, ctx.Err())
	}
	results := make([]BatchResult[state, row], len(items))
	for i, item := range items {
		if results[i] = d.say(item); err != nil {
			results[i] = BatchResult[state, row]{Err: err}
		}
	}
	return results, err
}

func (d *desk) batches() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.log)
}

// fired is a call under way.
type fired struct {
	result Result[state, row]
	err    error
	done   chan struct{}
}

// come makes the calls of "k/P k/P", one after the other.
func (d *desk) come(ctx context.Context, calls string) []*fired {
	var all []*fired
	for _, item := range list(calls) {
		f := &fired{done: make(chan struct{})}
		all = append(all, f)
		go func() {
			f.result, f.err = d.Fire(ctx, item)
			close(f.done)
		}()
		synctest.Wait()
	}
	return all
}

// short is what calls were told: "-" for those that still wait.
func short(calls []*fired) string {
	told := make([]string, len(calls))
	for i, f := range calls {
		select {
		case <-f.done:
			told[i] = f.result.Row.Key
			if f.err != nil {
				told[i] = f.err.Error()
			}
		default:
			told[i] = "-"
		}
	}
	return strings.Join(told, " ")
}

func (d *desk) letAll() { close(d.let) }

func closed(t *testing.T, d *desk) {
	t.Helper()
	require.NoError(t, d.Close(context.Background()))
	require.Zero(t, d.Stats().Waiting)
}

func TestWhatComesDuringABatchIsTheNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, Coalescing{})
		defer closed(t, d)
		calls := d.come(t.Context(), "a/1 b/1 c/1 d/1")
		require.Equal(t, []string{"a/1"}, d.batches(), "the first does not wait for others")
		require.Equal(t, "- - - -", short(calls))
		d.let <- struct{}{}
		synctest.Wait()
		require.Equal(t, []string{"a/1", "b/1 c/1 d/1"}, d.batches())
		require.Equal(t, "a/1 - - -", short(calls))
		d.let <- struct{}{}
		synctest.Wait()
		require.Equal(t, "a/1 b/1 c/1 d/1", short(calls))
		require.Equal(t, CoalescerStats{Calls: 4, Batches: 2}, d.Stats())
	})
}

func TestARowsCallsGoInTheirOrder(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, calls string
		size        int
		batches     []string
	}{
		{"one of a row at a time", "x/0 a/1 a/2 b/1 a/3", 0, []string{"x/0", "a/1 b/1", "a/2", "a/3"}},
		{"those that repeat it with it", "x/0 a/1 a/1 a/2 a/1", 0, []string{"x/0", "a/1 a/1", "a/2", "a/1"}},
		{"each row has its turn", "x/0 a/1 a/2 a/3 b/1 c/1", 2, []string{"x/0", "a/1 b/1", "c/1 a/2", "a/3"}},
		{"a batch has its size", "x/0 a/1 b/1 c/1 d/1 e/1", 2, []string{"x/0", "a/1 b/1", "c/1 d/1", "e/1"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t, Coalescing{Size: tc.size})
				defer closed(t, d)
				calls := d.come(t.Context(), tc.calls)
				d.letAll()
				synctest.Wait()
				require.Equal(t, tc.batches, d.batches())
				require.Equal(t, tc.calls, short(calls), "each has its own answer")
			})
		})
	}
}

// What repeats the parameters and expects another version is another call.
func TestAnotherVersionIsNoRepetition(t *testing.T) {
	t.Parallel()
	one, also, two := int64(1), int64(1), int64(2)
	call := func(v *int64) *laneCall[spelled, terms, state, row] {
		return &laneCall[spelled, terms, state, row]{item: batchItem{Key: "a", Params: terms{"1"}, Version: v}}
	}
	require.True(t, call(nil).repeats(call(nil)))
	require.True(t, call(&one).repeats(call(&also)))
	require.False(t, call(&one).repeats(call(&two)))
	require.False(t, call(&one).repeats(call(nil)))
}

// Two spellings of a key are one row, and so one line.
func TestSpellingsOfAKeyAreOneRow(t *testing.T) {
	t.Parallel()
	var got []spelled
	o, err := Coalescing{}.complete()
	require.NoError(t, err)
	dbs := make([]DB, 8)
	c := newCoalescer(pay, dbs, func(_ context.Context, _ DB, items []Item[spelled, terms], _ ...Option) ([]BatchResult[state, row], error) {
		got = append(got, items[0].Key) // one call at a time
		return make([]BatchResult[state, row], len(items)), nil
	}, o)
	for _, key := range []spelled{"A", "a", "A"} {
		_, err := c.Fire(t.Context(), Item[spelled, terms]{Key: key})
		require.NoError(t, err)
	}
	require.NoError(t, c.Close(t.Context()))
	require.Equal(t, []spelled{"a", "a", "a"}, got)
}

func TestABatchIsHeldOpen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, Coalescing{Wait: time.Second, Size: 3})
		defer closed(t, d)
		d.come(t.Context(), "a/1")
		time.Sleep(time.Second / 2)
		calls := d.come(t.Context(), "b/1")
		require.Empty(t, d.batches())
		time.Sleep(time.Second / 2)
		synctest.Wait()
		require.Equal(t, []string{"a/1 b/1"}, d.batches(), "for as long as the first may wait")
		d.letAll()
		synctest.Wait()
		require.Equal(t, "b/1", short(calls))
		calls = d.come(t.Context(), "c/1 d/1 e/1")
		require.Equal(t, "c/1 d/1 e/1", short(calls), "a full one goes at once")
		require.Equal(t, []string{"a/1 b/1", "c/1 d/1 e/1"}, d.batches())
	})
}

func TestACallerWhoLeaves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, Coalescing{})
		defer closed(t, d)
		ctx, cancel := context.WithCancel(t.Context())
		under := d.come(ctx, "a/1")
		stays := d.come(t.Context(), "b/1")
		waits := d.come(ctx, "b/2 c/1")
		cancel()
		synctest.Wait()
		require.Equal(t, &CallError{"order", "pay", ErrUnknown, context.Canceled}, under[0].err)
		for _, w := range append(waits, d.come(ctx, "d/1")...) {
			require.Equal(t, &CallError{"order", "pay", ErrNothingDone, context.Canceled}, w.err)
		}
		d.letAll()
		synctest.Wait()
		require.Equal(t, "b/1", short(stays))
		require.Equal(t, []string{"a/1", "b/1"}, d.batches(), "what was left is not sent")
		require.Equal(t, CoalescerStats{Calls: 2, Batches: 2, Cancelled: 3, Abandoned: 1}, d.Stats())
	})
}

func TestThereIsRoomForSoMany(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, Coalescing{Waiting: 2})
		defer closed(t, d)
		ctx, cancel := context.WithCancel(t.Context())
		in := d.come(t.Context(), "a/1 b/1")
		out := d.come(ctx, "c/1")
		later := d.come(t.Context(), "d/1")
		require.Equal(t, 2, d.Stats().Waiting)
		cancel()
		synctest.Wait()
		require.Equal(t, &CallError{"order", "pay", ErrNothingDone, context.Canceled}, out[0].err)
		d.letAll()
		synctest.Wait()
		require.Equal(t, "a/1 b/1 d/1", short(append(in, later...)))
		require.Equal(t, []string{"a/1", "b/1", "d/1"}, d.batches())
	})
}

func TestAHotRowKeepsNobodyOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, Coalescing{PerRow: 2})
		defer closed(t, d)
		d.come(t.Context(), "x/0")
		in := d.come(t.Context(), "a/1 a/2")
		out := d.come(t.Context(), "a/3")
		require.Equal(t, &CallError{"order", "pay", ErrContended, ErrRowFull}, out[0].err)
		require.True(t, Retryable(out[0].err))
		other := d.come(t.Context(), "b/1")
		d.letAll()
		synctest.Wait()
		require.Equal(t, "a/1 a/2 b/1", short(append(in, other...)))
		require.Equal(t, []string{"x/0", "a/1 b/1", "a/2"}, d.batches())
		require.EqualValues(t, 1, d.Stats().Refused)
	})
}

// undone is what a batch is told that the server has refused.
func undone(code string) error {
	return &CallError{"order", "pay", ErrNothingDone, server("ERROR", code)}
}

// A batch passes over the rows that somebody holds. One that waits in vain all the
// same is not run again.
func TestABatchThatWaitedInVain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, Coalescing{})
		defer closed(t, d)
		calls := d.come(t.Context(), "a/1")
		d.err = func([]batchItem) error { return undone("55P03") }
		d.letAll()
		synctest.Wait()
		require.Equal(t, []string{"a/1"}, d.batches())
		require.True(t, Retryable(calls[0].err))
	})
}

// Where a batch was done in part before it waited in vain, only the rest is run again.
func TestOnlyWhatWasUndoneIsRunAgain(t *testing.T) {
	t.Parallel()
	var log []string
	o, err := Coalescing{}.complete()
	require.NoError(t, err)
	c := newCoalescer(pay, nil, func(_ context.Context, _ DB, items []batchItem, _ ...Option) ([]BatchResult[state, row], error) {
		var given []string
		results := make([]BatchResult[state, row], len(items))
		for i, item := range items {
			given = append(given, string(item.Key))
			results[i].Result.Outcome = Applied
		}
		log = append(log, strings.Join(given, " "))
		if len(items) < 4 {
			return results, nil
		}
		results[1].Err, results[3].Err, results[4].Err = undone("40P01"), undone("40P01"), undone("55P03")
		return results, results[1].Err
	}, o)
	results, err := c.fire(t.Context(), nil, list("a/1 b/1 c/1 d/1 e/1"))
	require.NoError(t, err)
	require.Equal(t, []string{"a b c d e", "b d"}, log)
	require.Equal(t, undone("55P03"), results[4].Err, "it has waited")
	for _, r := range results[:4] {
		require.NoError(t, r.Err)
		require.Equal(t, Applied, r.Result.Outcome)
	}
}

func TestABatchThatIsUndoneAgainAndAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, Coalescing{})
		defer closed(t, d)
		calls := d.come(t.Context(), "a/1")
		d.err = func([]batchItem) error { return undone("40P01") }
		d.letAll()
		synctest.Wait()
		require.Len(t, d.batches(), maxRaces)
		require.True(t, Retryable(calls[0].err))
	})
}

func TestABatchThatFails(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		say  func(batchItem) BatchResult[state, row]
		err  error
		want error
	}{
		"an error for all":      {err: undone("42P01"), want: ErrNothingDone},
		"a lost connection":     {err: &CallError{"order", "pay", ErrUnknown, errTest}, want: ErrUnknown},
		"a panic":               {say: func(batchItem) BatchResult[state, row] { panic("boom") }, want: ErrUnknown},
		"an item of its own":    {say: func(batchItem) BatchResult[state, row] { return BatchResult[state, row]{Err: ErrNotFound} }, want: ErrNotFound},
		"a panic with an error": {say: func(batchItem) BatchResult[state, row] { panic(errTest) }, want: ErrUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newDesk(t, Coalescing{})
				defer closed(t, d)
				right := d.say
				if tc.say != nil {
					d.say = tc.say
				}
				d.err = func([]batchItem) error { return tc.err }
				calls := d.come(t.Context(), "a/1")
				d.let <- struct{}{}
				synctest.Wait()
				require.ErrorIs(t, calls[0].err, tc.want)
				d.say, d.err = right, nil
				calls = d.come(t.Context(), "a/1")
				d.let <- struct{}{}
				synctest.Wait()
				require.Equal(t, "a/1", short(calls), "the worker goes on")
			})
		})
	}
}

// A batch that answers for others than it was asked for is not believed.
func TestABatchThatAnswersForTooFew(t *testing.T) {
	t.Parallel()
	o, err := Coalescing{}.complete()
	require.NoError(t, err)
	c := newCoalescer(pay, make([]DB, 1), func(context.Context, DB, []batchItem, ...Option) ([]BatchResult[state, row], error) {
		return nil, nil
	}, o)
	_, err = c.Fire(t.Context(), batchItem{Key: "a"})
	require.ErrorIs(t, err, ErrUnknown)
	require.NoError(t, c.Close(t.Context()))
}

func TestCloseDrains(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, Coalescing{Waiting: 3})
		calls := d.come(t.Context(), "a/1 b/1 a/2")
		full := d.come(t.Context(), "c/1")
		ended := make(chan error, 2)
		for range 2 {
			go func() { ended <- d.Close(context.Background()) }()
		}
		synctest.Wait()
		require.Empty(t, ended)
		d.letAll()
		require.NoError(t, <-ended)
		require.NoError(t, <-ended)
		synctest.Wait()
		require.Equal(t, "a/1 b/1 a/2", short(calls))
		require.Equal(t, &CallError{"order", "pay", ErrNothingDone, ErrClosed}, full[0].err, "it was not in yet")
		_, err := d.Fire(t.Context(), batchItem{Key: "d"})
		require.Equal(t, &CallError{"order", "pay", ErrNothingDone, ErrClosed}, err)
		require.Equal(t, CoalescerStats{Calls: 3, Batches: 2, Closed: 2}, d.Stats())
	})
}

func TestCloseWithoutPatience(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, Coalescing{})
		calls := d.come(t.Context(), "a/1 b/1 a/2")
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		require.ErrorIs(t, d.Close(ctx), context.Canceled)
		synctest.Wait()
		require.Equal(t, &CallError{"order", "pay", ErrUnknown, errCutOff}, calls[0].err)
		for _, c := range calls[1:] {
			require.Equal(t, &CallError{"order", "pay", ErrNothingDone, ErrClosed}, c.err)
		}
		require.Equal(t, []string{"a/1"}, d.batches())
		require.Equal(t, CoalescerStats{Calls: 1, Batches: 1, Unknown: 1, Closed: 2}, d.Stats())
	})
}

func TestABatchHasItsTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t, Coalescing{Timeout: time.Minute})
		defer closed(t, d)
		calls := d.come(t.Context(), "a/1")
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, &CallError{"order", "pay", ErrUnknown, errTooLong}, calls[0].err)
		require.EqualValues(t, 1, d.Stats().Unknown)
	})
}

// No context that ends in a batch is a caller's: an error that says so would have a
// handler believe that its client is gone.
func TestNoErrorOfABatchIsACallersContext(t *testing.T) {
	t.Parallel()
	unsent := fmt.Errorf("dial: %w", &retryable{context.DeadlineExceeded})
	for _, tc := range []struct {
		err       error
		kind      error
		retryable bool
	}{
		{&CallError{"order", "pay", ErrUnknown, context.Canceled}, ErrUnknown, false},
		{context.DeadlineExceeded, ErrUnknown, false},
		{&CallError{"order", "pay", ErrNothingDone, context.DeadlineExceeded}, ErrNothingDone, false},
		{&CallError{"order", "pay", ErrNothingDone, unsent}, ErrNothingDone, true},
	} {
		c := newCoalescer[spelled, terms, state, row](pay, nil, nil, Coalescing{})
		got := c.ownEnd(t.Context(), tc.err)
		require.ErrorIs(t, got, tc.kind)
		require.NotErrorIs(t, got, context.Canceled)
		require.NotErrorIs(t, got, context.DeadlineExceeded)
		require.Equal(t, tc.retryable, Retryable(got))
		require.ErrorAs(t, got, new(*CallError))
	}
	require.NoError(t, (&Coalescer[spelled, terms, state, row]{}).ownEnd(t.Context(), nil))
}

// retryable is an error of a statement that was not sent, as pgx has them.
type retryable struct{ error }

func (r *retryable) SafeToRetry() bool { return true }
func (r *retryable) Unwrap() error     { return r.error }

// The names of machine and event come from the batch.
func TestTheEventOfABatch(t *testing.T) {
	t.Parallel()
	r := answering(always("Applied"))
	batch := func(ctx context.Context, db DB, items []batchItem, options ...Option) ([]BatchResult[state, row], error) {
		return FireBatch(ctx, db, &r.batch, items, options)
	}
	require.Equal(t, pay, eventOf(batch))
	require.Equal(t, nameless, eventOf(func(ctx context.Context, db DB, items []batchItem, _ ...Option) ([]BatchResult[state, row], error) {
		return batch(ctx, db, items)
	}), "the options go no further")
	require.Equal(t, nameless, eventOf(func(_ context.Context, _ DB, items []batchItem, _ ...Option) ([]BatchResult[state, row], error) {
		panic(items[0])
	}))
	require.Empty(t, r.log)
}

func TestBatchesAreTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var told []Coalesced
		d := newDesk(t, Coalescing{Ran: func(c Coalesced) { told = append(told, c) }})
		d.err = func(items []batchItem) error {
			if items[0].Key == "c" {
				return errTest
			}
			return nil
		}
		d.come(t.Context(), "a/1 b/1")
		time.Sleep(time.Second)
		d.let <- struct{}{}
		synctest.Wait()
		d.come(t.Context(), "b/1 c/1")
		time.Sleep(time.Second)
		d.letAll()
		closed(t, d)
		require.Equal(t, []Coalesced{
			{Calls: 1, Rows: 1, Took: time.Second},
			{Calls: 1, Rows: 1, Waited: time.Second, Took: time.Second},
			{Calls: 2, Rows: 2, Waited: time.Second},
		}, []Coalesced{told[0], told[1], withoutErr(told[2])})
	})
}

func withoutErr(c Coalesced) Coalesced { c.Err = nil; return c }

func TestCoalescersThatCannotBe(t *testing.T) {
	t.Parallel()
	batch := func(context.Context, DB, []batchItem, ...Option) ([]BatchResult[state, row], error) { return nil, nil }
	pool, err := pgxpool.New(t.Context(), "postgres://nowhere.invalid/x")
	require.NoError(t, err)
	defer pool.Close()
	_, err = NewCoalescer(t.Context(), nil, batch, Coalescing{})
	require.ErrorIs(t, err, ErrArgument)
	_, err = NewCoalescer[spelled, terms, state, row](t.Context(), pool, nil, Coalescing{})
	require.ErrorIs(t, err, ErrArgument)
	for _, o := range []Coalescing{{Workers: -1}, {Size: -1}, {Wait: -1}, {Waiting: -1}, {PerRow: -1}, {Timeout: -1}, {LockTimeout: -1}} {
		_, err = NewCoalescer(t.Context(), pool, batch, o)
		require.ErrorIs(t, err, ErrArgument)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = NewCoalescer(ended, pool, batch, Coalescing{})
	require.Equal(t, &CallError{"coalescer", "call", ErrNothingDone, context.Canceled}, err)
	_, err = NewCoalescer(t.Context(), pool, batch, Coalescing{})
	require.ErrorIs(t, err, ErrNothingDone)
	require.ErrorContains(t, err, "nowhere.invalid", "a wrong address is told at once")
	o, err := Coalescing{Size: 1_000_000, Waiting: 3}.complete()
	require.NoError(t, err)
	require.Equal(t, batchSize, o.Size)
	require.Equal(t, 1, o.PerRow)
	require.False(t, errors.Is(err, ErrArgument))
}
