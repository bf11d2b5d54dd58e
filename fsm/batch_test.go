package fsm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type (
	terms     struct{ No string }
	batchItem = Item[spelled, terms]
	batchCall = BatchCall[spelled, terms]
	batchSays = BatchAnswer[state, row]
)

// spelled is a key of which capital letters are another spelling.
type spelled string

func (s spelled) Canonical() spelled { return spelled(strings.ToLower(string(s))) }

// rows is a batch whose statement is a function, and what the statements were
// given: "k/P" for each item.
type rows struct {
	batch Batch[spelled, terms, state, row]
	log   []string
}

// answering is a batch that says of each item what say does, of its key and its
// number; "" for no row.
func answering(say func(key, no string) string) *rows {
	r := &rows{}
	r.batch = Batch[spelled, terms, state, row]{
		Event: pay,
		Check: func(_ spelled, p terms) error {
			if p.No == "" {
				return &CallError{"order", "pay", ErrArgument, errors.New("no is empty")}
			}
			return nil
		},
		Run: func(_ context.Context, _ DB, b *batchCall) ([]batchSays, error) {
			r.note(b)
			var all []batchSays
			for i, key := range b.Keys {
				if outcome := say(string(key), b.Params[i].No); outcome != "" {
					all = append(all, batchSays{b.N[i], reply{Outcome: outcome, State: "PAID", Version: 2, Row: row{string(key)}}})
				}
			}
			return all, nil
		},
		Lock: func(_ context.Context, _ DB, keys []spelled) error {
			text := "lock"
			for _, key := range keys {
				text += " " + string(key)
			}
			r.log = append(r.log, text)
			return nil
		},
	}
	return r
}

func (r *rows) note(b *batchCall) {
	given := make([]string, len(b.Keys))
	for i, key := range b.Keys {
		given[i] = string(key) + "/" + b.Params[i].No
	}
	r.log = append(r.log, strings.Join(given, " "))
}

func (r *rows) fire(db DB, items []batchItem, options ...Option) ([]string, error) {
	return r.fireIn(context.Background(), db, items, options...)
}

// fireIn is FireBatch with the results in short.
func (r *rows) fireIn(ctx context.Context, db DB, items []batchItem, options ...Option) ([]string, error) {
	results, err := FireBatch(ctx, db, &r.batch, items, options)
	short := make([]string, len(results))
	for i, got := range results {
		short[i] = fmt.Sprintf("%s %s", got.Result.Outcome, got.Result.Row.Key)
		if got.Err != nil {
			short[i] = strings.TrimPrefix(got.Err.Error(), "order pay: ")
		}
	}
	return short, err
}

// list makes items out of "k/P k/P".
func list(text string) []batchItem {
	var items []batchItem
	for _, f := range strings.Fields(text) {
		key, no, _ := strings.Cut(f, "/")
		items = append(items, batchItem{Key: spelled(key), Params: terms{no}})
	}
	return items
}

func always(outcome string) func(key, no string) string {
	return func(string, string) string { return outcome }
}

func TestABatchTakesOneItemOfARowAtATime(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, items string
		facts       bool
		say         func(key, no string) string
		statements  []string
		told        []string
	}{
		{"other rows", "a/1 b/2", true, always("Applied"), []string{"a/1 b/2"}, []string{"Applied a", "Applied b"}},
		{"other facts of one row", "a/1 a/2 b/3", true, always("Applied"), []string{"a/1 b/3", "a/2"}, []string{"Applied a", "Applied a", "Applied b"}},
		{"a fact told again", "a/1 a/1 a/1", true, always("Applied"), []string{"a/1"}, []string{"Applied a", "Replayed a", "Replayed a"}},
		{"a fact told again after another", "a/1 a/2 a/1 a/2", true, always("Applied"), []string{"a/1", "a/2"}, []string{"Applied a", "Applied a", "Replayed a", "Replayed a"}},
		{"a compensated fact told again", "a/1 a/1", true, always("Compensated"), []string{"a/1"}, []string{"Compensated a", "Replayed a"}},
		{"a fact that is refused", "a/1 a/1 a/2 a/1", true, always("Rejected"), []string{"a/1", "a/2", "a/1"}, []string{"Rejected a", "Rejected a", "Rejected a", "Rejected a"}},
		{"no fact, and it writes", "a/1 a/1", false, always("Applied"), []string{"a/1", "a/1"}, []string{"Applied a", "Applied a"}},
		{"no fact, and it does not", "a/1 a/1 b/1", false, always("Ignored"), []string{"a/1 b/1"}, []string{"Ignored a", "Ignored a", "Ignored b"}},
		{"one row by two names", "A/1 a/2", true, always("Applied"), []string{"a/1", "a/2"}, []string{"Applied a", "Applied a"}},
		{"no row", "a/1 b/1 a/1", true, func(key, _ string) string { return map[string]string{"b": "Applied"}[key] }, []string{"a/1 b/1"},
			[]string{"no such row", "Applied b", "no such row"}},
		{"an argument seen before", "a/1 a/ b/2", true, always("Applied"), []string{"a/1 b/2"}, []string{"Applied a", "bad argument: no is empty", "Applied b"}},
		{"an argument seen by the statement", "a/1 b/2", true, func(key, _ string) string {
			return map[string]string{"a": "BadArgument no", "b": "Applied"}[key]
		}, []string{"a/1 b/2"}, []string{"bad argument: the check of no is not true", "Applied b"}},
		{"a state of nowhere", "a/1", true, always("UnknownState"), []string{"a/1"}, []string{`nothing was done: order has no state "PAID"`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := answering(tc.say)
			r.batch.Facts = tc.facts
			told, err := r.fire(&fakeDB{}, list(tc.items))
			require.NoError(t, err)
			require.Equal(t, tc.told, told)
			require.Equal(t, tc.statements, r.log)
		})
	}
}

// What is told again expects another version: where nothing was written, that can
// be another answer.
func TestAnotherVersionIsAnotherItem(t *testing.T) {
	t.Parallel()
	one, two := int64(1), int64(2)
	items := list("a/1 a/1 a/1 a/1")
	items[1].Version, items[2].Version = &one, &two
	items[3].Version = &two
	r := answering(always("Stale"))
	_, err := r.fire(&fakeDB{}, items)
	require.NoError(t, err)
	require.Equal(t, []string{"a/1", "a/1", "a/1"}, r.log)

	r = answering(always("Applied"))
	r.batch.Facts = true
	told, err := r.fire(&fakeDB{}, items)
	require.NoError(t, err)
	require.Equal(t, []string{"Applied a", "Replayed a", "Replayed a", "Replayed a"}, told, "a known fact is told before any version")
}

func TestARacedItemIsAskedAgainAlone(t *testing.T) {
	t.Parallel()
	r := answering(nil)
	times := map[spelled]int{}
	r.batch.Run = func(_ context.Context, _ DB, b *batchCall) ([]batchSays, error) {
		r.note(b)
		var all []batchSays
		for i, key := range b.Keys {
			outcome := "Applied"
			if times[key]++; key == "b" && times[key] < 3 || key == "c" {
				outcome = answerRaced
			}
			all = append(all, batchSays{b.N[i], reply{Outcome: outcome, Row: row{string(key)}}})
		}
		return all, nil
	}
	told, err := r.fire(&fakeDB{}, list("a/1 b/1 c/1 c/1 a/2"))
	require.NoError(t, err)
	require.Equal(t, []string{"Applied a", "Applied b", "row is contended", "row is contended", "Applied a"}, told)
	require.Equal(t, []string{"a/1 b/1 c/1", "b/1 c/1 a/2", "b/1 c/1", "c/1", "c/1", "c/1", "c/1", "c/1"}, r.log)
}

func TestABigBatchIsCut(t *testing.T) {
	t.Parallel()
	var items []batchItem
	for i := range 2*batchSize + 1 {
		items = append(items, batchItem{Key: spelled(fmt.Sprint(i)), Params: terms{"1"}})
	}
	r := answering(always("Applied"))
	told, err := r.fire(&fakeDB{}, items)
	require.NoError(t, err)
	require.Len(t, r.log, 3)
	for i, got := range told {
		require.Equal(t, fmt.Sprint("Applied ", i), got)
	}
}

func TestAnEmptyBatchSendsNothing(t *testing.T) {
	t.Parallel()
	for _, items := range [][]batchItem{nil, {}} {
		r := answering(always("Applied"))
		told, err := r.fire(nil, items)
		require.NoError(t, err)
		require.Empty(t, told)
		require.Empty(t, r.log)
	}
}

func TestABatchThatCannotBe(t *testing.T) {
	t.Parallel()
	r := answering(always("Applied"))
	told, err := r.fire(nil, list("a/1 b/1"))
	require.ErrorIs(t, err, ErrArgument)
	require.Equal(t, []string{"bad argument: no database was given", "bad argument: no database was given"}, told)

	db := &fakeDB{}
	told, err = r.fire(db, list("a/1"), then(db, nil))
	require.ErrorIs(t, err, ErrArgument)
	require.Contains(t, told[0], "Then has no place in a batch")

	r.batch.Event = &EventInfo{Machine: "order", Event: "pay", NeedsVersion: true}
	items, version := list("a/1 b/1"), int64(3)
	items[1].Version = &version
	told, err = r.fire(db, items)
	require.NoError(t, err)
	require.Equal(t, []string{"bad argument: the event needs ExpectVersion", "Applied b"}, told)
	told, err = r.fire(db, items, ExpectVersion(4))
	require.NoError(t, err)
	require.Equal(t, []string{"Applied a", "Applied b"}, told)
}

func TestWhatABatchGivesItsStatement(t *testing.T) {
	t.Parallel()
	var got *batchCall
	r := answering(always("Applied"))
	run := r.batch.Run
	r.batch.Run = func(ctx context.Context, db DB, b *batchCall) ([]batchSays, error) {
		got = b
		return run(ctx, db, b)
	}
	version, noon := int64(7), time.Date(2020, 2, 29, 12, 0, 0, 0, time.UTC)
	items := []batchItem{
		{Key: "A", Params: terms{"1"}, Version: &version, Actor: "ann", Reason: "because", RequestID: "r1"},
		{Key: "b", Params: terms{"2"}},
	}
	_, err := r.fire(&fakeDB{}, items, Actor("all"), Reason("why"), RequestID("r"), At(noon))
	require.NoError(t, err)
	require.Equal(t, &batchCall{
		N: []int32{0, 1}, Keys: []spelled{"a", "b"}, Params: []terms{{"1"}, {"2"}},
		Versions: []int64{7, 0}, Expects: []bool{true, false},
		Actors: []string{"ann", "all"}, Reasons: []string{"because", "why"}, RequestIDs: []string{"r1", "r"}, Now: &noon,
	}, got)
}

// failing has the statements of some items fail.
func (r *rows) failing(err error, bad ...string) {
	run := r.batch.Run
	r.batch.Run = func(ctx context.Context, db DB, b *batchCall) ([]batchSays, error) {
		for i, key := range b.Keys {
			for _, k := range bad {
				if string(key)+"/"+b.Params[i].No == k {
					r.note(b)
					return nil, err
				}
			}
		}
		return run(ctx, db, b)
	}
}

func TestABadItemLeavesTheOthers(t *testing.T) {
	t.Parallel()
	for _, state := range []string{"22003", "23514", "21000", "27000", "44000", "54000", "P0001", "42501"} {
		r := answering(always("Applied"))
		r.failing(server("ERROR", state), "c/1", "e/1")
		told, err := r.fire(&fakeDB{}, list("a/1 b/1 c/1 d/1 e/1 e/1 c/2"))
		require.NoError(t, err)
		bad := "nothing was done: ERROR: server says (SQLSTATE " + state + ")"
		require.Equal(t, []string{"Applied a", "Applied b", bad, "Applied d", bad, bad, "Applied c"}, told)
		require.Equal(t, []string{"a/1 b/1 c/1 d/1 e/1", "a/1 b/1", "c/1 d/1 e/1", "c/1", "d/1 e/1", "d/1", "e/1", "c/2"}, r.log)
	}

	// What goes into the history may be what is bad.
	r := answering(always("Applied"))
	r.failing(server("ERROR", "22021"), "a/1")
	items := list("a/1 a/1 a/1")
	items[1].Actor = "ann"
	_, err := r.fire(&fakeDB{}, items)
	require.NoError(t, err)
	require.Equal(t, []string{"a/1", "a/1", "a/1"}, r.log)
}

func TestWhatABatchThatEndsHasDone(t *testing.T) {
	t.Parallel()
	const unreached = "nothing was done: the batch ended before this item"
	for _, tc := range []struct {
		err       error
		kind      error
		of, rest  string
		retryable bool
	}{
		{server("ERROR", "40P01"), ErrNothingDone, "nothing was done: ERROR: server says (SQLSTATE 40P01)", unreached + ": ERROR: server says (SQLSTATE 40P01)", true},
		{server("ERROR", "42P01"), ErrNothingDone, "nothing was done: ERROR: server says (SQLSTATE 42P01)", unreached + ": ERROR: server says (SQLSTATE 42P01)", false},
		{errTest, ErrUnknown, "outcome is unknown: made by the test", unreached, false},
		{server("FATAL", "57P01"), ErrUnknown, "outcome is unknown: FATAL: server says (SQLSTATE 57P01)", unreached, false},
	} {
		r := answering(always("Applied"))
		r.failing(tc.err, "b/2")
		results, err := FireBatch(t.Context(), &fakeDB{}, &r.batch, list("a/1 b/1 a/ a/2 b/2 b/3"), nil)
		require.ErrorIs(t, err, tc.kind)
		require.ErrorIs(t, err, tc.err)
		require.Equal(t, tc.retryable, Retryable(err))
		require.Equal(t, []string{"a/1 b/1", "a/2 b/2"}, r.log)
		require.Equal(t, Applied, results[0].Result.Outcome)
		require.Equal(t, Applied, results[1].Result.Outcome)
		require.ErrorIs(t, results[2].Err, ErrArgument, "it was seen before")
		require.EqualError(t, results[3].Err, "order pay: "+tc.of)
		require.EqualError(t, results[4].Err, "order pay: "+tc.of)
		require.EqualError(t, results[5].Err, "order pay: "+tc.rest)
		require.NotErrorIs(t, results[5].Err, ErrUnknown)
	}
}

func TestABatchWhoseContextEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	r := answering(func(string, string) string { cancel(); return "Applied" })
	told, err := r.fireIn(ctx, &fakeDB{}, list("a/1 a/2 a/3"))
	require.ErrorIs(t, err, ErrNothingDone)
	require.ErrorIs(t, err, context.Canceled)
	const gone = "nothing was done: the batch ended before this item: context canceled"
	require.Equal(t, []string{"Applied a", gone, gone}, told)
	require.Equal(t, []string{"a/1"}, r.log)
}

func TestABatchInATransactionLocksItsRowsFirst(t *testing.T) {
	t.Parallel()
	tx := &fakeTx{db: &fakeDB{}}
	for _, tc := range []struct {
		items string
		facts bool
		log   []string
	}{
		{"a/1 b/1", true, []string{"a/1 b/1"}},
		{"a/1 A/1", true, []string{"a/1"}},
		{"a/1 b/1 A/2", true, []string{"lock a b", "a/1 b/1", "a/2"}},
		{"a/1 b/1 a/1", false, []string{"lock a b", "a/1 b/1", "a/1"}},
	} {
		r := answering(always("Applied"))
		r.batch.Facts = tc.facts
		_, err := r.fire(tx, list(tc.items))
		require.NoError(t, err)
		require.Equal(t, tc.log, r.log)
	}
	r := answering(always("Applied"))
	r.batch.Lock = func(context.Context, DB, []spelled) error { return server("ERROR", "55P03") }
	told, err := r.fire(tx, list("a/1 a/2 b/1"))
	require.ErrorIs(t, err, ErrNothingDone)
	require.True(t, Retryable(err))
	require.Empty(t, r.log)
	for _, text := range told {
		require.Contains(t, text, "nothing was done")
	}
}

// An error aborts a transaction, whatever came before.
func TestABatchInATransactionFailsAsAWhole(t *testing.T) {
	t.Parallel()
	tx := &fakeTx{db: &fakeDB{}}
	r := answering(always("Applied"))
	r.failing(server("ERROR", "22003"), "a/2")
	told, err := r.fire(tx, list("a/1 b/1 a/2 a/3 c/"))
	require.ErrorIs(t, err, ErrNothingDone)
	const failed = "nothing was done: ERROR: server says (SQLSTATE 22003)"
	require.Equal(t, []string{failed, failed, failed, "nothing was done: the batch ended before this item: ERROR: server says (SQLSTATE 22003)", "bad argument: no is empty"}, told)
	require.Equal(t, []string{"lock a b", "a/1 b/1", "a/2"}, r.log)
}

// A statement that answers what it was not asked is not believed.
func TestAStatementThatAnswersTwice(t *testing.T) {
	t.Parallel()
	for _, numbers := range [][]int32{{0, 0}, {-1}, {2}} {
		r := answering(nil)
		r.batch.Run = func(context.Context, DB, *batchCall) ([]batchSays, error) {
			var all []batchSays
			for _, n := range numbers {
				all = append(all, batchSays{n, reply{Outcome: "Applied"}})
			}
			return all, nil
		}
		told, err := r.fire(&fakeDB{}, list("a/1 b/1"))
		require.ErrorIs(t, err, ErrUnknown)
		const no = "outcome is unknown: the statement answers twice for an item, or for none"
		require.Equal(t, []string{no, no}, told)
	}
}

// Ten thousand items of one row are answered without comparing each with each.
func TestAStormOfItems(t *testing.T) {
	t.Parallel()
	const n = 10_000
	same, other := make([]batchItem, n), make([]batchItem, n)
	for i := range n {
		same[i] = batchItem{Key: "a", Params: terms{"1"}}
		other[i] = batchItem{Key: "a", Params: terms{fmt.Sprint(i)}}
	}
	r := answering(always("Applied"))
	r.batch.Facts = true
	told, err := r.fire(&fakeDB{}, same)
	require.NoError(t, err)
	require.Equal(t, "Replayed a", told[n-1])
	require.Len(t, r.log, 1)
	r.log = nil
	told, err = r.fire(&fakeDB{}, append(other, other...))
	require.NoError(t, err)
	require.Equal(t, "Applied a", told[n-1])
	require.Equal(t, "Replayed a", told[2*n-1])
	require.Len(t, r.log, n)
}

func TestOrZero(t *testing.T) {
	t.Parallel()
	require.Zero(t, OrZero[int64](nil))
	seven := 7
	require.Equal(t, 7, OrZero(&seven))
}
