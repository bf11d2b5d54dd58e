package fsmtest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/fsm"
)

// Correct forces a row from each state into each, and with a wrong version. The
// tests are named FROM/TO. One corrects a row from two sessions at once.
func Correct(t *testing.T, m *Machine) {
	t.Parallel()
	e := open(t, m)
	t.Run("two", func(t *testing.T) {
		t.Parallel()
		if why := e.unknown(); why != "" {
			untested(t, why)
		}
		e.twoCorrections(t)
	})
	for _, from := range m.States {
		t.Run(from.Name, func(t *testing.T) {
			t.Parallel()
			for _, to := range m.States {
				t.Run(to.Name, func(t *testing.T) { e.correction(t, from, to) })
			}
		})
	}
}

func (e *engine) correction(t *testing.T, from, to State) {
	f := &firing{e: e, t: t, label: e.m.Name + ", correction of " + from.Name + " to " + to.Name, state: from.Name, event: &Event{Name: correctEvent}, apart: true}
	if e.unknown() != "" {
		untested(t, e.unknown())
	}
	f.row = f.newRow()
	before := f.look(f.row)
	correct := func(on fsm.DB, options ...fsm.Option) (Answer, error) {
		c := e.call(t.Context(), on, e.keyList(f.row), options)
		c.To = to.Name
		return e.m.Correct(c)
	}
	step := func(step string, want judged, made fsm.Transition[string], must snapshot, options ...fsm.Option) {
		t.Helper()
		got, err := correct(nil, options...)
		if err != nil {
			f.fatal(step, "%v, want %s", err, want.outcome)
		}
		f.compare(step, want, made, got, before, must)
	}
	switch {
	case to.Retired:
		if _, err := correct(nil); !errors.Is(err, fsm.ErrArgument) {
			f.fatal("", "the error %v, want %v: no row may enter the state", err, fsm.ErrArgument)
		}
	case from.Name == to.Name:
		e.within(t, func(ctx context.Context, tx pgx.Tx, _ time.Time) {
			got, err := correct(tx, serverClock)
			f.insideAnswer(ctx, tx, fsm.Ignored, got, err, before, before)
		})
		step("", judged{outcome: fsm.Ignored}, fsm.Transition[string]{}, before, fsm.ExpectVersion(seedVersion+1))
	default:
		step("a wrong version", judged{outcome: fsm.Stale}, fsm.Transition[string]{}, before, fsm.ExpectVersion(seedVersion+1))
		made := fsm.Transition[string]{Event: correctEvent, Outcome: fsm.Applied, From: from.Name, To: to.Name, Version: seedVersion + 1}
		e.within(t, func(ctx context.Context, tx pgx.Tx, now time.Time) {
			got, err := correct(tx, serverClock)
			f.insideAnswer(ctx, tx, fsm.Applied, got, err, before, e.corrected(f.row, before, from, to, now))
		})
		step("", judged{outcome: fsm.Applied}, made, e.corrected(f.row, before, from, to, clock))
	}
}

const correctEvent = "correct"

// corrected is the snapshot that a correction must leave.
func (e *engine) corrected(r *row, before snapshot, from, to State, at time.Time) snapshot {
	after := before.clone()
	e.enter(after, to.Name, at)
	after.Row[e.m.Version] = number(seedVersion + 1)
	who := func(r record) record {
		r["version"], r["from_status"], r["to_status"] = number(seedVersion+1), from.Name, to.Name
		r["actor"], r["reason"], r["request_id"], r["at"] = actor, reason, request, stamp(at)
		return r
	}
	after.History = append(after.History, who(record{"event": correctEvent, "forced": true}))
	after.Audit = append(after.Audit, who(record{"machine": e.m.Name, "key": r.text, "action": correctEvent}))
	return after
}

// unknown says why no row can be made without a case's values; empty where one can.
func (e *engine) unknown() string {
	for _, c := range e.m.Columns {
		if c.Default == "" {
			if _, err := given(nil, c); err != nil {
				return err.Error()
			}
		}
	}
	return ""
}
