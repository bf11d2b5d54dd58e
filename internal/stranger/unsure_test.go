package stranger

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/testdb"
)

// Columns may be set to what only PostgreSQL can say, under CHECKs that look at
// them: every transition is fired all the same, with values that PostgreSQL takes,
// and a statement that is broken there is seen. Where no values are found the
// test says how to give some, and is not green.
func TestWhatOnlyTheDatabaseCanSayIsFired(t *testing.T) {
	t.Parallel()
	dir := folder(t, "example.com/tags")
	code, out := fsmgen(t, dir, "init")
	require.Zero(t, code, out)
	definition := filepath.Join(dir, "definitions/article.yaml")
	write(t, definition, read(t, "testdata/tested/unsure/tag.yaml"))
	code, out = fsmgen(t, dir, "generate")
	require.Zero(t, code, out)
	database := "PAWL_TEST_DATABASE_URL=" + testdb.URL(t)

	out, ok := goTest(t, dir, database)
	require.True(t, ok, out)
	require.NotContains(t, out, "SKIP")
	for _, name := range []string{"NEW/code/guard_1", "NEW/code/none", "CODED/hash", "HASHED/slot", "SLOTTED/note/guard_1", "SLOTTED/note/none"} {
		require.Contains(t, out, "--- PASS: TestMatrix/"+name+" ", name)
	}

	statements := filepath.Join(dir, "gen/db/tag.sql.go")
	whole := read(t, statements)
	for _, broken := range []struct{ old, with, test string }{
		{"upper($4::text)", "upper($4::text || 'x')", "TestMatrix/NEW/code/guard_1"},
		{"($1::integer > 2) IS TRUE", "($1::integer IN (3, 1000)) IS TRUE", "TestMatrix/NEW/code/guard_1"}, // seen by what is around 3
		{"md5(l.raw)", "md5(l.raw || 'x')", "TestMatrix/CODED/hash"},
		{"coalesce(l.a, 0) * 2 % 7", "coalesce(l.a, 0) * 2 % 7 * 0", "TestMatrix/HASHED/slot"},
	} {
		breakFile(t, statements, broken.old, broken.with)
		out, ok = goTest(t, dir, database)
		require.False(t, ok, out)
		require.Contains(t, out, "--- FAIL: "+broken.test+" ", out)
		write(t, statements, whole)
	}

	// No guess is a zebra.
	breakFile(t, definition, "code = upper(code) AND length(code) > 1", "code = 'ZEBRA-' || length(code)")
	code, out = fsmgen(t, dir, "generate")
	require.Zero(t, code, out)
	out, ok = goTest(t, dir, database)
	require.False(t, ok, out)
	require.Contains(t, out, "--- FAIL: TestMatrix/NEW/code/guard_1 ")
	require.Contains(t, out, "the CHECK of code refuses what the call would leave; give values for @text")
	require.Contains(t, out, "migrations/testdata/values.json")
	out, ok = goTest(t, dir, database, "PAWL_TEST_SKIP=1")
	require.True(t, ok, out)
	require.Contains(t, out, "--- SKIP: TestMatrix/NEW/code/guard_1 ")
	write(t, filepath.Join(dir, "migrations/testdata/values.json"), `{"tag": {"@text": ["'zebra-7'"]}}`)
	out, ok = goTest(t, dir, database)
	require.True(t, ok, out)
	require.NotContains(t, out, "SKIP")
}

// Two calls that meet have values with which the second suits the CHECKs whether
// the first is committed or rolled back; those of two facts differ; what is around
// an identity is one. Values that nobody can read are no values.
func TestCallsThatMeetUnderChecksAreFired(t *testing.T) {
	t.Parallel()
	dir := folder(t, "example.com/tanks")
	code, out := fsmgen(t, dir, "init")
	require.Zero(t, code, out)
	write(t, filepath.Join(dir, "definitions/article.yaml"), read(t, "testdata/tested/unsure/tank.yaml"))
	code, out = fsmgen(t, dir, "generate")
	require.Zero(t, code, out)
	database := "PAWL_TEST_DATABASE_URL=" + testdb.URL(t)

	out, ok := goTest(t, dir, database)
	require.True(t, ok, out)
	require.NotContains(t, out, "SKIP")
	for _, name := range []string{"add_then_take/guard_1", "raise_then_raise/guard_1_then_guard_1", "pay_then_pay/guard_1", "pay_then_pay/guard_1_same_fact"} {
		require.Contains(t, out, "--- PASS: TestRaces/OPEN/"+name+" ", name)
	}

	write(t, filepath.Join(dir, "migrations/testdata/values.json"), `{"tank": {"@amount": ["11", "twelve"]}}`)
	out, ok = goTest(t, dir, database)
	require.False(t, ok, out)
	require.Contains(t, out, "migrations/testdata/values.json: tank, @amount, value 2: twelve is no SQL literal of its type: ERROR: column \"twelve\" does not exist")
}
