package cli_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/testdb"
)

// dimmed is lamp with a third state.
var dimmed = strings.Replace(strings.Replace(lamp, "LIT: {}", "LIT: {}, DIM: {}", 1), "from: LIT,", "from: [LIT, DIM],", 1)

// withTable gives a lamp a table.
func withTable(definition, table string) string {
	return strings.Replace(definition, "states:", "table: {"+table+"}\nstates:", 1)
}

func TestDiffOfFilesAndFolders(t *testing.T) {
	t.Parallel()
	dir := project(t, "old/lamp.yaml", dimmed, "new/deep/lamp.yaml", lamp, "bad/lamp.yaml", broken, "empty/notes.txt", "",
		"definitions/lamp.yaml", lamp, "root/definitions/x.yaml", lamp)
	for _, c := range []struct {
		args []string
		code int
		out  string
		err  string
	}{
		{[]string{"old", "new"}, 0, "state DIM is removed (was old/lamp.yaml:2)", ""},
		{[]string{"new", "old"}, 0, "state DIM is new, left by pull (old/lamp.yaml:2)", ""},
		{[]string{"old/lamp.yaml"}, 0, "state DIM is removed", "1 safe change: major\n"},
		{[]string{filepath.Join(dir, "old"), filepath.Join(dir, "new/deep/lamp.yaml")}, 0, "state DIM is removed", "1 safe change: major\n"},
		{[]string{"new", "definitions"}, 0, "", "no change\n"},
		{[]string{"old", "bad"}, 1, `bad/lamp.yaml:5:13: FSM012 event "pusch" is not declared`, "NEW, bad, has 1 error, so nothing was compared"},
		{[]string{"bad", "old"}, 2, "", "OLD, bad, has 1 error, so nothing was compared"},
		{[]string{filepath.Join(dir, "bad"), "old"}, 2, filepath.ToSlash(dir) + "/bad/lamp.yaml:5:13: FSM012", ""},
		{[]string{"empty", "old"}, 2, "", "OLD: empty: no definitions"},
		{[]string{"gone", "old"}, 2, "", "OLD: neither a path"},
		{[]string{"", "old"}, 2, "", "neither a path nor a revision"},
		{[]string{"old", "new", "more"}, 2, "", "diff takes OLD and NEW"},
		{[]string{"old", "new", "--format", "sarif"}, 2, "", "choose text or json"},
		{[]string{"../root/definitions", "../definitions", "-C", filepath.Join(dir, "old")}, 0, "", "no change\n"},
	} {
		args := append([]string{"diff", "-C", dir}, c.args...)
		code, out, err := run(args...)
		require.Equal(t, c.code, code, "%q\n%s%s", c.args, out, err)
		require.Contains(t, out, c.out, "%q", c.args)
		require.Contains(t, err, c.err, "%q", c.args)
	}
}

func TestDiffBreaks(t *testing.T) {
	t.Parallel()
	tugged := strings.Replace(lamp, "pull: {}", "pull: {}, tug: {}", 1) + "  - {event: tug, from: LIT, to: DARK}\n"
	called := strings.Replace(lamp, "pull: {}", "pull: {source: callback, otherwise: {reject: '*'}}", 1)
	dir := project(t, "old/lamp.yaml", tugged, "new/lamp.yaml", called, "new/lamp2.yaml", strings.Replace(lamp, "machine: lamp", "machine: lamp2", 1))
	code, out, err := run("diff", "-C", dir, "old", "new", "--format=json")
	require.Equal(t, 1, code, err)
	var report struct {
		Verdict  string
		Breaking int
		Changes  []struct{ Kind, Machine, Semver string }
	}
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	require.Equal(t, "major", report.Verdict)
	require.Equal(t, 1, report.Breaking)
	kinds := []string{}
	for _, c := range report.Changes {
		kinds = append(kinds, c.Machine+" "+c.Kind+" "+c.Semver)
	}
	require.Equal(t, []string{"lamp event.source minor", "lamp event.removed major", "lamp2 machine.added minor"}, kinds)
}

// gitIn returns a function that runs git in the folder, skipping without git.
func gitIn(t *testing.T, dir string) func(...string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("git is missing")
		}
		t.Skip("git is missing")
	}
	return func(args ...string) {
		cmd := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false", "-c", "init.defaultBranch=main"}, args...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
	}
}

func TestDiffOfRevisions(t *testing.T) {
	t.Parallel()
	dir := project(t, "README", "")
	git := gitIn(t, dir)
	write := func(name, content string) {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
	}
	commit := func(tag string) {
		git("add", ".")
		git("commit", "-q", "-m", tag)
		git("tag", tag)
	}
	git("init", "-q")
	commit("start")
	write("definitions/lamp.yaml", broken)
	commit("broken")
	write("definitions/lamp.yaml", dimmed)
	commit("both")
	write("definitions/lamp.yaml", lamp)
	write("both", "a file that is called as the tag")
	for _, c := range []struct {
		args []string
		code int
		out  string
		err  string
	}{
		{nil, 0, "state DIM is removed (was HEAD:definitions/lamp.yaml:2)", ""},
		{[]string{"HEAD"}, 0, "state DIM is removed", ""},
		{[]string{"HEAD:definitions", "HEAD:definitions/lamp.yaml"}, 0, "", "no change\n"},
		{[]string{"HEAD:./definitions/lamp.yaml"}, 0, "state DIM is removed", ""},
		{[]string{"definitions", "HEAD"}, 0, "state DIM is new", ""},
		{[]string{"start"}, 0, "the machine is new", "start has no definitions: every machine is new"},
		{[]string{"start:definitions"}, 2, "", "no such path in the revision"},
		{[]string{"broken"}, 2, "broken:definitions/lamp.yaml:5:13: FSM012", ""},
		{[]string{"HEAD", "broken"}, 1, "broken:definitions/lamp.yaml:5:13: FSM012", ""},
		{[]string{"nowhere"}, 2, "", "nowhere: no such revision"},
		{[]string{"--", "--output=x"}, 2, "", "no such revision"},
		{[]string{"both"}, 2, "", "both is a path and a revision; the path is taken"},
		{[]string{"both:./definitions"}, 0, "state DIM is removed", ""},
		{[]string{"both:definitions/../definitions"}, 2, "", "no such path in the revision"},
		{[]string{"definitions/../definitions"}, 0, "", "no change\n"},
		{[]string{"both^{tree}"}, 2, "", "a tree or a file, not a commit; both^{tree}: with its colon reads a tree"},
		{[]string{"both^{tree}:"}, 0, "state DIM is removed (was both^{tree}:definitions/lamp.yaml:2)", ""},
		{[]string{":definitions"}, 0, "state DIM is removed (was :definitions/lamp.yaml:2)", ""},
		{[]string{"HEAD", ":0:definitions/lamp.yaml"}, 0, "", "no change\n"},
		{[]string{":gone"}, 2, "", "no such path in the revision"},
	} {
		code, out, err := run(append([]string{"diff", "-C", dir}, c.args...)...)
		require.Equal(t, c.code, code, "%q\n%s%s", c.args, out, err)
		require.Contains(t, out, c.out, "%q", c.args)
		require.Contains(t, err, c.err, "%q", c.args)
	}
	require.NoFileExists(t, filepath.Join(dir, "x"))
}

func TestDiffWithoutARepository(t *testing.T) {
	t.Parallel()
	gitIn(t, t.TempDir())
	code, _, err := run("diff", "-C", project(t, "definitions/lamp.yaml", lamp))
	require.Equal(t, 2, code)
	require.Contains(t, err, "not in a git repository")
}

// The removal of a state is safe when no row stands in it.
func TestDiffCountsRows(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	url := testdb.URL(t)
	conn, err := pgx.Connect(ctx, url)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close(ctx)) })
	exec := func(sql string) {
		_, err := conn.Exec(ctx, sql)
		require.NoError(t, err)
	}
	exec(`CREATE TABLE lamps (lamp_id bigint PRIMARY KEY, state text NOT NULL)`)
	exec(`INSERT INTO lamps VALUES (1, 'DIM'), (2, 'DIM'), (3, 'LIT')`)
	const table = "name: lamps, key: {column: lamp_id, type: bigint}, status: state"
	dir := project(t, "old/lamp.yaml", withTable(dimmed, table), "new/lamp.yaml", withTable(lamp, table),
		"lost/lamp.yaml", withTable(dimmed, strings.Replace(table, "lamps", "candles", 1)))

	// diff runs it and gives the output without its line breaks.
	diff := func(args ...string) (int, string, string) {
		code, out, text := run(append([]string{"diff", "-C", dir}, args...)...)
		return code, strings.Join(strings.Fields(out), " "), text
	}

	code, out, text := diff("old", "new")
	require.Equal(t, 1, code, text)
	require.Contains(t, out, "count them with --database")

	code, out, text = diff("--database", url, "old", "new")
	require.Equal(t, 1, code, text)
	require.Contains(t, out, "! rows 2 stand in DIM and could not be read or moved; move them first")
	require.Contains(t, out, "state DIM is removed")
	require.Equal(t, "1 breaking change: major\n", text)

	exec(`UPDATE lamps SET state = 'LIT'`)
	code, out, text = diff("--database", url, "old", "new")
	require.Equal(t, 0, code, text)
	require.Contains(t, out, "rows none stands in DIM as of now")
	require.Equal(t, "1 safe change: major\n", text)

	// A table that is not there has no known number of rows.
	code, out, text = diff("--database", url, "lost", "new")
	require.Equal(t, 1, code, text)
	require.Contains(t, out, "those in DIM could not be counted: the database has no such table")

	code, _, text = diff("--database", "postgres://u:secret@127.0.0.1:1/x?connect_timeout=2", "old", "new")
	require.Equal(t, 2, code)
	require.NotContains(t, text, "secret")
}
