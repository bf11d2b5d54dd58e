package bypass_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/bypass"
	"github.com/pawl-go/pawl/internal/diag"
)

// tables are those of the cases.
var tables = []bypass.Guarded{
	{Machine: "order", Table: "orders", Columns: []string{"status", "version", "deadline_at", "deadline_runs"}, Keys: []string{"order_id"}, History: "order_history", Facts: "order_facts"},
	{Machine: "article", Schema: "cms", Table: "articles", Columns: []string{"status", "version"}, History: "article_history"},
}

// scan returns what is found in the files, as text, and how much is allowed.
func scan(t *testing.T, paths ...string) (string, int) {
	t.Helper()
	var files []bypass.File
	for _, path := range paths {
		sql, err := os.ReadFile(path)
		require.NoError(t, err)
		files = append(files, bypass.File{Name: filepath.Base(path), SQL: sql})
	}
	var problems diag.List
	allowed := bypass.Scan(files, tables, &problems)
	var b strings.Builder
	require.NoError(t, problems.Text(&b))
	return b.String(), allowed
}

// cases returns the files of a folder, by case name: a file, or a folder of
// files that are read together.
func cases(t *testing.T, folder string) map[string][]string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	found := map[string][]string{}
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		switch {
		case e.Name() == "want":
		case e.IsDir():
			found[e.Name()], err = filepath.Glob(filepath.Join(path, "*.sql"))
			require.NoError(t, err)
		default:
			found[strings.TrimSuffix(e.Name(), ".sql")] = []string{path}
		}
	}
	return found
}

func TestWhatGoesAround(t *testing.T) {
	t.Parallel()
	for name, paths := range cases(t, "testdata/bad") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, err := os.ReadFile(filepath.Join("testdata/bad/want", name+".txt"))
			require.NoError(t, err)
			text, allowed := scan(t, paths...)
			if allowed > 0 {
				text += fmt.Sprintf("%d allowed\n", allowed)
			}
			require.Equal(t, string(want), text)
			require.Contains(t, text, strings.SplitN(name, "-", 2)[0])
		})
	}
}

func TestWhatIsFine(t *testing.T) {
	t.Parallel()
	for name, paths := range cases(t, "testdata/good") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, allowed := scan(t, paths...)
			require.Empty(t, text)
			require.Zero(t, allowed)
		})
	}
}

func TestEveryRuleHasCases(t *testing.T) {
	t.Parallel()
	bad, good := cases(t, "testdata/bad"), cases(t, "testdata/good")
	for _, rule := range bypass.Rules() {
		for _, found := range []map[string][]string{bad, good} {
			some := false
			for name := range found {
				some = some || strings.HasPrefix(name, string(rule.Code)+"-")
			}
			require.True(t, some, rule.Code)
		}
	}
}

// What is no text is said at its place; a file without tables to guard is not read.
func TestWhatIsNoText(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]string{
		"SELECT 1;\n\x00":                       "x.sql:2:1: FSM074 PostgreSQL cannot read this: the file holds a NUL character\n",
		"SELECT '\xff'":                         "x.sql:1:9: FSM074 PostgreSQL cannot read this: the file is not UTF-8 text\n",
		strings.Repeat("-", bypass.MaxLength+1): "x.sql:1:1: FSM074 PostgreSQL cannot read this: the file has more than 4 MiB and was not read\n",
		"":                                      "",
	} {
		var problems diag.List
		require.Zero(t, bypass.Scan([]bypass.File{{Name: "x.sql", SQL: []byte(sql)}}, tables, &problems))
		var b strings.Builder
		require.NoError(t, problems.Text(&b))
		require.Equal(t, want, b.String())
		problems = diag.List{}
		require.Zero(t, bypass.Scan([]bypass.File{{Name: "x.sql", SQL: []byte(sql)}}, nil, &problems))
		require.Empty(t, problems.Sorted())
	}
}

// No text makes it panic, and every finding has a place in it.
func FuzzScan(f *testing.F) {
	for _, folder := range []string{"testdata/bad/*.sql", "testdata/good/*.sql"} {
		paths, err := filepath.Glob(folder)
		require.NoError(f, err)
		for _, path := range paths {
			sql, err := os.ReadFile(path)
			require.NoError(f, err)
			f.Add(sql)
		}
	}
	// The parser is made ready on its first use, which would pass for a hang.
	bypass.Scan([]bypass.File{{Name: "x.sql", SQL: []byte("DO $$ BEGIN PERFORM 1; END $$")}}, tables, &diag.List{})
	f.Fuzz(func(t *testing.T, sql []byte) {
		var problems diag.List
		bypass.Scan([]bypass.File{{Name: "x.sql", SQL: sql}}, tables, &problems)
		lines := strings.Split(string(sql), "\n")
		for _, p := range problems.Sorted() {
			require.NotContains(t, p.Message, "failed in itself")
			require.True(t, p.Pos.Line >= 1 && p.Pos.Line <= len(lines), p.Pos)
			require.True(t, p.Pos.Col >= 1 && p.Pos.Col <= len([]rune(lines[p.Pos.Line-1]))+1, p.Pos)
		}
	})
}

// What the generator wrote may stand in a migration by hand, as a whole and to the
// letter, below whatever comment.
func TestWhatTheGeneratorWroteIsPassedOver(t *testing.T) {
	t.Parallel()
	const own = "DELETE FROM order_history WHERE at < now()"
	guarded := tables[0]
	guarded.Wrote = func(statement string) bool { return statement == own }
	for _, c := range []struct {
		sql  string
		want int
	}{
		{own, 0},
		{"SELECT 1;\n-- +goose StatementBegin\n" + own + ";\n-- +goose StatementEnd\n" + own + "\n;", 0},
		{own + " - interval '1 day'", 1},
		{own + ";" + strings.ToLower(own), 1},
		{"WITH gone AS (" + own + " RETURNING 1) SELECT 1", 1},
		{own + ";\nSELEC", 1}, // what cannot be read stands behind it
	} {
		var problems diag.List
		bypass.Scan([]bypass.File{{Name: "a.sql", SQL: []byte(c.sql)}}, []bypass.Guarded{guarded, tables[1]}, &problems)
		require.Len(t, problems.Sorted(), c.want, c.sql)
	}
}
