package genfire_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/check"
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/genfire"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/suite"
	"github.com/pawl-go/pawl/internal/syntax"
)

var update = flag.Bool("update", false, "rewrite the wanted files")

func machine(t *testing.T, src string) *model.Machine {
	t.Helper()
	var problems diag.List
	m := check.Run(syntax.Parse("definitions/x.yaml", []byte(src), &problems), &problems)
	require.NotNil(t, m, "%v", problems.Sorted())
	require.Zero(t, problems.Errors(), "%v", problems.Sorted())
	return m
}

func render(t *testing.T, m *model.Machine, cells, races []*suite.Case) string {
	t.Helper()
	out, err := genfire.Test(genfire.Input{Machine: m, Package: "example.com/x/gen/" + m.Package, Migrations: "example.com/x/migrations", Cells: cells, Races: races})
	require.NoError(t, err)
	return string(out)
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		require.Empty(t, os.Getenv("CI"), "wanted files are not rewritten in CI")
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

// A machine with some of everything, and what its test looks like.
func TestSeatIsRendered(t *testing.T) {
	t.Parallel()
	src, err := os.ReadFile("testdata/seat.yaml")
	require.NoError(t, err)
	m := machine(t, string(src))
	cells, races := slices.Concat(suite.AllCells(m).Cases, suite.Guards(m).Cases), suite.Races(m).Cases
	want := ""
	for i := range 20 {
		got := render(t, m, cells, races)
		if i == 0 {
			golden(t, "seat_test.go.txt", got)
			want = got
		}
		require.Equal(t, want, got, "every time the same")
	}
}

const lamp = `machine: lamp
table: {name: lamps, key: {column: nr, type: bigint}}
states:
  "off": {initial: true}
  "on": {final: true}
events:
  push: {}
transitions:
  - {event: push, from: "off", to: "on"}
`

// What a machine does not have leaves no trace: no facts, no deadlines, no
// columns, no races, and no test of them.
func TestALampHasLittle(t *testing.T) {
	t.Parallel()
	got := render(t, machine(t, lamp), nil, nil)
	for _, not := range []string{"Facts:", "Deadline", "Runs:", "Columns:", "Race", "Emit", "\"time\"", "lamp.PushParams"} {
		require.NotContains(t, got, not)
	}
	require.Contains(t, got, "func TestMatrix(")
}

// What a case cannot be fired for is said in the test.
func TestUnknownValuesAreSaid(t *testing.T) {
	t.Parallel()
	m := machine(t, lamp)
	step := suite.Step{From: m.States[0], Event: m.Events[0], Transition: m.Transitions[0], To: m.States[1], Outcome: suite.Applied}
	dark, versioned, unsure := step, step, step
	unsure.Variant, unsure.Unknown, unsure.Unsure = "unsure", "PostgreSQL knows", []string{"code", "@by"}
	dark.Variant, dark.Unknown = "dark", `"x" < 1`
	versioned.Variant = "versioned"
	got := render(t, m, []*suite.Case{
		{Start: m.States[0], Steps: []suite.Step{step}},
		{Start: m.States[0], Steps: []suite.Step{step}},
		{Start: m.States[0], Steps: []suite.Step{dark}},
		{Start: m.States[0], Steps: []suite.Step{unsure}},
		{Start: m.States[0], Steps: []suite.Step{versioned}, Given: []suite.Value{{Name: "version", SQL: "5"}}},
	}, nil)
	require.Equal(t, 4, strings.Count(got, "{In: []string{\"off\"}, Event: \"push\""), "of two alike the first counts")
	require.Contains(t, got, `Variant: "dark", Outcome: fsm.Applied, To: "on", Skip: "\"x\" < 1"}`)
	require.Contains(t, got, `Variant: "unsure", Outcome: fsm.Applied, To: "on", Unsure: []string{"code", "@by"}}`)
	require.Contains(t, got, `Variant: "versioned", Outcome: fsm.Applied, To: "on", Skip: "it depends on the row's version"}`)
}

// A machine of 40,000 cells has a test that a person can open: states with one
// decision are one line.
func TestABigMachineStaysSmall(t *testing.T) {
	t.Parallel()
	const n = 200
	var b strings.Builder
	b.WriteString("machine: big\ntable: {name: bigs, key: {column: nr, type: bigint}}\nstates:\n  S0: {initial: true}\n")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, "  S%d: {resting: true}\n", i)
	}
	b.WriteString("events:\n")
	for i := range n {
		fmt.Fprintf(&b, "  e%d: {otherwise: {ignore: '*'}}\n", i)
	}
	b.WriteString("transitions:\n")
	for i := range n - 1 {
		fmt.Fprintf(&b, "  - {event: e%d, from: S%d, to: S%d}\n", i, i, i+1)
	}
	m := machine(t, b.String())
	require.Greater(t, len(m.States)*len(m.Events), genfire.MaxCases)
	cells, races := genfire.Plain(m)
	require.Len(t, cells, n*n)
	require.Len(t, races, n-1)
	got := render(t, m, cells, races)
	require.Less(t, len(got), 2<<20)
	require.Equal(t, 2*n-1, strings.Count(got, ", Event: \"e"), "one line for what moves, one for the rest")
}
