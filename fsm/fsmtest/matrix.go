package fsmtest

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-go/pawl/fsm"
)

// Matrix fires every case: each state × event, and each way of those that have
// several. The tests are named STATE/EVENT, and STATE/EVENT/VARIANT.
func Matrix(t *testing.T, m *Machine) {
	t.Parallel()
	open(t, m).matrix(t)
}

func (e *engine) matrix(t *testing.T) {
	m := e.m
	for _, s := range m.States {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			for _, event := range m.Events {
				ways := slices.DeleteFunc(slices.Clone(m.Cases), func(c Case) bool {
					return c.Event != event.Name || !slices.Contains(c.In, s.Name)
				})
				if len(ways) > 0 {
					t.Run(event.Name, func(t *testing.T) { e.ways(t, s.Name, ways) })
				}
			}
		})
	}
}

// ways fires the cases of one cell.
func (e *engine) ways(t *testing.T, state string, ways []Case) {
	t.Parallel()
	for _, c := range ways {
		if len(ways) == 1 && c.Variant == "" {
			e.fireCase(t, state, c)
			return
		}
		t.Run(c.Variant, func(t *testing.T) {
			t.Parallel()
			e.fireCase(t, state, c)
		})
	}
}

// fireCase fires a case in a transaction that is rolled back, without and with
// an expected version, and tells its fact again.
func (e *engine) fireCase(t *testing.T, state string, c Case) {
	t.Helper()
	if c.Skip != "" && len(c.Unsure) == 0 {
		c = e.settled(t.Context(), c)
	}
	if c.Skip != "" {
		untested(t, c.Skip)
	}
	defer e.turn(c.Event)()
	f := &firing{e: e, t: t, label: e.m.Name + " " + state + " × " + c.Event, event: e.event(c.Event), values: c.Params, given: c.Given, state: state, unsure: len(c.Unsure) > 0}
	if c.Variant != "" {
		f.label += " [" + c.Variant + "]"
	}
	f.apart = c.Variant == ""
	defer f.forget()
	f.row = f.newRow()
	f.agree(c, f.judge())
	f.vary(c.Variant == "")
	j := f.judge()
	f.agree(c, j)
	f.strangers()
	f.inside(j)
	switch j.outcome {
	case fsm.Applied:
		f.stale()
		f.shoot("", j, f.any()...)
		f.again(j)
		f.forget()
		f.row = f.newRow()
		f.shoot("the right version", f.judge(), fsm.ExpectVersion(seedVersion))
		f.lastRuns(j)
	case fsm.Compensated:
		f.shoot("", j, f.any()...)
		f.again(j)
		f.forget()
		f.row = f.newRow()
		f.shoot("a wrong version", f.judge(), fsm.ExpectVersion(seedVersion+1))
	default:
		f.shoot("", j, f.any()...)
		f.shoot("a wrong version", j, fsm.ExpectVersion(seedVersion+1))
	}
	f.forget()
	f.tempted(c)
	f.nudged(c)
	f.unwritten(j)
}

// tempted fires at a cell that does not move with the values that make the
// event's guards true where it does: they must not count here.
func (f *firing) tempted(c Case) {
	f.t.Helper()
	if c.Outcome == fsm.Applied || c.Variant != "" {
		return
	}
	given, values := f.given, f.values
	for _, other := range f.e.tempting(c.Event) {
		f.given, f.values, f.apart = other.Given, other.Params, false
		f.row = f.newRow()
		j := f.judge()
		f.agree(c, j)
		f.shoot("with the values of "+other.Variant, j, f.any()...)
		f.forget()
	}
	f.given, f.values = given, values
}

// tempting returns a case for each guard of the event, with values that make it true.
func (e *engine) tempting(event string) []Case {
	seen := map[string]bool{}
	var list []Case
	for _, c := range e.m.Cases {
		if c.Event != event || c.Outcome != fsm.Applied || c.Variant == "" || c.Skip != "" || seen[c.Variant] || strings.Contains(c.Variant, " ") {
			continue
		}
		seen[c.Variant] = true
		list = append(list, c)
	}
	return list
}

// agree compares what the case says with what the machine's own table does: two
// tellings of one definition.
func (f *firing) agree(c Case, j judged) {
	f.t.Helper()
	to := ""
	if j.move != nil {
		to = j.move.To
	}
	if j.outcome != c.Outcome || to != c.To || !slices.Equal(sorted(j.emit), sorted(c.Emit)) {
		f.t.Fatalf("%s: the case says %s %s %v, the guards %s %s %v", f.label, c.Outcome, c.To, c.Emit, j.outcome, to, j.emit)
	}
}

func sorted(list []string) []string {
	return slices.SortedFunc(slices.Values(list), cmp.Compare[string])
}
