package acceptance

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/fsm"
	"github.com/pawl-go/pawl/internal/check"
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/gensql"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/syntax"
	"github.com/pawl-go/pawl/internal/testdb"
)

// program is the generated SQL of one machine, run without the Go around it:
// that is what a table's storage makes different.
type program struct {
	queries map[string]query // by their names
	key     args
	status  string
}

// query is one statement with its parameters by number.
type query struct {
	sql    string
	params []string
}

// args are the arguments of a query, by name; one that is not given is NULL.
type args map[string]any

var parameter = regexp.MustCompile(`@([a-z_0-9]+)|sqlc\.n?arg\('([a-z_0-9]+)'\)`)

// machineOf reads a definition that has no mistake.
func machineOf(t testing.TB, yaml string) *model.Machine {
	t.Helper()
	var problems diag.List
	m := check.Run(syntax.Parse("parcel.yaml", []byte(yaml), &problems), &problems)
	require.Zero(t, problems.Errors(), "%v", problems.Sorted())
	return m
}

// programOf generates the SQL of a machine. The key is that of the one row that
// most tests work on.
func programOf(t testing.TB, m *model.Machine, schema *gensql.Schema, key args) program {
	t.Helper()
	p := program{queries: map[string]query{}, key: key, status: m.Table.Status.Column}
	for text := range strings.SplitSeq(string(gensql.Queries(m, schema)), "-- name: ") {
		name, body, found := strings.Cut(text, "\n")
		if !found || !strings.HasPrefix(name, m.Ident) {
			continue
		}
		q := query{}
		q.sql = parameter.ReplaceAllStringFunc(body, func(found string) string {
			match := parameter.FindStringSubmatch(found)
			param := match[1] + match[2]
			for i, known := range q.params {
				if known == param {
					return fmt.Sprintf("$%d", i+1)
				}
			}
			q.params = append(q.params, param)
			return fmt.Sprintf("$%d", len(q.params))
		})
		p.queries[strings.TrimPrefix(strings.Fields(name)[0], m.Ident)] = q
	}
	return p
}

// rows runs a query once.
func (p program) rows(ctx context.Context, db fsm.DB, name string, given args) ([]map[string]any, error) {
	q, found := p.queries[name]
	if !found {
		return nil, fmt.Errorf("there is no query %s", name)
	}
	values := make([]any, len(q.params))
	for i, param := range q.params {
		values[i] = given[param]
		switch param {
		case "fsm_actor", "fsm_reason", "fsm_request_id":
			if values[i] == nil {
				values[i] = ""
			}
		case "fsm_now":
			values[i] = noon
			if at, ok := given[param]; ok {
				values[i] = at
			}
		}
		if values[i] == nil && strings.HasPrefix(param, "fsm_key") {
			values[i] = p.key[param]
		}
	}
	rows, err := db.Query(ctx, q.sql, values...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToMap)
}

// call is an act: the statement is run as the runtime runs it, again when it
// was raced. It tells outcome, state and version, and after a dash what made
// the row so.
func (p program) call(name string, given args) act {
	return func(ctx context.Context, db fsm.DB) (string, error) {
		for range 8 {
			rows, err := p.rows(ctx, db, name, given)
			if err != nil {
				return "", err
			}
			if len(rows) == 0 && name != "Create" {
				return "not found", nil
			}
			if len(rows) == 0 || rows[0]["fsm_outcome"] == "raced" {
				continue
			}
			r := rows[0]
			return fmt.Sprintf("%v %v %v - %v %v>%v %v", r["fsm_outcome"], r[p.status], r["lock_version"],
				r["fsm_made_event"], r["fsm_made_from"], r["fsm_made_to"], r["fsm_made_version"]), nil
		}
		return "", errors.New("contended")
	}
}

// says makes a call and compares what it told.
func (p program) says(t testing.TB, db fsm.DB, want, name string, given args) {
	t.Helper()
	got, err := p.call(name, given)(t.Context(), db)
	require.NoError(t, err)
	require.Equal(t, want, got, name)
}

// history is all entries of the row as the program reads them.
func (p program) history(t testing.TB, db fsm.DB) string {
	t.Helper()
	rows, err := p.rows(t.Context(), db, "History", args{"fsm_after": 0, "fsm_limit": 100})
	require.NoError(t, err)
	var entries []string
	for _, r := range rows {
		entries = append(entries, fmt.Sprintf("%v:%v>%v", r["event"], r["from_status"], r["to_status"]))
	}
	return strings.Join(entries, " ")
}

// swept runs a sweep and tells what it moved.
func (p program) swept(t testing.TB, db fsm.DB, name string, given args) string {
	t.Helper()
	given["fsm_limit"], given["fsm_skip"] = 10, 0
	rows, err := p.rows(t.Context(), db, name, given)
	require.NoError(t, err)
	var moved []string
	for _, r := range rows {
		moved = append(moved, fmt.Sprintf("%v %v>%v %v", r["key"], r["from_status"], r["to_status"], r["version"]))
	}
	return strings.Join(moved, " ")
}

// migrated is a database with the core tables and those of the machine.
func migrated(t testing.TB, m *model.Machine) *pgxpool.Pool {
	t.Helper()
	return testdb.New(t, testdb.WithMigrations(fstest.MapFS{
		"00001_core.sql": {Data: gensql.Core()}, "00002_parcel.sql": {Data: migrationOf(t, m, nil)},
	}))
}

func migrationOf(t testing.TB, m *model.Machine, prev *gensql.Schema) []byte {
	t.Helper()
	var problems diag.List
	content := gensql.Migration(m, prev, &problems)
	require.Empty(t, problems.Sorted())
	return content
}
