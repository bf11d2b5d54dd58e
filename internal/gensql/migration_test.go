package gensql_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver that goose runs on
	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/gensql"
	"github.com/pawl-go/pawl/internal/testdb"
)

// next makes the migration from the newest of files to the definition.
func next(t testing.TB, files fstest.MapFS, yaml string) ([]byte, []diag.Problem) {
	t.Helper()
	var prev *gensql.Schema
	for i := 1; i <= len(files); i++ {
		schemas, err := gensql.Embedded(files[name(i)].Data)
		require.NoError(t, err)
		for _, s := range schemas {
			prev = &s
		}
	}
	var problems diag.List
	content := gensql.Migration(machine(t, yaml), prev, &problems)
	return content, problems.Sorted()
}

// advance lands the migrations that come when the programs of before are gone,
// and returns them.
func advance(t testing.TB, files fstest.MapFS, yaml string) [][]byte {
	t.Helper()
	schemas, err := gensql.Embedded(files[name(len(files))].Data)
	require.NoError(t, err)
	var problems diag.List
	contents := gensql.Advance(machine(t, yaml), schemas[0], &problems)
	require.Empty(t, problems.Sorted())
	for _, content := range contents {
		files[name(len(files)+1)] = &fstest.MapFile{Data: content}
	}
	return contents
}

func name(version int) string { return fmt.Sprintf("%05d_door.sql", version) }

// shape is everything of the schema that a migration may change, as text.
func shape(t *testing.T, db *sql.DB) string {
	t.Helper()
	var out sql.NullString
	require.NoError(t, db.QueryRow(`SELECT string_agg(line, E'\n' ORDER BY line) FROM (
		SELECT format('%s.%s %s %s %s', table_name, column_name, data_type, is_nullable, column_default) AS line
		FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> 'goose_db_version'
		UNION ALL SELECT conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
		WHERE connamespace = 'public'::regnamespace AND conrelid::regclass::text <> 'goose_db_version'
		UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
		UNION ALL SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
		UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename <> 'goose_db_version') AS lines`).Scan(&out))
	return out.String
}

// A change is migrated up, down and up again; down restores the schema that
// was, and up makes the same schema each time.
func TestChangesMigrateBothWays(t *testing.T) {
	t.Parallel()
	replace := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(door) }
	cases := []struct {
		name, yaml, has, hasNot string
		advance                 bool // what is looked at comes when the programs of before are gone
	}{
		{"state and edge", replace("  GONE: {final: true}", "  GONE: {final: true}\n  LOCKED: {}",
			"transitions:", "transitions:\n  - {event: shut, from: LOCKED, to: SHUT}\n  - {event: knock, from: OPEN, to: LOCKED}"),
			"'LOCKED'", "", false},
		{"edge taken away", replace("from: [OPEN, SHUT], to: GONE", "from: SHUT, to: GONE"), "OLD.status = 'OPEN' AND NEW.status IN ('SHUT')\n", "OLD.status = 'OPEN' AND NEW.status IN ('SHUT', 'GONE')\n", true},
		{"initial", replace("OPEN: {initial: true}", "OPEN: {}", "SHUT: {}", "SHUT: {initial: true}"), "new.status <> 'SHUT'", "new.status <> 'OPEN'", true},
		{"optional column", replace("colour: text", "colour: text\n    note: {type: text, optional: true}"), "doors.note", "", false},
		{"defaulted column", replace("colour: text", "colour: text\n    size: {type: integer, default: 3, check: size > 0}"), "doors_size_check", "", false},
		{"column left", replace("    colour: text\n", ""), "doors.colour text YES", "doors.colour text NO", true},
		{"checked column left", strings.ReplaceAll(replace("    knocks: {type: integer, default: 0, check: knocks >= 0}\n", ""), ", set: {knocks: knocks + 1}", ""), "doors.knocks integer YES", "doors_knocks_check", true},
		{"wider type", replace("knocks: {type: integer", "knocks: {type: bigint"), "doors.knocks bigint", "doors.knocks integer", false},
		{"other default", replace("default: 0", "default: 7"), "doors.knocks integer NO 7", "", false},
		{"other check", replace("knocks >= 0", "knocks >= -1"), "'-1'", "knocks >= 0", true},
		{"may be empty", replace("colour: text", "colour: {type: text, optional: true}"), "doors.colour text YES", "", false},
		{"deadline", replace("SHUT: {}", "SHUT: {deadline: {after: 1h, event: open, max: 0}}"), "doors_deadline_idx", "", false},
		{"identity", replace("open: {}", "open: {params: {by: text}, identity: [by]}"), "door_facts_pkey", "", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			yaml := strings.ReplaceAll(c.yaml, ", max: 0", "")
			files := fstest.MapFS{}
			first, problems := next(t, files, door)
			require.Empty(t, problems)
			files[name(1)] = &fstest.MapFile{Data: first}
			second, problems := next(t, files, yaml)
			for _, p := range problems {
				require.Equal(t, diag.Warning, p.Severity, "%v", p)
			}
			require.NotNil(t, second, "the change needs a migration")
			files[name(2)] = &fstest.MapFile{Data: second}
			if c.advance {
				require.Len(t, advance(t, files, yaml), 1)
			}
			third, problems := next(t, files, yaml)
			require.Empty(t, problems)
			require.Nil(t, third, "and nothing after it")

			ctx := context.Background()
			db, err := sql.Open("pgx", testdb.URL(t))
			require.NoError(t, err)
			defer db.Close()
			provider, err := goose.NewProvider(goose.DialectPostgres, db, files)
			require.NoError(t, err)
			_, err = provider.UpTo(ctx, 1)
			require.NoError(t, err)
			before := shape(t, db)
			_, err = db.Exec(`INSERT INTO doors (door_id, status, version, colour) VALUES (1, 'OPEN', 1, 'red')`)
			require.NoError(t, err)
			_, err = provider.Up(ctx)
			require.NoError(t, err)
			after := shape(t, db)
			require.NotEqual(t, before, after)
			require.Contains(t, after, c.has)
			if c.hasNot != "" {
				require.Contains(t, before, c.hasNot)
				require.NotContains(t, after, c.hasNot)
			}
			_, err = provider.DownTo(ctx, 1)
			require.NoError(t, err)
			require.Equal(t, before, shape(t, db))
			_, err = provider.Up(ctx)
			require.NoError(t, err)
			require.Equal(t, after, shape(t, db))
			_, err = provider.DownTo(ctx, 0)
			require.NoError(t, err)
			require.Empty(t, shape(t, db), "nothing is left")
		})
	}
}

// A column that is no longer declared stays, and comes back with its values.
func TestAColumnComesBackWithItsValues(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	back := strings.Replace(door, "colour: text", `colour: {type: text, default: "'none'"}`, 1)
	for _, yaml := range []string{door, strings.Replace(door, "    colour: text\n", "", 1), back} {
		content, problems := next(t, files, yaml)
		require.Empty(t, problems)
		files[name(len(files)+1)] = &fstest.MapFile{Data: content}
		if len(files) == 2 {
			require.Len(t, advance(t, files, yaml), 1)
		}
	}
	db, err := sql.Open("pgx", testdb.URL(t))
	require.NoError(t, err)
	defer db.Close()
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files)
	require.NoError(t, err)
	ctx := context.Background()
	_, err = provider.UpTo(ctx, 1)
	require.NoError(t, err)
	_, err = db.Exec(`INSERT INTO doors (door_id, status, version, colour) VALUES (1, 'OPEN', 1, 'red')`)
	require.NoError(t, err)
	_, err = provider.UpTo(ctx, 2)
	require.NoError(t, err)
	_, err = db.Exec(`INSERT INTO doors (door_id, status, version) VALUES (2, 'OPEN', 1)`)
	require.NoError(t, err)
	_, err = provider.UpTo(ctx, 3)
	require.NoError(t, err)
	_, err = db.Exec(`INSERT INTO doors (door_id, status, version) VALUES (3, 'OPEN', 1)`)
	require.NoError(t, err)
	_, err = provider.Up(ctx)
	require.NoError(t, err)
	var colours string
	require.NoError(t, db.QueryRow(`SELECT string_agg(colour, ' ' ORDER BY door_id) FROM doors`).Scan(&colours))
	require.Equal(t, "red  none", colours, "programs of before could not read an empty one, so the second has a text, of no letters")
	require.Contains(t, shape(t, db), "doors.colour text NO")
}

// Rows that stand in a state get the deadline that it now has, and lose the
// one that it has no more.
func TestDeadlinesReachTheRowsThereAre(t *testing.T) {
	t.Parallel()
	for column, table := range map[string]string{"deadline_at": "name: doors", "due": "name: doors\n  deadline: {at: due, runs: tries}"} {
		t.Run(column, func(t *testing.T) {
			t.Parallel()
			deadlinesReach(t, strings.Replace(door, "name: doors", table, 1), column)
		})
	}
}

func deadlinesReach(t *testing.T, door, column string) {
	files := fstest.MapFS{}
	timed := strings.NewReplacer("SHUT: {}", "SHUT: {deadline: {after: 90m, event: knock, max: 3}}", "{expect: version}", "{}").Replace(door)
	longer := strings.Replace(timed, "90m", "3h", 1)
	for i, yaml := range []string{door, timed, longer, door} {
		content, problems := next(t, files, yaml)
		require.Empty(t, problems)
		require.NotNil(t, content)
		files[name(i+1)] = &fstest.MapFile{Data: content}
	}
	db, err := sql.Open("pgx", testdb.URL(t))
	require.NoError(t, err)
	defer db.Close()
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files)
	require.NoError(t, err)
	ctx := context.Background()
	_, err = provider.UpTo(ctx, 1)
	require.NoError(t, err)
	_, err = db.Exec(`INSERT INTO doors (door_id, status, version, colour) VALUES (1, 'OPEN', 1, 'red'), (2, 'OPEN', 1, 'red'); UPDATE doors SET status = 'SHUT', version = 2 WHERE door_id = 2`)
	require.NoError(t, err)
	due := func() string {
		var text string
		require.NoError(t, db.QueryRow(fmt.Sprintf(`SELECT string_agg(COALESCE((%s > now() + interval '80 minutes' AND %[1]s < now() + interval '100 minutes')::text, 'none'), ' ' ORDER BY door_id) FROM doors`, column)).Scan(&text))
		return text
	}
	for i, want := range []string{"none true", "none true", "none none"} {
		_, err = provider.UpTo(ctx, int64(i+2))
		require.NoError(t, err)
		require.Equal(t, want, due(), "version %d", i+2)
	}
}

// A check may name a column that comes with it, in whatever order they stand.
func TestChecksMayNameNewColumns(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	v2 := strings.Replace(door, "knocks: {type: integer, default: 0, check: knocks >= 0}",
		"knocks: {type: integer, default: 0, check: knocks <= most}\n    high: {type: integer, default: 1, check: high <= most}\n    most: {type: integer, default: 9}", 1)
	for i, yaml := range []string{door, v2} {
		content, problems := next(t, files, yaml)
		require.Empty(t, problems)
		files[name(i+1)] = &fstest.MapFile{Data: content}
	}
	db, err := sql.Open("pgx", testdb.URL(t))
	require.NoError(t, err)
	defer db.Close()
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files)
	require.NoError(t, err)
	ctx := context.Background()
	_, err = provider.UpTo(ctx, 1)
	require.NoError(t, err)
	before := shape(t, db)
	_, err = provider.Up(ctx)
	require.NoError(t, err)
	_, err = provider.DownTo(ctx, 1)
	require.NoError(t, err)
	require.Equal(t, before, shape(t, db))
}

// The line for a hand-written migration makes fsmgen take its word.
func TestAHandWrittenMigrationIsTakenAtItsWord(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	first, _ := next(t, files, door)
	files[name(1)] = &fstest.MapFile{Data: first}
	changed := strings.Replace(door, "type: integer", "type: numeric", 1)
	content, problems := next(t, files, changed)
	require.Nil(t, content)
	require.Len(t, problems, 1)
	schemas, err := gensql.Embedded(first)
	require.NoError(t, err)
	mark, err := gensql.Mark(machine(t, changed), &schemas[0])
	require.NoError(t, err)
	files[name(2)] = &fstest.MapFile{Data: []byte("-- +goose Up\nALTER TABLE doors ALTER COLUMN knocks TYPE numeric;\n" + mark + "\n")}
	content, problems = next(t, files, changed)
	require.Nil(t, content)
	require.Empty(t, problems)
}

// Facts are kept by the text that identity and fingerprint had.
func TestAnotherIdentityIsRefused(t *testing.T) {
	t.Parallel()
	told := strings.Replace(door, "open: {}", "open: {params: {by: text, no: bigint}, identity: [by], fingerprint: [no]}", 1)
	told = strings.Replace(told, "no:", "'no':", 1)
	told = strings.Replace(told, "[no]", "['no']", 1)
	for _, c := range []struct{ old, new, want string }{
		{"identity: [by], fingerprint: ['no']", "identity: [by, 'no']", `the identity of "open" was [by text] before, and its facts are kept by that`},
		{", fingerprint: ['no']", "", `the fingerprint of "open" was [no bigint] before, and its facts are compared with that`},
	} {
		files := fstest.MapFS{}
		first, problems := next(t, files, told)
		require.Empty(t, problems)
		files[name(1)] = &fstest.MapFile{Data: first}
		second, problems := next(t, files, strings.Replace(told, c.old, c.new, 1))
		require.Nil(t, second)
		require.NotEmpty(t, problems)
		require.Contains(t, problems[len(problems)-1].Message, c.want)
	}
}

// What has no safe migration is a problem at its place, and makes nothing.
func TestUnsafeChangesAreProblems(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, old, new, want string }{
		{"new required column", "colour: text", "colour: text\n    size: integer", `door.yaml:7:5: FSM090 the new column "size" has no value for the rows there are: make it optional or give it a default; migrate it by hand (see fsmgen rules FSM090)`},
		{"other type", "colour: text", "colour: uuid", `door.yaml:6:5: FSM090 the column "colour" was text before; migrate it by hand (see fsmgen rules FSM090)`},
		{"narrower type", "type: integer", "type: smallint", `door.yaml:7:5: FSM090 the column "knocks" was integer before; migrate it by hand (see fsmgen rules FSM090)`},
		{"other table", "name: doors", "name: gates", `FSM090 the table was called "doors" before; migrate it by hand (see fsmgen rules FSM090)`},
		{"other key", "column: door_id, type: bigint", "column: door_no, type: bigint", `FSM090 the key was door_id bigint before; migrate it by hand (see fsmgen rules FSM090)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			files := fstest.MapFS{}
			first, _ := next(t, files, door)
			files[name(1)] = &fstest.MapFile{Data: first}
			second, problems := next(t, files, strings.Replace(door, c.old, c.new, 1))
			require.Nil(t, second)
			require.Len(t, problems, 1)
			p := problems[0]
			require.Contains(t, fmt.Sprintf("%s: %s %s", p.Pos, p.Code, p.Message), c.want)
		})
	}
}

func TestAnUnreadableEmbeddedModelIsAnError(t *testing.T) {
	t.Parallel()
	_, err := gensql.Embedded([]byte("-- fsmgen:model {\n"))
	require.ErrorContains(t, err, "line 1")
	_, err = gensql.Embedded([]byte("x\n-- fsmgen:model {\"format\":99}\n"))
	require.ErrorContains(t, err, "line 2: the embedded model has format 99")
	schemas, err := gensql.Embedded([]byte("CREATE TABLE x ();\n"))
	require.NoError(t, err)
	require.Empty(t, schemas)
}
