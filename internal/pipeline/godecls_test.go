package pipeline_test

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/pipeline"
)

// sqlc calls the struct of order_fact as that of order_facts: OrderFact.
func TestGoNamesThatOnlyTheCompilerWouldSee(t *testing.T) {
	t.Parallel()
	const order = "machine: order\ntable: {name: orders, key: {column: order_id, type: bigint}}\nstates: {OPEN: {initial: true, resting: true}}\n" +
		"events: {told: {params: {nr: text}, identity: nr}}\ntransitions: [{event: told, from: OPEN, to: OPEN}]\n"
	const other = "machine: fact\ntable: {name: NAME, key: {column: fact_id, type: bigint}}\nstates: {OPEN: {initial: true, resting: true}}\n"
	for name, twice := range map[string]bool{"order_fact": true, "order_truth": false} {
		files := fstest.MapFS{
			"go.mod":                 {Data: []byte("module example.com/x\n")},
			"definitions/order.yaml": {Data: []byte(order)},
			"definitions/other.yaml": {Data: []byte(strings.ReplaceAll(other, "NAME", name))},
		}
		set, err := pipeline.Scaffold(files)
		require.NoError(t, err)
		for _, name := range set.Paths() {
			content, _ := set.Get(name)
			files[name] = &fstest.MapFile{Data: content}
		}
		var problems diag.List
		_, err = pipeline.Generate(context.Background(), files, &problems)
		require.NoError(t, err)
		if !twice {
			require.Empty(t, problems.Sorted(), name)
			continue
		}
		require.Len(t, problems.Sorted(), 1, name)
		p := problems.Sorted()[0]
		require.Equal(t, diag.Code("FSM026"), p.Code)
		require.Contains(t, p.Message, "declare OrderFact twice")
	}
}
