package fsm

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

type begunKey struct{}

// ears writes down what it is told, and has Begun leave a number in the context.
type ears struct {
	begun, raced, ended []Observed
	ends                []Ended
	answers             []string
	pages               []string
	retries             []string
	strange             bool // a context that Begun did not make
}

func (e *ears) observer() *Observer {
	return &Observer{
		Begun: func(ctx context.Context, c Observed) context.Context {
			e.begun = append(e.begun, c)
			return context.WithValue(ctx, begunKey{}, len(e.begun))
		},
		Raced: func(ctx context.Context, c Observed, answers int) {
			e.strange = e.strange || ctx.Value(begunKey{}) == nil
			for range answers {
				e.raced = append(e.raced, c)
			}
		},
		Ended: func(ctx context.Context, end Ended) {
			e.strange = e.strange || ctx.Value(begunKey{}) == nil
			e.ended = append(e.ended, end.Observed)
			for o, err := range end.Answers() {
				e.answers = append(e.answers, said(o, err))
			}
			end.each = nil
			e.ends = append(e.ends, end)
		},
		Swept: func(_ context.Context, rows []Swept, err error) {
			e.pages = append(e.pages, fmt.Sprint(len(rows), " ", err))
		},
		Retried: func(_ context.Context, attempt int, err error) {
			e.retries = append(e.retries, fmt.Sprint(attempt, " ", err))
		},
	}
}

func said(o Outcome, err error) string {
	if err != nil {
		return err.Error()
	}
	return string(o)
}

func TestAnObserverIsToldOfACall(t *testing.T) {
	t.Parallel()
	made := Transition[state]{Event: "pay", From: "PENDING", To: "PAID", Version: 2}
	answer := func(outcome string) *script {
		return &script{answers: []reply{{Outcome: answerRaced}, {Outcome: outcome, State: "PAID", Version: 2, Row: row{"k"}, Transition: made}}}
	}
	for _, c := range []struct {
		name string
		s    *script
		db   DB
		want Ended
	}{
		{"applied", answer("Applied"), &fakeDB{}, Ended{Outcome: Applied, From: "PENDING", To: "PAID", Version: 2, Row: row{"k"}, Statements: 2}},
		{"refused, in a transaction", answer("Rejected"), &fakeTx{db: &fakeDB{}}, Ended{
			Observed: Observed{Provisional: true}, Outcome: Rejected, From: "PAID", To: "PAID", Version: 2, Row: row{"k"}, Statements: 2,
		}},
		{"replayed", answer("Replayed"), &fakeDB{}, Ended{Outcome: Replayed, From: "PAID", To: "PAID", Version: 2, Row: row{"k"}, Statements: 2}},
		{"no row", &script{err: pgx.ErrNoRows}, &fakeDB{}, Ended{Err: &CallError{"order", "pay", ErrNotFound, nil}, Statements: 1}},
		{"no database", answer("Applied"), nil, Ended{Err: &CallError{"order", "pay", ErrArgument, errors.New("no database was given")}}},
		{"raced for ever", answers(answerRaced), &fakeDB{}, Ended{Err: &CallError{"order", "pay", ErrContended, nil}, Statements: maxRaces}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var e ears
			r, err := fire(WithObserver(t.Context(), e.observer()), c.db, c.s, RequestID("r-1"))
			require.Equal(t, c.want.Err, err)
			require.Equal(t, c.want.Outcome, r.Outcome)
			c.want.Machine, c.want.Event, c.want.RequestID = "order", "pay", "r-1"
			require.Len(t, e.ends, 1)
			require.GreaterOrEqual(t, e.ends[0].Took, time.Duration(0))
			c.want.Took = e.ends[0].Took
			require.Equal(t, c.want, e.ends[0])
			require.Equal(t, []Observed{c.want.Observed}, e.begun)
			races := 0
			for i := range c.want.Statements {
				if c.s.err == nil && c.s.answers[min(i, len(c.s.answers)-1)].Outcome == answerRaced {
					races++
				}
			}
			require.Len(t, e.raced, races)
			require.Equal(t, []string{said(c.want.Outcome, c.want.Err)}, e.answers)
			require.False(t, e.strange)
		})
	}
}

func TestACallIsMadeWithTheContextOfBegun(t *testing.T) {
	t.Parallel()
	var e ears
	inThen := false
	_, err := fire(WithObserver(t.Context(), e.observer()), &fakeDB{}, answers("Applied"),
		Then(func(ctx context.Context, tx pgx.Tx, _ Result[state, row]) error {
			inThen = ctx.Value(begunKey{}) == 1
			_, err := fire(ctx, tx, answers("Ignored"))
			return err
		}))
	require.NoError(t, err)
	require.True(t, inThen)
	require.Equal(t, []string{"Ignored", "Applied"}, e.answers, "a call within is told of, too")
	require.Equal(t, []bool{true, false}, []bool{e.ended[0].Provisional, e.ended[1].Provisional})
}

func TestAPanicEndsACall(t *testing.T) {
	t.Parallel()
	var e ears
	require.PanicsWithValue(t, "then", func() {
		_, _ = fire(WithObserver(t.Context(), e.observer()), &fakeDB{}, answers("Applied"),
			Then(func(context.Context, pgx.Tx, Result[state, row]) error { panic("then") }))
	})
	require.Equal(t, []string{"the call did not return"}, e.answers)

	r := answering(func(string, string) string { panic("run") })
	require.Panics(t, func() {
		_, _ = r.fireIn(WithObserver(t.Context(), e.observer()), &fakeDB{}, []batchItem{{Key: "a", Params: terms{"1"}}, {Key: "b", Params: terms{"1"}}})
	})
	require.Len(t, e.answers, 3, "and each of a batch")
}

func TestAnObserverIsToldOfABatch(t *testing.T) {
	t.Parallel()
	var e ears
	ctx := WithObserver(t.Context(), e.observer())
	asked := 0
	r := answering(func(key, no string) string {
		switch key {
		case "raced":
			if asked++; asked < 3 {
				return answerRaced
			}
			return "Rejected"
		case "gone":
			return ""
		}
		return "Applied"
	})
	items := []batchItem{
		{Key: "a", Params: terms{"1"}}, {Key: "raced", Params: terms{"1"}}, {Key: "gone", Params: terms{"1"}}, {Key: "b"},
	}
	_, err := r.fireIn(ctx, &fakeDB{}, items, RequestID("r-2"))
	require.NoError(t, err)
	want := Observed{Machine: "order", Event: "pay", Calls: 4, RequestID: "r-2"}
	require.Equal(t, []Observed{want}, e.begun)
	require.Equal(t, []Observed{want, want}, e.raced)
	require.Equal(t, []string{"Applied", "Rejected", "order pay: no such row", "order pay: bad argument: no is empty"}, e.answers)
	require.Equal(t, []Ended{{Observed: want, Statements: 3, Took: e.ends[0].Took}}, e.ends)
	require.False(t, e.strange)

	_, err = r.fireIn(ctx, &fakeDB{}, nil)
	require.NoError(t, err)
	require.Len(t, e.begun, 1, "an empty batch is none")

	_, err = r.fireIn(ctx, nil, items)
	require.ErrorIs(t, err, ErrArgument)
	require.Equal(t, err, e.ends[1].Err)
	require.Len(t, e.answers, 8, "every item has the error")
}

// The calls of a coalescer are told to the observers of their callers, and its batches
// to that with which it was made.
func TestObserversOfACoalescer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var callers, batches ears
		o, err := Coalescing{}.complete()
		require.NoError(t, err)
		o.observer = batches.observer()
		r := answering(func(string, string) string { return "Applied" })
		c := newCoalescer(pay, []DB{&fakeDB{}}, func(ctx context.Context, db DB, items []batchItem, options ...Option) ([]BatchResult[state, row], error) {
			return FireBatch(ctx, db, &r.batch, items, options)
		}, o)
		_, err = c.Fire(WithObserver(t.Context(), callers.observer()), batchItem{Key: "A", Params: terms{"1"}, RequestID: "r-3"})
		require.NoError(t, err)
		require.NoError(t, c.Close(t.Context()))
		call := Observed{Machine: "order", Event: "pay", Coalesced: true, RequestID: "r-3"}
		require.Equal(t, []Observed{call}, callers.begun)
		require.Equal(t, []Ended{{
			Observed: call, Outcome: Applied, From: "", To: "PAID", Version: 2, Row: row{"a"}, Took: callers.ends[0].Took,
		}}, callers.ends)
		require.Equal(t, []Observed{{Machine: "order", Event: "pay", Calls: 1, Coalesced: true}}, batches.begun)
		require.Equal(t, []string{"Applied"}, batches.answers)

		_, err = c.Fire(WithObserver(t.Context(), callers.observer()), batchItem{Key: "A"})
		require.ErrorIs(t, err, ErrClosed)
		require.ErrorIs(t, callers.ends[1].Err, ErrClosed, "a call that is kept out has ended, too")
	})
}

func TestAnObserverIsToldOfPagesAndRepetitions(t *testing.T) {
	t.Parallel()
	var e ears
	ctx := WithObserver(t.Context(), e.observer())
	var seen []SweepPage
	s := &Sweeper{Sweeps: []Sweep{pages("expire", &seen, 3, 0), pages("remind", &seen, -1)}, Page: SweepPage{Limit: 3}}
	_, err := s.Once(ctx)
	require.Error(t, err)
	require.Equal(t, []string{"3 <nil>", "0 order remind: outcome is unknown: made by the test"}, e.pages, "an empty page is no news")

	p, _ := waits(2)
	lost := server("ERROR", "40001")
	require.Error(t, RunTx(ctx, &fakeDB{}, p, attempt(&fakeDB{}, lost, lost)))
	require.Equal(t, []string{"1 " + lost.Error()}, e.retries, "the last attempt is not repeated")
}

func TestTheContextsObserver(t *testing.T) {
	t.Parallel()
	var first, second ears
	ctx := WithObserver(t.Context(), first.observer())
	_, err := fire(WithObserver(ctx, second.observer()), &fakeDB{}, answers("Applied"))
	require.NoError(t, err)
	_, err = fire(WithObserver(ctx, nil), &fakeDB{}, answers("Applied"))
	require.NoError(t, err)
	require.Empty(t, first.begun)
	require.Len(t, second.begun, 1)
	require.Equal(t, t.Context(), WithObserver(t.Context(), nil))

	_, err = fire(WithObserver(t.Context(), &Observer{}), &fakeDB{}, answers(answerRaced, "Applied"))
	require.NoError(t, err, "nobody need be told of anything")
	p, _ := waits(2)
	require.NoError(t, RunTx(WithObserver(t.Context(), &Observer{}), &fakeDB{}, p, attempt(&fakeDB{}, server("ERROR", "40001"))))
}

// fireFree makes a call as generated code does, and makeFree the same past Fire: a
// closure over the parameters, which stays on the stack where nobody keeps it.
func fireFree(ctx context.Context, db DB, key string, options ...Option) {
	_, _ = Fire(ctx, db, pay, options, nil, func(context.Context, DB, *Call) (reply, error) {
		return reply{Outcome: "Applied", State: "PAID", Version: 2, Row: row{key}}, nil
	})
}

func makeFree(ctx context.Context, db DB, key string, options ...Option) {
	_, _ = makeCall(ctx, db, pay, options, nil, func(context.Context, DB, *Call) (reply, error) {
		return reply{Outcome: "Applied", State: "PAID", Version: 2, Row: row{key}}, nil
	})
}

// Not parallel: it counts what is allocated.
func TestACallWithoutAnObserverAllocatesNothingForIt(t *testing.T) {
	ctx := context.WithValue(t.Context(), begunKey{}, 1)
	db, key := &fakeDB{}, t.Name()
	plain := testing.AllocsPerRun(1000, func() { makeFree(ctx, db, key, Actor("ann")) })
	require.Equal(t, plain, testing.AllocsPerRun(1000, func() { fireFree(ctx, db, key, Actor("ann")) }))
	observed := WithObserver(ctx, &Observer{Ended: func(context.Context, Ended) {}})
	require.Greater(t, testing.AllocsPerRun(1000, func() { fireFree(observed, db, key, Actor("ann")) }), plain, "what the count would show")
}

// What a call costs beside its statement.
func BenchmarkFire(b *testing.B) {
	for _, c := range []struct {
		name string
		o    *Observer
	}{{"unobserved", nil}, {"observed", &Observer{
		Begun: func(ctx context.Context, _ Observed) context.Context { return ctx },
		Ended: func(context.Context, Ended) {},
	}}} {
		b.Run(c.name, func(b *testing.B) {
			ctx, db := WithObserver(b.Context(), c.o), &fakeDB{}
			b.ReportAllocs()
			for b.Loop() {
				fireFree(ctx, db, "k", Actor("ann"))
			}
		})
	}
}
