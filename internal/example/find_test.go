package example_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/check"
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/example"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/syntax"
)

func read(t testing.TB, src string) *model.Machine {
	t.Helper()
	var problems diag.List
	m := check.Run(syntax.Parse("m.yaml", []byte(src), &problems), &problems)
	require.NotNil(t, m, "%v", problems.Sorted())
	return m
}

// counter has one event that may come again and again, and columns of its table.
func counter(columns, params, guard, set string) string {
	return "machine: m\ntable:\n  name: ms\n  key: {column: id, type: bigint}\n  columns: {" + columns + "}\n" +
		"states: {A: {initial: true}, B: {}, C: {final: true}}\nevents:\n  e: {expect: version, params: {" + params + "}}\n  end: {}\n" +
		"transitions:\n  - {event: e, from: [A, B], to: B, guard: {sql: \"" + guard + "\"}, set: {" + set + "}}\n  - {event: end, from: B, to: C}\n"
}

// calls are q calls of e that are taken, or are not.
func calls(m *model.Machine, q int, untrue bool) []example.Call {
	e := m.Event("e")
	out := make([]example.Call, q)
	for i := range out {
		state := m.States[min(i, 1)]
		t := e.Cells[state.Index].Transitions[0]
		out[i] = example.Call{State: state, To: t.To, Event: e, Moves: true, Set: t.Set}
		if t.Guard != nil {
			out[i].Must = []example.Condition{{Expr: t.Guard.SQL, Untrue: untrue}}
		}
		if untrue {
			out[i].To, out[i].Moves = state, false
		}
	}
	return out
}

func text(values []example.Value) string {
	var out []string
	for _, v := range values {
		out = append(out, v.Name+"="+v.SQL)
	}
	return strings.Join(out, " ")
}

func TestValuesAreNatural(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		columns, params, guard, set string
		untrue                      bool
		row, call, after            string
	}{
		{columns: "q: bigint", guard: "q > 5", row: "id=100 q=100"},
		{columns: "q: bigint", guard: "q > 5", untrue: true, row: "id=100 q=1"},
		{columns: "q: {type: bigint, default: 0}", guard: "q >= 0", row: "id=100 q=0"},
		{columns: "q: integer", params: "k: integer", guard: "q + @k = 7", row: "id=100 q=1", call: "k=6"},
		{columns: "q: bigint", params: "k: bigint", guard: "q + @k < 0", row: "id=100 q=100", call: "k=-101"},
		{columns: "q: smallint", guard: "q > 32766", row: "id=100 q=32767"},
		{columns: "q: 'numeric(3,2)'", guard: "q > 1", row: "id=100 q=1.01"},
		{columns: "q: 'numeric(12,2)'", params: "k: 'numeric(12,2)'", guard: "q > @k", set: "q: q - @k", row: "id=100 q=100.00", call: "k=11.00", after: "q=89.00"},
		{columns: "q: double precision", guard: "q > 1", row: "id=100 q=100"},
		{columns: "w: varchar(3)", guard: "w <> ''", row: "id=100 w='w-1'"},
		{columns: "word: varchar(3)", guard: "word <> ''", row: "id=100 word='wo1'"},
		{columns: "w: {type: text, optional: true}", guard: "w = 'x'", row: "id=100 w='x'"},
		{columns: "w: {type: text, optional: true}", guard: "w IS NULL", row: "id=100 w=NULL"},
		{columns: "w: {type: text, optional: true}", params: "v: text", guard: "w = @v", untrue: true, row: "id=100 w='w-1'", call: "v='v-1'"},
		{columns: "w: text", guard: "length(w) > 150", row: "id=100 w=repeat('a', 151)"},
		{columns: "w: {type: text, check: \"w ~ '^[A-Z]{3}$'\"}", guard: "w <> 'EUR'", row: "id=100 w='AAA'"},
		{columns: "w: {type: text, check: \"w IN ('EUR', 'USD')\"}", guard: "w <> 'EUR'", row: "id=100 w='USD'"},
		{columns: "b: boolean", guard: "b", row: "id=100 b=true"},
		{columns: "b: boolean", guard: "b", untrue: true, row: "id=100 b=false"},
		{columns: "u: uuid", params: "v: uuid", guard: "u <> @v", row: "id=100 u='00000000-0000-4000-8000-000000000001'", call: "v='00000000-0000-4000-8000-000000000002'"},
		{columns: "at: timestamptz", guard: "at < now() - interval '1 day'", set: "at: now()", row: "id=100 at='2026-01-14 11:00:00+00'", after: "at='2026-01-15 12:00:00+00'"},
		{columns: "at: {type: timestamptz, optional: true}", guard: "at > now() + INTERVAL '2 weeks'", row: "id=100 at='2026-02-24 12:00:00+00'"},
		{columns: "d: date", guard: "d < '2026-01-15'", row: "id=100 d='2026-01-14'"},
		{columns: "j: jsonb, x: bytea", guard: "id = 3", row: `id=3 j='{}' x='\x01'`},
		{columns: "q: bigint", guard: "version > 2 AND q > 0", row: "id=100 q=100 version=3"},
		// The CHECK of a column that is set holds afterwards too.
		{columns: "q: {type: bigint, check: q < 50}", params: "k: bigint", guard: "@k > 0", set: "q: '@k'", row: "id=100 q=10", call: "k=11", after: "q=11"},
		{columns: "q: {type: bigint, check: \"status = 'A' OR q > 7\"}", params: "k: bigint", guard: "@k < 9", set: "q: '@k'", row: "id=100 q=100", call: "k=8", after: "q=8"},
		{columns: "q: 'numeric(4,1)'", params: "k: numeric", guard: "@k > 3 AND @k < 3.3", set: "q: '@k'", row: "id=100 q=100.0", call: "k=3.1", after: "q=3.1"},
	} {
		m := read(t, counter(c.columns, c.params, c.guard, c.set))
		a := example.NewFinder(m).Find(example.Problem{Calls: calls(m, 1, c.untrue)})
		require.Equal(t, -1, a.Failed, "%s under %s: %s", c.guard, c.columns, a.Why)
		require.Equal(t, []string{c.row, c.call, c.after}, []string{text(a.Row), text(a.Calls[0].Params), text(a.Calls[0].After)}, "%s under %s", c.guard, c.columns)
	}
}

func TestTextIsForPeople(t *testing.T) {
	t.Parallel()
	m := read(t, counter("w: text, v: {type: text, optional: true}, u: text", "", "length(w) = 50 AND v IS NULL AND u = 'it''s'", ""))
	a := example.NewFinder(m).Find(example.Problem{Calls: calls(m, 1, false)})
	require.Equal(t, []example.Value{
		{Name: "id", SQL: "100", Text: "100"},
		{Name: "w", SQL: "repeat('a', 50)", Text: strings.Repeat("a", 50)},
		{Name: "v", SQL: "NULL", Null: true},
		{Name: "u", SQL: "'it''s'", Text: "it's"},
	}, a.Row)
}

func TestWhatIsNotFoundSaysWhatMustHold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		columns, guard, why string
		never               bool
	}{
		{"q: {type: bigint, check: q > 0}", "q < 5 AND id < q", "", false},
		{"w: text", "upper(w) = 'X'", "upper(w) = 'X': the value of 'X' = upper(w) is not known", false},
		{"q: bigint", "q * q = 9", "q * q = 9: the value of q * q is not known", false},
	} {
		m := read(t, counter(c.columns, "", c.guard, ""))
		a := example.NewFinder(m).Find(example.Problem{Calls: calls(m, 1, false)})
		require.Equal(t, c.why, a.Why)
		require.Equal(t, c.why != "", a.Failed == 0)
		require.False(t, a.Never)
	}
	// Three calls of which one is possible: after two the column breaks its CHECK.
	m := read(t, counter("q: {type: bigint, check: q <= 10}", "", "q >= 9", "q: q + 1"))
	a := example.NewFinder(m).Find(example.Problem{Calls: calls(m, 3, false)})
	require.Equal(t, 1, a.Failed)
	require.True(t, a.Never)
	require.Equal(t, "id=100 q=9", text(a.Row))
	require.Len(t, a.Calls, 1, "what suits the calls before")
}

func TestALongPathIsSolvedStepByStep(t *testing.T) {
	t.Parallel()
	m := read(t, counter("q: {type: bigint, check: q >= 0}, w: {type: text, optional: true}", "k: bigint, v: text", "@k < q AND version > 0", "q: q - @k, w: '@v'"))
	a := example.NewFinder(m).Find(example.Problem{Calls: calls(m, 9, false)})
	require.Equal(t, -1, a.Failed, a.Why)
	require.Len(t, a.Calls, 9)
	left := 100
	for i, call := range a.Calls {
		var k, q int
		_, err := fmt.Sscan(call.Params[0].SQL, &k)
		require.NoError(t, err)
		_, err = fmt.Sscan(call.After[0].SQL, &q)
		require.NoError(t, err)
		require.Less(t, k, left, "call %d", i)
		require.Equal(t, left-k, q, "call %d", i)
		require.Equal(t, call.Params[1].SQL, call.After[1].SQL)
		left = q
	}
	// The version that a guard reads goes up.
	m = read(t, counter("q: bigint", "", "version >= 6", ""))
	a = example.NewFinder(m).Find(example.Problem{Created: true, Calls: calls(m, 7, false)})
	require.Equal(t, 0, a.Failed, "a row is created with version 1")
	five := calls(m, 7, false)
	for i := range 5 {
		five[i].Must = nil
	}
	a = example.NewFinder(m).Find(example.Problem{Created: true, Calls: five})
	require.Equal(t, -1, a.Failed, a.Why)
}

func TestARowThatIsCreatedHasItsDefaults(t *testing.T) {
	t.Parallel()
	m := read(t, counter("q: {type: bigint, default: 7}, g: bigint, w: {type: text, optional: true}", "k: bigint, v: text", "q + @k = 10 AND w IS NULL", "q: '@k', w: '@v'"))
	a := example.NewFinder(m).Find(example.Problem{Created: true, Calls: calls(m, 1, false)})
	require.Equal(t, -1, a.Failed, a.Why)
	require.Equal(t, "id=100 g=101", text(a.Row))
	require.Equal(t, "k=3 v='v-1'", text(a.Calls[0].Params))
}

func TestFactsAreToldApart(t *testing.T) {
	t.Parallel()
	m := read(t, `
machine: m
table: {name: ms, key: {column: id, type: uuid}, columns: {q: {type: bigint, default: 0}}}
states: {A: {initial: true}, B: {final: true}}
events:
  e: {params: {nr: text, sum: {type: bigint, check: '@sum = 5 OR @sum = 6'}}, identity: [nr], fingerprint: [sum], otherwise: {reject: '*'}}
  end: {}
transitions:
  - {event: e, from: A, to: A, set: {q: q + @sum}}
  - {event: end, from: A, to: B}
`)
	e := m.Event("e")
	move := example.Call{State: m.States[0], To: m.States[0], Event: e, Moves: true, Set: m.Transitions[0].Set}
	again, other := example.Call{State: m.States[0], To: m.States[0], Event: e, Again: 1}, example.Call{State: m.States[0], To: m.States[0], Event: e, Again: 1, Differs: true}
	for _, many := range [][]example.Call{{move, move, again, other}, {move, move, again, other, move}} {
		a := example.NewFinder(m).Find(example.Problem{Calls: many})
		require.Equal(t, -1, a.Failed, a.Why)
		told := func(i int) []string { return []string{a.Calls[i].Params[0].Text, a.Calls[i].Params[1].Text} }
		require.Equal(t, []string{"nr-1", "5"}, told(0))
		require.Equal(t, []string{"nr-2", "5"}, told(1))
		require.Equal(t, told(0), told(2))
		require.Equal(t, []string{"nr-1", "6"}, told(3))
		if len(many) > 4 {
			require.Equal(t, []string{"nr-3", "5"}, told(4))
			require.Equal(t, "q=115", text(a.Calls[4].After), "three times 5 on a row of 100")
		}
	}
}

func TestAMachineWithoutATableHasNoValues(t *testing.T) {
	t.Parallel()
	m := read(t, "machine: m\nstates: {A: {initial: true}, B: {final: true}}\nevents: {e: {params: {q: text}}}\ntransitions:\n  - {event: e, from: A, to: B}\n")
	f := example.NewFinder(m)
	a := f.Find(example.Problem{Calls: []example.Call{{State: m.States[0], To: m.States[1], Event: m.Events[0], Moves: true}}})
	require.Equal(t, example.Answer{Failed: -1, Calls: make([]example.Taken, 1)}, a)
	require.Empty(t, f.OtherKey(a.Row))
	require.Empty(t, f.Bounds(m.Events[0], &model.Expr{Source: "1 > 0"}))
}

func TestTheWorkForOneMachineIsBounded(t *testing.T) {
	t.Parallel()
	m := read(t, counter("q: bigint, o: bigint", "k: bigint", "q > @k", ""))
	f := example.NewFinder(m)
	guard := m.Transitions[0].Guard.SQL
	found := func(i int) bool {
		call := calls(m, 1, false)
		call[0].Must = append(call[0].Must, example.Condition{Expr: &model.Expr{Source: guard.Source, Parts: slices.Concat(guard.Parts, []model.Part{{Text: fmt.Sprintf(" AND %d > 0", i+1)}})}})
		return f.Find(example.Problem{Calls: call}).Failed < 0
	}
	q := 0
	for q < 10_000 && found(q) {
		q++
	}
	require.Less(t, q, 10_000, "after so many questions no more are asked")
	require.Greater(t, q, 1_000)
	require.True(t, found(0), "what was found before is remembered")
}

// A row that is known is not chosen, and parameters suit it: also where what is
// known of it is that nobody knows.
func TestTheRowMayBeKnown(t *testing.T) {
	t.Parallel()
	m := read(t, counter("q: bigint, w: {type: text, optional: true}", "k: bigint", "q + @k = 7", ""))
	known := []example.Value{{Name: "id", SQL: "3"}, {Name: "q", SQL: "12"}, {Name: "w", SQL: "'it''s'"}, {Name: "version", SQL: "4"}}
	a := example.NewFinder(m).Find(example.Problem{Known: known, Calls: calls(m, 1, false)})
	require.Equal(t, -1, a.Failed, a.Why)
	require.Empty(t, a.Row, "nothing of it is chosen")
	require.Equal(t, "k=-5", text(a.Calls[0].Params))

	m = read(t, counter("q: bigint", "k: bigint", "q > 5", ""))
	a = example.NewFinder(m).Find(example.Problem{Known: []example.Value{{Name: "q", SQL: "5"}}, Calls: calls(m, 1, false)})
	require.Equal(t, 0, a.Failed)
	require.True(t, a.Never, "it is 5")
	a = example.NewFinder(m).Find(example.Problem{Known: []example.Value{{Name: "q"}}, Calls: calls(m, 1, false)})
	require.Equal(t, 0, a.Failed)
	require.False(t, a.Never, "nobody knows")
}

// Facts that were told before leave the next call an identity of its own.
func TestFactsToldBefore(t *testing.T) {
	t.Parallel()
	m := read(t, strings.Replace(counter("q: bigint", "k: text", "q > 5", ""), "expect: version, params", "identity: [k], params", 1))
	call := calls(m, 1, false)
	call[0].Told = 2
	a := example.NewFinder(m).Find(example.Problem{Calls: call})
	require.Equal(t, "k='k-3'", text(a.Calls[0].Params))
}
