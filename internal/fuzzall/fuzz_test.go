package main

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestTargets(t *testing.T) {
	t.Parallel()
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	all, err := targets(fstest.MapFS{
		"b/x_test.go":          file("package b\n\nfunc FuzzB(f *testing.F) {\n}\n\nfunc FuzzA(f *testing.F) {}\n// func FuzzNo(f *testing.F)\n"),
		"a/x_test.go":          file("package a\nfunc FuzzIt(fuzz *testing.F) {\nfunc TestIt(t *testing.T) {\n"),
		"a/x.go":               file("func FuzzNot(f *testing.F) {"),
		"bench/go.mod":         file("module x"),
		"bench/y/y_test.go":    file("func FuzzNot(f *testing.F) {"),
		"a/testdata/z_test.go": file("func FuzzNot(f *testing.F) {"),
	})
	require.NoError(t, err)
	require.Equal(t, []target{{"a", "FuzzIt"}, {"b", "FuzzA"}, {"b", "FuzzB"}}, all)

	ours, err := targets(os.DirFS("../.."))
	require.NoError(t, err)
	require.Contains(t, ours, target{"internal/hostile", "FuzzDefinition"})
	require.Contains(t, ours, target{"fsm/webhook", "FuzzChanged"})
}

func TestNumbersAreRead(t *testing.T) {
	t.Parallel()
	var o outcome
	var out strings.Builder
	o.read(&out, strings.NewReader(`fuzz: elapsed: 0s, gathering baseline coverage: 0/57 completed
fuzz: elapsed: 3s, execs: 102 (34/sec), new interesting: 1 (total: 58)
fuzz: elapsed: 6s, execs: 40310 (13402/sec), new interesting: 12 (total: 69)
--- FAIL: FuzzX (6.02s)
    Failing input written to testdata/fuzz/FuzzX/582528ddfad69eb5
PASS
ok  	x	6.1s
FAIL`))
	require.Equal(t, outcome{executions: 40310, found: 12, known: 69}, o)
	require.Equal(t, "--- FAIL: FuzzX (6.02s)\n    Failing input written to testdata/fuzz/FuzzX/582528ddfad69eb5\nFAIL", out.String())
}

func TestTheTableHasEveryTarget(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	require.NoError(t, table(&out, []outcome{{target: target{"a", "FuzzA"}, executions: 7, found: 1, known: 2}, {target: target{"b", "FuzzB"}, executions: 5, failed: true}}))
	require.Equal(t, []string{"target", "time", "executions", "new", "inputs", "inputs", "failed", "a.FuzzA", "0s", "7", "1", "2", "no", "b.FuzzB", "0s", "5", "0", "0", "YES", "2", "targets", "12"}, strings.Fields(out.String()))
	out.Reset()
	require.NoError(t, table(&out, []outcome{{executions: 7}}))
	require.Contains(t, out.String(), "\n1 target ")
}
