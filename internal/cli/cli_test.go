package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/cli"
)

// run runs fsmgen and returns exit code, standard output and standard error.
func run(args ...string) (int, string, string) {
	var out, err bytes.Buffer
	code := cli.Run(context.Background(), args, &out, &err)
	return code, out.String(), err.String()
}

// project makes a folder of files, given as path and content by turns.
func project(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(dir, files[i])
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(files[i+1]), 0o644))
	}
	return dir
}

const (
	lamp   = "machine: lamp\nstates: {DARK: {initial: true}, LIT: {}}\nevents: {push: {}, pull: {}}\ntransitions:\n  - {event: push, from: DARK, to: LIT}\n  - {event: pull, from: LIT, to: DARK}\n"
	broken = "machine: lamp\nstates: {DARK: {initial: true}, LIT: {}}\nevents: {push: {}, pull: {}}\ntransitions:\n  - {event: pusch, from: DARK, to: LIT}\n  - {event: pull, from: LIT, to: DARK}\n"
)

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{nil, 2, "fsmgen generate"},
		{[]string{"help"}, 0, "Exit codes"},
		{[]string{"frobnicate"}, 2, `no command "frobnicate": fsmgen -h lists them`},
		{[]string{"lnit"}, 2, `no command "lnit"; did you mean lint?`},
		{[]string{"generat"}, 2, `did you mean generate?`},
		{[]string{"version"}, 0, "fsmgen "},
		{[]string{"version", "now"}, 2, "takes no arguments"},
		{[]string{"lint", "--formt", "json"}, 2, "not defined: --formt; did you mean --format?"},
		{[]string{"lint", "--format"}, 2, "flag needs an argument: --format"},
		{[]string{"audit", "--limit", "many"}, 2, `invalid value "many" for flag --limit`},
		{[]string{"lint", "--frob"}, 2, "flag provided but not defined: --frob (fsmgen lint -h lists the flags)"},
		{[]string{"lint", "-h"}, 0, "usage: fsmgen lint"},
		{[]string{"lint", "--format", "xml"}, 2, `no format "xml"`},
		{[]string{"lint", "/etc"}, 2, "below the project's root"},
		{[]string{"lint", "../x.yaml"}, 2, "outside the project's root"},
		{[]string{"lint", "--queries", "/etc"}, 2, "below the project's root"},
		{[]string{"generate", "--queries", "queries"}, 2, "flag provided but not defined"},
		{[]string{"lint", "-C", "/does/not/exist"}, 2, "no such file"},
		{[]string{"generate", "now"}, 2, "takes no arguments"},
		{[]string{"init", "now"}, 2, "takes no arguments"},
		{[]string{"schema"}, 0, `"title": "Pawl definition"`},
		{[]string{"schema", "now"}, 2, "takes no arguments"},
		{[]string{"rules", "FSM999"}, 2, `no code "FSM999"`},
		{[]string{"rules"}, 0, "FSM034 warning state never reached\n"},
		{[]string{"lint", "--explain", "FSM12"}, 2, `there is no code "FSM12"; did you mean FSM012?`},
		{[]string{"lint", "--explain", "FSM012", "definitions"}, 2, "takes one code and no files"},
		{[]string{"rules", "FSM012"}, 0, "FSM012 error: name not declared"},
	} {
		code, out, err := run(c.args...)
		require.Equal(t, c.code, code, "%q", c.args)
		require.Contains(t, out+err, c.says, "%q", c.args)
	}
}

// An explanation shows a case that fails, what is told of it, and one that passes.
func TestExplain(t *testing.T) {
	t.Parallel()
	code, out, _ := run("lint", "--explain", "FSM008")
	require.Equal(t, 0, code)
	require.Equal(t, `FSM008 error: key repeated
  Cause: One mapping has the same key twice; YAML would silently drop one.
  Fix:   Delete or rename one of the two.
  Waive: no; what it finds has no meaning, or loses money

  Fails (FSM008-state-twice.yaml):
    machine: lamp
    states: {DARK: {initial: true}, LIT: {final: true}, DARK: {}}
    events: {push: {}}
    transitions: [{event: push, from: DARK, to: LIT}]

  Told:
    FSM008-state-twice.yaml:2:53: FSM008 key "DARK" is repeated; it is first at line 2

  Passes (FSM008-state-twice.yaml):
    machine: lamp
    states: {DARK: {initial: true}, LIT: {final: true}}
    events: {push: {}}
    transitions: [{event: push, from: DARK, to: LIT}]
`, out)
	_, same, _ := run("rules", "FSM008")
	require.Equal(t, out, same)
	_, both, _ := run("rules", "FSM076", "FSM008")
	require.Contains(t, both, "  Waive: yes, as waive: {FSM076: the reason}, in the part that it is about\n")
	require.True(t, strings.HasSuffix(both, "\n\n"+out))
}

func TestLintExitsWithFindings(t *testing.T) {
	t.Parallel()
	dir := project(t, "definitions/a.yaml", broken, "definitions/b.yaml", lamp)
	code, out, text := run("lint", "-C", dir)
	require.Equal(t, 1, code)
	require.Equal(t, "definitions/a.yaml:5:13: FSM012 event \"pusch\" is not declared; did you mean \"push\"?\n", out)
	require.Equal(t, "2 machines checked, 1 error, 0 warnings\n", text)

	code, out, _ = run("lint", "definitions/a.yaml", "--format=json", "-C", dir)
	require.Equal(t, 1, code)
	var report struct {
		Errors   int
		Problems []struct{ Code string }
	}
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	require.Equal(t, 1, report.Errors)
	require.Equal(t, "FSM012", report.Problems[0].Code)

	code, out, _ = run("lint", "--format", "sarif", "definitions/b.yaml", "-C", dir)
	require.Equal(t, 0, code)
	var sarif map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &sarif))
	require.Equal(t, "2.1.0", sarif["version"])
}

// A machine without a table needs neither core tables nor sqlc.
func TestAMachineWithoutATableGenerates(t *testing.T) {
	t.Parallel()
	dir := project(t, "go.mod", "module example.com/x\n", "definitions/lamp.yaml", lamp)
	code, out, text := run("generate", "-C", dir)
	require.Equal(t, 0, code, text)
	require.Equal(t, "created  gen/definition.schema.json\n"+strings.Repeat("created  gen/lamp/docs/lamp.\n", 8)+"created  gen/lamp/events.go\ncreated  gen/lamp/states.go\n",
		regexp.MustCompile(`(docs/lamp\.)\w+`).ReplaceAllString(out, "$1"))
	code, out, _ = run("generate", "-C", dir)
	require.Equal(t, 0, code)
	require.Equal(t, "nothing to do\n", out)
	require.NoError(t, os.Remove(filepath.Join(dir, "definitions/lamp.yaml")))
	code, _, text = run("generate", "-C", dir)
	require.Equal(t, 2, code)
	require.Contains(t, text, "no definitions")
}

func TestGenerateSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	code, _, text := run("generate", "-C", project(t, "definitions/lamp.yaml", lamp))
	require.Equal(t, 2, code)
	require.Contains(t, text, "go mod init")

	tabled := "machine: lamp\ntable: {name: lamps, key: {column: lamp_id, type: bigint}}\n" + lamp[len("machine: lamp\n"):]
	code, _, text = run("generate", "-C", project(t, "go.mod", "module example.com/x\n", "definitions/lamp.yaml", tabled))
	require.Equal(t, 2, code)
	require.Contains(t, text, "run fsmgen init first")
}

// A mistake that only the SQL analyser sees is told at its place.
func TestWhatSQLRefusesIsAProblemOfItsFile(t *testing.T) {
	t.Parallel()
	dir := project(t, "go.mod", "module example.com/x\n")
	code, _, text := run("init", "-C", dir)
	require.Equal(t, 0, code, text)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "queries"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "queries/mine.sql"), []byte("-- name: Mine :one\nSELECT titel FROM articles;\n"), 0o644))
	code, out, text := run("generate", "-C", dir)
	require.Equal(t, 1, code)
	require.Equal(t, "1 machine checked, 1 error, 0 warnings; nothing was written\n", text)
	require.Contains(t, out, `queries/mine.sql:2:8: FSM091 column "titel" does not exist`)
	require.NoDirExists(t, filepath.Join(dir, "gen"))
}

// Hand-written SQL is looked through when it is asked for, generated SQL is not.
func TestLintOfQueries(t *testing.T) {
	t.Parallel()
	tabled := "machine: lamp\ntable: {name: lamps, key: {column: lamp_id, type: bigint}}\n" + lamp[len("machine: lamp\n"):]
	update := "UPDATE lamps SET status = 'LIT';\n"
	dir := project(t, "definitions/lamp.yaml", tabled,
		"queries/lamp.sql", "-- Code generated by fsmgen. DO NOT EDIT.\n"+update,
		"queries/deep/mine.SQL", "-- fsmgen:allow FSM070 a test\n"+update,
		"db/more.sql", "SELECT 1;\n"+update, "db/notes.txt", update,
		"empty/notes.txt", "")

	code, _, text := run("lint", "-C", dir)
	require.Equal(t, 0, code)
	require.Equal(t, "1 machine checked, 0 errors, 0 warnings\n", text)

	code, _, text = run("lint", "-C", dir, "--queries", "queries")
	require.Equal(t, 0, code, text)
	require.Equal(t, "1 machine and 1 hand-written SQL file checked, 0 errors, 0 warnings, 1 allowed\n", text)

	code, out, text := run("lint", "-C", dir, "--queries", "queries/", "--queries", "./db")
	require.Equal(t, 1, code)
	require.Equal(t, "1 machine and 2 hand-written SQL files checked, 1 error, 0 warnings, 1 allowed\n", text)
	require.Equal(t, "db/more.sql:2:18: FSM070 the column \"status\" of \"lamps\" is set by machine \"lamp\" alone: call one of its events\n", out)

	code, _, text = run("lint", "-C", dir, "--queries", "empty")
	require.Equal(t, 2, code)
	require.Contains(t, text, "empty: no .sql file found")
}

// An advance without anything that waits for it writes nothing and is fine; one
// before the first migration is told.
func TestAdvanceWithNothingToEnd(t *testing.T) {
	t.Parallel()
	dir := project(t, "go.mod", "module example.com/x\n", "definitions/lamp.yaml", lamp)
	code, out, text := run("generate", "--advance", "-C", dir)
	require.Equal(t, 0, code, text)
	require.Empty(t, out)
	require.Contains(t, text, "nothing waits for programs of before to be gone; nothing was written")
	require.NoDirExists(t, filepath.Join(dir, "gen"))

	tabled := "machine: lamp\ntable: {name: lamps, key: {column: lamp_id, type: bigint}}\n" + lamp[len("machine: lamp\n"):]
	dir = project(t, "go.mod", "module example.com/x\n", "definitions/lamp.yaml", tabled)
	code, _, text = run("init", "-C", dir)
	require.Equal(t, 0, code, text)
	code, out, _ = run("generate", "--advance", "-C", dir)
	require.Equal(t, 1, code)
	require.Contains(t, out, `definitions/lamp.yaml:1:10: FSM097 "lamp" has no migration yet: run fsmgen generate and deploy it first`)
}

// What a program reads is one document, whatever else there is to say.
func TestGenerateForPrograms(t *testing.T) {
	t.Parallel()
	type file struct{ Path, Kind, Diff string }
	type report struct {
		Errors               int
		Differences, Written *[]file
	}
	dir := project(t, "go.mod", "module example.com/x\n", "definitions/lamp.yaml", lamp)
	generate := func(wantCode int, format string, args ...string) (report, string, string) {
		code, out, text := run(append([]string{"generate", "-C", dir, "--format", format}, args...)...)
		require.Equal(t, wantCode, code, text)
		var r report
		require.NoError(t, json.Unmarshal([]byte(out), &r), out)
		return r, out, text
	}
	names := func(files *[]file) []string {
		require.NotNil(t, files)
		list := []string{}
		for _, f := range *files {
			list = append(list, f.Kind+" "+f.Path)
		}
		return list
	}
	all := []string{"created gen/definition.schema.json"}
	for _, ending := range []string{"csv", "dot", "html", "md", "mmd", "puml", "svg", "xlsx"} {
		all = append(all, "created gen/lamp/docs/lamp."+ending)
	}
	all = append(all, "created gen/lamp/events.go", "created gen/lamp/states.go")

	r, _, text := generate(1, "json", "--check")
	require.Equal(t, all, names(r.Differences))
	require.Contains(t, (*r.Differences)[10].Diff, "+++ b/gen/lamp/states.go\n")
	require.Nil(t, r.Written)
	require.Equal(t, "1 machine checked, 0 errors, 0 warnings; 11 files differ from the definitions: run fsmgen generate\n", text)

	_, out, text := generate(1, "sarif", "--check")
	require.NotContains(t, out, "+++")
	require.Contains(t, text, "+++ b/gen/lamp/states.go\n")

	r, _, text = generate(0, "json")
	require.Equal(t, all, names(r.Written))
	require.Empty(t, (*r.Written)[0].Diff)
	require.Nil(t, r.Differences)
	require.Equal(t, "1 machine checked, 0 errors, 0 warnings; 11 files changed\n", text)
	for _, format := range []string{"json", "sarif"} {
		generate(0, format)
		generate(0, format, "--check")
		generate(0, format, "--advance")
	}
	r, _, _ = generate(0, "json", "--check", "--advance")
	require.Empty(t, names(r.Differences))

	require.NoError(t, os.WriteFile(filepath.Join(dir, "definitions/lamp.yaml"), []byte(broken), 0o644))
	r, _, text = generate(1, "json", "--check")
	require.Equal(t, 1, r.Errors)
	require.Nil(t, r.Differences)
	require.Equal(t, "1 machine checked, 1 error, 0 warnings; nothing was written\n", text)
}

// A path that is not there is told with where paths count from.
func TestAPathThatIsNotThere(t *testing.T) {
	t.Parallel()
	dir := project(t, "definitions/lamp.yaml", lamp)
	code, _, text := run("lint", "-C", dir, "lamp.yaml")
	require.Equal(t, 2, code)
	require.Contains(t, text, "lamp.yaml: no such file or directory; paths count from the project's root, which is "+dir+": -C FOLDER names another\n")
	for _, args := range [][]string{{"lint"}, {"audit", "--database", "postgres://x"}} {
		code, _, text = run(append(args, "-C", filepath.Join(dir, "definitions"))...)
		require.Equal(t, 2, code)
		require.Contains(t, text, "it has no definitions/\n")
	}
	code, _, text = run("lint", "-C", dir, "--queries", "nowhere")
	require.Equal(t, 2, code)
	require.Contains(t, text, "paths count from")
}

// A flag's mistake is one line on standard error; help goes to standard output.
func TestHelpAndMistakesGoTheirWays(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"lint", "--frob"}, {"frobnicate"}, {"audit", "--overdue", "1w"}, {"audit", "--progress=maybe"}} {
		code, out, text := run(args...)
		require.Equal(t, 2, code, "%q", args)
		require.Empty(t, out, "%q", args)
		require.Equal(t, 1, strings.Count(text, "\n"), "%q: %s", args, text)
	}
	code, out, text := run("audit", "-h")
	require.Equal(t, 0, code)
	require.Empty(t, text)
	require.Contains(t, out, "\n  -C FOLDER\n")
	require.Contains(t, out, "\n  --overdue TIME\n        the TIME after its due time from which a row is late, such as 30m or 1d12h (default 1h)\n")
	require.Contains(t, out, "\n  --progress\n")
}

// Standard output goes into a migration, so problems are not told there.
func TestModelSaysNothingBesideItsLines(t *testing.T) {
	t.Parallel()
	code, out, text := run("model", "-C", project(t, "definitions/lamp.yaml", broken))
	require.Equal(t, 1, code)
	require.Empty(t, out)
	require.Contains(t, text, "FSM012")
	require.Contains(t, text, "1 error, 0 warnings\n")
}
