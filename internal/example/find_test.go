package example_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/check"
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/example"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/syntax"
)

func read(t testing.TB, src []byte) *model.Machine {
	t.Helper()
	var problems diag.List
	m := check.Run(syntax.Parse("m.yaml", src, &problems), &problems)
	require.NotNil(t, m, "%v", problems.Sorted())
	return m
}

func BenchmarkFind(b *testing.B) {
	src, err := os.ReadFile("../../definitions/order.yaml")
	require.NoError(b, err)
	m := read(b, src)
	for b.Loop() {
		f := example.NewFinder(m)
		for _, e := range m.Events {
			for _, c := range e.Cells {
				for i, tr := range c.Transitions {
					f.Find(taking(c, i, tr))
				}
			}
		}
	}
}

// taking is one call that takes a transition of a cell.
func taking(c *model.Cell, i int, tr *model.Transition) example.Problem {
	call := example.Call{State: c.State, To: tr.To, Event: c.Event, Moves: true, Set: tr.Set}
	for _, earlier := range c.Transitions[:i] {
		call.Must = append(call.Must, example.Condition{Expr: earlier.Guard.SQL, Untrue: true})
	}
	if tr.Guard != nil {
		call.Must = append(call.Must, example.Condition{Expr: tr.Guard.SQL})
	}
	return example.Problem{Calls: []example.Call{call}}
}
