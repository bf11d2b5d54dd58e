package genroles

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/sqlname"
)

func TestNamesAreRead(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"default", "none", "app=shop_app,calls=functions", "schema=shop,reader=r,calls=statements"} {
		n, err := Parse(text)
		require.NoError(t, err, text)
		again, err := Parse(n.String())
		require.NoError(t, err, text)
		require.Equal(t, n, again)
	}
	n, err := Parse("app=shop_app,calls=functions")
	require.NoError(t, err)
	want := Default()
	want.App, want.Functions = "shop_app", true
	require.Equal(t, want, n)
	require.False(t, Names{}.Wanted())

	for text, why := range map[string]string{
		"":                               "is no pair",
		"app":                            "is no pair",
		"apps=x":                         `there is no key "apps"`,
		"calls=both":                     "say statements or functions",
		"app=Shop":                       "app=Shop",
		"app=":                           "app=:",
		`app=x"; DROP ROLE y`:            "small letters",
		"app=pg_read_all_data":           "PostgreSQL's own",
		"app=public":                     "PostgreSQL's own",
		"app=a,reader=a":                 "the same name",
		"app=" + strings.Repeat("a", 64): "at most 63",
	} {
		_, err := Parse(text)
		require.ErrorContains(t, err, why, text)
	}
}

func TestAFileRemembersWhatItWasMadeFor(t *testing.T) {
	t.Parallel()
	n, err := Parse("app=shop_app,calls=functions")
	require.NoError(t, err)
	file, err := Render(n, nil, nil)
	require.NoError(t, err)
	is, err := NamesOf(file)
	require.NoError(t, err)
	require.Equal(t, n, is)
	is, err = NamesOf([]byte("-- another file\n"))
	require.NoError(t, err)
	require.False(t, is.Wanted())
	_, err = NamesOf([]byte("-- fsmgen:roles app=B\n"))
	require.Error(t, err)
}

// What a statement needs is read from it: names of WITH are no tables, an INSERT that
// reads nothing needs no SELECT, a lock needs what changing a row needs.
func TestWhatStatementsNeed(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]string{
		`SELECT o.a FROM t AS o`: "t: SELECT",
		`WITH moved AS (UPDATE t AS o SET a = 1, "B" = 2 FROM l WHERE o.k = l.k RETURNING o.a), history AS (INSERT INTO h (x, y) SELECT m.a, 1 FROM moved AS m)
			SELECT m.a FROM moved AS m`: `t: SELECT, UPDATE (a, "B"); h: INSERT (x, y); l: SELECT`,
		`WITH locked AS (SELECT o.a FROM t AS o FOR NO KEY UPDATE OF o) SELECT l.a FROM locked AS l`: "t: SELECT, UPDATE (k)",
		`INSERT INTO t (a) VALUES (1) ON CONFLICT (a) DO UPDATE SET b = 2`:                           "t: SELECT, INSERT (a), UPDATE (b)",
		`INSERT INTO t (a) VALUES (1) RETURNING a`:                                                   "t: SELECT, INSERT (a)",
		`SELECT a.x FROM (SELECT unnest($1::int[]) AS x) AS a JOIN t AS o ON o.k = a.x`:              "t: SELECT",
	} {
		found, err := usesOf(sql)
		require.NoError(t, err, sql)
		got := map[string]bool{}
		for _, u := range found {
			got[u.table+": "+u.verbs("k")] = true
		}
		require.Len(t, got, strings.Count(want, ";")+1, "%s needs %v", sql, got)
		for one := range strings.SplitSeq(want, "; ") {
			require.True(t, got[one], "%s needs %v, not %s", sql, got, one)
		}
	}
	for _, sql := range []string{`DELETE FROM t`, `WITH d AS (DELETE FROM t RETURNING a) SELECT a FROM d`, `TRUNCATE t`, `SELEC`} {
		_, err := usesOf(sql)
		require.Error(t, err, sql)
	}
}

// A function's name has the fingerprint of its statement, within PostgreSQL's length.
func TestFunctionsAreNamedByTheirText(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("VeryLong", 12)
	a := Statement{Name: "OrderPay" + long, SQL: "SELECT 1"}
	b, c := a, a
	b.SQL, c.Params = "SELECT 2", []string{"text"}
	for _, s := range []Statement{a, b, c} {
		require.LessOrEqual(t, len(s.function()), sqlname.MaxLength)
		require.Regexp(t, `^fsm_order_pay_very_long[a-z_]*_[0-9a-f]{10}$`, s.function())
	}
	require.NotEqual(t, a.function(), b.function())
	require.NotEqual(t, a.function(), c.function())
}

// The body cannot end the quotes that it stands in.
func TestNoTextEndsItsQuotes(t *testing.T) {
	t.Parallel()
	s := Statement{Name: "X", SQL: "SELECT '$fsm$ $fsm1$'", Columns: []Column{{"a", "text"}}}
	text, err := s.define(Default())
	require.NoError(t, err)
	require.Contains(t, text, "AS $fsm2$\n")
	require.Equal(t, "$fsm$", quoteFor("$fsm"))
}

// A setting that costs much, or whose right value is the database's, is pinned where
// the text has what it bears on; others are for all.
func TestSettingsArePinnedWhereTheyMatter(t *testing.T) {
	t.Parallel()
	const zones, money, searches = "timezone_abbreviations = 'Default'", "lc_monetary FROM CURRENT", "default_text_search_config FROM CURRENT"
	for sql, want := range map[string][]string{
		"SELECT $1::timestamptz, 'V2_PAID', '2026-01-01', interval '30 minutes'": nil,
		"SELECT a AT TIME ZONE 'EST' FROM t":                                     {zones},
		"SELECT date_trunc('day', a, 'EST') FROM t":                              {zones},
		"SELECT date_trunc('day', a) FROM t":                                     nil,
		"SELECT make_timestamptz(2026, 1, 1, 0, 0, 0, b) FROM t":                 {zones},
		"SELECT make_timestamptz(2026, 1, 1, 0, 0, 0) FROM t":                    nil,
		"SELECT to_timestamp(a, 'HH:MI TZ') FROM t":                              {zones},
		"SELECT to_timestamp(a) FROM t":                                          nil,
		"SELECT a::timestamptz FROM t":                                           {zones},
		"SELECT a::time FROM t":                                                  {zones},
		"SELECT a > '2026-01-01 10:00 IST' FROM t":                               {zones},
		"SELECT CAST(a AS money) FROM t":                                         {money},
		"SELECT a @@ 'rats' FROM t":                                              {searches},
		"SELECT o.money_back FROM t AS o WHERE o.a LIKE '10\\%' AND b":           nil,
	} {
		got, err := Statement{Name: "X", SQL: sql}.settings(Default())
		require.NoError(t, err, sql)
		require.Equal(t, "search_path = pg_catalog, public, pg_temp", got[0])
		require.Contains(t, got, "standard_conforming_strings = on", sql)
		for _, one := range []string{zones, money, searches} {
			require.Equal(t, slices.Contains(want, one), slices.Contains(got, one), "%s, %s", sql, one)
		}
	}
	got, err := Statement{Name: "X", SQL: "SELECT $1", Params: []string{"money"}}.settings(Default())
	require.NoError(t, err)
	require.Contains(t, got, money)
	_, err = Statement{Name: "X", SQL: "SELEC"}.define(Default())
	require.ErrorContains(t, err, "X: ")
}

const goFile = "package db\n\nconst lampGet = `-- name: LampGet :one\nSELECT o.a FROM lamps AS o\n`\n\n" +
	"const lampTurn = `-- name: LampTurn :one\nUPDATE lamps AS o SET a = ` + \"`\" + `$1\n`\n\nconst other = `-- name: Other :exec\nUPDATE lamps SET a = 1\n`\n"

// Statements that write become calls, and others stay as they are.
func TestCallsStandInForStatements(t *testing.T) {
	t.Parallel()
	turn := Statement{Name: "LampTurn", SQL: "UPDATE lamps AS o SET a = $1 RETURNING o.a", Params: []string{"text"}}
	machines := []Machine{{Statements: []Statement{{Name: "LampGet", SQL: "SELECT o.a FROM lamps AS o"}, turn}}}
	out, err := Calls([]byte(goFile), machines, Default())
	require.NoError(t, err)
	want := strings.Replace(goFile, "UPDATE lamps AS o SET a = ` + \"`\" + `$1\n", "SELECT * FROM public."+turn.function()+"($1::text)\n", 1)
	require.Equal(t, want, string(out))
}
