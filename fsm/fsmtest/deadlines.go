package fsmtest

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/pawl-go/pawl/fsm"
)

// sweepTime is the time of the first sweep: long before the due time of any row
// that another test makes.
var sweepTime = time.Date(1999, 9, 9, 9, 9, 9, 999999000, time.UTC)

// Deadlines runs each sweep once over rows that are due, not yet due, never due,
// about to run for the last time, in another state, or refused by a guard. The
// tests are named after the events.
func Deadlines(t *testing.T, m *Machine) {
	t.Parallel()
	e := open(t, m)
	for i, name := range m.Deadlines {
		// One after the other, each an hour before the last one, so that it takes no
		// row that was made for another.
		now := sweepTime.Add(-time.Duration(i) * time.Hour)
		t.Run(name, func(t *testing.T) { e.sweep(t, e.event(name), m.Sweeps[i], now) })
	}
}

// overdue is a row in a sweep's way.
type overdue struct {
	*firing
	step         string
	before, must snapshot
	// moves is nil for a row that the sweep must leave alone.
	moves *Transition
}

func (e *engine) sweep(t *testing.T, event *Event, sweep fsm.Sweep, now time.Time) {
	var rows []*overdue
	for _, s := range e.m.States {
		for _, c := range e.m.Cases {
			if c.Event != event.Name || !slices.Contains(c.In, s.Name) {
				continue
			}
			if c.Skip != "" {
				c = e.settled(t.Context(), c)
			}
			if c.Skip != "" {
				continue // TestMatrix says why
			}
			rows = append(rows, e.overdue(t, event, s, c, now)...)
		}
	}
	if len(rows) == 0 {
		untested(t, "TestMatrix says why there are none for "+event.Name)
	}
	swept, err := sweep(t.Context(), e.on(e.pool), fsm.SweepPage{Now: &now, Actor: "sweep"})
	if err != nil {
		t.Fatalf("%s, sweep of %s: %v", e.m.Name, event.Name, err)
	}
	for _, r := range rows {
		r.swept(swept)
	}
	want := 0
	for _, r := range rows {
		if r.moves != nil {
			want++
		}
	}
	if len(swept) != want {
		t.Fatalf("%s, sweep of %s: %d rows moved, want %d: %+v", e.m.Name, event.Name, len(swept), want, swept)
	}
	if i := slices.IndexFunc(rows, func(r *overdue) bool { return r.moves != nil }); i >= 0 {
		e.byServerClock(t, rows[i], sweep)
		e.pages(t, rows[i], sweep, now)
	}
}

// overdue makes the rows of one case and says what the sweep must do with them.
func (e *engine) overdue(t *testing.T, event *Event, s State, c Case, at time.Time) []*overdue {
	t.Helper()
	now := typed(literal(stamp(at)), "timestamptz")
	later := typed(literal(stamp(at.Add(time.Microsecond))), "timestamptz")
	sweeps := s.Event == event.Name
	var rows []*overdue
	add := func(step string, from seed, due bool) {
		from.state, from.event, from.values = s.Name, event.Name, c.Given
		f := &firing{e: e, t: t, label: e.m.Name + " " + s.Name + ", sweep of " + event.Name, state: s.Name, event: event, given: c.Given}
		var err error
		if f.row, err = e.newRow(t.Context(), from); err != nil {
			f.fatal(step, "%v", err)
		}
		o := &overdue{firing: f, step: step, before: f.look(f.row)}
		shot := shot{event: event, at: at, actor: "sweep"}
		j, err := e.judge(t.Context(), e.pool, f.row, o.before, shot)
		if err == nil {
			o.must = o.before
			if due && sweeps && j.move != nil {
				o.moves = j.move
				o.must, err = e.expect(t.Context(), e.pool, f.row, o.before, shot, j)
			}
		}
		if err != nil {
			f.fatal(step, "ask what must be: %v", err)
		}
		rows = append(rows, o)
	}
	add("due at this very moment", seed{due: now}, true)
	add("due a microsecond later", seed{due: later}, false)
	add("never due", seed{due: "NULL"}, false)
	if s.Max > 1 && sweeps {
		add("due for the last time but one", seed{due: now, runs: strconv.Itoa(s.Max - 2)}, true)
	}
	if s.Max > 0 && sweeps {
		add("due for the last time", seed{due: now, runs: strconv.Itoa(s.Max - 1)}, true)
	}
	return rows
}

// swept compares the row, and what the sweep says of it, with what must be.
func (o *overdue) swept(swept []fsm.Swept) {
	o.t.Helper()
	after := o.look(o.row)
	o.e.leave(o.before, o.must, after)
	if d := difference(o.must, after); d != "" {
		o.fatal(o.step, "left other than it must (- want, + got)%s", d)
	}
	i := slices.IndexFunc(swept, func(s fsm.Swept) bool { return s.Key == o.row.text })
	switch {
	case o.moves == nil && i >= 0:
		o.fatal(o.step, "the sweep says that it moved: %+v", swept[i])
	case o.moves == nil && o.before.Tuple != after.Tuple:
		o.fatal(o.step, "nothing changed and yet the row was written or locked")
	case o.moves == nil:
		return
	case i < 0:
		o.fatal(o.step, "the sweep does not say that it moved")
	}
	want := fsm.Swept{Machine: o.e.m.Name, Event: o.event.Name, Key: o.row.text, From: o.state, To: o.moves.To, Version: seedVersion + 1}
	if swept[i] != want {
		o.fatal(o.step, "the sweep says %+v, want %+v", swept[i], want)
	}
}
