package hostile

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/gensql"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/sqlexpr"
	"github.com/pawl-go/pawl/internal/sqlname"
)

// named are what belongs to the machine in the database.
func named(m *model.Machine) sqlname.Machine {
	return sqlname.Machine{Name: m.Name, Table: m.Table.Name, Existing: m.Table.Existing, Partitioned: m.Table.History != nil}
}

// parts are the names of the parts of a query, which are read like tables.
var parts = []string{"known", "locked", "fact", "moved", "history", "emitted", "created", "asked", "taken", "audited", "due"}

// called are the functions of PostgreSQL and of sqlc that queries call themselves.
var called = []string{"now", "sqlc.arg", "sqlc.narg", "current_setting", "unnest", "jsonb_build_object", "jsonb_build_array", "concat", "to_jsonb"}

// holdsQueries looks at the queries: one statement each, a SELECT that writes to the
// machine's tables alone, by inserts and one update, and calls nothing that an
// expression could not.
func holdsQueries(t testing.TB, r rendered) []statement {
	t.Helper()
	names := asSQLCReads(t, r.queries)
	all := statements(t, string(r.queries))
	require.Equal(t, expectedQueries(r.machine), names)
	require.Len(t, all, len(names))
	tables := []string{r.machine.Table.Name, named(r.machine).History(), named(r.machine).Facts(), sqlname.Outbox, sqlname.Audit}
	readable := slices.Concat(tables, parts)
	functions := slices.Concat(called, sqlexpr.Functions(), []string{named(r.machine).HistoryLast()})
	for i, s := range all {
		require.Equal(t, "SelectStmt", s.kind, names[i])
		updates := 0
		for _, w := range s.writes {
			how, table, _ := strings.Cut(w, " ")
			switch how {
			case "insert":
				require.Contains(t, tables, table, names[i])
			case "update":
				updates++
				require.Equal(t, r.machine.Table.Name, table, names[i])
			default:
				t.Fatalf("%s: %s", names[i], w)
			}
		}
		require.LessOrEqual(t, updates, 1, names[i])
		for _, inner := range s.inner {
			require.Contains(t, []string{"SelectStmt", "InsertStmt", "UpdateStmt"}, inner, names[i])
		}
		subset(t, s.relations, readable, names[i])
		plain := map[string]bool{}
		for f := range s.functions { // what the grammar itself calls, as extract
			plain[strings.TrimPrefix(f, "pg_catalog.")] = true
		}
		subset(t, plain, functions, names[i])
	}
	return all
}

func subset(t testing.TB, have map[string]bool, allowed []string, what string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(have)) {
		require.Contains(t, allowed, name, what)
	}
}

// expectedQueries are the queries that a machine has, with what they return.
func expectedQueries(m *model.Machine) []string {
	names := []string{"Create :one"}
	for _, e := range m.Events {
		names = append(names, e.Ident+" :one", e.Ident+"Batch :many")
	}
	for _, e := range m.DeadlineEvents() {
		names = append(names, "Sweep"+e.Ident+" :many")
	}
	names = append(names, "Correct :one", "Get :one", "History :many", "LockRows :exec", "HeldRows :many")
	for i, n := range names {
		names[i] = gensql.QueryName(m, n)
	}
	return names
}

// asSQLCReads returns the names of the queries as sqlc finds them, by lines, and
// holds the lines to what sqlc does with them: it takes those that begin with -- out
// of the statement wherever they stand, and reads none of more than 64 KiB.
func asSQLCReads(t testing.TB, queries []byte) []string {
	t.Helper()
	var names []string
	begun := false // the statement, after its comments
	for line := range bytes.Lines(queries) {
		require.Less(t, len(line), 64<<10, "sqlc reads no line as long as this")
		line := strings.TrimRight(string(line), "\n")
		require.NotContains(t, line, "\r")
		require.NotContains(t, line, "\x00")
		switch name, ok := strings.CutPrefix(line, "-- name: "); {
		case ok:
			names = append(names, name)
			begun = false
		case strings.HasPrefix(line, "/*"), strings.HasPrefix(line, "#"), strings.HasPrefix(line, "\\"):
			t.Fatalf("sqlc takes %q for a comment, or a command", line) // # begins one in MySQL
		case strings.HasPrefix(line, "--"):
			require.False(t, begun, "%q stands in a statement", line)
			require.NotContains(t, []string{"name:", "@param", "@sqlc-vet-disable"}, first(line), line)
		case line != "":
			begun = true
		}
	}
	return names
}

// first is the first word of a comment.
func first(line string) string {
	words := strings.Fields(strings.TrimLeft(line, "-"))
	if len(words) == 0 {
		return ""
	}
	return words[0]
}

// made are the kinds of statements that the migration of a new machine has.
var made = []string{"CreateStmt", "IndexStmt", "CreateEnumStmt", "CreateFunctionStmt", "CreateTrigStmt", "SelectStmt", "DropStmt", "AlterTableStmt", "DoStmt", "CallStmt", "VariableSetStmt"}

// holdsMigration looks at a migration of a new machine as goose runs it: each is one
// statement, of a kind that migrations have, about what is the machine's.
func holdsMigration(t testing.TB, r rendered) []statement {
	t.Helper()
	embedded, err := gensql.Embedded(r.migration)
	require.NoError(t, err)
	require.Equal(t, []gensql.Schema{gensql.SchemaOf(r.machine)}, embedded)
	up, down := run(t, r.migration)
	n := named(r.machine)
	own := []string{n.HistoryRest(), n.HistoryKeep()}
	for _, relation := range n.Relations() {
		own = append(own, relation.Name)
	}
	var all []statement
	for _, text := range slices.Concat(up, down) {
		for line := range strings.SplitSeq(text, "\n") {
			require.False(t, strings.HasPrefix(strings.TrimSpace(line), "--") && strings.Contains(line, "+goose"), line)
		}
		read := statements(t, text)
		if len(read) == 0 { // of a comment alone
			continue
		}
		require.Len(t, read, 1, text)
		require.Contains(t, made, read[0].kind, text)
		if !r.machine.Table.Existing && r.machine.Table.History == nil {
			subset(t, read[0].relations, own, text)
		}
		for _, w := range read[0].writes {
			_, table, _ := strings.Cut(w, " ")
			require.Contains(t, append(own, sqlname.Audit), table, text)
		}
		all = append(all, read...)
	}
	return all
}
