package check_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/check"
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/syntax"
)

// large is a definition of so many states and transitions, with 50 events; to
// names the target of each transition.
func large(states, transitions int, to func(i int) string) string {
	var b strings.Builder
	b.WriteString("machine: large\ntable:\n  name: larges\n  key: {column: large_id, type: uuid}\n  columns:\n    total: {type: bigint, default: 0}\n" +
		"states:\n  STATE_0000: {initial: true}\n")
	for i := 1; i < states; i++ {
		fmt.Fprintf(&b, "  STATE_%04d: {resting: true, label: {zh: 状态}}\n", i)
	}
	b.WriteString("guards:\n  some: {sql: total > 0}\nevents:\n")
	for i := range 50 {
		fmt.Fprintf(&b, "  event_%02d: {expect: version}\n", i)
	}
	b.WriteString("transitions:\n")
	for i := range transitions {
		fmt.Fprintf(&b, "  - {event: event_%02d, from: STATE_%04d, to: %s, guard: some, set: {total: total + %d}, emit: [topic]}\n",
			i%50, i/50%states, to(i), i%2)
	}
	return b.String()
}

// next leads through all states, so that each is reached.
func next(states int) func(i int) string {
	return func(i int) string { return fmt.Sprintf("STATE_%04d", (i/50+i%50+1)%states) }
}

func TestTheLargestMachineIsChecked(t *testing.T) {
	t.Parallel()
	m, found := read(large(1000, 10_000, next(1000)))
	require.Empty(t, found)
	require.Len(t, m.States, 1000)
	require.Len(t, m.Transitions, 10_000)
	last := m.Transitions[9_999]
	require.Equal(t, "STATE_0199", last.From[0].Name)
	require.Equal(t, "STATE_0249", last.To.Name)
	require.Same(t, last, m.Events[49].Cells[199].Transitions[0])

	m, found = read(large(1000, 20_001, next(1000)))
	require.Nil(t, m)
	require.Equal(t, []string{"1:10 FSM058 this machine has 1000 states, 50 events and 20001 transitions; at most 2000, 1000 and 20000 are read, and 250000 cells; split it into several machines"}, found)
}

// Each of 1,001 targets lacks the line below of a state's name, and then the
// first comes again.
func TestAThousandUnknownNamesGetASuggestion(t *testing.T) {
	t.Parallel()
	m, found := read(large(1000, 1002, func(i int) string { return fmt.Sprintf("STATE%04d", i%1001) }))
	require.Nil(t, m)
	require.Len(t, found, 1002)
	require.Contains(t, found[0], `FSM012 state "STATE0000" is not declared; did you mean "STATE_0000"?`)
	require.Contains(t, found[999], `FSM012 state "STATE0999" is not declared; did you mean "STATE_0999"?`)
	require.True(t, strings.HasSuffix(found[1000], `FSM012 state "STATE1000" is not declared`), found[1000])
	require.Contains(t, found[1001], `FSM012 state "STATE0000" is not declared; did you mean "STATE_0000"?`)
}

// Guards that name the status are judged by state, and states that they do not
// tell apart together: here the first, three hundred others, and the rest.
func TestGuardsTellAThousandStatesApart(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("machine: m\ntable: {name: ms, key: {column: id, type: uuid}, columns: {total: bigint}}\nstates:\n  S0000: {initial: true}\n")
	from, some := []string{"S0000"}, []string{}
	for i := 1; i < 1000; i++ {
		name := fmt.Sprintf("S%04d", i)
		fmt.Fprintf(&b, "  %s: {resting: true}\n", name)
		from = append(from, name)
		if i <= 300 {
			some = append(some, "'"+name+"'")
		}
	}
	b.WriteString("  END: {final: true}\nevents:\n  e: {}\n")
	for i := range 50 {
		fmt.Fprintf(&b, "  next%d: {expect: version}\n", i)
	}
	list, names := strings.Join(from, ", "), strings.Join(some, ", ")
	fmt.Fprintf(&b, "transitions:\n  - {event: e, from: [%s], to: END, guard: {sql: \"status IN (%s) AND total > 0 OR status = 'S0000' OR total > 1\"}}\n", list, names)
	fmt.Fprintf(&b, "  - {event: e, from: [%s], to: END, guard: {sql: \"status <> 'S0000' AND total <= 0\"}, emit: [topic]}\n", list)
	for i := range 999 {
		fmt.Fprintf(&b, "  - {event: next%d, from: %s, to: %s}\n", i%50, from[i], from[i+1])
	}
	found := told(b.String())
	require.Len(t, found, 2)
	require.Contains(t, found[0], `FSM066 no guard of event "e" is true in "S0301", "S0302", "S0303", "S0304", "S0305", "S0306", "S0307", "S0308" and others with total = 1, which`)
	require.Contains(t, found[1], `FSM067 guard "status <> 'S0000' AND total <= 0" is never true in "S0000", whatever else`)
}

// BenchmarkRun measures the largest machine, half of it, and it with every
// target misspelt; reading the text is not counted.
func BenchmarkRun(b *testing.B) {
	misspelt := func(i int) string { return fmt.Sprintf("STATE%04d", i) }
	for _, c := range []struct{ name, src string }{
		{"500 states", large(500, 5_000, next(500))},
		{"1000 states", large(1000, 10_000, next(1000))},
		{"1000 states misspelt", large(1000, 10_000, misspelt)},
	} {
		var problems diag.List
		root := syntax.Parse("d.yaml", []byte(c.src), &problems)
		check.Run(root, &problems) // what reads SQL is started once
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				check.Run(root, &diag.List{})
			}
		})
	}
}
