package sqlexpr_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/sqlexpr"
)

// What each says is by hand: clean is -1, anything else the offset at which it
// is refused. PostgreSQL is asked on a row without a NULL, so that it computes
// all of it, and refuses what is refused here and takes what is clean.
var judged = []struct {
	expression string
	offset     int
	kind       sqlexpr.Kind
}{
	// functions and their arguments
	{"lower(a) = 'x'", 0, sqlexpr.Mismatch}, {"lower(t) = 'x'", -1, 0}, {"lower(vc) = 'x'", -1, 0}, {"lower(a::text) = 'x'", -1, 0},
	{"t = lower(a)", 4, sqlexpr.Mismatch}, {"substr(a,1) = 'x'", 0, sqlexpr.Mismatch}, {"substr(t,1) = 'x'", -1, 0}, {"substr(t,a) = 'x'", 0, sqlexpr.Mismatch},
	{"substr(t,i) = 'x'", -1, 0}, {"length(j) > 1", 0, sqlexpr.Mismatch}, {"length(r) > 1", -1, 0}, {"abs(t) = 1", 0, sqlexpr.Mismatch}, {"abs('-1') = 1", -1, 0},
	{"mod(a,t) = 1", 0, sqlexpr.Mismatch}, {"mod(a,2) = 1", -1, 0}, {"mod(n,2) = 1", -1, 0}, {"mod(f,2) = 1", 0, sqlexpr.Mismatch},
	{"make_date(a,1,1) > d", 0, sqlexpr.Mismatch}, {"make_date(i,1,1) > d", -1, 0}, {"round(f,2) = 1", 0, sqlexpr.Mismatch}, {"round(n,2) = 1", -1, 0},
	{"concat(a,t,j) = 'x'", -1, 0}, {"date_trunc(at,'day') = at", 0, sqlexpr.Mismatch}, {"repeat(t,a) = 'x'", 0, sqlexpr.Mismatch}, {"left(t,2) = 'x'", -1, 0},
	{"to_jsonb('x') = j", 9, sqlexpr.Mismatch}, {"to_jsonb('x'::text) = j", -1, 0}, {"jsonb_build_object('a') = j", 0, sqlexpr.Mismatch},
	{"jsonb_build_object('a', a) = j", -1, 0}, {"at + make_interval(days => i) > at", -1, 0}, {"at + make_interval(dais => i) > at", 5, sqlexpr.Mismatch},
	{"at + make_interval(days => a) > at", 5, sqlexpr.Mismatch}, {"sqrt(a) > 1", -1, 0}, {"gcd(a, t) = 1", 0, sqlexpr.Mismatch}, {"upper(e) = 'GOOD'", 0, sqlexpr.Mismatch},
	{"upper(e::text) = 'GOOD'", -1, 0}, {"now() > at", -1, 0}, {"coalesce(a, 'x') = 1", 12, sqlexpr.Unreadable}, {"coalesce(a, '1') = 1", -1, 0}, {"coalesce(a, t) = 1", 0, sqlexpr.Mismatch},
	{"greatest(a, n) > 1", -1, 0}, {"greatest(a, d) > 1", 0, sqlexpr.Mismatch}, {"nullif(a, 'x') = 1", 10, sqlexpr.Unreadable}, {"nullif(a, 0) = 1", -1, 0},
	// operators
	{"a LIKE 'x'", 2, sqlexpr.Mismatch}, {"t LIKE 'x'", -1, 0}, {"u LIKE 'x'", 2, sqlexpr.Mismatch}, {"t NOT ILIKE 'x'", -1, 0}, {"d NOT LIKE '2024%'", 2, sqlexpr.Mismatch},
	{"t SIMILAR TO 'x+'", -1, 0}, {"t LIKE 'x!%' ESCAPE '!'", -1, 0}, {"a ~ '1'", 2, sqlexpr.Mismatch}, {"j->'a' = '1'", -1, 0}, {"t->'a' = '1'", 1, sqlexpr.Mismatch},
	{"j->>'a' = 'x'", -1, 0}, {"j->>a = 'x'", 1, sqlexpr.Mismatch}, {"j->>i = 'x'", -1, 0}, {"j @> a", 2, sqlexpr.Mismatch}, {"j @> j", -1, 0}, {"j ? 'a'", -1, 0}, {"j ? a", 2, sqlexpr.Mismatch},
	{"j = t", 2, sqlexpr.Mismatch}, {"t && t", 2, sqlexpr.Mismatch}, {"a || a = 'x'", 2, sqlexpr.Mismatch}, {"a || t = 'x'", -1, 0}, {"d + a > d", 2, sqlexpr.Mismatch}, {"d + i > d", -1, 0},
	{"d - d > 1", -1, 0}, {"at - at > 1", 8, sqlexpr.Mismatch}, {"at - at > '1 day'", -1, 0}, {"at - at > 'day'", 10, sqlexpr.Unreadable}, {"f % 2 = 0", 2, sqlexpr.Mismatch},
	{"a & 1 = 1", -1, 0}, {"n & 1 = 1", 2, sqlexpr.Mismatch}, {"-t = 1", 0, sqlexpr.Mismatch}, {"a = ANY (ARRAY[1,2])", -1, 0}, {"a = ANY (a)", 9, sqlexpr.Mismatch},
	{"t = ANY ('x')", 9, sqlexpr.Unreadable}, {"t = ANY ('{x,y}')", -1, 0}, {"a = ANY (ARRAY['x'])", 2, sqlexpr.Mismatch}, {"a IN (1, '2')", -1, 0}, {"a IN (1, 'x')", 9, sqlexpr.Mismatch},
	{"a IN (1.5, '2.5')", -1, 0}, {"a IN ('2.5')", 6, sqlexpr.Unreadable}, {"(a, t) = (1, 'x')", -1, 0}, {"(a, t) = (1, 2)", 7, sqlexpr.Mismatch}, {"(a, t) = (1, 'x', 2)", 7, sqlexpr.Mismatch},
	{"j['a'] = '1'", -1, 0}, {"t['a'] = '1'", 0, sqlexpr.Mismatch}, {"a BETWEEN '1' AND '5'", -1, 0}, {"a BETWEEN '1' AND 'y'", 18, sqlexpr.Mismatch},
	// casts
	{"a::uuid = u", 0, sqlexpr.Mismatch}, {"t::uuid IS NULL", -1, 0}, {"b::bigint = 1", 0, sqlexpr.Mismatch}, {"b::integer = 1", -1, 0}, {"a::boolean", 0, sqlexpr.Mismatch}, {"i::boolean", -1, 0},
	{"d::bigint = 1", 0, sqlexpr.Mismatch}, {"j::bigint = 1", -1, 0}, {"u::bytea = r", 0, sqlexpr.Mismatch}, {"70000::smallint = 1", 0, sqlexpr.Unreadable}, {"'x'::integer = 1", 0, sqlexpr.Unreadable},
	{"'{'::jsonb = j", 0, sqlexpr.Unreadable}, {"t::text(3) = 'x'", 3, sqlexpr.Unsupported}, {"n::numeric(1001) = 1", 3, sqlexpr.Unsupported}, {"n::numeric(10,(SELECT 1)) = 1", 3, sqlexpr.Unsupported},
	{"n::numeric(10,pg_sleep(0)) = 1", 3, sqlexpr.Unsupported}, {"n::numeric(10,2,3) = 1", 3, sqlexpr.Unsupported}, {"n::numeric(10,1001) = 1", 3, sqlexpr.Unsupported}, {"n::numeric(10,-1) = 1", -1, 0}, {"n::numeric(10,2) = 1", -1, 0},
	{"B'1' = 1::bit(0)", 10, sqlexpr.Unsupported}, {"B'1' = 1::bit(-1)", 10, sqlexpr.Unsupported}, {"at::timestamptz(3) = at", -1, 0},
	{"at - at > interval '1' hour", -1, 0}, {"at - at > interval '1' second(3)", -1, 0}, {"at - at > interval(3) '1'", -1, 0}, {"ARRAY[] = ARRAY[1]", 0, sqlexpr.Mismatch},
	{"ARRAY[]::bigint[] = ARRAY[a]", -1, 0},
	// constants
	{"u = 'zz'", 4, sqlexpr.Unreadable}, {"u = 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", -1, 0}, {"u = '{a0eebc999c0b4ef8bb6d6bb9bd380a11}'", -1, 0}, {"u = '{a0eebc999c0b4ef8bb6d6bb9bd380a11'", 4, sqlexpr.Unreadable},
	{"u = 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1'", 4, sqlexpr.Unreadable}, {"j @> '{'", 5, sqlexpr.Unreadable}, {`j @> '{"a": [1]}'`, -1, 0}, {"j @> '{a: 1}'", 5, sqlexpr.Unreadable},
	{"j->'a' = 'x'", 9, sqlexpr.Unreadable}, {`j->'a' = '"x"'`, -1, 0}, {"j->'a' = 'null'", -1, 0}, {"d = '2024-13-45'", 4, sqlexpr.Unreadable}, {"d = '2024-02-29'", -1, 0}, {"d = '2023-02-29'", 4, sqlexpr.Unreadable},
	{"d = '0000-01-01'", 4, sqlexpr.Unreadable}, {"d = 'January 8, 1999'", -1, 0}, {"d = '19990108'", -1, 0}, {"d = 'infinity'", -1, 0}, {"d = 'epoch'", -1, 0}, {"d = ''", 4, sqlexpr.Unreadable},
	{"at > 'abc'", 5, sqlexpr.Unreadable}, {"at > '2024-01-01'", -1, 0}, {"at > '2024-01-01 25:00'", 5, sqlexpr.Unreadable}, {"at > '2024-01-01 24:00'", -1, 0}, {"at > '2024-01-01T23:59:60Z'", -1, 0},
	{"at > '2024-01-01 12:60:00+00'", 5, sqlexpr.Unreadable}, {"at > '2024-01-01 12:30 Europe/Berlin'", -1, 0}, {"at + 'abc' > at", 5, sqlexpr.Unreadable}, {"at + '1 day' > at", -1, 0},
	{"a = '9223372036854775808'", 4, sqlexpr.Unreadable}, {"a = ' -9223372036854775808 '", -1, 0}, {"si = '32768'", 5, sqlexpr.Unreadable}, {"si = '32767'", -1, 0}, {"si = 32768", -1, 0},
	{"i = '1.5'", 4, sqlexpr.Unreadable}, {"i = '1e3'", 4, sqlexpr.Unreadable}, {"n = '1e3'", -1, 0}, {"n = '.5'", -1, 0}, {"n = '5.'", -1, 0}, {"n = '.'", 4, sqlexpr.Mismatch}, {"n = 'NaN'", -1, 0},
	{"a = 'NaN'", 4, sqlexpr.Unreadable}, {"f = '-Infinity'", -1, 0}, {"b = 'yes'", -1, 0}, {"b = 'maybe'", 4, sqlexpr.Mismatch}, {"b AND 'off'", -1, 0}, {"NOT 'nope'", 0, sqlexpr.NotBoolean},
	{`r = '\xabc'`, 4, sqlexpr.Unreadable}, {`r = '\xabcd'`, -1, 0}, {`r = 'a\b'`, 4, sqlexpr.Unreadable}, {`r = 'a\\b\001'`, -1, 0}, {"e = 'good'", -1, 0}, {"e = 'goood'", 4, sqlexpr.UnknownState},
	{"e IN ('good', 'bda')", 14, sqlexpr.UnknownState}, {"e <> t", 2, sqlexpr.Mismatch}, {"e IS DISTINCT FROM 'bad'", -1, 0},
	// parts of times
	{"date_trunc('nosuch', at) > at", 11, sqlexpr.Unreadable}, {"date_trunc('day', at) > at", -1, 0}, {"date_trunc('Days', at) > at", -1, 0}, {"date_trunc('milliseconds', at) > at", -1, 0},
	{"date_trunc('dow', at) > at", 11, sqlexpr.Unreadable}, {"extract(nosuch from at) = 1", 8, sqlexpr.Unreadable}, {"extract(dow from at) = 1", -1, 0}, {"extract(hour from d) = 1", 8, sqlexpr.Unreadable},
	{"date_part('hour', d) = 1", -1, 0}, {"extract(day from a) = 1", 0, sqlexpr.Mismatch}, {"extract(epoch from at - at) = 1", -1, 0}, {"extract(dow from at - at) = 1", 8, sqlexpr.Unreadable},
	// patterns
	{"t ~ '('", 4, sqlexpr.Unreadable}, {"t ~ ')'", 4, sqlexpr.Unreadable}, {"t ~ '[a'", 4, sqlexpr.Unreadable}, {"t ~ '[]a]'", -1, 0}, {"t ~ '[^]]'", -1, 0}, {`t ~ '\('`, -1, 0}, {"t ~ '[(]'", -1, 0},
	{"t ~ '[[:alpha:]]'", -1, 0}, {`t !~* 'a\'`, 6, sqlexpr.Unreadable}, {"t ~ '*a'", 4, sqlexpr.Unreadable}, {"t ~ '***=('", -1, 0}, {"t ~ '(?i)a'", -1, 0}, {"t ~ '^(a|b)+$'", -1, 0},
	{"regexp_replace(t, '(', '') = 'x'", 18, sqlexpr.Unreadable}, {"substring(t from '(a)') = 'x'", -1, 0}, {"substring(t from '(a') = 'x'", 17, sqlexpr.Unreadable},
	// zero and collations
	{"a = 1/0", 5, sqlexpr.Unreadable}, {"a % 0 = 1", 2, sqlexpr.Unreadable}, {"n / 0.00 > 1", 2, sqlexpr.Unreadable}, {"f / '0' > 1", 2, sqlexpr.Unreadable}, {"mod(a, 0) = 1", 0, sqlexpr.Unreadable},
	{"a / 2 = 1", -1, 0}, {"a / (-0) = 1", 2, sqlexpr.Unreadable}, {"a / nullif(a, 0) = 1", -1, 0}, {`t COLLATE "nosuch" = 'x'`, 2, sqlexpr.Unsupported}, {`t COLLATE "C" = 'x'`, -1, 0},
	{`t COLLATE "de-x-icu" < 'x'`, -1, 0}, {`t COLLATE "ucs_basic" < 'x'`, -1, 0}, {`a COLLATE "C" = 1`, 2, sqlexpr.Mismatch}, {`t COLLATE "C" < t COLLATE "POSIX"`, 16, sqlexpr.Mismatch},
}

func TestExpressionsAreJudgedAsPostgreSQLDoes(t *testing.T) {
	t.Parallel()
	pool := database(t, row)
	var expressions []string
	for _, c := range judged {
		expressions = append(expressions, c.expression)
	}
	require.GreaterOrEqual(t, len(expressions), 120)
	for i, answer := range answers(t, pool, expressions) {
		c := judged[i]
		_, issues := sqlexpr.Parse(c.expression, sqlexpr.Scope{Columns: everyKind(), Clock: true})
		if c.offset < 0 {
			require.Empty(t, issues, c.expression)
			require.Empty(t, answer, c.expression)
			continue
		}
		require.Len(t, issues, 1, c.expression)
		require.Equal(t, c.offset, issues[0].Offset, "%s: %s", c.expression, issues[0].Message)
		require.Equal(t, c.kind, issues[0].Kind, "%s: %s", c.expression, issues[0].Message)
		require.NotEmpty(t, answer, "PostgreSQL takes %s", c.expression)
	}
}
