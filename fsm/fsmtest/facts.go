package fsmtest

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/pawl-go/pawl/fsm"
)

// again tells a fact again: as it was, with another fingerprint, and of another
// row. An event without identity has no facts.
func (f *firing) again(j judged) {
	f.t.Helper()
	if len(f.event.Identity) == 0 {
		return
	}
	f.shoot("told again", judged{outcome: fsm.Replayed}, f.any()...)
	f.shoot("told again with a wrong version", judged{outcome: fsm.Replayed}, fsm.ExpectVersion(seedVersion+7))
	f.moveOn()
	f.shoot("told again after the row has moved on", judged{outcome: fsm.Replayed}, f.any()...)
	first, values := f.row, f.values
	for _, name := range f.event.Fingerprint {
		if other, ok := f.other(name); ok {
			f.values = other
			f.shoot("told again with another "+name, judged{outcome: fsm.Mismatched}, f.any()...)
			f.shoot("told again with another "+name+" and a wrong version", judged{outcome: fsm.Mismatched}, fsm.ExpectVersion(seedVersion+7))
			f.values = values
		}
	}
	f.row = f.newRow()
	f.ofAnother("told of another row", f.any()...)
	f.ofAnother("told of another row with a wrong version", fsm.ExpectVersion(seedVersion+7))
	f.row = first
}

// ofAnother tells a fact of a row of which it is not. The answer shows that row,
// and no transition of the other.
func (f *firing) ofAnother(step string, options ...fsm.Option) {
	f.t.Helper()
	before := f.look(f.row)
	got, err := f.e.fire(f.t.Context(), nil, f.event, f.row, f.values, options...)
	if err != nil {
		f.fatal(step, "%v, want Mismatched", err)
	}
	f.compare(step, judged{outcome: fsm.Mismatched}, fsm.Transition[string]{}, got, before, before)
}

// moveOn lets a correction move the row.
func (f *firing) moveOn() {
	f.t.Helper()
	state, _ := f.look(f.row).Row[f.e.m.Status].(string)
	for _, to := range f.e.m.States {
		if to.Retired || to.Name == state {
			continue
		}
		c := f.e.call(f.t.Context(), nil, f.e.keyList(f.row), nil)
		c.To = to.Name
		if _, err := f.e.m.Correct(c); err != nil {
			f.fatal("", "move the row on: %v", err)
		}
		return
	}
}

// strangers makes facts that are not the call's: one of the row with the call's
// identity, of another event, and one of another row, of the same event.
func (f *firing) strangers() {
	f.t.Helper()
	m, e := f.e.m, f.e
	if len(f.event.Identity) == 0 {
		return
	}
	t, err := e.told(f.t.Context(), e.pool, f.row, f.shot())
	if err != nil {
		f.fatal("", "ask the identity: %v", err)
	}
	identity, _ := t.Identity.(string)
	w, other := &writing{e: e, t: f.t, ctx: f.t.Context()}, f.newRow()
	initial := literal(e.recorded(m.Initial))
	for _, fact := range []struct {
		row             *row
		event, identity string
	}{{f.row, seedEvent + " of " + f.event.Name, identity}, {other, f.event.Name, identity + " of another"}} {
		sql := w.insert(m.Facts, append(w.keys(fact.row), "event", literal(fact.event), "identity", literal(fact.identity), "fingerprint", "'of another'",
			"outcome", "'Applied'", "from_status", initial, "to_status", initial, "version", "1", "at", typed(literal(stamp(seedTime)), "timestamptz"))...)
		if _, err := e.pool.Exec(f.t.Context(), sql); err != nil {
			f.fatal("", "%s: %v", sql, err)
		}
	}
}

// forget removes the facts of the rows, so that others may bring them.
func (f *firing) forget() {
	f.t.Helper()
	if f.e.m.Facts == "" {
		return
	}
	ctx := context.WithoutCancel(f.t.Context())
	for _, r := range f.rows {
		if _, err := f.e.pool.Exec(ctx, "DELETE FROM "+quoted(f.e.m.Facts)+" AS x WHERE "+f.e.where(r, "x")); err != nil {
			f.t.Errorf("%s: forget the facts: %v", f.label, err)
		}
	}
}

// made is the transition that an answer must tell of: the call's own, that of a
// known fact, or one of the history.
func made(event string, j judged, before snapshot) fsm.Transition[string] {
	status := func(r record, field string) string { s, _ := r[field].(string); return s }
	version := func(r record) int64 {
		n, _ := r["version"].(json.Number)
		v, _ := n.Int64()
		return v
	}
	var last, own record
	for _, h := range before.History {
		last = h
		if h["event"] == event {
			own = h
		}
	}
	state := status(last, "to_status")
	now := version(last)
	switch {
	case j.outcome == fsm.Applied:
		return fsm.Transition[string]{Event: event, Outcome: fsm.Applied, From: state, To: j.move.To, Version: now + 1}
	case j.outcome == fsm.Compensated:
		return fsm.Transition[string]{Event: event, Outcome: fsm.Compensated, From: state, To: state, Version: now}
	case j.outcome == fsm.Replayed || j.outcome == fsm.Mismatched:
		for _, x := range slices.Backward(before.Facts) {
			if x["event"] == event {
				return fsm.Transition[string]{Event: event, Outcome: fsm.Outcome(status(x, "outcome")), From: status(x, "from_status"), To: status(x, "to_status"), Version: version(x)}
			}
		}
		last = own
	}
	if last == nil {
		return fsm.Transition[string]{}
	}
	return fsm.Transition[string]{Event: status(last, "event"), Outcome: fsm.Applied, From: status(last, "from_status"), To: status(last, "to_status"), Version: version(last)}
}
