package randommachine_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/jackc/pgx/v5"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/gensql"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/pipeline"
	"github.com/pawl-go/pawl/internal/sqlname"
)

const definitionFile = "definitions/machine.yaml"

// refusedError says that lint does not accept a definition.
type refusedError struct{ problems []diag.Problem }

func (r *refusedError) Error() string { return fmt.Sprint(r.problems) }

// codes are those of the errors.
func (r *refusedError) codes() []string {
	var codes []string
	for _, p := range r.problems {
		if p.Severity == diag.Error && !slices.Contains(codes, string(p.Code)) {
			codes = append(codes, string(p.Code))
		}
	}
	return codes
}

// built is a machine and the SQL that is generated of it.
type built struct {
	text       string
	m          *model.Machine
	migrations []string
	queries    map[string]query
}

// query is a statement with its parameters by number, and their names in that order.
type query struct {
	sql    string
	params []string
}

// build lints a definition and renders the very migrations and queries that fsmgen
// generate writes. The error is a *refusedError where lint does not accept it.
func build(text string) (*built, error) {
	var problems diag.List
	root := fstest.MapFS{definitionFile: {Data: []byte(text)}}
	machines, err := pipeline.Lint(context.Background(), root, []string{pipeline.Definitions}, &problems)
	if err != nil {
		return nil, err
	}
	if problems.Errors() > 0 {
		return nil, &refusedError{problems.Sorted()}
	}
	b := &built{text: text, m: machines[0], migrations: []string{string(gensql.Core())}}
	var schema *gensql.Schema
	for _, content := range gensql.Migrations(b.m, nil, &problems) {
		b.migrations = append(b.migrations, string(content))
		embedded, err := gensql.Embedded(content)
		if err != nil {
			return nil, err
		}
		for i := range embedded {
			schema = &embedded[i]
		}
	}
	if problems.Errors() > 0 {
		return nil, fmt.Errorf("lint accepts what no migration can be made of: %v", problems.Sorted())
	}
	b.queries, err = queriesOf(string(gensql.Queries(b.m, schema)))
	return b, err
}

// project is the machine's project before it is generated.
func (b *built) project() fstest.MapFS {
	return fstest.MapFS{
		"go.mod":                        {Data: []byte("module example.org/random\n\ngo 1.26\n")},
		definitionFile:                  {Data: []byte(b.text)},
		"migrations/00001_fsm_core.sql": {Data: gensql.Core()},
	}
}

var named = regexp.MustCompile(`(?m)^-- name: (\S+) :\w+\n`)

// queriesOf reads a file of queries.
func queriesOf(file string) (map[string]query, error) {
	queries := map[string]query{}
	at := named.FindAllStringSubmatchIndex(file, -1)
	for i, m := range at {
		end := len(file)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		sql := strings.TrimSpace(file[m[1]:end])
		if !strings.HasSuffix(sql, ";") {
			return nil, fmt.Errorf("%s has no end", file[m[2]:m[3]])
		}
		queries[file[m[2]:m[3]]] = numbered(strings.TrimSuffix(sql, ";"))
	}
	return queries, nil
}

// parameter is what a statement is read as: what may hide a parameter, or one.
var parameter = regexp.MustCompile(`(?s)--[^\n]*|[eE]'(?:[^'\\]|\\.|'')*'|sqlc\.n?arg\('([^']+)'\)|'(?:[^']|'')*'|"(?:[^"]|"")*"|@([a-z_][a-z0-9_]*)`)

// numbered gives the parameters numbers, in the order in which they are first seen.
func numbered(sql string) query {
	var q query
	q.sql = parameter.ReplaceAllStringFunc(sql, func(found string) string {
		m := parameter.FindStringSubmatch(found)
		name := m[1] + m[2]
		if name == "" {
			return found
		}
		if !slices.Contains(q.params, name) {
			q.params = append(q.params, name)
		}
		return fmt.Sprintf("$%d", 1+slices.Index(q.params, name))
	})
	return q
}

// apply makes the machine's tables in a schema of their own, on which conn then works.
func (b *built) apply(ctx context.Context, conn *pgx.Conn, schema string) error {
	schema = sqlname.Ident(schema)
	statements := []string{"CREATE SCHEMA " + schema, "SET search_path = " + schema}
	for _, m := range b.migrations {
		_, up, _ := strings.Cut(m, "-- +goose Up\n")
		up, _, _ = strings.Cut(up, "-- +goose Down")
		statements = append(statements, up)
	}
	for _, sql := range statements {
		if _, err := conn.PgConn().Exec(ctx, sql).ReadAll(); err != nil {
			return fmt.Errorf("lint accepts what PostgreSQL does not: %w\n%s", err, sql)
		}
	}
	return nil
}

// use has another connection work on the schema.
func use(ctx context.Context, conn *pgx.Conn, schema string) error {
	_, err := conn.Exec(ctx, "SET search_path = "+sqlname.Ident(schema))
	return err
}
