package logic

import (
	"context"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/testdb"
)

// valued are columns with values that lie at the edges of their types.
var valued = []struct {
	v      Var
	sql    string
	values []string
}{
	{Var{Name: "a", Kind: Int, Bits: 64, Optional: true}, "bigint", []string{"0", "1", "-7", "9223372036854775807", "-9223372036854775808", ""}},
	{Var{Name: "i", Kind: Int, Bits: 32, Optional: true}, "integer", []string{"0", "1", "-7", "2147483647", "-2147483648", ""}},
	{Var{Name: "s", Kind: Int, Bits: 16}, "smallint", []string{"0", "1", "-7", "32767", "-32768"}},
	{Var{Name: "n", Kind: Decimal, Optional: true}, "numeric", []string{"0", "0.1", "-7.50", "NaN", "Infinity", "-Infinity", ""}},
	{Var{Name: "m", Kind: Decimal}, "numeric", []string{"0", "0.1", "1", "NaN", "Infinity", "-Infinity"}},
	{Var{Name: "z", Kind: Decimal, Precision: 4, Scale: 2}, "numeric(4,2)", []string{"0", "0.10", "-99.99", "NaN"}},
	{Var{Name: "f", Kind: Float}, "double precision", []string{"0", "0.1", "0.5", "1"}},
	{Var{Name: "t", Kind: Text, Optional: true}, "text", []string{"x", "y", "it's", ""}},
	{Var{Name: "ok", Kind: Bool, Optional: true}, "boolean", []string{"true", "false", ""}},
	{Var{Name: "at", Kind: Time}, "timestamptz", []string{"2024-01-01 00:00:00+00", "2024-01-01 00:00:00.000001+00", "infinity"}},
	{Var{Name: "d", Kind: Date}, "date", []string{"2024-01-01", "1999-12-31", "0001-01-01", "-infinity"}},
	{Var{Name: "id", Kind: UUID}, "uuid", []string{"00000000-0000-0000-0000-000000000001", "ffffffff-ffff-ffff-ffff-ffffffffffff"}},
}

// conditionsOf exercises every form that is read exactly.
var conditionsOf = []string{
	"a = 1", "a <> i", "a < s", "a <= 0.5", "a > '1'", "a >= -7", "NOT a = 1", "a + 1 > 0", "a - i < 0", "-a < 0", "2 * a = 2", "i + i > 0", "i * 2 < 5",
	"s + s > 0", "s - 1 < 0", "- s > 0", "a + i + s > 7", "s::integer + 1 > 0", "i::smallint = 1", "a::integer = i", "a::numeric + 1 > 0", "a * 0.5 < 1", "3000000000 + a > 0",
	"a IS NULL", "a + i IS NOT NULL", "a IN (0, 1)", "a NOT IN (0, NULL)", "a BETWEEN 0 AND i", "a NOT BETWEEN i AND 0", "a BETWEEN SYMMETRIC 1 AND i",
	"a IS DISTINCT FROM i", "a IS NOT DISTINCT FROM i", "n IS NOT DISTINCT FROM m", "a = ANY (ARRAY[0, 1])", "a <> ALL (ARRAY[0, 1])",
	"n = m", "n < m", "n <= m", "n + m > 0", "n - m = 0", "n - n = 0", "-n < m", "2 * n >= m", "0 * n = 0", "n + a > 0", "n > z", "z + z = 2 * z", "z < 1", "z = 0.1",
	"f = 0.1", "f > 0.1", "f <= 1", "f < i", "f = 0.1::double precision", "t = 'x'", "t <> 'it''s'", "t IN ('x', 'y')", "t = 'x'::text", "t IS NULL",
	"ok", "NOT ok", "ok = true", "ok <> (a > 0)", "ok < true", "ok >= false", "ok = 't'", "ok IS TRUE", "ok IS NOT FALSE", "ok IS UNKNOWN", "ok IS NOT UNKNOWN", "(a > 0) IS NOT TRUE",
	"ok AND a > 0", "ok OR a > 0", "ok AND NULL", "ok OR NULL", "(a > 0) = (i > 0)", "(a > 0) IS DISTINCT FROM ok", "coalesce(ok, false)", "coalesce(a, i, 0) > 0", "coalesce(a, 0.5) > 0",
	"nullif(i, 1) IS NULL", "CASE WHEN ok THEN s ELSE i END > 0", "CASE i WHEN 1 THEN ok WHEN 0 THEN true END", "CASE WHEN ok THEN 1 END IS NULL",
	"at > '2024-01-01 00:00:00+00'", "at = '2024-01-01T01:00:00+01:00'", "at < 'infinity'", "d < '2024-01-01'", "d >= date '0001-01-01'", "d = '-infinity'",
	"id > '00000000-0000-0000-0000-000000000001'", "id = 'FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF'", "length(t) = 1", "length(t) > i", "char_length(t) + s < 3", "length(t) IS NULL", "length(coalesce(t, '')) = 0", "length('it''s') = s + 3", "true", "NULL", "NULL IS NULL", "a = NULL",
}

// The evaluator that checks witnesses must be PostgreSQL's logic.
func TestEvaluationIsPostgreSQLs(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	r := rand.New(rand.NewPCG(5, 6))
	seen := map[truth]int{}
	overflowed := 0
	for _, sql := range conditionsOf {
		for range 12 {
			chosen := make([]string, len(valued))
			fields := make([]string, len(valued))
			for i, c := range valued {
				chosen[i] = c.values[r.IntN(len(c.values))]
				fields[i] = "NULL::" + c.sql + " AS " + c.v.Name
				if chosen[i] != "" {
					fields[i] = quote(chosen[i]) + "::" + c.sql + " AS " + c.v.Name
				}
			}
			got := evaluated(sql, chosen)
			var value *bool
			// OFFSET 0 keeps the values from being folded into the condition.
			err := pool.QueryRow(context.Background(), "SELECT ("+sql+")::boolean FROM (SELECT "+strings.Join(fields, ", ")+" OFFSET 0) row").Scan(&value)
			if err != nil {
				require.True(t, got.overflow, "%s with %q: %v", sql, chosen, err)
				require.ErrorContains(t, err, "22003", sql)
				overflowed++
				continue
			}
			want := isUnknown
			if value != nil && *value {
				want = isTrue
			} else if value != nil {
				want = isFalse
			}
			require.Equal(t, want, got.truth, "%s with %q", sql, chosen)
			seen[want]++
		}
	}
	require.Greater(t, overflowed, 5)
	for _, v := range []truth{isTrue, isFalse, isUnknown} {
		require.Greater(t, seen[v], 100)
	}
}

// evaluated is what the package says of a condition on the values.
func evaluated(sql string, chosen []string) verdict {
	vars := make([]Var, len(valued))
	for i, c := range valued {
		vars[i] = c.v
	}
	a := newAnalysis(vars)
	c := a.read(new(Reader).tree(sql))
	a.guards = []*cond{c}
	for i, text := range chosen {
		if valued[i].v.Kind == Text && text != "" {
			a.word(text)
		}
	}
	a.settle()
	w := world{analysis: a, classes: make([]class, len(a.slots)), numbers: make([]*big.Rat, len(a.slots)), facts: make([]bool, len(a.slots))}
	special := map[string]class{"NaN": nan, "Infinity": infinite, "-Infinity": minusInfinite, "": isNull}
	for i, text := range chosen {
		k, odd := special[text]
		switch {
		case odd:
			w.classes[i] = k
			continue
		case valued[i].v.Kind == Bool:
			w.facts[i] = text == "true"
		case valued[i].v.Kind == Text:
			w.numbers[i] = w.literal(a.word(text).id).c
		default:
			w.numbers[i] = new(big.Rat).Quo(a.literal(valued[i].v.Kind, text).constant, a.slots[i].unit)
		}
		w.classes[i] = finite
	}
	w.texts = map[string]string{}
	return w.evaluate(c, map[*cond]verdict{})
}
