package pipeline_test

import (
	"context"
	"flag"
	"fmt"
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
	migrated(t, root, files)
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
	generate := pipeline.GenerateWaiting
	var options []pipeline.Option
	if command, err := os.ReadFile(path.Join(root, "run.txt")); !os.IsNotExist(err) {
		require.NoError(t, err)
		switch string(command) {
		case "fsmgen generate --advance\n":
			generate = pipeline.Advance
		case "fsmgen generate --distribution citus\n":
			options = append(options, pipeline.DistributedOver(pipeline.Citus))
		default:
			require.Fail(t, "unknown command", "%q", command)
		}
	}
	_, _, err = generate(context.Background(), files, &found, options...)
	require.NoError(t, err)
	return printed(t, &found)
}

// migrated adds the migrations of the definitions as they were: those of
// before/, then those of before-2/, as far as the case has them.
func migrated(t *testing.T, root string, files fstest.MapFS) {
	t.Helper()
	var landed *gensql.Schema
	for i, folder := range []string{"before", "before-2"} {
		before := below(t, root, folder)
		if len(before) == 0 {
			return
		}
		var found diag.List
		machines, err := pipeline.Lint(context.Background(), before, []string{"definitions"}, &found)
		require.NoError(t, err)
		require.Len(t, machines, 1)
		migration := gensql.Migration(machines[0], landed, &found)
		require.Empty(t, found.Sorted())
		schemas, err := gensql.Embedded(migration)
		require.NoError(t, err)
		require.Len(t, schemas, 1)
		landed = &schemas[0]
		files[fmt.Sprintf("migrations/%05d_door.sql", i+2)] = &fstest.MapFile{Data: migration}
	}
}

// below reads the files of a folder of a case; what was before are definitions
// too.
func below(t *testing.T, root, folder string) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	within := folder
	if strings.HasPrefix(folder, "before") {
		within = "definitions"
	}
	entries, err := os.ReadDir(path.Join(root, folder))
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(path.Join(root, folder, e.Name()))
		require.NoError(t, err)
		files[path.Join(within, e.Name())] = &fstest.MapFile{Data: text}
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

// A case with a past says in which order its folders were generated from.
func TestCasesTellTheirHistory(t *testing.T) {
	t.Parallel()
	found, err := pipeline.Find([]string{"FSM008", "FSM091", "FSM092", "FSM093", "FSM097"})
	require.NoError(t, err)
	for i, want := range []string{
		"", "",
		"generated from before/, then definitions/",
		"generated from before/, then before-2/, then definitions/",
		"generated from before/, then before-2/, then advanced with definitions/",
	} {
		require.Equal(t, want, found[i].Good.History(), found[i].Code)
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
