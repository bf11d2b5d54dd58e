package logic_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/logic"
)

// vars are the variables of all tables: o… may be NULL.
func vars() []logic.Var {
	return []logic.Var{
		{Name: "a", Kind: logic.Int, Bits: 64}, {Name: "b", Kind: logic.Int, Bits: 64},
		{Name: "oi", Kind: logic.Int, Bits: 64, Optional: true}, {Name: "s", Kind: logic.Int, Bits: 16},
		{Name: "p", Param: true, Kind: logic.Int, Bits: 64}, {Name: "q", Param: true, Kind: logic.Int, Bits: 64},
		{Name: "n", Kind: logic.Decimal}, {Name: "m", Kind: logic.Decimal},
		{Name: "z", Kind: logic.Decimal, Precision: 4, Scale: 2}, {Name: "f", Kind: logic.Float},
		{Name: "t", Kind: logic.Text}, {Name: "u", Kind: logic.Text}, {Name: "ot", Kind: logic.Text, Optional: true},
		{Name: "t", Param: true, Kind: logic.Text},
		{Name: "ok", Kind: logic.Bool}, {Name: "ob", Kind: logic.Bool, Optional: true},
		{Name: "at", Kind: logic.Time}, {Name: "oat", Kind: logic.Time, Optional: true},
		{Name: "d", Kind: logic.Date}, {Name: "id", Kind: logic.UUID},
		{Name: "j", Kind: logic.Other}, {Name: "k", Kind: logic.Other},
		{Name: "v", Kind: logic.Text, Length: 3}, {Name: "ov", Kind: logic.Text, Length: 2, Optional: true},
		{Name: "w", Param: true, Kind: logic.Decimal, Finite: true}, {Name: "z", Param: true, Kind: logic.Decimal, Precision: 4, Scale: 2, Finite: true},
		{Name: "st", Kind: logic.Text, Among: []string{"A"}}, {Name: "either", Kind: logic.Text, Among: []string{"A", "B"}},
		{Name: "code", Kind: logic.Int, Bits: 16, Among: []string{"20"}},
	}
}

const (
	no  = logic.No
	yes = logic.Yes
	may = logic.NotDecided
)

func guards(sql ...string) []logic.Guard {
	out := make([]logic.Guard, 0, len(sql))
	for _, s := range sql {
		out = append(out, logic.Guard{SQL: s})
	}
	return out
}

// overlap returns the answer about a pair.
func overlap(r logic.Report, a, b int) logic.Answer {
	for _, o := range r.Overlaps {
		if o.A == a && o.B == b {
			return o.Answer
		}
	}
	return no
}

// twoGuards has the answers about pairs, by the rules of SQL.
var twoGuards = []struct {
	first, second string
	overlap, gap  logic.Answer
	assume        []string
}{
	// Order and integers.
	{first: "a < 5", second: "a >= 5"},
	{first: "a < 5", second: "a > 5", gap: yes},
	{first: "a <= 5", second: "a >= 5", overlap: yes},
	{first: "a < 5", second: "a > 4", overlap: no, gap: no},
	{first: "a < 6", second: "a > 4", overlap: yes},
	{first: "a = 1", second: "a <> 1"},
	{first: "a <= b", second: "b < a"},
	{first: "a < b", second: "b < a", gap: yes},
	{first: "a + 1 <= b", second: "a >= b"},
	{first: "2 * a < 7", second: "a >= 4"},
	{first: "2 * a = b", second: "2 * a + 1 = b", gap: yes, assume: []string{"b IN (0, 1, 2, 3)", "a IN (0, 1)"}},
	{first: "2 * a = 2 * b + 1", second: "a = b", gap: yes},
	{first: "a + @p < b", second: "a + @p = b", gap: yes},
	{first: "a + @p < b", second: "a + @p >= b"},
	{first: "a - b <= @p", second: "b + @p < a"},
	{first: "a IN (1, 2)", second: "a IN (3, 4)", gap: yes},
	{first: "a IN (1, 2)", second: "a IN (2, 3)", overlap: yes, gap: yes},
	{first: "a IN (1, 2)", second: "a NOT IN (1, 2)"},
	{first: "a BETWEEN 1 AND 5", second: "a NOT BETWEEN 1 AND 5"},
	{first: "a BETWEEN SYMMETRIC 5 AND 1", second: "a = 3", overlap: yes, gap: yes},
	{first: "a BETWEEN 5 AND 1", second: "a = 3", gap: yes},
	{first: "a = ANY (ARRAY[1, 2])", second: "a = 2", overlap: yes, gap: yes},
	{first: "s < 32767", second: "s = 32767"},
	{first: "s < 40000", second: "s = 40000"},
	{first: "a = '5'", second: "a <> 5"},
	{first: "a > 1.5", second: "a <= 1"},
	{first: "a::numeric > 1.5", second: "a < 2"},
	{first: "a * b > 0", second: "a * b <= 0"},
	{first: "a * b > 0", second: "a > 0", overlap: may, gap: may},
	{first: "a / 2 > 1", second: "a / 2 < 1", gap: may},
	// CHECKs.
	{first: "a = 0", second: "a >= 1", assume: []string{"a >= 0"}},
	{first: "a < b", second: "a = b", assume: []string{"a <= b"}},
	{first: "a + @p < b", second: "a + @p = b", assume: []string{"@p > 0", "a + @p <= b"}},
	{first: "oi < 5", second: "oi >= 5", gap: yes, assume: []string{"oi > 0"}},
	{first: "oi < 5", second: "oi >= 5", assume: []string{"oi IS NOT NULL"}},
	{first: "a > 0", second: "a <= 0", assume: []string{"length(t) <= 64", "u ~ '^[A-Z]+$'"}},
	{first: "t = 'x'", second: "t = 'y'", gap: yes, assume: []string{"length(t) <= 64"}},
	// NULL.
	{first: "oi < 5", second: "oi >= 5", gap: yes},
	{first: "oi = oi", second: "oi IS NULL"},
	{first: "oi IS NULL", second: "oi IS NOT NULL"},
	{first: "(oi < 5) IS TRUE", second: "(oi < 5) IS NOT TRUE"},
	{first: "(oi < 5) IS UNKNOWN", second: "oi IS NULL", overlap: yes, gap: yes},
	{first: "oi IS DISTINCT FROM 5", second: "oi IS NOT DISTINCT FROM 5"},
	{first: "oi IS DISTINCT FROM a", second: "oi = a"},
	{first: "a = NULL", second: "a <> NULL", gap: yes},
	{first: "oi NOT IN (1, NULL)", second: "oi = 1", gap: yes},
	{first: "coalesce(oi, 0) + @p <= a", second: "coalesce(oi, 0) + @p > a"},
	{first: "coalesce(oi, 0) > 0", second: "oi IS NULL", gap: yes},
	{first: "nullif(a, 0) > 0", second: "a = 0", gap: yes},
	{first: "CASE WHEN ok THEN a ELSE b END > 0", second: "ok AND a <= 0", gap: yes},
	// Conditions.
	{first: "ok", second: "NOT ok"},
	{first: "ob", second: "NOT ob", gap: yes},
	{first: "ob IS TRUE", second: "ob IS NOT TRUE"},
	{first: "ob IS FALSE", second: "ob", gap: yes},
	{first: "ok = true", second: "ok = false"},
	{first: "ok <> ob", second: "ok = ob", gap: yes},
	{first: "ok < true", second: "ok"},
	{first: "(a > 0) = (b > 0)", second: "a > 0 AND b <= 0", gap: yes},
	{first: "coalesce(ob, false)", second: "NOT coalesce(ob, false)"},
	{first: "true", second: "false", overlap: no},
	// Texts, uuids, times, other types.
	{first: "t = 'x'", second: "t <> 'x'"},
	{first: "t = 'x'", second: "t = @t", overlap: yes, gap: yes},
	{first: "t = u AND u = 'x'", second: "t = 'y'", gap: yes},
	{first: "ot = 'x'", second: "ot <> 'x'", gap: yes},
	{first: "t < u", second: "t >= u"},
	{first: "t < u", second: "u < t", gap: yes},
	{first: "t < 'm'", second: "t >= 'm'", gap: no},
	{first: "t < 'm'", second: "t < 'n'", overlap: may, gap: may},
	{first: "t LIKE 'a%'", second: "t NOT LIKE 'a%'"},
	{first: "length(t) > 3", second: "length(t) <= 3"},
	{first: "id = '00000000-0000-0000-0000-000000000001'", second: "id > '00000000-0000-0000-0000-000000000001'", gap: yes},
	{first: "id < '00000000-0000-0000-0000-000000000001'", second: "id >= '00000000000000000000000000000001'"},
	{first: "at < '2024-01-01 00:00:00+00'", second: "at >= '2024-01-01 01:00:00+01'"},
	{first: "at < '2024-01-01 00:00:00'", second: "at >= '2024-01-01 00:00:00'"},
	{first: "oat < now()", second: "oat >= now()", gap: yes},
	{first: "at < now()", second: "at >= now()"},
	{first: "at < now()", second: "oat > now()", overlap: yes, gap: yes},
	{first: "now() = now()", second: "at < now() AND at > now()"},
	{first: "now() < 'infinity'", second: "at = 'infinity' AND at <= now()"},
	// Lengths.
	{first: "v <> 'abcd'", second: "v = 'abcd' AND a > 5"},
	{first: "v <> 'abc'", second: "v = 'abc' AND a > 5", gap: yes},
	{first: "v <> '款款款'", second: "v = '款款款' AND a > 5", gap: yes},
	{first: "v <> '款款款款'", second: "v = '款款款款'"},
	{first: "length(v) < 3", second: "length(v) = 3"},
	{first: "length(v) < 3", second: "char_length(v) >= 3"},
	{first: "length(v) < 2", second: "character_length(v) = 3", gap: yes},
	{first: "length(ov) < 2", second: "length(ov) = 2", gap: yes},
	{first: "length(t) = 0", second: "t <> ''"},
	{first: "length(t) > 0", second: "t = ''"},
	{first: "length(t) >= 0", second: "length(t) < 0"},
	{first: "length(t) = 4", second: "t = 'abcd' OR t = 'abce'", overlap: yes, gap: yes},
	{first: "length(t) = 4", second: "t = 'abc'", gap: yes},
	{first: "length(t) = 1 AND t NOT IN ('a', 'b', 'c')", second: "t = 'b'", overlap: no, gap: yes},
	{first: "length(t) = 4 AND t <> 'aaaa'", second: "t = 'aaaa'", overlap: no, gap: yes},
	{first: "length(t) <= 200", second: "length(t) > 200"},
	{first: "length(t) <= 200", second: "length(t) > 201", gap: yes},
	{first: "t = u", second: "length(t) <> length(u)", gap: yes},
	{first: "t = v", second: "length(t) > 3", gap: yes},
	{first: "t = v AND v = ov", second: "t = 'abc'", gap: yes},
	{first: "length(t) + length(u) > 5", second: "t = 'ab' AND u = 'abc'", overlap: no, gap: yes},
	{first: "length(t) + length(u) >= 5", second: "t = 'ab' AND u = 'abc'", overlap: yes, gap: yes},
	{first: "length(coalesce(ot, '')) = 0", second: "ot <> ''"},
	{first: "length(ot) >= 0", second: "ot IS NULL"},
	{first: "t < u AND length(t) > length(u)", second: "t >= u", gap: yes},
	{first: "t < u AND length(u) = 0", second: "t >= u", overlap: no, gap: yes},
	{first: "length(t || 'x') = 1", second: "t = ''", overlap: may, gap: may},
	// Values that are known, or finite.
	{first: "st = 'A'", second: "st = 'B'"},
	{first: "st = 'B'", second: "st = 'C'", gap: yes},
	{first: "st = t", second: "t = 'A'", overlap: yes, gap: yes},
	{first: "st = t", second: "t = 'B'", overlap: no, gap: yes},
	{first: "st = t", second: "t <> 'A'"},
	{first: "length(st) = 1", second: "st IS NULL"},
	{first: "CASE st WHEN 'A' THEN ok ELSE NOT ok END", second: "NOT ok"},
	{first: "either = 'A'", second: "either = 'B'"},
	{first: "either = 'A'", second: "either = 'C'", gap: yes},
	{first: "code = 20", second: "code > 20"},
	{first: "code < 20", second: "code >= 20"},
	{first: "code + a > 20", second: "a <= 0"},
	{first: "n < n + 1", second: "n >= n + 1"},
	{first: "@w < @w + 1", second: "a = 0", overlap: yes, gap: no},
	{first: "@z < 99.99", second: "@z = 99.99"},
	{first: "at < now()", second: "at < now() - interval '1 day'", overlap: may, gap: may},
	{first: "d < '2024-01-02'", second: "d > date '2024-01-01'"},
	{first: "j = k", second: "j <> k"},
	{first: "j @> '{}'", second: "NOT j @> '{}'"},
	{first: "j ->> 'a' = 'x'", second: "j ->> 'a' <> 'x'", gap: may},
	// Numeric and double precision.
	{first: "n > 0 AND n < 1", second: "n = 0.5", overlap: yes, gap: yes},
	{first: "z > 0.10 AND z < 0.11", second: "z = 0", gap: yes},
	{first: "n + m <= 10", second: "n + m > 10"},
	{first: "n < n + 1", second: "a = 0", overlap: yes, gap: yes}, // not at NaN
	{first: "z < 99.99", second: "z = 99.99", gap: yes},           // NaN is above both
	{first: "3 * n = 1", second: "a = 0", overlap: may, gap: yes}, // no decimal is a third
	{first: "f > 0.1", second: "f <= 0.1"},
	{first: "f < f + 1", second: "f >= f + 1"},
	// Nothing to decide it by.
	{first: "a >", second: "a > 0", overlap: may, gap: may},
	{first: "unheard > 1", second: "unheard <= 1", gap: may},
	{first: "a + 1 > a", second: "a + 1 <= a"},
	{first: "a > 9223372036854775806", second: "a + 1 > 9223372036854775807", overlap: may, gap: yes},
}

func TestTwoGuards(t *testing.T) {
	t.Parallel()
	for _, c := range twoGuards {
		t.Run(c.first+" / "+c.second, func(t *testing.T) {
			t.Parallel()
			r := logic.Analyse(vars(), c.assume, guards(c.first, c.second))
			require.Equal(t, c.overlap.String(), overlap(r, 0, 1).String(), "overlap %+v", r.Overlaps)
			require.Equal(t, c.gap.String(), r.Gap.Answer.String(), "gap %+v", r.Gap)
			for _, f := range append([]logic.Finding{r.Gap}, r.Never...) {
				require.Equal(t, f.Answer == may, f.Why != "")
			}
		})
	}
}

func TestNeverAndShadowed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		guards          []string
		never, shadowed []logic.Answer
		assume          []string
	}{
		{guards: []string{"a < b AND b < a + 1"}, never: []logic.Answer{yes}},
		{guards: []string{"2 * a = 7"}, never: []logic.Answer{yes}},
		{guards: []string{"6 * a + 10 * b = 7"}, never: []logic.Answer{yes}},
		{guards: []string{"27 <= 11 * a + 13 * b AND 11 * a + 13 * b <= 45 AND -10 <= 7 * a - 9 * b AND 7 * a - 9 * b <= 4"}, never: []logic.Answer{yes}}, // Pugh's example
		{guards: []string{"3 * a + 5 * b = 1"}, never: []logic.Answer{no}},
		{guards: []string{"a = NULL"}, never: []logic.Answer{yes}},
		{guards: []string{"a IS NULL", "oi IS NULL"}, never: []logic.Answer{yes, no}},
		{guards: []string{"a < 0"}, never: []logic.Answer{yes}, assume: []string{"a >= 0"}},
		{guards: []string{"oi = 1"}, never: []logic.Answer{yes}, assume: []string{"oi IS NULL"}},
		{guards: []string{"s > 32767"}, never: []logic.Answer{yes}},
		{guards: []string{"a * b = 1 AND a * b = 2"}, never: []logic.Answer{yes}},
		{guards: []string{"a * b = 1"}, never: []logic.Answer{may}},
		{guards: []string{"a + 1 > 9223372036854775807"}, never: []logic.Answer{may}},
		{guards: []string{"a > 0 OR t ~ 'x'"}, never: []logic.Answer{no}},
		{guards: []string{"t = 'x' AND t = 'y'"}, never: []logic.Answer{yes}},
		{guards: []string{"t = 'x' AND t = u AND t <> u"}, never: []logic.Answer{yes}},
		{guards: []string{"t < u AND u < t"}, never: []logic.Answer{yes}},
		{guards: []string{"at > 'infinity'"}, never: []logic.Answer{yes}},
		{guards: []string{"n > 1 AND n < 1.0000001"}, never: []logic.Answer{no}},
		{guards: []string{"length(t) > 3"}, never: []logic.Answer{no}},
		{guards: []string{"v = 'abcd'"}, never: []logic.Answer{yes}},
		{guards: []string{"v = 'abc'"}, never: []logic.Answer{no}},
		{guards: []string{"v = t AND length(t) = 4"}, never: []logic.Answer{yes}},
		{guards: []string{"length(t) < 0"}, never: []logic.Answer{yes}},
		{guards: []string{"length(t) = 2 AND t = 'abc'"}, never: []logic.Answer{yes}},
		{guards: []string{"t = ''"}, never: []logic.Answer{yes}, assume: []string{"t <> ''"}},
		{guards: []string{"length(t) = 0"}, never: []logic.Answer{yes}, assume: []string{"t <> ''"}},
		{guards: []string{"st = 'B'", "st = 'A'", "a = 1"}, never: []logic.Answer{yes, no, no}, shadowed: []logic.Answer{no, no, yes}},
		{guards: []string{"code = 10", "code BETWEEN 11 AND 20"}, never: []logic.Answer{yes, no}},
		{guards: []string{"at < now() AND at > now()", "now() = 'infinity'"}, never: []logic.Answer{yes, yes}},
		{guards: []string{""}, never: []logic.Answer{no}},
		{guards: []string{"a > 0", "a > 5"}, never: []logic.Answer{no, no}, shadowed: []logic.Answer{no, yes}},
		{guards: []string{"a > 5", "a > 0"}, never: []logic.Answer{no, no}, shadowed: []logic.Answer{no, no}},
		{guards: []string{"a > 5", "a <= 5", "b = 1"}, never: []logic.Answer{no, no, no}, shadowed: []logic.Answer{no, no, yes}},
		{guards: []string{"oi > 5", "oi <= 5", ""}, never: []logic.Answer{no, no, no}, shadowed: []logic.Answer{no, no, no}},
		{guards: []string{"a > 5", "", "a = 1"}, never: []logic.Answer{no, no, no}, shadowed: []logic.Answer{no, no, yes}},
		{guards: []string{"a > 5", "a = 1 AND a = 2"}, never: []logic.Answer{no, yes}, shadowed: []logic.Answer{no, no}},
		{guards: []string{"a > @p", "a = @p + 1"}, never: []logic.Answer{no, no}, shadowed: []logic.Answer{no, yes}},
		{guards: []string{"t ~ 'x'", "t ~ 'x' AND a > 0"}, never: []logic.Answer{may, may}, shadowed: []logic.Answer{no, yes}},
		{guards: []string{"t ~ 'x'", "a > 0"}, never: []logic.Answer{may, no}, shadowed: []logic.Answer{no, may}},
	} {
		t.Run(c.guards[len(c.guards)-1], func(t *testing.T) {
			t.Parallel()
			r := logic.Analyse(vars(), c.assume, guards(c.guards...))
			for i, want := range c.never {
				require.Equal(t, want.String(), r.Never[i].Answer.String(), "never %d: %+v", i, r.Never[i])
			}
			for i, want := range c.shadowed {
				require.Equal(t, want.String(), r.Shadowed[i].Answer.String(), "shadowed %d: %+v", i, r.Shadowed[i])
			}
		})
	}
}

// A guard that is NULL is not true, so the last transition is taken.
func TestNullFallsToTheLast(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		guards []string
		want   []logic.Answer
		assume []string
	}{
		{guards: []string{"oi > 5", ""}, want: []logic.Answer{yes, no}},
		{guards: []string{"a > 5", ""}, want: []logic.Answer{no, no}},
		{guards: []string{"oi > 5", "oi IS NULL", ""}, want: []logic.Answer{no, no, no}},
		{guards: []string{"oi > 5", "ob", ""}, want: []logic.Answer{yes, yes, no}},
		{guards: []string{"oi > 5", "", "ob"}, want: []logic.Answer{yes, no, no}},
		{guards: []string{"oi > 5", "oi <= 5"}, want: []logic.Answer{no, no}},
		{guards: []string{"oi > 5", ""}, want: []logic.Answer{no, no}, assume: []string{"oi IS NOT NULL"}},
		{guards: []string{"oi > 5 AND st = 'B'", ""}, want: []logic.Answer{no, no}, assume: []string{"st <> 'B' OR oi IS NOT NULL"}},
		{guards: []string{"oi > 5 AND st = 'A'", ""}, want: []logic.Answer{yes, no}},
		{guards: []string{"oi > 5 AND st = 'A'", ""}, want: []logic.Answer{no, no}, assume: []string{"st <> 'A' OR oi IS NOT NULL"}},
		{guards: []string{"length(ov) > 2", ""}, want: []logic.Answer{yes, no}},
	} {
		r := logic.Analyse(vars(), c.assume, guards(c.guards...))
		for i, want := range c.want {
			require.Equal(t, want.String(), r.Null[i].Answer.String(), "%q %d: %+v", c.guards, i, r.Null[i])
		}
	}
}

func TestAlike(t *testing.T) {
	t.Parallel()
	text := []logic.Var{{Name: "s", Kind: logic.Text}, {Name: "t", Kind: logic.Text}, {Name: "a", Kind: logic.Int}}
	number := []logic.Var{{Name: "s", Kind: logic.Int, Bits: 16}, {Name: "a", Kind: logic.Int}}
	for _, c := range []struct {
		name   string
		vars   []logic.Var
		guards []string
		values []string
		want   []int
	}{
		{"not spoken of", text, []string{"a > 0"}, []string{"A", "B", "C"}, []int{0, 0, 0}},
		{"one named", text, []string{"s = 'B' AND a > 0"}, []string{"A", "B", "C"}, []int{0, 1, 0}},
		{"two in a list", text, []string{"s IN ('A', 'C') AND a > 0", "a < 0"}, []string{"A", "B", "C"}, []int{0, 1, 0}},
		{"against a column", text, []string{"s = t"}, []string{"A", "B"}, []int{0, 1}},
		{"by length", text, []string{"length(s) > 1"}, []string{"A", "BB", "CCC"}, []int{0, 1, 1}},
		{"inside a function alone", text, []string{"s LIKE 'A%'"}, []string{"A", "B"}, []int{0, 0}},
		{"codes by order", number, []string{"s >= 20 AND a > 0"}, []string{"10", "20", "30"}, []int{0, 1, 1}},
		{"codes in sums", number, []string{"s + a > 0"}, []string{"10", "20"}, []int{0, 1}},
		{"no code", number, []string{"s = 1"}, []string{"1", "x", "y"}, []int{0, 1, 2}},
		{"another column", text[1:], []string{"s = 'A'"}, []string{"A", "B"}, []int{0, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var values [][]string
			for _, v := range c.values {
				values = append(values, []string{v})
			}
			require.Equal(t, c.want, new(logic.Reader).Alike(c.vars, nil, guards(c.guards...), "s", values))
		})
	}
	// A value that may be two is like one of them only where both are.
	both := [][]string{{"A", "OLD"}, {"B"}, {"C", "C"}}
	require.Equal(t, []int{0, 1, 2}, new(logic.Reader).Alike(text, nil, guards("s = 'A'"), "s", both))
}

// A witness shows the clock, and a long text in short.
func TestWitnessesAreReadable(t *testing.T) {
	t.Parallel()
	vars := []logic.Var{{Name: "at", Kind: logic.Time}, {Name: "t", Kind: logic.Text}, {Name: "s", Kind: logic.Text, Among: []string{"A"}}}
	r := logic.Analyse(vars, nil, guards("at < now() OR length(t) <= 200 OR s = 'B'"))
	require.Equal(t, yes, r.Gap.Answer)
	shown := map[string]string{}
	for _, v := range r.Gap.Witness {
		shown[v.Name] = v.SQL
	}
	require.Equal(t, map[string]string{"at": "'2000-01-01 00:00:00+00'", "now()": "'2000-01-01 00:00:00+00'", "s": "'A'", "t": "repeat('a', 201)"}, shown)
}

// The same question has the same witness, however often it is asked.
func TestWitnessesAreTheSameAgain(t *testing.T) {
	t.Parallel()
	ask := func() logic.Report {
		return logic.Analyse(vars(), []string{"a + b < @p"}, guards("at < now() AND a < b", "at < now() OR at = oat OR t < u"))
	}
	first := ask()
	for range 30 {
		require.Equal(t, first, ask())
	}
}
