package pipeline_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/fileset"
	"github.com/pawl-go/pawl/internal/pipeline"
)

// rendered generates, and returns the set.
func rendered(t *testing.T, files fstest.MapFS) *fileset.Set {
	t.Helper()
	var problems diag.List
	set, err := pipeline.Generate(t.Context(), files, &problems)
	require.NoError(t, err)
	require.NotNil(t, set, "%v", problems.Sorted())
	return set
}

func filesOf(set *fileset.Set, folder string) []string {
	var names []string
	for _, p := range set.Paths() {
		if name, is := strings.CutPrefix(p, folder); is {
			names = append(names, name)
		}
	}
	return names
}

// A machine has its lifecycle on paper beside its code, also without a table.
func TestGenerationPutsTheLifecycleOnPaper(t *testing.T) {
	t.Parallel()
	for _, table := range []bool{false, true} {
		set := rendered(t, large(4, table))
		require.Equal(t, []string{"large.csv", "large.dot", "large.html", "large.md", "large.mmd", "large.puml", "large.svg", "large.xlsx"},
			filesOf(set, "gen/large/docs/"))
		text, _ := set.Get("gen/large/docs/large.md")
		require.Contains(t, string(text), "4 states × 10 events = 40 cells")
	}
}

// Nobody reads a table of a million cells: a page says how to get a part.
func TestLargeMachinesHaveAPageInstead(t *testing.T) {
	t.Parallel()
	set := rendered(t, large(101, false))
	require.Equal(t, []string{"large.md"}, filesOf(set, "gen/large/docs/"))
	text, _ := set.Get("gen/large/docs/large.md")
	require.Contains(t, string(text), "101 states × 10 events = 1010 cells, 1000 transitions: too much for files beside the code.")
	require.Contains(t, string(text), "fsmgen diagram --state STATE definitions/large.yaml")
	require.Contains(t, filesOf(rendered(t, large(26, false)), "gen/large/docs/"), "large-26-S25.svg", "above 25 states there is a picture of each")
}

// What belongs to a machine that is gone goes with it, spreadsheets too, and
// what somebody put beside it stays.
func TestPaperOfAMachineThatIsGoneGoes(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	files := large(4, false)
	_, err := rendered(t, files).Write(root, pipeline.Owned())
	require.NoError(t, err)
	note := filepath.Join(root, "gen/large/docs/note.txt")
	require.NoError(t, os.WriteFile(note, []byte("mine"), 0o600))

	renamed := maps.Clone(files)
	delete(renamed, "definitions/large.yaml")
	renamed["definitions/small.yaml"] = &fstest.MapFile{Data: []byte(strings.Replace(string(files["definitions/large.yaml"].Data), "machine: large", "machine: small", 1))}
	changes, err := rendered(t, renamed).Write(root, pipeline.Owned())
	require.NoError(t, err)
	var removed []string
	for _, c := range changes {
		if c.Kind == fileset.Removed {
			removed = append(removed, strings.TrimPrefix(c.Path, "gen/large/docs/"))
		}
	}
	for _, ending := range []string{"csv", "dot", "html", "md", "mmd", "puml", "svg", "xlsx"} {
		require.Contains(t, removed, "large."+ending)
	}
	require.FileExists(t, note)
}
