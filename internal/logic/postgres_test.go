package logic_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/logic"
	"github.com/pawl-go/pawl/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// parameter is a parameter in SQL, which a query of these tests has as a column.
var parameter = regexp.MustCompile(`@([a-z])`)

func columns(sql string) string {
	return strings.ReplaceAll(parameter.ReplaceAllString(sql, "param_$1"), "now()", "the_clock")
}

func sqlType(v logic.Var) string {
	switch v.Kind {
	case logic.Int:
		return map[int]string{16: "smallint", 32: "integer", 64: "bigint"}[v.Bits]
	case logic.Decimal:
		if v.Precision > 0 {
			return "numeric(4,2)"
		}
		return "numeric"
	}
	return map[logic.Kind]string{
		logic.Float: "double precision", logic.Text: "text", logic.Bool: "boolean", logic.Time: "timestamptz",
		logic.Date: "date", logic.UUID: "uuid", logic.Other: "jsonb",
	}[v.Kind]
}

// inPostgres evaluates conditions on a witness; nil is NULL. What the witness
// leaves out is NULL.
func inPostgres(t *testing.T, pool *pgxpool.Pool, vars []logic.Var, witness []logic.Value, conditions []string) []*bool {
	t.Helper()
	values := map[string]string{}
	for _, v := range witness {
		values[logic.Value{Name: v.Name, Param: v.Param}.String()] = v.SQL
	}
	var fields, wanted []string
	for _, v := range vars {
		name := v.Name
		if v.Param {
			name = "param_" + name
		}
		value, ok := values[logic.Value{Name: v.Name, Param: v.Param}.String()]
		if !ok {
			value = "NULL"
		}
		fields = append(fields, "("+value+")::"+sqlType(v)+" AS "+name)
	}
	clock := "NULL"
	if v, ok := values["now() = "]; ok {
		clock = v
	}
	fields = append(fields, "("+clock+")::timestamptz AS the_clock")
	for _, c := range conditions {
		wanted = append(wanted, "("+columns(c)+")")
	}
	sql := "SELECT ARRAY[" + strings.Join(wanted, ", ") + "]::boolean[] FROM (SELECT " + strings.Join(fields, ", ") + " OFFSET 0) row"
	var out []*bool
	require.NoError(t, pool.QueryRow(context.Background(), sql).Scan(&out), sql)
	return out
}

// confirm asks PostgreSQL about every witness of a report.
func confirm(t *testing.T, pool *pgxpool.Pool, vars []logic.Var, assume, sql []string, r logic.Report) (confirmed int) {
	t.Helper()
	check := func(f logic.Finding, fine func(values []*bool) bool) {
		if f.Answer != yes {
			return
		}
		confirmed++
		all := append(append([]string{}, sql...), assume...)
		for _, v := range vars {
			if v.Length > 0 {
				all = append(all, fmt.Sprintf("char_length(%s) <= %d", v.Name, v.Length))
			}
			if len(v.Among) > 0 && v.Kind == logic.Text {
				all = append(all, v.Name+" IN ('"+strings.Join(v.Among, "', '")+"')")
			}
		}
		values := inPostgres(t, pool, vars, f.Witness, all)
		require.True(t, fine(values), "%q under %q at %v is %v", sql, assume, f.Witness, values)
		for i, a := range all[len(sql):] {
			v := values[len(sql)+i]
			require.True(t, v == nil || *v, "%q is broken by %v", a, f.Witness)
		}
	}
	for _, o := range r.Overlaps {
		check(o.Finding, func(v []*bool) bool { return isTrue(v[o.A]) && isTrue(v[o.B]) })
	}
	check(r.Gap, func(v []*bool) bool {
		for i := range sql {
			if isTrue(v[i]) {
				return false
			}
		}
		return true
	})
	return confirmed
}

func TestWitnessesHoldInPostgreSQL(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	confirmed := 0
	for _, c := range twoGuards {
		r := logic.Analyse(vars(), c.assume, guards(c.first, c.second))
		confirmed += confirm(t, pool, vars(), c.assume, []string{c.first, c.second}, r)
	}
	require.Greater(t, confirmed, 30)
}

func TestRandomWitnessesHoldInPostgreSQL(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	r := rand.New(rand.NewPCG(3, 4))
	small, assume := smallVars()
	confirmed := 0
	for range 60 {
		sql := []string{randomExpression(r, 2).sql, randomExpression(r, 2).sql}
		confirmed += confirm(t, pool, small, assume, sql, logic.Analyse(small, assume, guards(sql...)))
	}
	require.Greater(t, confirmed, 40)
}
