package pipeline_test

import (
	"maps"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/pipeline"
)

// orderInParts is a machine called order, as the page has it.
const orderInParts = `machine: order
table:
  name: orders
  key: {column: order_id, type: bigint}
  history: {partition: month, keep: 400d}
states:
  OPEN: {initial: true}
  PAID: {final: true}
events: {pay: {params: {payment_no: text}, identity: [payment_no]}}
transitions:
  - {event: pay, from: OPEN, to: PAID}
`

// byHand is the migration that a page describes, with what it says to copy from
// the generated one.
func byHand(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/history.md")
	require.NoError(t, err)
	_, section, _ := strings.Cut(string(page), "## A history that is there")
	blocks := regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(section, -1)
	require.Len(t, blocks, 2)

	files := newProject(t)
	files["definitions/order.yaml"] = &fstest.MapFile{Data: []byte(orderInParts)}
	var problems diag.List
	set, err := pipeline.Generate(t.Context(), files, &problems)
	require.NoError(t, err)
	require.Empty(t, problems.Sorted())
	made, ok := set.Get("migrations/00002_order.sql")
	require.True(t, ok)
	copied := regexp.MustCompile(`(?s)-- A unique index over partitions.*CREATE FUNCTION order_history_keep\(.*?-- \+goose StatementEnd\n`).FindString(string(made))
	require.NotEmpty(t, copied)
	const here = "-- … the statements of order_history, to the StatementEnd behind order_history_keep\n"
	require.Contains(t, blocks[1][1], here)
	return blocks[0][1] + strings.Replace(blocks[1][1], here, copied, 1)
}

// A migration by hand that cuts a history has a function that the generator wrote,
// which lint knows. Nobody else may do what it does.
func TestLintKnowsTheUpkeepOfAHistory(t *testing.T) {
	t.Parallel()
	migration := byHand(t)
	lint := func(definition, sql string) string {
		t.Helper()
		files := newProject(t)
		maps.Copy(files, fstest.MapFS{"definitions/order.yaml": {Data: []byte(definition)}, "sql/1.sql": {Data: []byte(sql)}})
		var problems diag.List
		machines, err := pipeline.Lint(t.Context(), files, []string{"definitions"}, &problems)
		require.NoError(t, err)
		_, _, err = pipeline.Bypass(t.Context(), files, []string{"sql"}, machines, &problems)
		require.NoError(t, err)
		return printed(t, &problems)
	}
	for name, definition := range map[string]string{
		"as it is":        orderInParts,
		"kept for longer": strings.Replace(orderInParts, "400d", "900d", 1),
		"whole again":     strings.Replace(orderInParts, "  history: {partition: month, keep: 400d}\n", "", 1),
	} {
		require.Empty(t, lint(definition, migration), name)
	}
	for name, sql := range map[string]string{
		"another bound":   strings.Replace(migration, "h.at < oldest;", "h.at <= oldest;", 1),
		"replaced":        strings.Replace(migration, "CREATE FUNCTION order_history_keep", "CREATE OR REPLACE FUNCTION order_history_keep", 1),
		"another setting": strings.Replace(migration, "LANGUAGE plpgsql SET search_path FROM CURRENT SET timezone", "LANGUAGE plpgsql SET timezone", 1),
	} {
		require.NotEqual(t, migration, sql, name)
		require.Contains(t, lint(orderInParts, sql), `FSM072 the DELETE writes to "order_history" (through "order_history_rest")`, name)
	}
}
