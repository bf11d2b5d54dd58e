package gensql

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/testdb"
)

// gates are schemas of one machine, by how the table keeps the state. AJAR is
// the state that was called HALF.
func gates() map[string]Schema {
	gate := Schema{
		Format: schemaFormat, Machine: "gate", Table: "gates",
		Key:  Column{Name: "site", Type: "text"},
		Keys: []Column{{Name: "site", Type: "text"}, {Name: "nr", Type: "integer"}},
		Own:  &Own{Status: "position", Version: "revision", Deadline: "due", Runs: "due_runs"}, States: []string{"OPEN", "AJAR", "SHUT"}, Initial: "OPEN",
		Edges:   []Edge{{"OPEN", []string{"AJAR"}}, {"AJAR", []string{"SHUT", "AJAR"}}},
		Renames: []Rename{{"HALF", "AJAR", RenameExpand}},
	}
	enum, coded := gate, gate
	enum.Status = &Status{Type: "gate_position"}
	coded.Status = &Status{Type: "integer", Codes: []int{1, 2, 3}}
	return map[string]Schema{"text": gate, "enum": enum, "codes": coded}
}

// While a rename is under way, check and triggers take either name, and a
// forced correction is known by either.
func TestTheDatabaseTakesBothNames(t *testing.T) {
	t.Parallel()
	for name, s := range gates() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := testdb.New(t)
			for _, step := range s.create() {
				for _, statement := range step.up {
					_, err := db.Exec(t.Context(), statement)
					require.NoError(t, err, statement)
				}
			}
			code := strings.NewReplacer()
			if s.coded() {
				code = strings.NewReplacer("position = 'HALF'", "position = 2", "position = 'AJAR'", "position = 2", "position = 'SHUT'", "position = 3", "position = 'OPEN'", "position = 1",
					"'OPEN', 1)", "1, 1)")
			}
			exec := func(want, sql string) {
				t.Helper()
				_, err := db.Exec(t.Context(), code.Replace(sql))
				if want == "" {
					require.NoError(t, err, sql)
					return
				}
				var pg *pgconn.PgError
				require.ErrorAs(t, err, &pg, sql)
				require.Equal(t, want, pg.ConstraintName, sql)
			}
			exec("", `INSERT INTO gates (site, nr, position, revision) VALUES ('a', 1, 'OPEN', 1)`)
			exec("", `UPDATE gates SET position = 'HALF', revision = 2`)
			exec("", `UPDATE gates SET position = 'AJAR', revision = 3`) // a self-loop, whatever the names
			exec("gate_edge", `UPDATE gates SET position = 'OPEN', revision = 4`)
			exec("gate_edge", `UPDATE gates SET nr = 2, position = 'SHUT', revision = 4`)
			exec("", `UPDATE gates SET position = 'HALF', revision = 4`)
			exec("", `UPDATE gates SET position = 'SHUT', revision = 5`)
			history := `INSERT INTO gate_history (site, nr, version, event, from_status, to_status, actor, reason, forced, at) VALUES ('a', 1, `
			exec("", history+`6, 'correct', 'SHUT', 'HALF', 'ann', 'ticket', true, now())`)
			exec("gate_edge", `UPDATE gates SET position = 'OPEN', revision = 6`)
			exec("", `UPDATE gates SET position = 'AJAR', revision = 6`)
			exec("", history+`7, 'correct', 'AJAR', 'OPEN', 'ann', 'ticket', true, now())`)
			exec("", `UPDATE gates SET position = 'OPEN', revision = 7`)
			if name == "text" {
				exec("gates_status_check", `UPDATE gates SET position = 'LIMBO', revision = 8`)
			}
		})
	}
}

// Another key, name or storage is no change that a migration makes by itself.
func TestAnotherStorageIsRefused(t *testing.T) {
	t.Parallel()
	m := &model.Machine{Table: &model.Table{Keys: []*model.Column{{Name: "site"}}}, States: []*model.State{{Name: "OPEN"}, {Name: "AJAR"}, {Name: "SHUT"}}}
	said := func(prev, next Schema) string {
		text := ""
		next.sameStorage(prev, m, func(_ diag.Position, format string, args ...any) { text += format })
		return text
	}
	all := gates()
	require.Empty(t, said(all["text"], all["text"]))
	require.Empty(t, said(all["codes"], all["codes"]))
	require.Contains(t, said(all["text"], all["enum"]), "the status column was")
	require.Contains(t, said(all["codes"], all["text"]), "the status column was")
	other := all["codes"]
	other.Status = &Status{Type: "integer", Codes: []int{1, 5, 3}}
	require.Contains(t, said(all["codes"], other), "the code of")
	other = all["text"]
	other.Keys = other.Keys[:1]
	require.Contains(t, said(all["text"], other), "the key was")
	other = all["text"]
	other.Own = nil
	require.Contains(t, said(all["text"], other), "own columns were")
}

// A state's name may hold what quotes the body of a function.
func TestABodyIsQuotedAroundWhatItHolds(t *testing.T) {
	t.Parallel()
	db := testdb.New(t)
	for _, body := range []string{"", "$$", "$fsm0$ $$", "$$ $fsm0$$fsm1$"} {
		statement := dollarQuoted("CREATE OR REPLACE FUNCTION f() RETURNS text LANGUAGE sql AS $$SELECT '" + body + "'::text$$;")
		_, err := db.Exec(t.Context(), statement)
		require.NoError(t, err, statement)
		rows, err := db.Query(t.Context(), "SELECT f()")
		require.NoError(t, err)
		got, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[string])
		require.NoError(t, err)
		require.Equal(t, body, got)
	}
}
