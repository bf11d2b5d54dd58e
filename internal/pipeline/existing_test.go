package pipeline_test

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/gensql"
	"github.com/pawl-go/pawl/internal/pipeline"
)

// A table that no migration makes is shown to sqlc as it was taken in. Columns
// come later, whether it had them all along or not.
func TestColumnsThatAnExistingTableGetsLater(t *testing.T) {
	t.Parallel()
	const tea = `machine: tea
table:
  name: teas
  existing: true
  key: {column: id, type: bigint}
  columns: {cents: bigint}
states: {DRY: {initial: true}, DRUNK: {final: true}}
events: {brew: {}}
transitions: [{event: brew, from: DRY, to: DRUNK}]
`
	files := fstest.MapFS{
		"go.mod":                    {Data: []byte("module example.com/tea\n")},
		"migrations/00001_core.sql": {Data: gensql.Core()},
		"definitions/tea.yaml":      {Data: []byte(tea)},
	}
	generate := func() {
		var problems diag.List
		set, err := pipeline.Generate(t.Context(), files, &problems)
		require.NoError(t, err)
		require.Empty(t, problems.Sorted())
		for _, name := range set.Paths() {
			content, _ := set.Get(name)
			files[name] = &fstest.MapFile{Data: content}
		}
	}
	migrations := func() int {
		names, err := fs.Glob(files, "migrations/*.sql")
		require.NoError(t, err)
		return len(names)
	}
	generate()
	require.Equal(t, 2, migrations())
	files["definitions/tea.yaml"].Data = []byte(strings.Replace(tea, "cents: bigint", "cents: bigint, region: text, note: {type: text, optional: true}, sort: {type: text, default: \"'green'\", check: sort <> ''}", 1))
	generate()
	require.Equal(t, 4, migrations(), "what looks at all rows is a migration of its own")
	row := string(files["gen/db/models.go"].Data)
	_, row, _ = strings.Cut(row, "type Tea struct {")
	row, _, _ = strings.Cut(row, "}")
	require.Regexp(t, `(?s)Cents\s+int64.*Region\s+string.*Note\s+\*string.*Sort\s+string`, row)
	generate()
	require.Equal(t, 4, migrations())
	files["definitions/tea.yaml"].Data = []byte(strings.Replace(tea, "cents: bigint", "cents: bigint, region: text, note: {type: text, optional: true}, sort: {type: text, default: \"'green'\", check: sort <> ''}, size: {type: text, optional: true}", 1))
	generate()
	require.Equal(t, 5, migrations(), "nothing is to be looked at")
}
