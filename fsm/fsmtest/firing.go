package fsmtest

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pawl-go/pawl/fsm"
)

// firing is one case at work: calls at a row, each compared with what must be.
type firing struct {
	e     *engine
	t     *testing.T
	label string
	state string
	event *Event
	given Values
	// runs is how often the row's deadline has come, as SQL; empty for the usual.
	runs string
	// apart says that no guard looks at counters that are not given.
	apart bool
	row   *row
	// rows are all that were made.
	rows []*row
	// values are the parameters of the next call.
	values Values
}

func (f *firing) fatal(step, format string, args ...any) {
	f.t.Helper()
	label := f.label
	if step != "" {
		label += ", " + step
	}
	f.t.Fatalf(label+": "+format, args...)
}

func (f *firing) newRow() *row {
	f.t.Helper()
	r, err := f.e.newRow(f.t.Context(), seed{state: f.state, event: f.event.Name, values: f.given, runs: f.runs, apart: f.apart})
	if err != nil {
		f.fatal("", "%v", err)
	}
	f.rows = append(f.rows, r)
	return r
}

func (f *firing) look(r *row) snapshot {
	f.t.Helper()
	s, err := f.e.look(f.t.Context(), f.e.pool, r)
	if err != nil {
		f.fatal("", "look at the row: %v", err)
	}
	return s
}

func (f *firing) shot() shot { return shotOf(f.event, f.values) }

func (f *firing) judge() judged {
	f.t.Helper()
	j, err := f.e.judge(f.t.Context(), f.e.pool, f.row, f.look(f.row), f.shot())
	if err != nil {
		f.fatal("", "ask the guards: %v", err)
	}
	return j
}

// any is what a call that does not care for the version says of it.
func (f *firing) any() []fsm.Option {
	if f.event.NeedsVersion {
		return []fsm.Option{fsm.ExpectVersion(seedVersion)}
	}
	return nil
}

// shoot makes a call and compares the answer, and all that it may have touched,
// with what the judgement says.
func (f *firing) shoot(step string, j judged, options ...fsm.Option) {
	f.t.Helper()
	before := f.look(f.row)
	want, err := f.e.expect(f.t.Context(), f.e.pool, f.row, before, f.shot(), j)
	if err != nil {
		f.fatal(step, "ask what must be: %v", err)
	}
	got, err := f.e.fire(f.t.Context(), nil, f.event, f.row, f.values, options...)
	if err != nil {
		f.fatal(step, "%v, want %s", err, j.outcome)
	}
	f.compare(step, j, made(f.event.Name, j, before), got, before, want)
}

// compare compares an answer, and the database after it, with what must be.
func (f *firing) compare(step string, j judged, want fsm.Transition[string], got Answer, before, must snapshot) {
	f.t.Helper()
	after := f.look(f.row)
	if got.Outcome != j.outcome {
		f.fatal(step, "outcome %s, want %s%s", got.Outcome, j.outcome, difference(must, after))
	}
	f.e.leave(before, must, after)
	if d := difference(must, after); d != "" {
		f.fatal(step, "%s, and left other than it must (- want, + got)%s", got.Outcome, d)
	}
	if j.outcome != fsm.Applied && j.outcome != fsm.Compensated && before.Tuple != after.Tuple {
		f.fatal(step, "%s changed nothing and yet wrote or locked the row: ctid, xmin and xmax were %s and are %s", got.Outcome, before.Tuple, after.Tuple)
	}
	f.answer(step, j, want, got, after)
}

// answer compares what a call says with what is.
func (f *firing) answer(step string, j judged, want fsm.Transition[string], got Answer, after snapshot) {
	f.t.Helper()
	if state, _ := after.Row[f.e.m.Status].(string); got.State != state || got.Version != versionOf(after, f.e.m) {
		f.fatal(step, "%s says %s, version %d; the row is %s, version %d", got.Outcome, got.State, got.Version, state, versionOf(after, f.e.m))
	}
	row, err := f.e.typedRow(f.t.Context(), f.row)
	if err != nil {
		f.fatal(step, "read the row: %v", err)
	}
	if !reflect.DeepEqual(got.Row, row) {
		f.fatal(step, "%s answers with another row than there is (- want, + got)\n  - %s\n  + %s", got.Outcome, text(row), text(got.Row))
	}
	if got.Snapshot {
		f.fatal(step, "%s says that the transaction sees one snapshot, and it does not", got.Outcome)
	}
	if got.Made != want {
		f.fatal(step, "%s tells of the transition %+v, want %+v", got.Outcome, got.Made, want)
	}
	if got.Snapshot {
		f.fatal(step, "%s is marked as of a snapshot, and was of the row as committed", got.Outcome)
	}
	if j.outcome == fsm.GuardFailed && !slices.Equal(got.Guards, j.guards) {
		f.fatal(step, "GuardFailed names the guards %q, want %q", got.Guards, j.guards)
	}
}

// refused makes a call that must end in an error and leave nothing.
func (f *firing) refused(step string, kind error, options ...fsm.Option) {
	f.t.Helper()
	before := f.look(f.row)
	got, err := f.e.fire(f.t.Context(), nil, f.event, f.row, f.values, options...)
	if !errors.Is(err, kind) {
		f.fatal(step, "%s and the error %v, want the error %v", got.Outcome, err, kind)
	}
	after := f.look(f.row)
	if d := difference(before, after); d != "" || before.Tuple != after.Tuple {
		f.fatal(step, "%v, and yet it wrote (- want, + got)%s", err, d)
	}
}

// stale asks for two wrong versions, and none where one must be given.
func (f *firing) stale() {
	f.t.Helper()
	if f.event.NeedsVersion {
		f.refused("no version", fsm.ErrArgument)
	}
	for _, v := range []int64{seedVersion - 1, seedVersion + 1} {
		f.shoot("a wrong version", judged{outcome: fsm.Stale}, fsm.ExpectVersion(v))
	}
}

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
	before := f.look(f.row)
	got, err := f.e.fire(f.t.Context(), nil, f.event, f.row, f.values, f.any()...)
	if err != nil {
		f.fatal("told of another row", "%v, want Mismatched", err)
	}
	f.compare("told of another row", judged{outcome: fsm.Mismatched}, fsm.Transition[string]{}, got, before, before)
	f.row = first
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

// lastRuns makes the call of a deadline's event at rows whose deadline has come
// as often as it may but for one or two times.
func (f *firing) lastRuns(j judged) {
	f.t.Helper()
	s := f.e.state(f.state)
	if f.e.m.Runs == "" || j.move.To != s.Name || s.Event != f.event.Name {
		return
	}
	for left := min(2, s.Max); left > 0; left-- {
		f.runs = strconv.Itoa(s.Max - left)
		f.row = f.newRow()
		f.shoot("the deadline has come "+f.runs+" times", f.judge(), f.any()...)
	}
	f.runs = ""
}

// unwritten makes a call that writes nothing at a row which has no history: it
// tells of no transition.
func (f *firing) unwritten(j judged) {
	f.t.Helper()
	options := f.any()
	switch j.outcome {
	case fsm.Applied:
		j, options = judged{outcome: fsm.Stale}, []fsm.Option{fsm.ExpectVersion(seedVersion + 1)}
	case fsm.Compensated:
		return
	}
	f.row = f.newRow()
	if _, err := f.e.pool.Exec(f.t.Context(), "DELETE FROM "+quoted(f.e.m.History)+" AS x WHERE "+f.e.where(f.row, "x")); err != nil {
		f.fatal("", "take the history away: %v", err)
	}
	f.shoot("of a row without history", j, options...)
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

// other are the values with another one for a parameter, which its check takes
// as well; none where none was found.
func (f *firing) other(name string) (Values, bool) {
	var p Column
	for _, q := range f.event.Params {
		if q.Name == name {
			p = q
		}
	}
	for _, v := range others(p.Type, f.values[name], p.Value) {
		values := Values{name: v}
		for k, v := range f.values {
			if k != name {
				values[k] = v
			}
		}
		if f.takes(p, values) {
			return values, true
		}
	}
	return nil, false
}

// vary gives other values to the parameters whose values do not matter, all in a
// cell that has one way, so that what a call writes is not what the row had.
func (f *firing) vary(oneWay bool) {
	f.t.Helper()
	usual := f.values
	for _, p := range f.event.Params {
		if _, matters := usual[p.Name]; matters && !oneWay || p.Value == "" {
			continue
		}
		if other, ok := f.other(p.Name); ok {
			f.values = other
		}
	}
}

// takes reports whether the check of a parameter lets the values pass.
func (f *firing) takes(p Column, values Values) bool {
	if p.Check == "" {
		return true
	}
	ok := false
	s := shotOf(f.event, values)
	err := f.e.ask(f.t.Context(), f.e.pool, f.row, s, "to_jsonb(("+p.Check+") IS NOT FALSE)", &ok)
	return err == nil && ok
}

// others are values of a type that differ from the one at hand.
func others(typ, value, usual string) []string {
	if value == "" {
		value = usual
	}
	switch base(typ) {
	case "smallint", "integer", "bigint", "numeric", "double precision":
		return []string{"(" + value + ") + 1", "(" + value + ") - 1", "(" + value + ") * 2"}
	case "uuid":
		return []string{"'ffffffff-0000-4000-8000-000000000001'", "'ffffffff-0000-4000-8000-000000000002'"}
	case "timestamptz", "date":
		return []string{typed(value, base(typ)) + " + interval '1 day'", typed(value, base(typ)) + " - interval '1 day'"}
	case "jsonb":
		return []string{"jsonb_build_array(" + typed(value, "jsonb") + ")"}
	case "bytea":
		return []string{typed(value, "bytea") + ` || '\x01'::bytea`}
	case "boolean":
		return []string{"NOT (" + value + ")"}
	}
	return []string{"(" + value + ")::text || 'x'", "reverse((" + value + ")::text)", "left((" + value + ")::text, -1) || 'x'", strings.ToUpper(value)}
}
