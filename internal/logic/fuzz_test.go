package logic_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/logic"
)

// sane checks what every report must fulfil.
func sane(t *testing.T, r logic.Report, n int) {
	t.Helper()
	require.Len(t, r.Never, n)
	require.Len(t, r.Shadowed, n)
	check := func(f logic.Finding) { require.Equal(t, f.Answer == may, f.Why != "", "%+v", f) }
	check(r.Gap)
	for i := range n {
		check(r.Never[i])
		check(r.Shadowed[i])
	}
	for _, o := range r.Overlaps {
		require.True(t, 0 <= o.A && o.A < o.B && o.B < n)
		require.NotEqual(t, no, o.Answer)
		check(o.Finding)
	}
}

// hard are guards that would take exponential time without a budget, or deep
// stacks without a limit.
func hard() map[string][]string {
	var pigeons, holes []string
	for p := range 9 {
		var any []string
		for h := range 8 {
			any = append(any, fmt.Sprintf("x%d_%d", p, h))
			for q := range p {
				holes = append(holes, fmt.Sprintf("NOT (x%d_%d AND x%d_%d)", p, h, q, h))
			}
		}
		pigeons = append(pigeons, "("+strings.Join(any, " OR ")+")")
	}
	var many, ranges, coefficients []string
	for i := range 60 {
		many = append(many, fmt.Sprintf("a IN (%d, %d) AND b <> %d", i, i+1, i))
		ranges = append(ranges, fmt.Sprintf("a + %d * b <> %d", i, i*i))
	}
	for i := range 12 {
		coefficients = append(coefficients, fmt.Sprintf("(%d * a + %d * b - %d * oi + %d * s <= %d OR %d * @p - %d * @q > n * %d)", 17*i+5, 13*i-50, 7*i+3, 31*i-99, i, 11*i+1, 19*i+2, i+2))
	}
	nested := "a"
	for range 60 {
		nested = "CASE WHEN " + nested + " BETWEEN 1 AND 2 THEN 1 END"
	}
	return map[string][]string{
		"pigeons":      {strings.Join(pigeons, " AND "), strings.Join(holes[:100], " AND "), strings.Join(holes[100:200], " AND ")},
		"many":         many,
		"ranges":       {strings.Join(ranges, " AND "), strings.Join(ranges, " OR ")},
		"coefficients": coefficients,
		"coalesce":     {"a = " + strings.Repeat("coalesce(oi, 1) + ", 200) + "1", "b = " + strings.Repeat("coalesce(oi, 1) * 2 + ", 20) + "1"},
		"nested":       {nested + " = 1", nested + " IS NULL"},
		"not":          {strings.Repeat("NOT ", 1000) + "ok", strings.Repeat("(", 500) + "ok" + strings.Repeat(") = ob", 500)},
		"minus":        {strings.Repeat("- ", 2000) + "a > 1", "1" + strings.Repeat("+a", 1500) + " > 0"},
		"numbers":      {"n > 1e99 AND n < 1e-99", "n = " + strings.Repeat("9", 1000), "a * 99999999999999999999 > n * 0.000000000000000001"},
	}
}

func TestHardGuardsAreBounded(t *testing.T) {
	t.Parallel()
	vars := vars()
	for p := range 9 {
		for h := range 8 {
			vars = append(vars, logic.Var{Name: fmt.Sprintf("x%d_%d", p, h), Kind: logic.Bool})
		}
	}
	for name, sql := range hard() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sane(t, logic.Analyse(vars, nil, guards(sql...)), len(sql))
		})
	}
}

func TestNothingToAnalyse(t *testing.T) {
	t.Parallel()
	r := logic.Analyse(nil, nil, nil)
	require.Equal(t, yes, r.Gap.Answer)
	require.Empty(t, r.Gap.Witness)
	r = logic.Analyse(nil, []string{"", "false"}, guards(""))
	require.Equal(t, no, r.Gap.Answer)
	require.Equal(t, yes, r.Never[0].Answer, "no row passes a CHECK that is false")
}

func FuzzAnalyse(f *testing.F) {
	for _, seed := range [][3]string{
		{"a < @p", "a >= @p OR oi IS NULL", "a > 0"}, {"t LIKE 'x' AND length(t) > 3", "t < u", "t <> ''"},
		{"coalesce(oi, 0) + 1 = 2 * a", "CASE WHEN ok THEN a END IS NULL", "ob IS NOT FALSE"}, {"n + m > z", "n = 'NaN'", "n - n = 0"},
		{"(SELECT 1) = a", "a[1] = 2", "ROW(a, b) < ROW(1, 2)"}, {"a = 1e999999999", "d + 1 > '2024-02-30'", "f = 'inf'"},
		{"length(v) < 3 AND v <> 'abcd'", "length(coalesce(ot, t)) = length(u)", "t < u AND u = v"}, {"at < now()", "length('x') = 1", "either = st"},
		{"$$x$$ = t", "B'1' = a", "NULL = ANY(ARRAY[])"}, {"x.y.z = 1", "a::numeric(3,1) = 0.55", "a COLLATE \"C\" = 'x'"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	// The parser is made ready on its first use, which would pass for a hang.
	logic.Analyse(vars(), nil, guards("a > 0", "a < 0"))
	f.Fuzz(func(t *testing.T, first, second, assume string) {
		if len(first)+len(second)+len(assume) > 600 {
			return
		}
		sane(t, logic.Analyse(vars(), []string{assume}, guards(first, second)), 2)
	})
}
