package pipeline_test

import (
	"context"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/pipeline"
)

// sqlc calls the struct of order_fact as that of order_facts: OrderFact. Of the
// machines' own tables that is known before sqlc runs, of others only then. The
// problem stands at the machine whose table, query or name it is.
func TestGoNamesThatOnlyTheCompilerWouldSee(t *testing.T) {
	t.Parallel()
	const about = "machine: about\ntable: {name: abouts, key: {column: about_id, type: bigint}}\nstates: {OPEN: {initial: true, resting: true}}\n"
	const order = "machine: order\ntable: {name: orders, key: {column: order_id, type: bigint}}\nstates: {OPEN: {initial: true, resting: true}}\n" +
		"events: {told: {params: {nr: text}, identity: nr}}\ntransitions: [{event: told, from: OPEN, to: OPEN}]\n"
	other := func(table string) string {
		return "machine: other\ntable: {name: " + table + ", key: {column: id, type: bigint}}\nstates: {OPEN: {initial: true, resting: true}}\n"
	}
	const byHand = "-- +goose Up\nCREATE TABLE "
	for _, c := range []struct {
		name, file, text, at, says string
	}{
		{"a table of another machine", "definitions/other.yaml", other("order_fact"), "definitions/other.yaml:2:15", "called OrderFact in gen/db, as the row of table"},
		{"a function of sqlc", "definitions/other.yaml", other("new"), "definitions/other.yaml:2:15", "called New in gen/db, as sqlc's own New is"},
		{"an answer of another machine", "definitions/other.yaml", other("order_told_rows"), "definitions/other.yaml:2:15", "called OrderToldRow in gen/db, as the answer of event"},
		{"none", "definitions/other.yaml", other("order_truth"), "", ""},
		{"a table by hand, as a machine's", "migrations/00002_mine.sql", byHand + "order_fact (id bigint);\n", "definitions/order.yaml:2:15", "declare OrderFact twice"},
		{"a table by hand, as a query", "migrations/00002_mine.sql", byHand + "order_told_rows (id bigint);\n", "definitions/order.yaml:2:15", "declare OrderToldRow twice"},
		{"a query by hand, as a table", "queries/mine.sql", "-- name: Orders :one\nSELECT 1::bigint AS a, o.about_id FROM abouts AS o WHERE o.about_id = @x;\n", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			files := fstest.MapFS{
				"go.mod":                 {Data: []byte("module example.com/x\n")},
				"definitions/about.yaml": {Data: []byte(about)},
				"definitions/order.yaml": {Data: []byte(order)},
				c.file:                   {Data: []byte(c.text)},
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
			if c.says == "" {
				require.Empty(t, problems.Sorted())
				return
			}
			require.Len(t, problems.Sorted(), 1)
			p := problems.Sorted()[0]
			require.Equal(t, diag.Code("FSM026"), p.Code)
			require.Equal(t, c.at, p.Pos.String())
			require.Contains(t, p.Message, c.says)
		})
	}
}
