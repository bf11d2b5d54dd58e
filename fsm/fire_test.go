package fsm

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

func TestFireAnswersWithTheStatement(t *testing.T) {
	t.Parallel()
	paid := Transition[state]{Event: "pay", Outcome: Applied, From: "PENDING", To: "PAID", Version: 2}
	s := &script{answers: []reply{{Outcome: "Replayed", State: "SHIPPED", Version: 3, Row: row{"k"}, Transition: paid, Snapshot: true}}}
	db := &fakeDB{}
	r, err := fire(t.Context(), db, s)
	require.NoError(t, err)
	require.Equal(t, Result[state, row]{
		Machine: "order", Event: "pay", Outcome: Replayed, State: "SHIPPED", Version: 3, Row: row{"k"}, Transition: paid, Snapshot: true,
	}, r)
	require.Same(t, db, s.dbs[0], "without Then the call runs where the caller said")
	require.Empty(t, db.log, "and opens no transaction")
}

func TestFireRunsARacedStatementAgain(t *testing.T) {
	t.Parallel()
	for raced := range maxRaces {
		s := &script{}
		for range raced {
			s.answers = append(s.answers, reply{Outcome: answerRaced})
		}
		s.answers = append(s.answers, reply{Outcome: "Applied"})
		r, err := fire(t.Context(), &fakeDB{}, s)
		require.NoError(t, err)
		require.Equal(t, Applied, r.Outcome)
		require.Equal(t, raced+1, s.runs)
	}
}

func TestFireGivesUpOnARowThatAlwaysRaces(t *testing.T) {
	t.Parallel()
	s := answers(answerRaced)
	_, err := fire(t.Context(), &fakeDB{}, s)
	require.ErrorIs(t, err, ErrContended)
	require.True(t, Retryable(err))
	require.Equal(t, 8, s.runs)
}

func TestFireStopsBetweenRacesWhenTheContextEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	runs := 0
	_, err := Fire(ctx, &fakeDB{}, pay, nil, nil, func(context.Context, DB, *Call) (reply, error) {
		runs++
		cancel()
		return reply{Outcome: answerRaced}, nil
	})
	require.ErrorIs(t, err, ErrNothingDone)
	require.ErrorIs(t, err, context.Canceled)
	require.False(t, Retryable(err))
	require.Equal(t, 1, runs)
}

func TestFireNamesWhatWentWrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		s    *script
		kind error
		text string
	}{
		{"no row, of pgx", &script{err: pgx.ErrNoRows}, ErrNotFound, "order pay: no such row"},
		{"no row, of database/sql", &script{err: fmt.Errorf("scan: %w", sql.ErrNoRows)}, ErrNotFound, "order pay: no such row"},
		{"a state of nowhere", &script{answers: []reply{{Outcome: "UnknownState", State: "LOST"}}}, ErrNothingDone, `order pay: nothing was done: order has no state "LOST"`},
		{"a parameter's check", answers("BadArgument amount"), ErrArgument, "order pay: bad argument: the check of amount is not true"},
		{"refused by the server", &script{err: server("ERROR", "23514")}, ErrNothingDone, "order pay: nothing was done: ERROR: server says (SQLSTATE 23514)"},
		{"lost", &script{err: errTest}, ErrUnknown, "order pay: outcome is unknown: made by the test"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, err := fire(t.Context(), &fakeDB{}, c.s)
			require.Zero(t, r)
			require.ErrorIs(t, err, c.kind)
			require.EqualError(t, err, c.text)
			var call *CallError
			require.ErrorAs(t, err, &call)
			require.Equal(t, CallError{"order", "pay", c.kind, call.Err}, *call)
			if c.s.err != nil && c.kind != ErrNotFound {
				require.ErrorIs(t, err, c.s.err, "the cause stays wrapped")
			}
			require.Equal(t, 1, c.s.runs)
		})
	}
	_, err := fire(t.Context(), &fakeDB{}, &script{answers: []reply{{Outcome: "UnknownState", State: "LOST"}}})
	var unknown *UnknownStateError
	require.ErrorAs(t, err, &unknown)
	require.Equal(t, UnknownStateError{"order", "LOST"}, *unknown)
	require.ErrorIs(t, unknown, ErrNothingDone)
}

func TestFireRefusesBeforeAnySQL(t *testing.T) {
	t.Parallel()
	other := Then(func(context.Context, pgx.Tx, Result[string, row]) error { return nil })
	versioned := &EventInfo{Machine: "order", Event: "edit", NeedsVersion: true}
	dead, cancel := context.WithCancel(t.Context())
	cancel()
	db := &fakeDB{}
	for _, c := range []struct {
		name    string
		ctx     context.Context
		db      DB
		event   *EventInfo
		options []Option
		kind    error
		text    string
	}{
		{"no version", t.Context(), db, versioned, nil, ErrArgument, "order edit: bad argument: the event needs ExpectVersion"},
		{"Then of another machine", t.Context(), db, pay, []Option{other}, ErrArgument, "order pay: bad argument: Then is for another machine: "},
		{"no database", t.Context(), nil, pay, nil, ErrArgument, "order pay: bad argument: no database was given"},
		{"ended context", dead, db, pay, nil, ErrNothingDone, "order pay: nothing was done: context canceled"},
	} {
		s := answers("Applied")
		_, err := Fire(c.ctx, c.db, c.event, c.options, nil, s.run)
		require.ErrorIs(t, err, c.kind, c.name)
		require.ErrorContains(t, err, c.text, c.name)
		require.Zero(t, s.runs, c.name)
	}
	require.Empty(t, db.log)

	r, err := Fire(t.Context(), db, versioned, []Option{ExpectVersion(0)}, nil, answers("Applied").run)
	require.NoError(t, err, "version 0 is a version")
	require.Equal(t, Applied, r.Outcome)
}

func TestOptionsApplyInOrder(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s := answers("Applied")
	_, err := fire(t.Context(), &fakeDB{}, s, Actor("first"), nil, ExpectVersion(1), Reason("asked"),
		RequestID("r1"), At(now), Actor("second"), ExpectVersion(7))
	require.NoError(t, err)
	seven := int64(7)
	require.Equal(t, &Call{Actor: "second", Reason: "asked", RequestID: "r1", Version: &seven, Now: &now}, s.calls[0])

	_, err = fire(t.Context(), &fakeDB{}, s)
	require.NoError(t, err)
	require.Equal(t, &Call{}, s.calls[1], "no option is no actor, any version, the database's clock")
}

func TestGuardsAreNamedWhenTheyFailed(t *testing.T) {
	t.Parallel()
	guards := func(s state) []Guard { return []Guard{{Name: "amount_of_" + string(s)}} }
	for _, o := range Outcomes() {
		r, err := Fire(t.Context(), &fakeDB{}, pay, nil, guards, answers(string(o)).run)
		require.NoError(t, err)
		if o == GuardFailed {
			require.Equal(t, []Guard{{Name: "amount_of_PAID"}}, r.Guards)
		} else {
			require.Empty(t, r.Guards, o)
		}
	}
	_, err := fire(t.Context(), &fakeDB{}, answers("GuardFailed"))
	require.NoError(t, err, "an event without guards has no function for them")
}

func TestFireCreateRunsAgainWithoutARow(t *testing.T) {
	t.Parallel()
	runs, missing := 0, 2
	run := func(context.Context, DB, *Call) (reply, error) {
		if runs++; runs <= missing {
			return reply{}, pgx.ErrNoRows
		}
		return reply{Outcome: "Replayed"}, nil
	}
	r, err := FireCreate(t.Context(), &fakeDB{}, pay, nil, run)
	require.NoError(t, err)
	require.Equal(t, Replayed, r.Outcome)
	require.Equal(t, 3, runs)

	runs, missing = 0, 1000
	_, err = FireCreate(t.Context(), &fakeDB{}, pay, nil, run)
	require.ErrorIs(t, err, ErrContended)
	require.Equal(t, 8, runs)

	_, err = FireCreate(t.Context(), &fakeDB{}, pay, nil, (&script{err: errTest}).run)
	require.ErrorIs(t, err, ErrUnknown)
}

func TestReadsAndSweepsClassifyTheirErrors(t *testing.T) {
	t.Parallel()
	require.ErrorIs(t, ReadError(pay, pgx.ErrNoRows), ErrNotFound)
	require.NotErrorIs(t, ReadError(pay, pgx.ErrNoRows), ErrNothingDone)
	lost := ReadError(pay, errTest)
	require.ErrorIs(t, lost, ErrNothingDone, "a read that is lost did nothing")
	require.ErrorIs(t, lost, errTest)
	require.ErrorIs(t, SweepError(pay, errTest), ErrUnknown)
	require.ErrorIs(t, SweepError(pay, server("ERROR", "40P01")), ErrNothingDone)
	require.True(t, Retryable(SweepError(pay, server("ERROR", "40P01"))))
}

// A nil connection in an interface is no database either.
func TestANilConnectionIsAnArgument(t *testing.T) {
	t.Parallel()
	var conn *pgx.Conn
	_, err := Fire(context.Background(), conn, &EventInfo{Machine: "order", Event: "pay"}, nil, nil, func(context.Context, DB, *Call) (Answer[state, row], error) {
		panic("the statement must not run")
	})
	require.ErrorIs(t, err, ErrArgument)
}
