package gensql_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/gensql"
)

// then are the first migrations of the door, with a rename under way, as they
// were when the trigger had the edges in its WHEN.
func then(t testing.TB, count int) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	for i := 1; i <= count; i++ {
		content, err := os.ReadFile(filepath.Join("testdata", "then", name(i)))
		require.NoError(t, err)
		files[name(i)] = &fstest.MapFile{Data: content}
	}
	return files
}

// trigger and function are what the database has of the edges.
const (
	trigger  = "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgname = 'door_edge'"
	function = "SELECT prosrc FROM pg_proc WHERE proname = 'door_refuse_edge'"
)

// Edges move from the trigger into its function wherever the machine stands,
// and back again, and what may be done to a row stays the same.
func TestEdgesMoveIntoTheFunction(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, yaml string
		landed     int
		may        []string
		cannot     []string
	}{
		{"a machine", door, 1, []string{move(1, "SHUT"), move(1, "SHUT"), move(1, "OPEN")},
			[]string{move(1, "OPEN"), "UPDATE doors SET status = 'SHUT'", "UPDATE doors SET version = 9", move(1, "CLOSED")}},
		{"a rename that has begun", renamed, 2, []string{move(1, "CLOSED"), move(1, "SHUT"), move(1, "OPEN")},
			[]string{move(1, "OPEN"), "UPDATE doors SET status = 'SHUT'"}},
		{"a rename of rows", renamed, 3, []string{move(1, "SHUT"), "UPDATE doors SET status = 'CLOSED' WHERE door_id = 1", move(1, "OPEN")},
			[]string{move(1, "OPEN"), "UPDATE doors SET status = 'SHUT'"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			files := then(t, c.landed)
			old := schema(t, files)
			require.Empty(t, land(t, files, c.yaml))
			content, _ := next(t, files, c.yaml)
			require.Nil(t, content, "once is enough")
			moved := schema(t, files)
			require.Equal(t, "function", moved.EdgesIn)
			moved.EdgesIn = ""
			require.Equal(t, old, moved, "and nothing else has changed")

			s := standing(t, files)
			may := func() {
				s.may("DELETE FROM doors", insert(1, "OPEN"), "UPDATE doors SET colour = 'blue'")
				s.cannot(c.cannot...)
				s.may(c.may...)
			}
			s.up(c.landed)
			may()
			before := shape(t, s.db)
			s.up(c.landed + 1)
			may()
			after := shape(t, s.db)
			s.says(trigger, "CREATE TRIGGER door_edge AFTER UPDATE ON public.doors FOR EACH ROW EXECUTE FUNCTION door_refuse_edge()")
			s.down(c.landed)
			require.Equal(t, before, shape(t, s.db))
			may()
			s.up(c.landed + 1)
			require.Equal(t, after, shape(t, s.db))
		})
	}
}

// Edges that change are those of the function alone: no trigger is replaced,
// for which others would wait.
func TestChangedEdgesLeaveTheTriggerAlone(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	land(t, files, door)
	land(t, files, door+"  - {event: knock, from: OPEN, to: OPEN, set: {knocks: knocks + 1}}\n")
	migration := string(files[name(2)].Data)
	require.NotContains(t, migration, "TRIGGER ")
	require.Equal(t, 2, strings.Count(migration, "CREATE OR REPLACE FUNCTION door_refuse_edge()"), "up and down")
}

// A rename goes on from migrations of then, through all its steps.
func TestARenameOfThenGoesOn(t *testing.T) {
	t.Parallel()
	files := then(t, 2)
	var problems diag.List
	require.Empty(t, gensql.Advance(machine(t, renamed), schema(t, files), &problems))
	require.Equal(t, `door.yaml:1:10: FSM097 error the newest migration of "door" is of an earlier fsmgen: run fsmgen generate and deploy it first`+"\n", told(problems.Sorted()))
	land(t, files, renamed)
	require.Len(t, advance(t, files, renamed), 1)
	require.Len(t, advance(t, files, renamed), 1)
	s := standing(t, files)
	s.up(1)
	s.may(insert(1, "OPEN"), move(1, "SHUT"))
	one := shape(t, s.db)
	s.up(5)
	s.says(statuses, "CLOSED")
	s.may(move(1, "OPEN"))
	s.cannot(move(1, "SHUT"))
	s.may(move(1, "CLOSED"))
	s.down(1)
	require.Equal(t, one, shape(t, s.db))
	s.says(statuses, "SHUT")
}

// What is NULL is no edge, should the column ever lose its NOT NULL.
func TestNothingMovesToNullOrFromIt(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	land(t, files, door)
	s := standing(t, files)
	s.up(1)
	s.may("ALTER TABLE doors ALTER COLUMN status DROP NOT NULL, ALTER COLUMN version DROP NOT NULL", insert(1, "OPEN"))
	s.cannot("UPDATE doors SET status = NULL, version = version + 1", "UPDATE doors SET version = NULL", "UPDATE doors SET status = NULL")
	s.may("ALTER TABLE doors DISABLE TRIGGER door_edge", "UPDATE doors SET status = NULL", "ALTER TABLE doors ENABLE TRIGGER door_edge")
	s.cannot(move(1, "OPEN"), "UPDATE doors SET colour = 'blue'")
	s.says("SELECT COALESCE(status, 'NULL') || version FROM doors", "NULL1")
}

// Of an INSERT the function refuses everything, whatever the row.
func TestTheFunctionRefusesEveryInsert(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	land(t, files, door)
	s := standing(t, files)
	s.up(1)
	s.may("CREATE TRIGGER other AFTER INSERT ON doors FOR EACH ROW EXECUTE FUNCTION door_refuse_edge('none')")
	_, err := s.db.Exec(insert(1, "OPEN"))
	require.ErrorContains(t, err, "door: a row begins as none, version 1, not as OPEN, version 1")
}

// A migration by hand after one of then leaves the edges where they are, and the
// next one moves them.
func TestAMigrationByHandLeavesTheEdges(t *testing.T) {
	t.Parallel()
	files := then(t, 1)
	prev := schema(t, files)
	mark, err := gensql.Mark(machine(t, door), &prev)
	require.NoError(t, err)
	require.NotContains(t, mark, "edges_in")
	files[name(2)] = &fstest.MapFile{Data: []byte("-- +goose Up\nSELECT 1;\n\n" + mark + "\n")}
	land(t, files, door)
	require.Contains(t, string(files[name(3)].Data), "CREATE OR REPLACE FUNCTION door_refuse_edge()")

	mark, err = gensql.Mark(machine(t, door), nil)
	require.NoError(t, err)
	require.Contains(t, mark, `"edges_in":"function"`)
}
