package gensql_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/gensql"
)

// What a CHECK looks at beside a written column comes from the locked row, and
// so does what another CHECK looks at beside that.
func TestChecksThatShareColumnsSeeOneRow(t *testing.T) {
	t.Parallel()
	m := machine(t, `machine: purse
table:
  name: purses
  key: {column: purse_id, type: bigint}
  columns:
    total: {type: bigint, check: total > 0}
    held:  {type: bigint, default: 0, check: held <= total}
    taken: {type: bigint, default: 0, check: taken <= held}
    other: {type: bigint, default: 0, check: other >= 0}
states:
  OPEN: {initial: true}
  GONE: {final: true}
events:
  empty: {}
transitions:
  - {event: empty, from: OPEN, to: GONE, set: {taken: held}}
`)
	queries := string(gensql.Queries(m, nil))
	require.Contains(t, queries, "      taken = l.held\n")
	require.Contains(t, queries, "      held = l.held,\n")
	require.Contains(t, queries, "      total = l.total,\n")
	require.NotContains(t, queries, "other = l.other")
}
