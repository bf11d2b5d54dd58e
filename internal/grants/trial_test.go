package grants

import (
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/pipeline"
)

// trial has a guard for each setting of a session by which SQL may mean something
// else, and a history in partitions.
const trial = `
machine: trial
table:
  name: trials
  key: {column: trial_id, type: bigint}
  columns:
    code: {type: text}
    began: {type: timestamptz}
    ratio: {type: double precision}
  history: {partition: month}
states:
  NEW: {initial: true}
  USED: {final: true}
guards:
  literal: {sql: "code LIKE '10\\%x'", describe: the percent sign is one}
  nulls: {sql: "num_nonnulls(('{NULL}'::text[])[1]) = 1", describe: the list has a text}
  hour: {sql: "date_part('hour', began) = 3", describe: it is three in the morning}
  dated: {sql: "began::text LIKE '%/%'", describe: the date has strokes}
  span: {sql: "make_interval(hours => 3)::text LIKE 'P%'", describe: three hours begin with P}
  digits: {sql: "ratio::text = '0.1'", describe: it is a tenth}
  bytes: {sql: "length(decode(code, 'escape')::text) = 6", describe: six letters}
  zone: {sql: "date_part('hour', began AT TIME ZONE 'EST') = 10", describe: it is ten in Sydney}
  start: {sql: "date_part('hour', date_trunc('day', began, 'EST')) = 14", describe: its day begins in Sydney}
  made: {sql: "began > make_timestamptz(2025, 12, 31, 20, 0, 0, 'EST')", describe: it is eight in the evening in Sydney}
  words: {sql: "NOT code @@ 'rat'", describe: it has no rat}
events:
  literal: {otherwise: {reject: '*'}}
  nulls: {otherwise: {reject: '*'}}
  hour: {otherwise: {reject: '*'}}
  dated: {otherwise: {reject: '*'}}
  span: {otherwise: {reject: '*'}}
  digits: {otherwise: {reject: '*'}}
  bytes: {otherwise: {reject: '*'}}
  zone: {otherwise: {reject: '*'}}
  start: {otherwise: {reject: '*'}}
  made: {otherwise: {reject: '*'}}
  words: {otherwise: {reject: '*'}}
transitions:
  - {event: literal, from: NEW, to: USED, guard: literal}
  - {event: nulls, from: NEW, to: USED, guard: nulls}
  - {event: hour, from: NEW, to: USED, guard: hour}
  - {event: dated, from: NEW, to: USED, guard: dated}
  - {event: span, from: NEW, to: USED, guard: span}
  - {event: digits, from: NEW, to: USED, guard: digits}
  - {event: bytes, from: NEW, to: USED, guard: bytes}
  - {event: zone, from: NEW, to: USED, guard: zone}
  - {event: start, from: NEW, to: USED, guard: start}
  - {event: made, from: NEW, to: USED, guard: made}
  - {event: words, from: NEW, to: USED, guard: words}
`

// trials is a project with that machine alone.
var trials = sync.OnceValue(func() generated { return alone("trial", trial, nil) })

// kept has a table that was there before.
const kept = `
machine: kept
table: {name: kept, existing: true, key: {column: id, type: bigint}}
states: {NEW: {initial: true}, USED: {final: true}}
events: {use: {}}
transitions: [{event: use, from: NEW, to: USED}]
`

// keptTables is a project with that machine alone, and the table.
var keptTables = sync.OnceValue(func() generated {
	return alone("kept", kept, []byte("-- +goose Up\nCREATE TABLE kept (id bigint PRIMARY KEY);\n"))
})

// alone is a project with one machine, whose table a migration may have made before.
func alone(name, definition string, before []byte) generated {
	project := fstest.MapFS{"go.mod": {Data: []byte("module example.com/x\n")}}
	scaffold, err := pipeline.Scaffold(project)
	if err != nil {
		return generated{err: err}
	}
	core := fstest.MapFS{}
	for _, path := range scaffold.Paths() {
		content, _ := scaffold.Get(path)
		if !strings.HasPrefix(path, "definitions/") {
			project[path] = &fstest.MapFile{Data: content}
		}
		if name, ok := strings.CutPrefix(path, "migrations/"); ok && strings.HasSuffix(name, ".sql") {
			core[name] = project[path]
		}
	}
	if before != nil {
		core["00002_before.sql"] = &fstest.MapFile{Data: before}
		project["migrations/00002_before.sql"] = core["00002_before.sql"]
	}
	project["definitions/"+name+".yaml"] = &fstest.MapFile{Data: []byte(definition)}
	g := generateFrom(project, functions)
	if g.err != nil {
		return g
	}
	for name, file := range core {
		if g.migrations[name] == nil {
			g.migrations[name] = file
		}
	}
	return g
}

func openTrials(t *testing.T) *stage {
	t.Helper()
	g := trials()
	require.NoError(t, g.err)
	return openOn(t, g, g.migrations)
}

// function is the name of the function whose name begins so.
func (s *stage) function(begins string) (name string) {
	s.t.Helper()
	require.NoError(s.t, s.pool.QueryRow(s.t.Context(), `SELECT proname FROM pg_proc WHERE proname ~ ('^' || $1 || '_[0-9a-f]{10}$')`, begins).Scan(&name))
	return name
}

// Whatever the caller's session is set to, a guard means what it says.
func TestSettingsChangeNoMeaning(t *testing.T) {
	t.Parallel()
	s := openTrials(t)
	s.run("DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_text_search_config = ''pg_catalog.english''', current_database()); END $$")
	s.run(s.file()) // which takes the database's for the one that is searched by
	s.run(`INSERT INTO trials (trial_id, status, version, code, began, ratio) VALUES (1, 'NEW', 1, '10ratx', '2026-01-01 00:00Z', 0.12)`)
	for guard, set := range map[string]string{
		"literal": "standard_conforming_strings = off",
		"nulls":   "array_nulls = off",
		"hour":    "TimeZone = '<x>-03'",
		"dated":   "DateStyle = 'SQL, DMY'",
		"span":    "IntervalStyle = iso_8601",
		"digits":  "extra_float_digits = -14",
		"bytes":   "bytea_output = escape",
		"zone":    "timezone_abbreviations = 'Australia'",
		"start":   "timezone_abbreviations = 'Australia'",
		"made":    "timezone_abbreviations = 'Australia'",
		"words":   "default_text_search_config = 'pg_catalog.simple'",
	} {
		name := s.function("fsm_trial_" + guard)
		s.run("UPDATE trials SET code = '" + map[bool]string{true: "rats", false: "10ratx"}[guard == "words"] + "'")
		app := s.as("app")
		_, err := app.Exec(t.Context(), "SET "+set)
		require.NoError(t, err)
		var outcome string
		require.NoError(t, app.QueryRow(t.Context(), "SELECT fsm_outcome FROM public."+name+"("+s.arguments(name)+")").Scan(&outcome), guard)
		require.Equal(t, "GuardFailed", outcome, "%s with %s", guard, set)
		require.NoError(t, app.Close(t.Context()))

		// The guard's text does mean something else there, where nothing is pinned.
		s.run("ALTER FUNCTION public." + name + " RESET ALL; ALTER FUNCTION public." + name + " SET search_path = pg_catalog, public, pg_temp")
		app = s.as("app")
		_, err = app.Exec(t.Context(), "SET "+set)
		require.NoError(t, err)
		require.NoError(t, app.QueryRow(t.Context(), "SELECT fsm_outcome FROM public."+name+"("+s.arguments(name)+")").Scan(&outcome), guard)
		require.Equal(t, "Applied", outcome, "%s with %s", guard, set)
		s.run("DELETE FROM trials; INSERT INTO trials (trial_id, status, version, code, began, ratio) VALUES (1, 'NEW', 1, '10ratx', '2026-01-01 00:00Z', 0.12)")
	}
}

// arguments are those of a call on the row 1.
func (s *stage) arguments(function string) (list string) {
	s.t.Helper()
	require.NoError(s.t, s.pool.QueryRow(s.t.Context(), `
		SELECT string_agg(CASE WHEN a.n = 1 THEN '1' WHEN a.type = 'text'::regtype THEN '''a''' ELSE 'NULL' END, ', ' ORDER BY a.n)
		FROM pg_proc AS p CROSS JOIN LATERAL unnest(p.proargtypes::oid[]) WITH ORDINALITY AS a(type, n) WHERE p.proname = $1`, function).Scan(&list))
	return list
}

// Functions of programs of before have those settings too, once the file was run.
func TestFunctionsOfBeforeHaveTheSettings(t *testing.T) {
	t.Parallel()
	s := openTrials(t)
	name := s.function("fsm_trial_hour")
	const old = "fsm_trial_hour_0123456789"
	s.run(s.named("ALTER FUNCTION public." + name + " RENAME TO " + old + `;
		ALTER FUNCTION public.` + old + ` RESET ALL; ALTER FUNCTION public.` + old + ` SET search_path = pg_catalog, public, pg_temp;
		GRANT EXECUTE ON FUNCTION public.` + old + ` TO PUBLIC, pawl_reader`))
	s.run(s.file())
	s.run("INSERT INTO trials (trial_id, status, version, code, began, ratio) VALUES (1, 'NEW', 1, 'a', '2026-01-01 00:00Z', 0.1)")
	call := "SELECT fsm_outcome FROM public." + old + "(" + s.arguments(old) + ")"
	app := s.as("app")
	_, err := app.Exec(t.Context(), "SET TimeZone = '<x>-03'")
	require.NoError(t, err)
	var outcome string
	require.NoError(t, app.QueryRow(t.Context(), call).Scan(&outcome))
	require.Equal(t, "GuardFailed", outcome)
	require.Equal(t, denied, tried(t, s.as("reader"), call))
}
