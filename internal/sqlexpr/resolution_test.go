package sqlexpr_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/sqlexpr"
	"github.com/pawl-go/pawl/internal/testdb"
)

// everyKind are columns of all types that a definition knows.
func everyKind() []sqlexpr.Field {
	return []sqlexpr.Field{
		{Name: "si", Type: "smallint", Category: sqlexpr.Number}, {Name: "i", Type: "integer", Category: sqlexpr.Number},
		{Name: "a", Type: "bigint", Category: sqlexpr.Number}, {Name: "n", Type: "numeric(12,2)", Category: sqlexpr.Number},
		{Name: "f", Type: "double precision", Category: sqlexpr.Number}, {Name: "t", Type: "text", Category: sqlexpr.String},
		{Name: "vc", Type: "character varying(9)", Category: sqlexpr.String}, {Name: "b", Type: "boolean", Category: sqlexpr.Boolean},
		{Name: "u", Type: "uuid", Category: sqlexpr.UUID}, {Name: "at", Type: "timestamptz", Category: sqlexpr.Time},
		{Name: "d", Type: "date", Category: sqlexpr.Time}, {Name: "j", Type: "jsonb", Category: sqlexpr.JSON},
		{Name: "r", Type: "bytea", Category: sqlexpr.Bytes},
		{Name: "e", Type: "mood", Enum: true, States: []string{"good", "bad"}},
	}
}

// kinds are operands of every kind: the columns, what can be cast to, and NULL.
func kinds() []string {
	var out []string
	for _, f := range everyKind() {
		out = append(out, f.Name)
	}
	return append(out, "NULL", "now()", "NULL::interval", "NULL::timestamp", "NULL::time", "NULL::real", "NULL::json", "NULL::char(3)", "ARRAY[a]", "ARRAY[t]", "NULL::text[]", "B'1'")
}

// every is for a change of the resolution itself: without it pairs are those of
// the kinds that differ most, and of functions a fixed choice of them.
var every = flag.Bool("every", false, "try every pair of operands and arguments")

// pairs are the kinds of which pairs are tried.
func pairs() []string {
	if *every {
		return kinds()
	}
	return []string{"i", "a", "n", "f", "t", "u", "at", "d", "j", "e", "NULL", "NULL::interval", "ARRAY[t]"}
}

// answers asks PostgreSQL of every expression whether it takes it, over a table
// without rows: what is not computed from constants alone is never computed.
func answers(t *testing.T, pool *pgxpool.Pool, expressions []string) []string {
	t.Helper()
	var out []string
	for chunk := range slices.Chunk(expressions, 500) {
		var some []string
		require.NoError(t, pool.QueryRow(context.Background(), "SELECT answers($1)", chunk).Scan(&some))
		out = append(out, some...)
	}
	require.Len(t, out, len(expressions))
	return out
}

// row is one without a NULL, on which PostgreSQL computes all of an expression.
const row = `INSERT INTO x VALUES (1, 1, 1, 1, 1, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'v', true,
	'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '2024-01-01', '2024-01-01', '1', '\xab', 'good')`

// database has a table x with a column of every kind, and the function answers.
func database(t *testing.T, further string) *pgxpool.Pool {
	t.Helper()
	pool := testdb.New(t)
	var columns []string
	for _, f := range everyKind() {
		columns = append(columns, f.Name+" "+f.Type)
	}
	_, err := pool.Exec(context.Background(), "CREATE TYPE mood AS ENUM ('good', 'bad'); CREATE TABLE x ("+strings.Join(columns, ", ")+`);
		CREATE FUNCTION answers(list text[]) RETURNS text[] LANGUAGE plpgsql AS $$
		DECLARE e text; out text[] := '{}';
		BEGIN
			FOREACH e IN ARRAY list LOOP
				BEGIN
					EXECUTE 'SELECT (' || e || ') FROM x';
					out := out || ''::text;
				EXCEPTION WHEN OTHERS THEN
					out := out || (SQLSTATE || ' ' || SQLERRM);
				END;
			END LOOP;
			RETURN out;
		END $$;
		`+further)
	require.NoError(t, err)
	return pool
}

// compare holds Parse against PostgreSQL, both ways.
func compare(t *testing.T, expressions []string, except func(string) bool) {
	t.Helper()
	pool := database(t, "")
	taken, refused := 0, 0
	var wrong []string
	for i, answer := range answers(t, pool, expressions) {
		e := expressions[i]
		_, issues := sqlexpr.Parse(e, sqlexpr.Scope{Columns: everyKind(), Clock: true})
		switch {
		case answer == "":
			taken++
			if len(issues) > 0 && !except(e) {
				wrong = append(wrong, fmt.Sprintf("%s is refused: %s", e, issues[0].Message))
			}
		default:
			refused++
			if len(issues) == 0 {
				wrong = append(wrong, fmt.Sprintf("%s is taken: %s", e, answer))
			}
		}
	}
	require.Empty(t, wrong[:min(len(wrong), 40)], "%d of %d", len(wrong), len(expressions))
	require.Positive(t, taken)
	require.Positive(t, refused)
}

func none(string) bool { return false }

// longest is how many arguments are tried.
const longest = 4

func TestFunctionsTakeWhatPostgreSQLLetsThem(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8))
	var expressions []string
	for _, name := range sqlexpr.Functions() {
		if name == "now" || name == "trim" {
			continue // now is the clock; trim is not called by that name
		}
		quoted := name
		if name == "overlay" || name == "position" || name == "extract" || name == "substring" || name == "overlaps" {
			quoted = `"` + name + `"` // these have a syntax of their own
		}
		if name != "coalesce" && name != "nullif" && name != "greatest" && name != "least" {
			expressions = append(expressions, quoted+"()")
		}
		for _, a := range kinds() {
			expressions = append(expressions, fmt.Sprintf("%s(%s)", quoted, a))
			for _, b := range kinds() {
				if *every || random.IntN(12) == 0 {
					expressions = append(expressions, fmt.Sprintf("%s(%s, %s)", quoted, a, b))
				}
			}
		}
		for n := 3; n <= longest; n++ {
			for range 15 {
				args := make([]string, n)
				for i := range args {
					args[i] = kinds()[random.IntN(len(kinds()))]
				}
				expressions = append(expressions, quoted+"("+strings.Join(args, ", ")+")")
			}
		}
	}
	expressions = slices.DeleteFunc(expressions, func(e string) bool { return strings.HasPrefix(e, "nullif(") && strings.Count(e, ",") != 1 })
	// PostgreSQL counts the arguments of jsonb_build_object when it is called.
	compare(t, expressions, func(e string) bool {
		return strings.HasPrefix(e, "jsonb_build_object(") && strings.Count(e, ",")%2 == 0
	})
}

func TestOperatorsTakeWhatPostgreSQLLetsThem(t *testing.T) {
	t.Parallel()
	var expressions []string
	names := append(sqlexpr.Operators(), "LIKE", "ILIKE", "SIMILAR TO", "IS DISTINCT FROM")
	for _, op := range names {
		for _, b := range pairs() {
			if !strings.ContainsAny(op, "LSD") {
				expressions = append(expressions, op+" "+b)
			}
			for _, a := range pairs() {
				expressions = append(expressions, a+" "+op+" "+b)
			}
		}
	}
	compare(t, expressions, none)
}

func TestCastsAreThoseThatPostgreSQLHas(t *testing.T) {
	t.Parallel()
	var expressions []string
	for _, to := range []string{
		"smallint", "integer", "bigint", "numeric", "numeric(5,2)", "real", "double precision", "text", "varchar", "varchar(3)", "char(3)", "boolean",
		"uuid", "timestamptz", "timestamp", "timestamptz(3)", "date", "time", "timetz", "interval", "jsonb", "json", "bytea", "text[]", "bigint[]",
		`"char"`, "text(3)", "uuid(3)", "numeric(1001)", "varchar(0)", "jsonpath",
	} {
		for _, a := range kinds() {
			expressions = append(expressions, a+"::"+to)
		}
	}
	compare(t, expressions, none)
}

func TestFormsTakeWhatPostgreSQLLetsThem(t *testing.T) {
	t.Parallel()
	var expressions []string
	for _, a := range pairs() {
		for _, form := range []string{"NOT %s", "%s IS TRUE", "%s IS NULL", "%s AND b", "CASE WHEN %s THEN 1 END", "(%s)['a']", "(%s)[1]", "(%s)[1:2]", `%s COLLATE "C"`} {
			expressions = append(expressions, fmt.Sprintf(form, a))
		}
		for _, b := range pairs() {
			for _, form := range []string{
				"%s IN (%s, NULL)", "%s BETWEEN %s AND NULL", "%s = ANY (%s)", "CASE %s WHEN %s THEN 1 END", "CASE WHEN b THEN %s ELSE %s END",
				"ARRAY[%s, %s]", "(%s, 1) = (%s, 2)", "(%s, 1) IN ((%s, 2), (NULL, 1))", "%s < ALL (ARRAY[%s])",
			} {
				expressions = append(expressions, fmt.Sprintf(form, a, b))
			}
		}
	}
	compare(t, expressions, none)
}
