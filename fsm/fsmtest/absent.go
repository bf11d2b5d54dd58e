package fsmtest

import (
	"context"
	"strings"
	"testing"

	"github.com/pawl-go/pawl/fsm"
)

// Absent fires every event at a row that is not there, and every event whose
// parameters have checks with values that they refuse. Neither may leave
// anything. The tests are named after the events.
func Absent(t *testing.T, m *Machine) {
	t.Parallel()
	open(t, m).absent(t)
}

func (e *engine) absent(t *testing.T) {
	m := e.m
	for _, event := range m.Events {
		t.Run(event.Name, func(t *testing.T) {
			t.Parallel()
			c, ok := e.settledSample(t.Context(), event.Name)
			if !ok {
				untested(t, c.Skip)
			}
			defer e.turn(event.Name)()
			f := &firing{e: e, t: t, label: m.Name + " " + event.Name, state: c.In[0], event: e.event(event.Name), given: c.Given, values: c.Params, unsure: len(c.Unsure) > 0}
			r, err := e.newKey(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			f.row = r
			f.refused("of a row that is not there", fsm.ErrNotFound, f.any()...)
			f.row = f.newRow()
			for _, p := range event.Params {
				if values, ok := f.refusable(p); ok {
					f.values = values
					f.refused("with an impossible "+p.Name, fsm.ErrArgument, f.any()...)
					f.names(p)
					f.values = c.Params
				}
				f.possible(p)
				f.values = c.Params
			}
		})
	}
}

// names sees that the error of an impossible value says which parameter it is.
func (f *firing) names(p Column) {
	f.t.Helper()
	_, err := f.e.fire(f.t.Context(), nil, f.event, f.row, f.values, f.any()...)
	if err == nil || !strings.Contains(err.Error(), "check of "+p.Name+" is not true") {
		f.fatal("with an impossible "+p.Name, "the error %v does not name the parameter", err)
	}
}

// possible gives a parameter that has a check each value that the check takes.
func (f *firing) possible(p Column) {
	f.t.Helper()
	if p.Check == "" {
		return
	}
	usual := f.values
	for _, v := range candidates(Column{Type: p.Type}) {
		f.values = Values{}
		for name, v := range usual {
			f.values[name] = v
		}
		if f.values[p.Name] = v; !f.takes(p, f.values) {
			continue
		}
		f.row = f.newRow()
		if !f.allowed(f.values) {
			continue
		}
		j := f.judge()
		f.shoot("with a possible "+p.Name, j, f.any()...)
		if len(f.event.Identity) > 0 && (j.outcome == fsm.Applied || j.outcome == fsm.Compensated) {
			f.shoot("with a possible "+p.Name+", told again", judged{outcome: fsm.Replayed}, f.any()...)
		}
		f.forget()
	}
}

// settledSample is a sample, or a case for which values are found where there is
// none. Where none are found the case says why. It makes rows, and waits for who
// holds the table.
func (e *engine) settledSample(ctx context.Context, event string) (Case, bool) {
	c, ok := e.sample(event)
	for i := 0; i < len(e.m.Cases) && !ok; i++ {
		if e.m.Cases[i].Event == event {
			c = e.settled(ctx, e.m.Cases[i])
			ok = c.Skip == ""
		}
	}
	return c, ok
}

// sample is a case of the event whose values are known: one that writes, if
// there is one.
func (e *engine) sample(event string) (Case, bool) {
	found := -1
	for i, c := range e.m.Cases {
		if c.Event != event || c.Skip != "" {
			continue
		}
		if c.Outcome == fsm.Applied || c.Outcome == fsm.Compensated {
			return c, true
		}
		if found < 0 {
			found = i
		}
	}
	if found < 0 {
		return Case{}, false
	}
	return e.m.Cases[found], true
}

// refusable are the values with one that the check of a parameter refuses; none
// where none was found.
func (f *firing) refusable(p Column) (Values, bool) {
	if p.Check == "" {
		return nil, false
	}
	for _, v := range []string{"0", "-1", "1", "''", "'x'", "1000000000"} {
		values := Values{p.Name: v}
		for name, v := range f.values {
			if name != p.Name {
				values[name] = v
			}
		}
		refuses := false
		err := f.e.ask(f.t.Context(), f.e.pool, f.row, shotOf(f.event, values), "to_jsonb(("+p.Check+") IS FALSE)", &refuses)
		if err == nil && refuses {
			return values, true
		}
	}
	return nil, false
}
