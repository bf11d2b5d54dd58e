package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
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
		{[]string{"frobnicate"}, 2, `no command "frobnicate"`},
		{[]string{"lint", "--frob"}, 2, "flag provided but not defined"},
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
	require.Empty(t, out)
	require.Contains(t, text, `definitions/a.yaml:5:13: FSM012 event "pusch" is not declared; did you mean "push"?`)

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
	require.Equal(t, "created  gen/definition.schema.json\ncreated  gen/lamp/events.go\ncreated  gen/lamp/states.go\n", out)
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
	code, _, text = run("generate", "-C", dir)
	require.Equal(t, 1, code)
	require.Contains(t, text, `queries/mine.sql:2:8: FSM091 column "titel" does not exist`)
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

	code, _, text = run("lint", "-C", dir, "--queries", "queries/", "--queries", "./db")
	require.Equal(t, 1, code)
	require.Equal(t, "db/more.sql:2:18: FSM070 the column \"status\" of \"lamps\" is set by machine \"lamp\" alone: call one of its events\n", text)

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
	code, _, text = run("generate", "--advance", "-C", dir)
	require.Equal(t, 1, code)
	require.Contains(t, text, `definitions/lamp.yaml:1:10: FSM097 "lamp" has no migration yet: run fsmgen generate and deploy it first`)
}
