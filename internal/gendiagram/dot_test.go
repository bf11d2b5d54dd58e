package gendiagram_test

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/needs"
)

// dotRead is Graphviz's JSON: draw operations have the texts as they are drawn.
type dotRead struct {
	Ops     []dotOp `json:"_ldraw_"`
	Objects []struct {
		Name        string
		Peripheries string
		Ops         []dotOp `json:"_ldraw_"`
	}
	Edges []struct {
		Tail, Head int
		Ops        []dotOp `json:"_ldraw_"`
	}
}

type dotOp struct{ Op, Text string }

func drawnText(ops []dotOp) string {
	var b strings.Builder
	for _, op := range ops {
		b.WriteString(op.Text)
	}
	return squeeze(b.String())
}

func readDot(t *testing.T, text string) graph {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), needs.Command(t, "dot", "graphviz"), "-Tjson")
	cmd.Stdin = strings.NewReader(text)
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	require.NoError(t, err, problems.String())
	require.Empty(t, problems.String())
	var read dotRead
	require.NoError(t, json.Unmarshal(out, &read))
	g := graph{rest: drawnText(read.Ops)}
	point := -1
	places := make([]int, len(read.Objects))
	for i, o := range read.Objects {
		if o.Name == "initial" {
			point = i
			continue
		}
		places[i] = len(g.states)
		if o.Peripheries == "2" {
			g.final = append(g.final, len(g.states))
		}
		g.states = append(g.states, drawnText(o.Ops))
	}
	for _, e := range read.Edges {
		require.NotEqual(t, point, e.Head)
		if e.Tail == point {
			g.initial = append(g.initial, places[e.Head])
			continue
		}
		g.edges = append(g.edges, edge{places[e.Tail], places[e.Head], drawnText(e.Ops)})
	}
	return g
}

func TestGraphvizReadsTheMachine(t *testing.T) {
	t.Parallel()
	for _, d := range wholes(t, "dot") {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			requireWhole(t, d.machine, d.lang, readDot(t, d.text))
		})
	}
}

func TestGraphvizReadsALargeMachine(t *testing.T) {
	t.Parallel()
	machines, files := large(t, "dot")
	for i, m := range machines {
		graphs := make([]graph, len(files[i]))
		for j, f := range files[i] {
			graphs[j] = readDot(t, string(f.Content))
		}
		requireParts(t, m, files[i], graphs)
	}
}
