package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
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
		{[]string{"lint", "-C", "/does/not/exist"}, 2, "no such file"},
		{[]string{"generate", "now"}, 2, "takes no arguments"},
		{[]string{"init", "now"}, 2, "takes no arguments"},
		{[]string{"rules", "FSM999"}, 2, `no code "FSM999"`},
		{[]string{"rules", "FSM012"}, 0, "FSM012 error: name not declared"},
	} {
		code, out, err := run(c.args...)
		require.Equal(t, c.code, code, "%q", c.args)
		require.Contains(t, out+err, c.says, "%q", c.args)
	}
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
	var problems []map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &problems))
	require.Equal(t, "FSM012", problems[0]["code"])

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
	require.Equal(t, "created  gen/lamp/events.go\ncreated  gen/lamp/states.go\n", out)
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
