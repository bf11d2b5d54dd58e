package stranger

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/testdb"
)

// goTest runs the tests of a folder and returns what they print, and whether
// they pass.
func goTest(t *testing.T, dir string, env ...string) (string, bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-v", "-mod=mod", "./...")
	cmd.Dir = dir
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if name != "CI" && !strings.HasPrefix(name, "PAWL_TEST_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, append([]string{"GOFLAGS=", "GOPROXY=off", "CGO_ENABLED=0"}, env...)...)
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil {
		require.ErrorAs(t, err, &exit)
	}
	return string(out), err == nil
}

// breakFile replaces a text that is there in a file.
func breakFile(t *testing.T, name, old, with string) {
	t.Helper()
	text := read(t, name)
	require.Contains(t, text, old)
	write(t, name, strings.ReplaceAll(text, old, with))
}

// Whoever generates has tests that run themselves: green, red when the SQL is
// broken, and never green for want of a database where it counts.
func TestTheGeneratedTestsRunByThemselves(t *testing.T) {
	t.Parallel()
	dir := folder(t, "example.com/news")
	for _, verb := range []string{"init", "generate"} {
		code, out := fsmgen(t, dir, verb)
		require.Zero(t, code, out)
	}
	database := "PAWL_TEST_DATABASE_URL=" + testdb.URL(t)

	out, ok := goTest(t, dir)
	require.True(t, ok, out)
	require.Contains(t, out, "PAWL_TEST_DATABASE_URL is not set")
	require.Contains(t, out, "--- SKIP: TestMatrix")
	out, ok = goTest(t, dir, "CI=true")
	require.False(t, ok, out)
	require.Contains(t, out, "set PAWL_TEST_SKIP=1 to go without these tests")
	out, ok = goTest(t, dir, "CI=true", "PAWL_TEST_SKIP=1")
	require.True(t, ok, out)

	out, ok = goTest(t, dir, "CI=true", database)
	require.True(t, ok, out)
	for _, name := range []string{
		"TestMatrix/DRAFT/publish", "TestMatrix/ARCHIVED/archive", "TestRaces/DRAFT/submit_then_publish",
		"TestCorrect/ARCHIVED/DRAFT", "TestCreate", "TestAbsent/reject",
	} {
		require.Contains(t, out, "--- PASS: "+name+" ", name)
	}
	require.NotContains(t, out, "SKIP")

	breakFile(t, filepath.Join(dir, "gen/db/article.sql.go"), "o.status IN ('DRAFT', 'IN_REVIEW') THEN 1", "o.status IN ('DRAFT', 'IN_REVIEW', 'PUBLISHED') THEN 1")
	out, ok = goTest(t, dir, database)
	require.False(t, ok, out)
	require.Contains(t, out, "--- FAIL: TestMatrix/PUBLISHED/publish ")
	require.NotContains(t, out, "--- FAIL: TestMatrix/DRAFT")
}

// Whatever a table is like, its generated tests make their rows and pass: names
// that mean something to SQL, numbers, keys of several columns, dates, enums,
// codes, states that are renamed or retired, expected versions, and tables that
// were there before, with columns, constraints and triggers of their owner's.
func TestTheGeneratedTestsServeEveryTable(t *testing.T) {
	t.Parallel()
	dir := folder(t, "example.com/all")
	code, out := fsmgen(t, dir, "init")
	require.Zero(t, code, out)
	require.NoError(t, os.Remove(filepath.Join(dir, "definitions/article.yaml")))
	for _, name := range []string{
		"own/definitions/settlement.yaml", "exact/definitions/ticket.yaml", "exact/definitions/purse.yaml", "hostile/definitions/hostile.yaml",
		"tested/definitions/post.yaml", "tested/definitions/parcel.yaml", "tested/definitions/lamp.yaml",
		"tested/migrations/00002_posts.sql", "tested/migrations/testdata/before.sql",
	} {
		_, to, _ := strings.Cut(name, "/")
		write(t, filepath.Join(dir, to), read(t, filepath.Join("testdata", name)))
	}
	code, out = fsmgen(t, dir, "generate")
	require.Zero(t, code, out)
	out, ok := goTest(t, dir, "PAWL_TEST_DATABASE_URL="+testdb.URL(t))
	require.True(t, ok, out)
	for _, name := range []string{"TestMatrix/OPEN/close", "TestMatrix/FREE/pay/price_matches", "TestMatrix/DRAFT/publish", "TestMatrix/PACKED/send", "TestMatrix/off/push"} {
		require.Contains(t, out, "--- PASS: "+name+" ", name)
	}
	// A text that is put together is what PostgreSQL finds values for.
	require.NotContains(t, out, "--- SKIP: ")
	require.Contains(t, out, "--- PASS: TestRaces/it's/a::b_then_a::b/")
}

// While a state is renamed, its rows are read and written under two names; the
// tests pass at every step, also where the history is in partitions.
func TestTheGeneratedTestsPassDuringARename(t *testing.T) {
	t.Parallel()
	dir := folder(t, "example.com/news")
	file := filepath.Join(dir, "definitions/article.yaml")
	code, out := fsmgen(t, dir, "init")
	require.Zero(t, code, out)
	breakFile(t, file, "  columns:", "  history: {partition: week, keep: 30d}\n  columns:")
	code, out = fsmgen(t, dir, "generate")
	require.Zero(t, code, out)
	write(t, filepath.Join(dir, "gen/article/keep_test.go"), read(t, "testdata/tested/keep_test.go.txt"))
	breakFile(t, file, "PUBLISHED", "PUBLIC")
	breakFile(t, file, "  PUBLIC: {}", "  PUBLIC: {was: PUBLISHED}")
	database := "PAWL_TEST_DATABASE_URL=" + testdb.URL(t)
	for _, command := range [][]string{{"generate"}, {"generate", "--advance"}, {"generate", "--advance"}} {
		code, out := fsmgen(t, dir, command...)
		require.Zero(t, code, out)
		out, ok := goTest(t, dir, database)
		require.True(t, ok, "%v: %s", command, out)
		require.Contains(t, out, "--- PASS: TestMatrix/PUBLIC/archive ")
		require.Contains(t, out, "--- PASS: TestKeepHistory ")
	}
}
