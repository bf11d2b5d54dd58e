package sqlexpr_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/sqlexpr"
)

func scope() sqlexpr.Scope {
	return sqlexpr.Scope{
		Columns: []sqlexpr.Field{
			{Name: "total_cents", Type: "bigint", Category: sqlexpr.Number},
			{Name: "paid_cents", Type: "bigint", Category: sqlexpr.Number},
			{Name: "payment_no", Type: "text", Category: sqlexpr.String},
			{Name: "paid_at", Type: "timestamptz", Category: sqlexpr.Time},
			{Name: "open", Type: "boolean", Category: sqlexpr.Boolean},
			{Name: "doc", Type: "jsonb", Category: sqlexpr.JSON},
			{Name: "order_id", Type: "uuid", Category: sqlexpr.UUID},
			{Name: "Odd", Type: "text", Category: sqlexpr.String},
			{Name: "größe", Type: "bigint", Category: sqlexpr.Number},
		},
		Params: []sqlexpr.Field{
			{Name: "amount", Type: "bigint", Category: sqlexpr.Number},
			{Name: "no", Type: "text", Category: sqlexpr.String},
			{Name: "a", Type: "bigint", Category: sqlexpr.Number},
			{Name: "order", Type: "text", Category: sqlexpr.String},
		},
		Clock: true,
	}
}

// column, param and now spell parts for comparison; everything else is text.
func spell(parts []sqlexpr.Part) string {
	var b strings.Builder
	for _, p := range parts {
		switch p.Kind {
		case sqlexpr.Column:
			b.WriteString("{col " + p.Name + "}")
		case sqlexpr.Param:
			b.WriteString("{par " + p.Name + "}")
		case sqlexpr.Now:
			b.WriteString("{now}")
		default:
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

func TestParseCutsIntoParts(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"total_cents = @amount":                      "{col total_cents} = {par amount}",
		"total_cents=@amount":                        "{col total_cents}={par amount}",
		"@a + 1 <= paid_cents":                       "{par a} + 1 <= {col paid_cents}",
		"paid_cents + @amount <= total_cents":        "{col paid_cents} + {par amount} <= {col total_cents}",
		"payment_no||@no":                            "{col payment_no}||{par no}",
		"payment_no = @order":                        "{col payment_no} = {par order}",
		"payment_no = @ORDER":                        "{col payment_no} = {par order}",
		"now()":                                      "{now}",
		"paid_at > NOW ( ) - interval '30 minutes'":  "{col paid_at} > {now} - interval '30 minutes'",
		"TOTAL_cents > 0 AND Payment_No IS NOT NULL": "{col total_cents} > 0 AND {col payment_no} IS NOT NULL",
		`"Odd" = 'total_cents @amount now()'`:        "{col Odd} = 'total_cents @amount now()'",
		"größe + @a > 0":                             "{col größe} + {par a} > 0",
		"coalesce(paid_cents, 0) > @a":               "coalesce({col paid_cents}, 0) > {par a}",
		"total_cents IN (1, @a, paid_cents)":         "{col total_cents} IN (1, {par a}, {col paid_cents})",
		"total_cents BETWEEN SYMMETRIC @a AND 10":    "{col total_cents} BETWEEN SYMMETRIC {par a} AND 10",
		"@a::text = payment_no":                      "{par a}::text = {col payment_no}",
		"doc @> jsonb_build_object('no', @no)":       "{col doc} @> jsonb_build_object('no', {par no})",
		"doc->>'no' IS DISTINCT FROM @no":            "{col doc}->>'no' IS DISTINCT FROM {par no}",
		"doc['a'] IS NULL":                           "{col doc}['a'] IS NULL",
		"CASE WHEN open THEN @a ELSE 0 END":          "CASE WHEN {col open} THEN {par a} ELSE 0 END",
		"CASE payment_no WHEN @no THEN 1 END":        "CASE {col payment_no} WHEN {par no} THEN 1 END",
		"extract(year from paid_at) > 2000":          "extract(year from {col paid_at}) > 2000",
		"trim(both from payment_no) LIKE 'x%'":       "trim(both from {col payment_no}) LIKE 'x%'",
		"paid_at + make_interval(days => 3) > now()": "{col paid_at} + make_interval(days => 3) > {now}",
		"paid_at AT TIME ZONE 'UTC' IS NULL":         "{col paid_at} AT TIME ZONE 'UTC' IS NULL",
		"(total_cents, payment_no) = (@a, @no)":      "({col total_cents}, {col payment_no}) = ({par a}, {par no})",
		"payment_no = ANY (ARRAY['x', @no])":         "{col payment_no} = ANY (ARRAY['x', {par no}])",
		"nullif(payment_no, '') IS NULL":             "nullif({col payment_no}, '') IS NULL",
		"greatest(total_cents, @a) = least(@a, 3)":   "greatest({col total_cents}, {par a}) = least({par a}, 3)",
		" \n total_cents > 0 \n":                     " \n {col total_cents} > 0 \n",
		"total_cents = '12' AND open = 'yes'":        "{col total_cents} = '12' AND {col open} = 'yes'",
		"payment_no = $$a;--b$$":                     "{col payment_no} = $$a;--b$$",
		"paid_at > '2026-01-01' AND order_id = '{A0EEBC99-9C0B4EF8-BB6D6BB9BD380A11}'": "{col paid_at} > '2026-01-01' AND {col order_id} = '{A0EEBC99-9C0B4EF8-BB6D6BB9BD380A11}'",
		"NULL": "NULL",
		"0":    "0",
	} {
		parts, issues := sqlexpr.Parse(source, scope())
		require.Empty(t, issues, source)
		require.Equal(t, want, spell(parts), source)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		source  string
		offset  int
		kind    sqlexpr.Kind
		message string // a piece of it
	}{
		{"", 0, sqlexpr.Empty, "empty"},
		{" \n", 0, sqlexpr.Empty, "empty"},
		{strings.Repeat("1+", 2100) + "1", 0, sqlexpr.TooLong, "4201 bytes"},
		{"a\x00b", 0, sqlexpr.Syntax, "NUL"},
		{"'\xff'", 0, sqlexpr.Syntax, "UTF-8"},
		{"1) ; DROP TABLE x; --", 1, sqlexpr.Several, "closes"},
		{"1) + (2", 1, sqlexpr.Several, "closes"},
		{"(1", 2, sqlexpr.Several, "not closed"},
		{"(1]", 2, sqlexpr.Several, "closes"},
		{"1; 2", 1, sqlexpr.Several, "semicolon"},
		{"1, 2", 1, sqlexpr.Several, "comma"},
		{"1 -- x", 2, sqlexpr.Comment, "describe"},
		{"1 /* x */", 2, sqlexpr.Comment, "describe"},
		{"'open", 0, sqlexpr.Syntax, "unterminated"},
		{"1 FROM x", 2, sqlexpr.Syntax, "FROM"},
		{"'é' 'ü' total_cents", 5, sqlexpr.Syntax, "'ü'"},
		{"total_cents AS x", 12, sqlexpr.Syntax, "AS"},
		{"1 +", 3, sqlexpr.Syntax, "end"},
		{"(SELECT 1)", 0, sqlexpr.Subquery, "counter"},
		{"SELECT 1", 0, sqlexpr.Subquery, "counter"},
		{"EXISTS (SELECT 1 FROM x)", 0, sqlexpr.Subquery, "counter"},
		{"open AND total_cents IN (SELECT n FROM x)", 21, sqlexpr.Subquery, "counter"},
		{"sum(total_cents) > 1", 0, sqlexpr.Aggregate, "one row"},
		{"count(*) > 1", 0, sqlexpr.Aggregate, "one row"},
		{"abs(DISTINCT total_cents) > 1", 0, sqlexpr.Aggregate, "one row"},
		{"row_number() OVER () = 1", 0, sqlexpr.Aggregate, "one row"},
		{"generate_series(1, 3)", 0, sqlexpr.SetReturning, "rows"},
		{"clock_timestamp() > paid_at", 0, sqlexpr.Volatile, "now()"},
		{"1 < random()", 4, sqlexpr.Volatile, "random"},
		{"nextval('x') = 1", 0, sqlexpr.Volatile, "nextval"},
		{"pg_sleep(1) IS NULL", 0, sqlexpr.Volatile, "pg_sleep"},
		{"lo_import('x') = 1", 0, sqlexpr.Volatile, "lo_import"},
		{"current_setting('x') = 'y'", 0, sqlexpr.Volatile, "current_setting"},
		{"paid_at < CURRENT_TIMESTAMP", 10, sqlexpr.Volatile, "now()"},
		{"paid_at < localtimestamp(2)", 10, sqlexpr.Volatile, "now()"},
		{"payment_no = current_user", 13, sqlexpr.Volatile, "session"},
		{"paid_at < 'now'", 8, sqlexpr.Volatile, "clock"},
		{"'tomorrow'::timestamptz > paid_at", 12, sqlexpr.Volatile, "clock"},
		{"frobnicate(1) = 1", 0, sqlexpr.UnknownFunction, "frobnicate"},
		{"public.lower(payment_no) = 'x'", 0, sqlexpr.Qualified, "schema"},
		{"pg_catalog.pg_sleep(1) IS NULL", 0, sqlexpr.Qualified, "schema"},
		{"orders.total_cents = 1", 0, sqlexpr.Qualified, "without a table"},
		{"orders.*", 0, sqlexpr.Qualified, "without a table"},
		{"1 OPERATOR(pg_catalog.+) 2", 2, sqlexpr.Qualified, "plain operator"},
		{"total_cent = 1", 0, sqlexpr.UnknownColumn, "total_cent"},
		{`"Total_cents" = 1`, 0, sqlexpr.UnknownColumn, "Total_cents"},
		{"1 = @amuont", 4, sqlexpr.UnknownParam, "amuont"},
		{"@ total_cents = 1", 0, sqlexpr.ParamSpelling, "abs"},
		{"$1 = total_cents", 0, sqlexpr.ParamSpelling, "@name"},
		{"total_cents = :amount", 14, sqlexpr.ParamSpelling, "@amount"},
		{"total_cents = sqlc.arg(amount)", 14, sqlexpr.ParamSpelling, "@name"},
		{"total_cents <@amount", 12, sqlexpr.ParamSpelling, "space"},
		{"total_cents ~@amount", 12, sqlexpr.ParamSpelling, "space"},
		{"total_cents@amount", 11, sqlexpr.Syntax, "operator is missing"},
		{"total_cents =@ paid_cents", 12, sqlexpr.Unsupported, "=@"},
		{"payment_no::regclass = 1", 12, sqlexpr.Unsupported, "regclass"},
		{"(doc).x = 1", 0, sqlexpr.Unsupported, "subscripts"},
		{"total_cents = DEFAULT", 14, sqlexpr.Unsupported, "DEFAULT"},
		{"total_cents = payment_no", 12, sqlexpr.Mismatch, "compares bigint total_cents with text payment_no"},
		{"open < 3", 5, sqlexpr.Mismatch, "compares boolean open with a number"},
		{"total_cents = 'abc'", 14, sqlexpr.Mismatch, "compares bigint total_cents with the text 'abc'"},
		{"'1e9e9' = total_cents", 0, sqlexpr.Mismatch, "compares bigint total_cents with the text '1e9e9'"},
		{"open = 'perhaps'", 7, sqlexpr.Mismatch, "'perhaps'"},
		{"payment_no IN ('a', 3)", 11, sqlexpr.Mismatch, "a number"},
		{"total_cents + 1 IS DISTINCT FROM payment_no", 16, sqlexpr.Mismatch, "a number with text payment_no"},
		{"order_id = @no", 9, sqlexpr.Mismatch, "compares uuid order_id with text @no"},
		{"open AND total_cents", 5, sqlexpr.NotBoolean, "bigint total_cents"},
		{"CASE WHEN 1 THEN 2 END", 5, sqlexpr.NotBoolean, "a number"},
		{"now(3)", 0, sqlexpr.Syntax, "argument"},
	} {
		parts, issues := sqlexpr.Parse(c.source, scope())
		require.NotEmpty(t, issues, c.source)
		require.Nil(t, parts, c.source)
		require.Equal(t, c.kind, issues[0].Kind, "%s: %s", c.source, issues[0].Message)
		require.Equal(t, c.offset, issues[0].Offset, "%s: %s", c.source, issues[0].Message)
		require.Contains(t, issues[0].Message, c.message, c.source)
	}
}

func TestParseReportsEveryIssue(t *testing.T) {
	t.Parallel()
	_, issues := sqlexpr.Parse("totl = @amont AND random() > 1 AND x.y = 2", scope())
	var kinds []sqlexpr.Kind
	var names []string
	for _, i := range issues {
		kinds, names = append(kinds, i.Kind), append(names, i.Name)
	}
	require.Equal(t, []sqlexpr.Kind{sqlexpr.UnknownColumn, sqlexpr.UnknownParam, sqlexpr.Volatile, sqlexpr.Qualified}, kinds)
	require.Equal(t, []string{"totl", "amont", "random", ""}, names)
}

func TestParseJudgesWhatIsWanted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		source string
		want   sqlexpr.Category
		issue  bool
	}{
		{"open", sqlexpr.Boolean, false},
		{"total_cents = 1", sqlexpr.Boolean, false},
		{"total_cents", sqlexpr.Boolean, true},
		{"total_cents + 1", sqlexpr.Boolean, true},
		{"payment_no || 'x'", sqlexpr.Boolean, true},
		{"paid_at - now()", sqlexpr.Boolean, true},
		{"'yes'", sqlexpr.Boolean, false},
		{"coalesce(open, false)", sqlexpr.Boolean, false},
		{"coalesce(total_cents, 0)", sqlexpr.Boolean, true},
		{"NULL", sqlexpr.Boolean, false},
		{"@no", sqlexpr.Number, true},
		{"'12'", sqlexpr.Number, false},
		{"'-1.5e3'", sqlexpr.Number, false},
		{"'0x1F'", sqlexpr.Number, false},
		{"'abc'", sqlexpr.Number, true},
		{"@amount * 2", sqlexpr.Number, false},
		{"total_cents > 1", sqlexpr.Number, true},
		{"total_cents", sqlexpr.String, true},
		{"total_cents::text", sqlexpr.String, false},
		{"lower(payment_no)", sqlexpr.String, false},
		{"now()", sqlexpr.Time, false},
		{"'now'", sqlexpr.Time, true},
		{"'2026-01-01'", sqlexpr.Time, false},
		{"now() + interval '1 day'", sqlexpr.Time, false},
		{"CASE WHEN open THEN 1 ELSE 2 END", sqlexpr.Boolean, true},
	} {
		s := scope()
		s.Want = sqlexpr.Want{Category: c.want, As: "the thing"}
		_, issues := sqlexpr.Parse(c.source, s)
		require.Equal(t, c.issue, len(issues) > 0, "%s: %v", c.source, issues)
	}
}

func TestParseWithoutClock(t *testing.T) {
	t.Parallel()
	s := scope()
	s.Clock = false
	_, issues := sqlexpr.Parse("paid_at < now()", s)
	require.Len(t, issues, 1)
	require.Equal(t, sqlexpr.Clock, issues[0].Kind)
	require.Equal(t, 10, issues[0].Offset)
}

func TestParseSurvivesDepth(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		strings.Repeat("(", 2000) + "1" + strings.Repeat(")", 2000),
		strings.Repeat("NOT ", 1000) + "open",
		strings.Repeat("- ", 2000) + "1",
		strings.Repeat("1+", 2000) + "1",
		strings.Repeat("abs(", 600) + "1" + strings.Repeat(")", 600),
		strings.Repeat("CASE WHEN open THEN ", 150) + "1" + strings.Repeat(" END", 150),
		strings.Repeat("ARRAY[", 500) + "1" + strings.Repeat("]", 500),
	} {
		parts, issues := sqlexpr.Parse(source, scope())
		require.True(t, len(issues) > 0 || len(parts) > 0)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"total_cents = @amount", "1) ; DROP TABLE x; --", "paid_at < now ( )", "a@b", `"Odd" = U&'x'`, "@a+@a", "doc #>> '{a}'",
		"CASE WHEN open THEN 1 END", "$$ @a $$ = payment_no", "(SELECT 1)", "größe > 'é'", "now(", "total_cents IN (@a,1)",
	} {
		f.Add(seed)
	}
	// The parser is made ready on its first use, which would pass for a hang.
	sqlexpr.Parse("1", scope())
	f.Fuzz(func(t *testing.T, source string) {
		parts, issues := sqlexpr.Parse(source, scope())
		if len(issues) > 0 {
			require.Nil(t, parts)
			for _, i := range issues {
				require.True(t, 0 <= i.Offset && i.Offset <= len(source))
				require.NotEmpty(t, i.Message)
			}
			return
		}
		var whole strings.Builder
		for _, p := range parts {
			whole.WriteString(p.Text)
			if p.Kind == sqlexpr.Param {
				require.Equal(t, "@"+p.Name, strings.ToLower(p.Text))
			}
		}
		require.Equal(t, source, whole.String())
	})
}
