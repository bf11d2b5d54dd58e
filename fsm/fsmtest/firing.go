package fsmtest

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strconv"
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
	// unsure says that a CHECK may refuse what the call does with other values.
	unsure bool
	row    *row
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

// stale asks for wrong versions, and none where one must be given. The last one
// is so high that no guard would be true of it, were it taken for an amount.
func (f *firing) stale() {
	f.t.Helper()
	if f.event.NeedsVersion {
		f.refused("no version", fsm.ErrArgument)
	}
	for _, v := range []int64{seedVersion - 1, seedVersion + 1, math.MaxInt64} {
		f.shoot("a wrong version", judged{outcome: fsm.Stale}, fsm.ExpectVersion(v))
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
