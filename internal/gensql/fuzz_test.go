package gensql_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/gensql"
)

// FuzzEmbedded: what a migration says it made is read the same twice, and embedded
// again it is the same; a line that is no model is refused with its number, and in
// no words of its own. What migrations are made of it, a machine's next one among
// them, is the definition's business: whatever the mark says, nothing panics.
func FuzzEmbedded(f *testing.F) {
	paths, err := filepath.Glob("../../migrations/*.sql")
	require.NoError(f, err)
	require.NotEmpty(f, paths)
	for _, path := range paths {
		src, err := os.ReadFile(path)
		require.NoError(f, err)
		for line := range bytes.Lines(src) {
			if bytes.HasPrefix(line, []byte("-- fsmgen:model ")) {
				f.Add(line)
			}
		}
	}
	for _, line := range []string{
		"", "-- fsmgen:model", "-- fsmgen:model ", "-- fsmgen:model null", "-- fsmgen:model {}", "-- fsmgen:model []", `-- fsmgen:model {"format":1}`, `-- fsmgen:model {"format":2}`, `-- fsmgen:model {"format":1e0}`,
		`-- fsmgen:model {"format":1,"machine":"door","table":"doors","key":{"name":"id","type":"bigint"},"states":["OPEN"],"initial":"OPEN","edges":[{"from":"OPEN","to":["GONE"]}],"status":{"type":"smallint","codes":[]}}`,
		`-- fsmgen:model {"format":1,"machine":"door","table":"doors","renames":[{"was":"X","is":"Y","step":"z"}],"pending":{"edges":[{"from":"a","to":null}],"codes":[1]},"due":[{"state":"x","after":"'; DROP TABLE doors; --"}]}`,
		" -- fsmgen:model {\"format\":1}\n-- fsmgen:model {\"format\":1}\r\n",
	} {
		f.Add([]byte(line))
	}
	m := machine(f, "machine: door\ntable: {name: doors, key: {column: id, type: bigint}}\nstates:\n  OPEN: {initial: true}\n  SHUT: {final: true}\nevents: {shut: {}}\ntransitions: [{event: shut, from: OPEN, to: SHUT}]\n")
	f.Fuzz(func(t *testing.T, migration []byte) {
		schemas, err := gensql.Embedded(migration)
		if err != nil {
			require.Nil(t, schemas)
			require.True(t, strings.HasPrefix(err.Error(), "line "), err)
			return
		}
		var b strings.Builder
		for _, s := range schemas {
			line, err := s.Embed()
			require.NoError(t, err)
			require.NotContains(t, line, "\n")
			b.WriteString(line + "\n")
			var problems diag.List
			gensql.Migrations(m, &s, &problems)
			gensql.Advance(m, s, &problems)
			gensql.Queries(m, &s)
			gensql.FormerNames(m, []gensql.Schema{s}, &problems)
			s.Waits()
		}
		again, err := gensql.Embedded([]byte(b.String()))
		require.NoError(t, err)
		require.Len(t, again, len(schemas))
		var repeated strings.Builder
		for _, s := range again {
			line, err := s.Embed()
			require.NoError(t, err)
			repeated.WriteString(line + "\n")
		}
		require.Equal(t, b.String(), repeated.String())
	})
}
