package example_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/example"
)

// What the database alone can say of a CHECK, or of what a column is set to, is
// left to it: the values suit the guard, and what is unsure is named.
func TestChecksBeyondUnderstandingAreLeftToTheDatabase(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		columns, params, guard, set string
		row, call, after            string
		unsure                      []string
	}{
		{columns: "q: bigint, w: {type: text, optional: true, check: length(w) = 32}", guard: "q > 5", set: "w: md5(q::text)", row: "id=100 q=100 w=NULL", unsure: []string{"w"}},
		{columns: "w: {type: text, check: length(w) < 9}", params: "k: integer", guard: "@k > 5", set: "w: \"upper('x')\"", row: "id=100 w='w-1'", call: "k=10", unsure: []string{"w"}},
		// A CHECK of another column goes on to hold.
		{columns: "q: {type: bigint, check: q < 50}, w: {type: text, check: length(w) < 9}", params: "k: bigint", guard: "@k > 5", set: "q: '@k', w: reverse(w)", row: "id=100 q=10 w='w-1'", call: "k=11", after: "q=11", unsure: []string{"w"}},
		// Of a CHECK that is understood nothing is left to the database.
		{columns: "q: {type: bigint, check: q < 50}", params: "k: bigint", guard: "@k > 5", set: "q: '@k'", row: "id=100 q=10", call: "k=11", after: "q=11"},
		// Nor where no CHECK looks at what is set.
		{columns: "q: bigint, w: text", guard: "q > 5", set: "w: md5(w)", row: "id=100 q=100 w='w-1'"},
	} {
		m := read(t, counter(c.columns, c.params, c.guard, c.set))
		a := example.NewFinder(m).Find(example.Problem{Calls: calls(m, 1, false)})
		require.Equal(t, -1, a.Failed, "%s under %s: %s", c.guard, c.columns, a.Why)
		require.Equal(t, []string{c.row, c.call, c.after}, []string{text(a.Row), text(a.Calls[0].Params), text(a.Calls[0].After)}, "%s under %s", c.guard, c.columns)
		require.Equal(t, c.unsure, a.Calls[0].Unsure, "%s under %s", c.guard, c.columns)
	}
	// A guard that reads such a column after the first call is not known.
	m := read(t, counter("w: {type: text, check: length(w) < 9}", "", "w <> 'a'", "w: md5(w)"))
	a := example.NewFinder(m).Find(example.Problem{Calls: calls(m, 2, false)})
	require.Equal(t, 1, a.Failed)
	require.False(t, a.Never)
	require.Contains(t, a.Why, "md5")
}
