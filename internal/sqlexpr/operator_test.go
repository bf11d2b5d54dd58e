package sqlexpr_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/sqlexpr"
	"github.com/pawl-go/pawl/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// PostgreSQL itself says which operators join which types: what it refuses is
// a mismatch here, and what it takes is none.
func TestOperatorsJoinWhatPostgreSQLLetsThem(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	_, err := pool.Exec(context.Background(), `CREATE TABLE x (n bigint, m numeric, s text, b boolean, u uuid, t timestamptz, d date, j jsonb, r bytea)`)
	require.NoError(t, err)
	fields := []sqlexpr.Field{
		{Name: "n", Type: "bigint", Category: sqlexpr.Number}, {Name: "m", Type: "numeric", Category: sqlexpr.Number},
		{Name: "s", Type: "text", Category: sqlexpr.String}, {Name: "b", Type: "boolean", Category: sqlexpr.Boolean},
		{Name: "u", Type: "uuid", Category: sqlexpr.UUID}, {Name: "t", Type: "timestamptz", Category: sqlexpr.Time},
		{Name: "d", Type: "date", Category: sqlexpr.Time}, {Name: "j", Type: "jsonb", Category: sqlexpr.JSON},
		{Name: "r", Type: "bytea", Category: sqlexpr.Bytes},
	}
	operands := []string{"now()", "1", "interval '1 hour'"}
	for _, f := range fields {
		operands = append(operands, f.Name)
	}
	for _, op := range []string{"+", "-", "*", "/", "||"} {
		for _, left := range operands {
			for _, right := range operands {
				text := left + " " + op + " " + right
				_, refused := pool.Exec(context.Background(), "SELECT "+text+" FROM x")
				_, issues := sqlexpr.Parse(text, sqlexpr.Scope{Columns: fields, Clock: true})
				if refused == nil {
					require.Empty(t, issues, text)
				} else if !uncertain(op, left, right) {
					require.NotEmpty(t, issues, "%s: %v", text, refused)
				}
			}
		}
	}
}

// uncertain are the pairs that are left to PostgreSQL: an interval has no
// category of its own, days may be added to a date and not a numeric, and what
// texts and documents may be joined with is PostgreSQL's to know.
func uncertain(op, left, right string) bool {
	interval := left == "interval '1 hour'" || right == "interval '1 hour'"
	return interval || left == "d" || right == "d" || left == "j" || right == "j" || op == "||" && (left == "r" || right == "r")
}

func TestResultsOfOperatorsFitTheirColumn(t *testing.T) {
	t.Parallel()
	fields := []sqlexpr.Field{
		{Name: "plan", Type: "text", Category: sqlexpr.String}, {Name: "periods", Type: "integer", Category: sqlexpr.Number},
		{Name: "paid_until", Type: "timestamptz", Category: sqlexpr.Time},
	}
	for _, c := range []struct {
		text string
		want sqlexpr.Category
		says string
	}{
		{"plan || plan", sqlexpr.String, ""},
		{"plan || periods", sqlexpr.String, ""},
		{"plan || plan", sqlexpr.Number, "cannot take a text"},
		{"now() + interval '30 days'", sqlexpr.Time, ""},
		{"now() + interval '30 days'", sqlexpr.Number, "cannot take a time"},
		{"now() + '30 days'", sqlexpr.Time, ""},
		{"now() + 30", sqlexpr.Time, "a time takes an interval"},
		{"paid_until + periods", sqlexpr.Time, "a time takes an interval"},
		{"paid_until + periods * interval '1 month'", sqlexpr.Time, ""},
		{"periods + 1", sqlexpr.Number, ""},
		{"plan + 1", sqlexpr.Number, "operator + cannot join text plan and a number"},
	} {
		_, issues := sqlexpr.Parse(c.text, sqlexpr.Scope{Columns: fields, Clock: true, Want: sqlexpr.Want{Category: c.want, As: "the column"}})
		if c.says == "" {
			require.Empty(t, issues, c.text)
			continue
		}
		require.NotEmpty(t, issues, c.text)
		require.Contains(t, issues[0].Message, c.says, c.text)
	}
}
