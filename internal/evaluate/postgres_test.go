package evaluate_test

import (
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/pawl-go/pawl/internal/evaluate"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/oracle"
	"github.com/pawl-go/pawl/internal/randommachine"
	"github.com/pawl-go/pawl/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

var (
	expressions = flag.Int("expressions", 1500, "how many random expressions PostgreSQL is asked about")
	seed        = flag.Int("seed", 1, "the first of their seeds")
)

// bench is a table with a column of each type, twice where values are compared, and
// an event with such parameters.
func bench(t *testing.T) (*model.Machine, *model.Event) {
	t.Helper()
	m := &model.Machine{Name: "bench", Table: &model.Table{
		Status: model.Status{Column: "status", Type: "text"}, Version: "version", VersionType: "bigint", Deadline: "deadline_at", Runs: "deadline_runs",
	}}
	e := &model.Event{Name: "ask"}
	for i, name := range []string{
		"smallint", "integer", "bigint", "bigint", "numeric", "numeric(6,2)", "text", "varchar(8)", "boolean", "boolean", "uuid", "uuid",
		"timestamptz", "timestamptz", "date", "date", "double precision",
	} {
		typ, ok := model.ParseType(name)
		require.True(t, ok, name)
		m.Table.Columns = append(m.Table.Columns, &model.Column{Name: fmt.Sprintf("c%d", i), Type: typ, Optional: true})
		bare := typ
		bare.SQL, bare.Precision, bare.Scale, bare.Length = typ.Base, 0, 0, 0
		e.Params = append(e.Params, &model.Param{Name: fmt.Sprintf("p%d", i), Type: bare, Optional: true})
	}
	return m, e
}

// question is an expression, and one row and call that it is worked out for.
type question struct {
	expr  *model.Expr
	in    oracle.Context
	field string
	// column takes the value; nil for a condition.
	column *model.Column
}

var parameter = regexp.MustCompile(`@(p[0-9]+)`)

// draw draws a question. Its values stand as text in field, as a row of PostgreSQL.
func draw(t *rapid.T, m *model.Machine, e *model.Event) question {
	x := randommachine.Expressions{Clock: true}
	for _, c := range m.Table.Columns {
		x.Fields = append(x.Fields, randommachine.Field{Name: c.Name, Type: c.Type, Optional: true})
	}
	for _, p := range e.Params {
		x.Fields = append(x.Fields, randommachine.Field{Name: p.Name, Type: p.Type, Param: true, Optional: true})
	}
	q := question{in: oracle.Context{Row: oracle.Values{}, Params: oracle.Values{}, Now: randommachine.Start.Add(time.Duration(rapid.IntRange(-2, 50).Draw(t, "hours")) * time.Hour)}}
	source := ""
	if rapid.Bool().Draw(t, "condition") {
		source = x.Condition(t, 3)
	} else {
		q.column = rapid.SampledFrom(m.Table.Columns).Draw(t, "column")
		source = x.Value(t, q.column.Type, true)
	}
	q.expr = &model.Expr{Source: source}
	for _, name := range parameter.FindAllStringSubmatch(source, -1) {
		for _, p := range e.Params {
			if p.Name == name[1] {
				q.expr.Parts = append(q.expr.Parts, model.Part{Kind: model.ParamRef, Text: p.Name, Param: p})
			}
		}
	}
	var fields []string
	add := func(into oracle.Values, name string, typ model.Type) {
		sql := "NULL"
		if !rapid.Bool().Draw(t, name+" is NULL") || rapid.Bool().Draw(t, name+" is none the less") {
			v := randommachine.Value(t, typ, name)
			shown, err := evaluate.Shown(typ, v)
			if err != nil {
				t.Fatal(err)
			}
			if s, is := shown.(string); is && typ.Length > 0 { // as a column would hold it
				shown = string([]rune(s)[:min(typ.Length, len([]rune(s)))])
			}
			into[name] = shown
			sql = literal(shown)
		}
		fields = append(fields, fmt.Sprintf("(%s)::%s AS %s", sql, typ.Base, name))
	}
	for _, c := range m.Table.Columns {
		add(q.in.Row, c.Name, c.Type)
	}
	for _, p := range e.Params {
		add(q.in.Params, p.Name, p.Type)
	}
	fields = append(fields, literal(q.in.Now)+"::timestamptz AS the_clock")
	q.field = strings.Join(fields, ", ")
	return q
}

// literal writes a value for PostgreSQL.
func literal(v any) string {
	text := ""
	switch v := v.(type) {
	case nil:
		return "NULL"
	case []byte:
		text = `\x` + hex.EncodeToString(v)
	case time.Time:
		text = v.Format("2006-01-02 15:04:05.999999-07")
	case float64:
		text = strconv.FormatFloat(v, 'g', -1, 64)
	default:
		text = fmt.Sprint(v)
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

// query asks PostgreSQL whether the answer is the one that was worked out: 'same', or
// what it is instead. A value goes through a column of its type, as an assignment.
func (q question) query(answer any, failed bool) string {
	expr := "(" + strings.ReplaceAll(parameter.ReplaceAllString(q.expr.Source, "$1"), "now()", "the_clock") + ")"
	from := " FROM (SELECT " + q.field + " OFFSET 0) AS r"
	typ, given := "boolean", "given AS (SELECT "+expr+" AS v"+from+")"
	if q.column != nil {
		typ = q.column.Type.SQL
		given = "given AS (INSERT INTO holder_" + q.column.Name + " SELECT " + expr + from + " RETURNING v)"
	}
	same := "false"
	if !failed {
		same = "v IS NOT DISTINCT FROM (" + literal(answer) + ")::" + typ
	}
	return "WITH " + given + " SELECT CASE WHEN " + same + " THEN 'same' ELSE 'gave ' || coalesce(v::text, 'NULL') END FROM given"
}

// holders makes a table for the values of each column.
func holders(m *model.Machine) string {
	var b strings.Builder
	for _, c := range m.Table.Columns {
		fmt.Fprintf(&b, "CREATE TABLE holder_%s (v %s);\n", c.Name, c.Type.SQL)
	}
	return b.String()
}

// tries makes a function that answers a query by its one text, or by the SQLSTATE.
const tries = `
SET timezone = 'UTC';
CREATE FUNCTION try(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE answer text;
BEGIN
  EXECUTE query INTO answer;
  RETURN answer;
EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE;
END $$`

// ask asks PostgreSQL all questions in one round trip.
func ask(t *testing.T, pool *pgxpool.Pool, queries []string) []string {
	t.Helper()
	rows, err := pool.Query(t.Context(), "SELECT try(q) FROM unnest($1::text[]) WITH ORDINALITY AS u(q, n) ORDER BY n", queries)
	require.NoError(t, err)
	var answers []string
	for rows.Next() {
		var a *string
		require.NoError(t, rows.Scan(&a))
		if a == nil {
			answers = append(answers, "NULL")
			continue
		}
		answers = append(answers, *a)
	}
	require.NoError(t, rows.Err())
	return answers
}

// joined are conditions that PostgreSQL may work out in another order.
var joined = regexp.MustCompile(`\b(AND|OR|IN)\b`)

func TestPostgreSQLWorksOutTheSame(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t, testdb.WithMaxConns(1))
	_, err := pool.Exec(t.Context(), tries)
	require.NoError(t, err)
	m, e := bench(t)
	_, err = pool.Exec(t.Context(), holders(m))
	require.NoError(t, err)

	generator := rapid.Custom(func(t *rapid.T) question { return draw(t, m, e) })
	values, failures, unknown := 0, 0, map[string]int{}
	var questions []question
	var queries, wants []string
	var passed []bool
	for i := range *expressions {
		q := generator.Example(*seed + i)
		own := *m
		if q.column != nil {
			own.Transitions = []*model.Transition{{Set: []model.Assignment{{Column: q.column, Value: q.expr}}}}
		}
		judge := evaluate.For(&own)
		var answer any
		var err error
		if q.column == nil {
			var truth, known bool
			if truth, known, err = judge.Holds(q.expr, q.in); known {
				answer = truth
			}
		} else {
			answer, err = judge.Value(q.expr, q.in)
		}
		var unsupported *evaluate.Unsupported
		var failure *evaluate.Failure
		switch {
		case errors.As(err, &unsupported):
			unknown[unsupported.Construct]++
			continue
		case errors.As(err, &failure):
			failures++
			wants = append(wants, failure.State)
		default:
			require.NoError(t, err, q.expr.Source)
			values++
			wants = append(wants, "same")
		}
		questions, queries, passed = append(questions, q), append(queries, q.query(answer, err != nil)), append(passed, failure != nil && failure.Passed)
	}
	early := 0
	for i, got := range ask(t, pool, queries) {
		if joined.MatchString(questions[i].expr.Source) && wants[i] != "same" && strings.HasPrefix(got, "gave") {
			early++ // PostgreSQL came to its answer without the part that fails, see the package
			require.True(t, passed[i], "%s\nof %v and %v is no failure, and nothing said that it may be none", questions[i].expr.Source, questions[i].in.Row, questions[i].in.Params)
			continue
		}
		require.Equal(t, wants[i], got, "%s\nof %v\nand %v at %v\n%s", questions[i].expr.Source, questions[i].in.Row, questions[i].in.Params, questions[i].in.Now, queries[i])
	}
	t.Logf("%d expressions from seed %d: %d values, %d failures of which PostgreSQL passed over %d, not worked out: %v", *expressions, *seed, values, failures, early, unknown)
	require.Greater(t, values, *expressions*8/10, "%v", unknown)
	require.Greater(t, failures, 2*early)
}
