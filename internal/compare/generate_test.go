package compare_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/compare"
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/gensql"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/pipeline"
)

// migrated is what generate does with a machine that was there before: its
// problems, and the schema that follows, empty when there is no migration or
// it is refused.
func migrated(t *testing.T, prev, m *model.Machine) (problems []diag.Problem, next gensql.Schema) {
	t.Helper()
	var unsaid, list diag.List
	landed, err := gensql.Embedded(gensql.Migration(prev, nil, &unsaid))
	require.NoError(t, err)
	require.Empty(t, unsaid.Sorted())
	content := gensql.Migration(m, &landed[0], &list)
	if content != nil {
		schemas, err := gensql.Embedded(content)
		require.NoError(t, err)
		next = schemas[0]
	}
	return list.Sorted(), next
}

var code = regexp.MustCompile(`FSM\d+`)

// codes are those that the reasons of a change name, apart from FSM093: how
// far a rename has come is in the migrations, not in two definitions.
func codes(c *compare.Change) (named []string) {
	for _, r := range c.Reasons {
		for _, found := range code.FindAllString(r.Text, -1) {
			if found != string(gensql.CodeRenameUnderWay) && !slices.Contains(named, found) {
				named = append(named, found)
			}
		}
	}
	return named
}

// waits reports whether a reason says that something lasts until --advance.
func waits(c *compare.Change) bool {
	return slices.ContainsFunc(c.Reasons, func(r compare.Reason) bool { return strings.Contains(r.Text, "--advance") })
}

// each runs a test for each case's machines that were there before and have a
// table on both sides, with the changes of that machine.
func each(t *testing.T, test func(t *testing.T, old, new *model.Machine, changes []*compare.Change)) {
	t.Parallel()
	dirs, err := filepath.Glob("testdata/*/old")
	require.NoError(t, err)
	tried := 0
	for _, dir := range dirs {
		was, is := folder(t, dir), folder(t, filepath.Join(filepath.Dir(dir), "new"))
		changes := compare.Machines(was, is).Changes
		for _, m := range is {
			i := slices.IndexFunc(was, func(o *model.Machine) bool { return o.Name == m.Name })
			if i < 0 || was[i].Table == nil || m.Table == nil {
				continue
			}
			tried++
			own := slices.DeleteFunc(slices.Clone(changes), func(c *compare.Change) bool { return c.Machine != m.Name })
			t.Run(filepath.Base(filepath.Dir(dir)), func(t *testing.T) { test(t, was[i], m, own) })
		}
	}
	require.Greater(t, tried, 70)
}

// Whatever generate refuses or warns of is breaking, at its place and with the
// code; and no reason names a code that generate does not give.
func TestWhatGenerateRefusesIsBreaking(t *testing.T) {
	each(t, func(t *testing.T, old, new *model.Machine, changes []*compare.Change) {
		problems, _ := migrated(t, old, new)
		told, named := map[string]bool{}, map[string]bool{}
		for _, p := range problems {
			told[string(p.Code)] = true
			require.True(t, slices.ContainsFunc(changes, func(c *compare.Change) bool {
				// The machine's own columns are refused together, and a state that
				// is gone has no place any more.
				here := c.New.Line == p.Pos.Line || c.Kind == compare.TableOwn || c.Kind == compare.StateRemoved
				return here && !c.Safe() && slices.Contains(codes(c), string(p.Code))
			}), "%s %s is not told", p.Code, p.Message)
		}
		for _, c := range changes {
			for _, found := range codes(c) {
				named[found] = true
			}
		}
		require.Equal(t, told, named)
	})
}

// A machine under another name that takes the table is refused, and told.
func TestARenamedMachineIsRefused(t *testing.T) {
	t.Parallel()
	var problems diag.List
	files := fstest.MapFS{"go.mod": {Data: []byte("module example.com/x\n")}}
	scaffold, err := pipeline.Scaffold(files)
	require.NoError(t, err)
	for _, name := range scaffold.Paths() {
		if content, ok := scaffold.Get(name); ok && !strings.HasPrefix(name, "definitions/") {
			files[name] = &fstest.MapFile{Data: content}
		}
	}
	files["migrations/00002_order.sql"] = &fstest.MapFile{Data: gensql.Migration(folder(t, "testdata/machine-renamed/old")[0], nil, &problems)}
	definition, err := os.ReadFile("testdata/machine-renamed/new/order.yaml")
	require.NoError(t, err)
	files["definitions/purchase.yaml"] = &fstest.MapFile{Data: definition}
	_, err = pipeline.Generate(t.Context(), files, &problems)
	require.NoError(t, err)
	require.Len(t, problems.Sorted(), 1)
	require.Equal(t, gensql.CodeMigration, problems.Sorted()[0].Code)

	removed := report(t, "machine-renamed").Changes[0]
	require.Equal(t, compare.MachineRemoved, removed.Kind)
	require.False(t, removed.Safe())
	require.Equal(t, []string{string(gensql.CodeMigration)}, codes(removed))
}

// Whatever generate keeps for programs of before says so, and nothing else
// does. What is refused is kept by nobody.
func TestWhatGenerateKeepsUntilAdvanceSaysSo(t *testing.T) {
	each(t, func(t *testing.T, old, new *model.Machine, changes []*compare.Change) {
		problems, next := migrated(t, old, new)
		if slices.ContainsFunc(problems, func(p diag.Problem) bool { return p.Severity == diag.Error }) {
			return
		}
		var said []string
		moves := false
		for _, c := range changes {
			switch {
			case !waits(c):
			case c.Kind == compare.CellDecision, c.Kind == compare.EventRemoved, c.Kind == compare.StateRetired:
				moves = true // they tell of the edges, several of one
			default:
				said = append(said, c.Path)
			}
		}
		kept, edges := keptPaths(next, changes)
		require.ElementsMatch(t, kept, said)
		require.Equal(t, edges, moves)
	})
}

// keptPaths are the places in the definition of what is pending in a schema,
// and whether there are edges among it.
func keptPaths(s gensql.Schema, changes []*compare.Change) (paths []string, edges bool) {
	for _, r := range s.Renames {
		paths = append(paths, "states."+r.Is+".was")
	}
	p := s.Pending
	if p == nil {
		return paths, false
	}
	for _, state := range p.States {
		paths = append(paths, "states."+state)
	}
	if len(p.Initial) > 0 {
		paths = append(paths, "states."+s.Initial+".initial")
	}
	for _, state := range p.Due {
		paths = append(paths, "states."+state+".deadline")
	}
	for _, c := range p.Filled {
		paths = append(paths, "table.columns."+c+".optional")
	}
	for _, c := range p.Left {
		paths = append(paths, "table.columns."+c)
	}
	for _, c := range p.Checks {
		// A condition that is only spelt otherwise is no change, though generate
		// takes it for one; a new column's is told with the column.
		for _, change := range changes {
			if column := "table.columns." + c.Column; change.Path == column+".check" || change.Path == column {
				paths = append(paths, change.Path)
			}
		}
	}
	for _, d := range p.Defaults {
		// Programs whose creators give the column write its default themselves.
		for _, change := range changes {
			if change.Path == "table.columns."+d.Column+".default" && waits(change) {
				paths = append(paths, change.Path)
			}
		}
	}
	return paths, len(p.Edges) > 0
}

// A rename takes two advances, everything else that is kept takes one; after
// that nothing is pending, and nothing more to do.
func TestAdvanceEndsWhatIsKept(t *testing.T) {
	each(t, func(t *testing.T, old, new *model.Machine, changes []*compare.Change) {
		_, next := migrated(t, old, new)
		steps := 0
		if next.Pending != nil {
			steps = 1
		}
		if slices.ContainsFunc(changes, func(c *compare.Change) bool { return c.Kind == compare.StateRenamed }) {
			steps = 2
		}
		if next.Machine == "" {
			return // refused, or nothing to do
		}
		for range steps {
			require.NotEmpty(t, next.Waits())
			var problems diag.List
			files := gensql.Advance(new, next, &problems)
			require.Empty(t, problems.Sorted())
			require.Len(t, files, 1)
			schemas, err := gensql.Embedded(files[0])
			require.NoError(t, err)
			next = schemas[0]
		}
		require.Empty(t, next.Waits())
	})
}

// What only the migrations know is told as a condition: was taken away while
// the rename is under way.
func TestAFormerNameTakenAwayTooEarly(t *testing.T) {
	t.Parallel()
	problems := &diag.List{}
	renamed := folder(t, "testdata/state-renamed/new")[0]
	_, next := migrated(t, folder(t, "testdata/state-renamed/old")[0], renamed)
	without := folder(t, "testdata/state-was-removed/new")[0]
	require.Nil(t, gensql.Migration(without, &next, problems))
	require.Equal(t, gensql.CodeRenameUnderWay, problems.Sorted()[0].Code)

	r := compare.Machines([]*model.Machine{renamed}, []*model.Machine{without})
	require.Len(t, r.Changes, 1)
	require.Contains(t, reasonOf(r.Changes[0], compare.Programs).Text, "generate refuses this (FSM093)")
}
