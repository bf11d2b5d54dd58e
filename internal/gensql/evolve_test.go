package gensql_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/gensql"
	"github.com/pawl-go/pawl/internal/testdb"
)

// told is the problems as a user sees them, one a line.
func told(problems []diag.Problem) string {
	var b strings.Builder
	for _, p := range problems {
		fmt.Fprintf(&b, "%s: %s %s %s\n", p.Pos, p.Code, p.Severity, p.Message)
	}
	return b.String()
}

// land makes the migration to the definition and lands it.
func land(t testing.TB, files fstest.MapFS, yaml string) []diag.Problem {
	t.Helper()
	content, problems := next(t, files, yaml)
	require.NotNil(t, content, "%s", told(problems))
	files[name(len(files)+1)] = &fstest.MapFile{Data: content}
	return problems
}

// schema is what the newest migration embeds.
func schema(t testing.TB, files fstest.MapFS) gensql.Schema {
	t.Helper()
	schemas, err := gensql.Embedded(files[name(len(files))].Data)
	require.NoError(t, err)
	return schemas[0]
}

// stand is a database with the migrations, at any version.
type stand struct {
	t        testing.TB
	db       *sql.DB
	provider *goose.Provider
}

func standing(t testing.TB, files fstest.MapFS) *stand {
	t.Helper()
	db, err := sql.Open("pgx", testdb.URL(t))
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files)
	require.NoError(t, err)
	return &stand{t, db, provider}
}

func (s *stand) up(version int) {
	s.t.Helper()
	_, err := s.provider.UpTo(context.Background(), int64(version))
	require.NoError(s.t, err)
}

func (s *stand) down(version int) {
	s.t.Helper()
	_, err := s.provider.DownTo(context.Background(), int64(version))
	require.NoError(s.t, err)
}

// may runs statements that must pass, and cannot those that must be refused.
func (s *stand) may(statements ...string) {
	s.t.Helper()
	for _, text := range statements {
		_, err := s.db.Exec(text)
		require.NoError(s.t, err, text)
	}
}

func (s *stand) cannot(statements ...string) {
	s.t.Helper()
	for _, text := range statements {
		_, err := s.db.Exec(text)
		require.ErrorContains(s.t, err, "SQLSTATE 23", text)
	}
}

func (s *stand) says(query, want string) {
	s.t.Helper()
	var have sql.NullString
	require.NoError(s.t, s.db.QueryRow(query).Scan(&have))
	require.Equal(s.t, want, have.String, query)
}

// insert and move are what programs do, in short.
func insert(id int, status string) string {
	return fmt.Sprintf("INSERT INTO doors (door_id, status, version, colour) VALUES (%d, '%s', 1, 'red')", id, status)
}

func move(id int, status string) string {
	return fmt.Sprintf("UPDATE doors SET status = '%s', version = version + 1 WHERE door_id = %d", status, id)
}

const statuses = "SELECT string_agg(status, ' ' ORDER BY door_id) FROM doors"

var renamed = strings.NewReplacer("SHUT: {}", "CLOSED: {was: SHUT}", "SHUT", "CLOSED").Replace(door)

// A rename goes by three migrations; at each the database accepts what the
// programs do that may then be there, and no more.
func TestARenameGoesByThreeSteps(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	require.Empty(t, land(t, files, door))
	require.Empty(t, land(t, files, renamed))
	require.Equal(t, []gensql.Rename{{Was: "SHUT", Is: "CLOSED", Step: "expand"}}, schema(t, files).Renames)
	require.Nil(t, schema(t, files).Pending, "the edges are the same, but for the name")
	require.Len(t, advance(t, files, renamed), 1)
	require.Equal(t, []gensql.Rename{{Was: "SHUT", Is: "CLOSED", Step: "migrate"}}, schema(t, files).Renames)
	require.Len(t, advance(t, files, renamed), 1)
	require.Empty(t, schema(t, files).Renames)
	require.Contains(t, string(files[name(4)].Data), "\n-- +goose NO TRANSACTION\n")
	require.Empty(t, advance(t, files, renamed), "nothing is left to do")
	content, problems := next(t, files, strings.Replace(renamed, "was: SHUT", "", 1))
	require.Nil(t, content, "was has had its time")
	require.Empty(t, problems)

	s := standing(t, files)
	s.up(1)
	s.may(insert(1, "OPEN"), move(1, "SHUT"))
	s.cannot(insert(2, "SHUT"), move(1, "CLOSED"))
	one := shape(t, s.db)
	s.up(2)
	s.may(insert(2, "OPEN"), move(2, "SHUT"), move(2, "OPEN"), move(2, "CLOSED"), move(2, "SHUT"), move(2, "OPEN"), move(2, "CLOSED"))
	s.cannot(insert(3, "CLOSED"), "UPDATE doors SET status = 'CLOSED' WHERE door_id = 1")
	two := shape(t, s.db)
	s.up(3)
	s.may(insert(3, "OPEN"), move(3, "SHUT"), insert(4, "OPEN"), move(4, "SHUT"),
		"UPDATE doors SET status = 'CLOSED' WHERE door_id = 1")
	s.cannot("UPDATE doors SET status = 'SHUT' WHERE door_id = 1", "UPDATE doors SET status = 'OPEN' WHERE door_id = 1")
	three := shape(t, s.db)
	s.may(`INSERT INTO door_history (door_id, version, event, from_status, to_status, at) VALUES
		(3, 1, 'create', NULL, 'OPEN', now()), (3, 2, 'shut', 'OPEN', 'SHUT', now()), (3, 3, 'knock', 'SHUT', 'SHUT', now()), (3, 4, 'knock', 'SHUT', 'CLOSED', now())`)
	s.says(statuses, "CLOSED CLOSED SHUT SHUT")
	s.up(4)
	s.says(statuses, "CLOSED CLOSED CLOSED CLOSED")
	s.says("SELECT string_agg(version::text, ' ' ORDER BY door_id) FROM doors", "2 7 2 2")
	s.says("SELECT string_agg(COALESCE(from_status, '') || '>' || to_status, ' ' ORDER BY version) FROM door_history", ">OPEN OPEN>CLOSED CLOSED>CLOSED CLOSED>CLOSED")
	s.may(move(3, "OPEN"), move(3, "CLOSED"))
	s.cannot(move(3, "SHUT"), insert(5, "SHUT"))
	require.NotContains(t, shape(t, s.db), "SHUT")

	s.down(3)
	require.Equal(t, three, shape(t, s.db))
	s.down(2)
	require.Equal(t, two, shape(t, s.db))
	s.says(statuses, "CLOSED CLOSED CLOSED CLOSED")
	s.down(1)
	require.Equal(t, one, shape(t, s.db))
	s.says(statuses, "SHUT SHUT SHUT SHUT")
	s.says("SELECT string_agg(COALESCE(from_status, '') || '>' || to_status, ' ' ORDER BY version) FROM door_history", ">OPEN OPEN>SHUT SHUT>SHUT SHUT>SHUT")
	s.up(4)
	s.says(statuses, "CLOSED CLOSED CLOSED CLOSED")
}

// A contract that was cut short is run again from its beginning.
func TestAContractMayBeRunAgain(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	land(t, files, door)
	land(t, files, renamed)
	advance(t, files, renamed)
	advance(t, files, renamed)
	s := standing(t, files)
	s.up(3)
	s.may(insert(1, "OPEN"), move(1, "SHUT"))
	s.up(4)
	s.may("DELETE FROM goose_db_version WHERE version_id = 4") // as if the connection broke before goose took note
	s.up(4)
	s.says(statuses, "CLOSED")
	s.cannot(move(1, "SHUT"))

	empty := standing(t, files) // all at once, where nothing is
	empty.up(4)
	require.Equal(t, shape(t, s.db), shape(t, empty.db))
	empty.down(0)
	require.Empty(t, shape(t, empty.db))
}

// The rows of a large table are moved in batches, past rows that others hold.
func TestAContractMovesManyRows(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	land(t, files, door)
	land(t, files, renamed)
	advance(t, files, renamed)
	advance(t, files, renamed)
	s := standing(t, files)
	s.up(3)
	s.may(`INSERT INTO doors (door_id, status, version, colour) SELECT g, 'OPEN', 1, repeat('x', 400) FROM generate_series(1, 20000) AS g`,
		`UPDATE doors SET status = 'SHUT', version = 2 WHERE door_id % 2 = 0`)
	statements := statementsOf(string(files[name(4)].Data))
	require.Len(t, statements, 5, "rules, rows, history, rules; and the way back")
	s.may(statements[0])
	s.cannot(move(1, "SHUT"), "UPDATE doors SET status = 'SHUT', version = version + 1 WHERE door_id = 2")
	holder, err := s.db.Begin()
	require.NoError(t, err)
	_, err = holder.Exec(move(10, "OPEN"))
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() {
		_, err := s.db.Exec(statements[1])
		done <- err
	}()
	// The migration moves all others, then waits for the one that is held.
	require.NoError(t, waitFor(s.db, `SELECT count(*) FROM doors WHERE status = 'SHUT'`, 1))
	require.NoError(t, waitFor(s.db, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`, 1))
	require.NoError(t, holder.Commit())
	require.NoError(t, <-done)
	s.may(statements[2], statements[3])
	s.cannot(move(1, "SHUT"))
	s.says("SELECT string_agg(status || ' ' || n, ', ' ORDER BY status) FROM (SELECT status, count(*) AS n FROM doors GROUP BY status) AS c", "CLOSED 9999, OPEN 10001")
}

// statementsOf returns the statements of a migration that goose takes as one each.
func statementsOf(migration string) []string {
	var statements []string
	for _, part := range strings.Split(migration, "-- +goose StatementBegin\n")[1:] {
		text, _, _ := strings.Cut(part, "\n-- +goose StatementEnd")
		statements = append(statements, text)
	}
	return statements
}

// waitFor asks until the answer is what is wanted. The test's own time limit
// ends it otherwise.
func waitFor(db *sql.DB, query string, want int) error {
	for {
		var have int
		if err := db.QueryRow(query).Scan(&have); err != nil || have == want {
			return err
		}
	}
}

// A state is retired, left, and deleted.
func TestAStateIsRetired(t *testing.T) {
	t.Parallel()
	retired := strings.NewReplacer("SHUT: {}", "SHUT: {retired: true}", "  - {event: shut, from: OPEN, to: SHUT}\n", "",
		"  - {event: knock, from: SHUT, to: SHUT, set: {knocks: knocks + 1}}\n", "  - {event: knock, from: OPEN, to: OPEN, set: {knocks: knocks + 1}}\n", "  shut: {}\n", "").Replace(door)
	gone := strings.NewReplacer("  SHUT: {retired: true}\n", "", "  - {event: open, from: SHUT, to: OPEN}\n", "", "from: [OPEN, SHUT]", "from: OPEN", "  open: {}\n", "").Replace(retired)
	files := fstest.MapFS{}
	land(t, files, door)
	require.Empty(t, land(t, files, retired))
	require.Equal(t, []string{"rows may move from OPEN to SHUT", "rows may move from SHUT to SHUT"}, schema(t, files).Waits())
	require.Len(t, advance(t, files, retired), 1)
	require.Empty(t, schema(t, files).Waits())
	require.Empty(t, land(t, files, gone), "nothing enters it, so it goes at once and without a word")
	require.NotContains(t, schema(t, files).Waits(), "SHUT")

	s := standing(t, files)
	s.up(2)
	s.may(insert(1, "OPEN"), move(1, "SHUT"), move(1, "OPEN"), move(1, "SHUT"))
	s.up(3)
	s.may(insert(2, "OPEN"))
	s.cannot(move(2, "SHUT"), move(1, "SHUT"))
	before := shape(t, s.db)
	_, err := s.provider.UpTo(context.Background(), 4)
	require.ErrorContains(t, err, "door: rows stand in a state that is taken away: SHUT")
	require.Equal(t, before, shape(t, s.db), "rolled back whole")
	s.may(move(1, "OPEN"))
	s.up(4)
	s.cannot(move(2, "SHUT"))
	s.down(3)
	require.Equal(t, before, shape(t, s.db))
}

// A state that is simply deleted stays accepted for the programs of before.
func TestAStateThatIsGoneIsAWarning(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	land(t, files, door)
	lost := strings.ReplaceAll(door, "GONE", "LOST")
	require.Equal(t, `door.yaml:1:10: FSM092 warning the state "GONE" is gone, and rows may stand in it; the new program answers them with UnknownStateError: if it is now called "LOST", say was: GONE there; otherwise retire it first (retired: true), so that its rows leave it`+"\n",
		told(land(t, files, lost)))
	require.Len(t, advance(t, files, lost), 1)
	s := standing(t, files)
	s.up(2)
	s.may(insert(1, "OPEN"), move(1, "GONE"), insert(2, "OPEN"), move(2, "LOST"))
	before := shape(t, s.db)
	_, err := s.provider.UpTo(context.Background(), 3)
	require.ErrorContains(t, err, "door: rows stand in a state that is taken away: GONE")
	require.Equal(t, before, shape(t, s.db))
	s.may("DELETE FROM doors WHERE door_id = 1")
	s.up(3)
	s.may(insert(3, "OPEN"))
	s.cannot(move(3, "GONE"))
	s.down(2)
	require.Equal(t, before, shape(t, s.db))
}
