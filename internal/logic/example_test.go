package logic_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/logic"
	"github.com/pawl-go/pawl/internal/testdb"
)

func asks(sql ...string) []logic.Ask {
	out := make([]logic.Ask, 0, len(sql))
	for _, s := range sql {
		out = append(out, logic.Ask{SQL: s})
	}
	return out
}

// valueOf returns a variable's value in a witness, as SQL.
func valueOf(t *testing.T, f logic.Finding, name string, param bool) string {
	t.Helper()
	require.Equal(t, yes, f.Answer, f.Why)
	for _, v := range f.Witness {
		if v.Name == name && v.Param == param {
			return v.SQL
		}
	}
	require.Fail(t, "no value", name)
	return ""
}

func TestExampleMeetsAllThatIsAsked(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	for _, c := range []struct {
		asks   []string
		answer logic.Answer
	}{
		{nil, yes},
		{[]string{"a = 100", "a + @p <= b", "b = 130", "@p = 30"}, yes},
		{[]string{"a = 100", "a + @p <= b", "b = 130", "@p = 31"}, no},
		{[]string{"(oi < 5) IS TRUE", "oi > 2", "oi <> 4"}, yes},
		{[]string{"(oi < 5) IS NOT TRUE", "oi IS NULL"}, yes},
		{[]string{"(oi < 5) IS NOT TRUE", "oi = 4"}, no},
		{[]string{"(a < 5 AND ot = 'x') IS NOT TRUE", "ot = 'x'", "a > 0"}, yes},
		{[]string{"upper(t) = 'X'"}, may},
		{[]string{"length(t) = 5", "t <> 'aaaaa'"}, yes},
		{[]string{"either = 'B'"}, yes},
		{[]string{"either = 'C'"}, no},
	} {
		f := new(logic.Reader).Example(vars(), asks(c.asks...))
		require.Equal(t, c.answer, f.Answer, "%q: %s", c.asks, f.Why)
		if c.answer == yes && len(c.asks) > 0 {
			for i, v := range inPostgres(t, pool, vars(), f.Witness, c.asks) {
				require.True(t, isTrue(v), "%q at %v", c.asks[i], f.Witness)
			}
		}
	}
}

func TestBoundsAreTheComparisonsOfACondition(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string][]logic.Bound{
		"a + @p<=b":                         {{Text: "a + @p <= b", Step: "1"}},
		"a = @p AND (t = 'x' OR NOT s > 3)": {{Text: "a = @p", Step: "1"}, {Text: "s > 3", Step: "1"}},
		"(a <> '7') IS TRUE":                {{Text: "a <> '7'", Step: "1"}},
		"a BETWEEN 1 AND b":                 {{Text: "a >= 1", Step: "1"}, {Text: "a <= b", Step: "1"}},
		"z >= @w":                           {{Text: "z >= @w", Step: "0.01"}},
		"n > m":                             {{Text: "n > m", Why: "a numeric without a scale has no next value"}},
		"f > 1":                             {{Text: "f > 1", Why: "double precision numbers have no step that people count in"}},
		"at < oat OR d > '2026-01-01'":      {{Text: "at < oat", Step: "1 microsecond"}, {Text: "d > '2026-01-01'", Step: "1 day"}},
		"length(t) >= 3":                    {{Text: "length(t) >= 3", Step: "1"}},
		"t = 'x' AND ok AND id = id":        nil,
		"a >":                               nil,
	} {
		require.Equal(t, want, new(logic.Reader).Bounds(vars(), sql), sql)
	}
}

func TestExampleAtABound(t *testing.T) {
	t.Parallel()
	r := new(logic.Reader)
	for _, c := range []struct {
		sql    string
		bound  int
		steps  int
		others []string
		name   string
		param  bool
		want   string
	}{
		{"a + @p <= b", 1, -1, []string{"a = 10", "b = 100"}, "p", true, "89"},
		{"a + @p <= b", 1, 1, []string{"a = 10", "b = 100"}, "p", true, "91"},
		{"a > 0 AND s >= 5", 2, 0, nil, "s", false, "5"},
		{"z >= @w", 1, -1, []string{"@w = 12.5"}, "z", false, "12.49"},
		{"z >= @w", 1, 1, []string{"@w = 12.5"}, "z", false, "12.51"},
		{"a = s", 1, 1, []string{"s = 32767"}, "a", false, "32768"},
		{"at < '2026-01-01 00:00:00+00'", 1, -1, nil, "at", false, "'2025-12-31 23:59:59.999999+00'"},
		{"d > '2026-02-28'", 1, 1, nil, "d", false, "'2026-03-01'"},
		{"length(t) >= 3", 1, -1, nil, "t", false, "'bb'"},
	} {
		f := r.Example(vars(), append(asks(c.others...), logic.Ask{SQL: c.sql, Bound: c.bound, Steps: c.steps}))
		require.Equal(t, c.want, valueOf(t, f, c.name, c.param), c.sql)
	}
	for _, none := range []logic.Ask{
		{SQL: "a = 1", Bound: 2}, {SQL: "a = 1", Bound: -1}, {SQL: "n > m", Bound: 1, Steps: 1}, {SQL: "a >", Bound: 1},
		{SQL: "s > 32767", Bound: 1, Steps: 1},
	} {
		require.Equal(t, no, r.Example(vars(), []logic.Ask{none}).Answer, none)
	}
	infinite := append(asks("oat = 'infinity'"), logic.Ask{SQL: "at < oat", Bound: 1, Steps: -1})
	require.Equal(t, no, r.Example(vars(), infinite).Answer, "nothing is a step before infinity")
}

func TestExampleWhereABoundDecides(t *testing.T) {
	t.Parallel()
	r := new(logic.Reader)
	guard := "ot = 'x' AND a <= 10 AND (b < 5 OR s > 7)"
	at := func(bound, steps int, more ...string) logic.Finding {
		return r.Example(vars(), append(asks(more...), logic.Ask{SQL: guard, Bound: bound, Steps: steps, Decides: true}))
	}
	f := at(1, 1)
	require.Equal(t, "11", valueOf(t, f, "a", false))
	require.Equal(t, "'x'", valueOf(t, f, "ot", false), "else the guard is not true whatever a is")
	require.Equal(t, no, at(1, 1, "ot IS NULL").Answer)
	require.Equal(t, no, at(2, 0, "s > 7").Answer, "the other way to be true must not be open")
	require.Equal(t, yes, at(3, 1, "b = 5").Answer)
	require.Equal(t, no, at(3, 1, "a = 11").Answer)
	between := logic.Ask{SQL: "a BETWEEN 1 AND 5", Bound: 2, Steps: 1, Decides: true}
	require.Equal(t, "6", valueOf(t, r.Example(vars(), []logic.Ask{between}), "a", false))
}

func TestExampleOfTextsThatMatch(t *testing.T) {
	t.Parallel()
	pool := testdb.New(t)
	for _, c := range []struct {
		asks   []string
		answer logic.Answer
	}{
		{[]string{"v ~ '^[A-Z]{3}$'"}, yes},
		{[]string{"t LIKE 'ord\\_%'"}, may}, // an escape
		{[]string{"t LIKE 'ord-%'", "length(t) <= 4"}, yes},
		{[]string{"t ~ '^\\d+$'", "u LIKE '%@%.%'", "t <> u"}, yes},
		{[]string{"t ~ '^(ab|c)*d?x+$' AND a = 5"}, yes},
		{[]string{"t ~ '(.)\\1'"}, may}, // Go has no back references
		{[]string{"(t ~ '^A') IS NOT TRUE"}, yes},
		{[]string{"t !~ '^A' AND t NOT LIKE 'a%'"}, may}, // the texts that are tried all match
		{[]string{"ot ~ '^A' AND ot = 'B'"}, may},
		{[]string{"v ~ '^[A-Z]{4}$'"}, may}, // too long for the column
	} {
		f := new(logic.Reader).Example(vars(), asks(c.asks...))
		require.Equal(t, c.answer, f.Answer, "%q: %s", c.asks, f.Why)
		if c.answer == yes {
			for i, v := range inPostgres(t, pool, vars(), f.Witness, c.asks) {
				require.True(t, isTrue(v), "%q at %v", c.asks[i], f.Witness)
			}
		}
	}
}

func TestExampleWithOneValueGiven(t *testing.T) {
	t.Parallel()
	given := func(name, value string, param bool) []logic.Var {
		out := vars()
		for i, v := range out {
			if v.Name == name && v.Param == param {
				out[i].Among = []string{value}
			}
		}
		return out
	}
	for _, c := range []struct {
		name, value, sql string
		answer           logic.Answer
		literal          string
	}{
		{"a", "7", "a + 1 = 8 AND 2 * a = 14", yes, "7"},
		{"a", "7", "a IS NULL OR a + b < 0 AND b > 0", no, ""},
		{"oi", "7", "oi IS NULL", no, ""},
		{"z", "1.25", "z + 0.75 = 2", yes, "1.25"},
		{"f", "0.5", "f < 1", yes, "0.5"},
		{"ok", "true", "ok", yes, "true"},
		{"ok", "false", "ok OR a > a", no, ""},
		{"at", "2026-01-15 12:00:00+00", "at > '2026-01-15 11:59:59.999999+00'", yes, "'2026-01-15 12:00:00+00'"},
		{"d", "2026-01-15", "d = '2026-01-15'", yes, "'2026-01-15'"},
		{"id", "00000000-0000-4000-8000-000000000001", "id <> '00000000-0000-4000-8000-000000000002'", yes, "'00000000-0000-4000-8000-000000000001'"},
		{"t", "it's", "length(t) = 4", yes, "'it''s'"},
	} {
		f := new(logic.Reader).Example(given(c.name, c.value, false), asks(c.sql))
		require.Equal(t, c.answer, f.Answer, "%s: %s", c.sql, f.Why)
		if c.answer == yes {
			require.Equal(t, c.literal, valueOf(t, f, c.name, false))
		}
	}
}
