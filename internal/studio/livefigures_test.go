package studio

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/gensvg"
	"github.com/pawl-go/pawl/internal/live"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/picture"
	"github.com/pawl-go/pawl/internal/pipeline"
)

// orderAndForty are the machine of orders and one of 40 states in a row, each of which
// leads to the last one, too.
func orderAndForty(t testing.TB) []*model.Machine {
	t.Helper()
	var forty strings.Builder
	forty.WriteString("machine: forty\ntable: {name: forties, key: {column: id, type: text}}\nstates:\n  S00: {initial: true}\n")
	for i := 1; i < 39; i++ {
		fmt.Fprintf(&forty, "  S%02d: {}\n", i)
	}
	forty.WriteString("  S39: {final: true}\nevents: {step: {}, stop: {}}\ntransitions:\n  - {event: stop, from: [")
	for i := range 38 {
		fmt.Fprintf(&forty, "S%02d, ", i)
	}
	forty.WriteString("S38], to: S39}\n")
	for i := range 38 {
		fmt.Fprintf(&forty, "  - {event: step, from: S%02d, to: S%02d}\n", i, i+1)
	}
	order, err := os.ReadFile("../../definitions/order.yaml")
	require.NoError(t, err)
	var problems diag.List
	all, err := pipeline.Lint(t.Context(), fstest.MapFS{"definitions/order.yaml": {Data: order}, "definitions/forty.yaml": {Data: []byte(forty.String())}}, []string{"definitions"}, &problems)
	require.NoError(t, err)
	require.Len(t, all, 2, problems.Sorted())
	return all
}

// busy is a view of a machine with rows everywhere and moves along every arrow.
func busy(m *model.Machine) live.View {
	now := time.Now()
	v := live.View{
		Counts: live.Figure[live.Counts]{At: now, Value: live.Counts{Exact: true}},
		Moves:  live.Figure[live.Moves]{At: now, Value: live.Moves{Reach: live.Reach{Back: live.Window}}},
	}
	for i, s := range m.States {
		v.Counts.Value.States = append(v.Counts.Value.States, live.StateCount{State: s.Name, Declared: true, Rows: int64(1000 + i)})
	}
	for _, e := range picture.Of(m).Edges {
		for _, a := range e.Arcs {
			for minute := range 60 {
				v.Moves.Value.Moves = append(v.Moves.Value.Moves, live.Move{Minute: minute, Event: a.Transition.Event.Name, From: e.From.Name, To: e.To.Name, N: 5})
			}
		}
	}
	return v
}

// What the page of a machine's rows does once a second for each who has it open.
func BenchmarkFigures(b *testing.B) {
	for _, m := range orderAndForty(b) {
		v := busy(m)
		made := madeOf(m)
		b.Run(m.Name, func(b *testing.B) {
			for b.Loop() {
				svg, err := withFigures(&made.pictures, "en", v, nil)
				require.NoError(b, err)
				require.NotEmpty(b, svg)
			}
		})
	}
}

// A picture that is kept has the figures of each time, and what is kept by the address
// of one page is not on another's.
func TestFiguresAreOfTheirTime(t *testing.T) {
	t.Parallel()
	for _, m := range orderAndForty(t) {
		made, v := madeOf(m), busy(m)
		first, err := withFigures(&made.pictures, "en", v, nil)
		require.NoError(t, err)
		require.Equal(t, len(m.States), strings.Count(string(first), `<g class="rows">`))
		require.Contains(t, string(first), ">1,001<")

		later := busy(m)
		later.Counts.Value.States[1].Rows = 7_777
		marked, err := withFigures(&made.pictures, "en", later, &gensvg.Marks{Whole: "picked"})
		require.NoError(t, err)
		require.Contains(t, string(marked), ">7,777<")
		require.NotContains(t, string(marked), ">1,001<")
		require.Contains(t, string(marked), `class="pawl-svg picked"`)

		again, err := withFigures(&made.pictures, "en", v, nil)
		require.NoError(t, err)
		require.Equal(t, first, again)
		none, err := withFigures(&made.pictures, "en", live.View{}, nil)
		require.NoError(t, err)
		require.NotContains(t, string(none), "<rect y=")
		require.Len(t, made.pictures.kept, 1, "one picture for all of them")
	}
}

// A definition that changes takes its pictures along.
func TestPicturesGoWithTheirDefinition(t *testing.T) {
	t.Parallel()
	m := orderAndForty(t)[0]
	before := &snapshot{machines: []*machine{{File: "a.yaml", Text: []byte("one"), Model: m, made: madeOf(m)}}}
	_, err := before.machines[0].pictures.marked(pictureOf{lang: "en"}, nil)
	require.NoError(t, err)
	same := &machine{File: "a.yaml", Text: []byte("one")}
	same.settle(m, false, before)
	require.Len(t, same.pictures.kept, 1, "what has not changed keeps them")
	other := &machine{File: "a.yaml", Text: []byte("another")}
	other.settle(m, false, before)
	require.Empty(t, other.pictures.kept)
}
