package pipeline_test

import (
	"context"
	"flag"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/gensql"
	"github.com/pawl-go/pawl/internal/pipeline"
)

// show prints what the cases give, to be compared by eye with their files.
var show = flag.Bool("show", false, "print the problems of every case")

// newProject is a project as init leaves it, without a definition.
func newProject(t *testing.T) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{"go.mod": {Data: []byte("module example.com/x\n")}}
	scaffold, err := pipeline.Scaffold(files)
	require.NoError(t, err)
	for _, name := range scaffold.Paths() {
		if content, ok := scaffold.Get(name); ok && !strings.HasPrefix(name, "definitions/") {
			files[name] = &fstest.MapFile{Data: content}
		}
	}
	return files
}

// problems runs a case: lint for a file, generate for a project.
func problems(t *testing.T, root string) string {
	t.Helper()
	var found diag.List
	info, err := os.Stat(root)
	require.NoError(t, err)
	if !info.IsDir() {
		_, err := pipeline.Lint(context.Background(), os.DirFS(path.Dir(root)), []string{path.Base(root)}, &found)
		require.NoError(t, err)
		return printed(t, &found)
	}
	files := newProject(t)
	if before := below(t, root, "before"); len(before) > 0 {
		maps.Copy(files, before)
		machines, err := pipeline.Lint(context.Background(), files, []string{"definitions"}, &found)
		require.NoError(t, err)
		files["migrations/00002_before.sql"] = &fstest.MapFile{Data: gensql.Migration(machines[0], nil, &found)}
		require.Empty(t, found.Sorted())
		for name := range before {
			delete(files, name)
		}
	}
	maps.Copy(files, below(t, root, "definitions"))
	if sql := below(t, root, "sql"); len(sql) > 0 { // what lint --queries looks at
		maps.Copy(files, sql)
		machines, err := pipeline.Lint(context.Background(), files, []string{"definitions"}, &found)
		require.NoError(t, err)
		_, _, err = pipeline.Bypass(context.Background(), files, []string{"sql"}, machines, &found)
		require.NoError(t, err)
		return printed(t, &found)
	}
	maps.Copy(files, below(t, root, "queries"))
	_, err = pipeline.Generate(context.Background(), files, &found)
	require.NoError(t, err)
	return printed(t, &found)
}

// below reads the files of a folder of a case; what was before are definitions.
func below(t *testing.T, root, folder string) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	entries, err := os.ReadDir(path.Join(root, folder))
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(path.Join(root, folder, e.Name()))
		require.NoError(t, err)
		files[path.Join(strings.Replace(folder, "before", "definitions", 1), e.Name())] = &fstest.MapFile{Data: text}
	}
	return files
}

func printed(t *testing.T, found *diag.List) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, found.Text(&b))
	return b.String()
}

func caseNames(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		if e.Name() != "want" {
			names = append(names, e.Name())
		}
	}
	return names
}

// The cases of the rules that are not the checker's; it tests its own.
func TestBadCases(t *testing.T) {
	t.Parallel()
	for _, name := range caseNames(t, "cases/bad") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			have := problems(t, "cases/bad/"+name)
			if *show {
				t.Logf("\n%s", have)
			}
			want, err := os.ReadFile("cases/bad/want/" + strings.TrimSuffix(name, ".yaml") + ".txt")
			require.NoError(t, err)
			require.Equal(t, string(want), have)
		})
	}
}

func TestGoodCases(t *testing.T) {
	t.Parallel()
	for _, name := range caseNames(t, "cases/good") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Empty(t, problems(t, "cases/good/"+name))
		})
	}
}

// Every rule is shown by a case that gives its code, and by one that does not.
func TestEveryRuleIsExplained(t *testing.T) {
	t.Parallel()
	all, err := pipeline.Explain()
	require.NoError(t, err)
	require.Len(t, all, len(pipeline.Rules()))
	for _, e := range all {
		if e.Bad.Name == "" || e.Good.Name == "" {
			t.Errorf("%s has no failing or no passing case: add bad/%s-NAME.yaml, bad/want/%s-NAME.txt with its problems, and good/%s-NAME.yaml, to internal/check/testdata for a rule of internal/check, else to internal/pipeline/cases; then run go test ./internal/pipeline -run Rules -update",
				e.Code, e.Code, e.Code, e.Code)
			continue
		}
		require.Contains(t, e.Bad.Problems, string(e.Code)+" ", e.Bad.Name)
		require.Empty(t, e.Good.Problems)
		for _, c := range []pipeline.Case{e.Bad, e.Good} {
			require.True(t, strings.HasPrefix(c.Name, string(e.Code)+"-"), c.Name)
			require.NotEmpty(t, c.Files)
			require.True(t, slices.ContainsFunc(c.Files, func(f pipeline.CaseFile) bool { return fs.ValidPath(f.Name) && f.Text != "" }))
		}
	}
}

// What a page or a terminal shows is short, and can be seen.
func TestCasesAreShownReadably(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"", "\n"},
		{"a: b\n\tc\n", "a: b\n\tc\n"},
		{"待 \xe9\u202e\n", "待 \\xe9\\u202e\n"},
		{strings.Repeat("x", 250), strings.Repeat("x", 240) + "…\n"},
		{strings.Repeat("x\n", 31), strings.Repeat("x\n", 31)},
		{strings.Repeat("x\n", 32), strings.Repeat("x\n", 30) + "… and 2 lines more\n"},
	} {
		require.Equal(t, c.want, pipeline.CaseFile{Text: c.text}.Shown())
		require.Equal(t, c.want, pipeline.Case{Problems: c.text}.ShownProblems())
	}
}

func TestFindSuggests(t *testing.T) {
	t.Parallel()
	found, err := pipeline.Find([]string{"FSM046", "FSM012"})
	require.NoError(t, err)
	require.Len(t, found, 2)
	require.Equal(t, diag.Code("FSM046"), found[0].Code)
	_, err = pipeline.Find([]string{"FSM12"})
	require.EqualError(t, err, `there is no code "FSM12"; did you mean FSM012?`)
	_, err = pipeline.Find([]string{"fsm012"})
	require.EqualError(t, err, `there is no code "fsm012"; did you mean FSM012?`)
	_, err = pipeline.Find([]string{"dead-end"})
	require.EqualError(t, err, `there is no code "dead-end"; fsmgen rules lists them`)
}
