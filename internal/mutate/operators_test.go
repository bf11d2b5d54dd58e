package mutate

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// someWords are the names that the statements of these tests are made of.
var someWords = &words{
	states: []string{"NEW", "PAID", "SENT"},
	events: []string{"pay", "send"},
	topics: []string{"paid", "sent"},
	params: []string{"@actor::text", "@reason::text", "@cents::bigint"},
}

// made returns what one operator makes of a text: the whole texts, on one line.
func made(t *testing.T, operator, sql string) []string {
	t.Helper()
	parsed, err := read(sql)
	require.NoError(t, err)
	m := &maker{source: &Source{Name: "X", Text: sql, Migration: true, words: someWords}, seen: map[string]bool{}, count: map[string]int{}}
	for _, op := range Operators() {
		if op.Name != operator {
			continue
		}
		for _, root := range parsed.roots {
			require.NoError(t, m.statement(op, parsed, root))
		}
	}
	out := make([]string, len(m.out))
	for i, x := range m.out {
		out[i] = squeeze(x.Text)
		_, err := read(x.Text)
		require.NoError(t, err, "%s made what cannot be parsed: %s", operator, x.Text)
	}
	return out
}

func TestOperators(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, tc := range []struct {
		operator, sql string
		want          []string
	}{
		{"state-drop", "SELECT 1 WHERE a IN ('NEW', 'PAID') AND b = 'SENT' AND c = 'other'", []string{
			"SELECT 1 WHERE a IN ('PAID') AND b = 'SENT' AND c = 'other'",
			"SELECT 1 WHERE a IN ('NEW') AND b = 'SENT' AND c = 'other'",
			"SELECT 1 WHERE a IN ('NEW', 'PAID') AND false AND c = 'other'",
		}},
		{"state-add", "SELECT 1 WHERE a IN ('NEW', 'PAID') AND b = 'SENT'", []string{
			"SELECT 1 WHERE a IN ('NEW', 'PAID', 'SENT') AND b = 'SENT'",
			"SELECT 1 WHERE a IN ('NEW', 'PAID') AND b IN ('SENT', 'NEW')",
			"SELECT 1 WHERE a IN ('NEW', 'PAID') AND b IN ('SENT', 'PAID')",
		}},
		{"state-other", "UPDATE o SET status = 'PAID', was = 'NEW'", []string{
			"UPDATE o SET status = 'NEW', was = 'NEW'",
			"UPDATE o SET status = 'SENT', was = 'NEW'",
			"UPDATE o SET status = 'PAID', was = 'PAID'",
		}},
		{"cell-other", `SELECT (CASE WHEN a = 'NEW' THEN 1 WHEN a IN ('PAID', 'SENT') AND g THEN 2 ELSE 0 END) AS fsm_cell`, []string{
			"SELECT (CASE WHEN false THEN 1 WHEN a IN ('PAID', 'SENT', 'NEW') AND g THEN 2 ELSE 0 END) AS fsm_cell",
			"SELECT (CASE WHEN a IN ('NEW', 'PAID') THEN 1 WHEN a IN ('SENT') AND g THEN 2 ELSE 0 END) AS fsm_cell",
			"SELECT (CASE WHEN a IN ('NEW', 'SENT') THEN 1 WHEN a IN ('PAID') AND g THEN 2 ELSE 0 END) AS fsm_cell",
		}},
		{"compare", "SELECT 1 WHERE a = 1 AND b < 2 AND c >= d AND e IN (1, 2) AND f BETWEEN 1 AND 2", []string{
			"SELECT 1 WHERE a <> 1 AND b < 2 AND c >= d AND e IN (1, 2) AND f BETWEEN 1 AND 2",
			"SELECT 1 WHERE a = 1 AND b <= 2 AND c >= d AND e IN (1, 2) AND f BETWEEN 1 AND 2",
			"SELECT 1 WHERE a = 1 AND b >= 2 AND c >= d AND e IN (1, 2) AND f BETWEEN 1 AND 2",
			"SELECT 1 WHERE a = 1 AND b < 2 AND c > d AND e IN (1, 2) AND f BETWEEN 1 AND 2",
			"SELECT 1 WHERE a = 1 AND b < 2 AND c < d AND e IN (1, 2) AND f BETWEEN 1 AND 2",
			"SELECT 1 WHERE a = 1 AND b < 2 AND c >= d AND e NOT IN (1, 2) AND f BETWEEN 1 AND 2",
			"SELECT 1 WHERE a = 1 AND b < 2 AND c >= d AND e IN (1, 2) AND f NOT BETWEEN 1 AND 2",
		}},
		{"compare", "SELECT 1 WHERE (total = @cents) IS TRUE", []string{ // the boundary of a guard
			"SELECT 1 WHERE (total <> @cents) IS TRUE",
			"SELECT 1 WHERE (total <= @cents) IS TRUE",
			"SELECT 1 WHERE (total >= @cents) IS TRUE",
		}},
		{"number", "UPDATE o SET version = l.version + 1 FROM l WHERE EXISTS (SELECT 1 FROM f)", []string{
			"UPDATE o SET version = l.version + 2 FROM l WHERE EXISTS (SELECT 1 FROM f)",
			"UPDATE o SET version = l.version + 0 FROM l WHERE EXISTS (SELECT 1 FROM f)",
		}},
		{"and-drop", "SELECT 1 WHERE a AND (b OR c) AND NOT d", []string{
			"SELECT 1 WHERE (b OR c) AND NOT d",
			"SELECT 1 WHERE a AND NOT d",
			"SELECT 1 WHERE a AND (b OR c)",
		}},
		{"or-drop", "SELECT 1 WHERE a AND (b AND x OR c)", []string{
			"SELECT 1 WHERE a AND (c)",
			"SELECT 1 WHERE a AND (b AND x)",
		}},
		{"and-or", "SELECT 1 WHERE a AND (b OR c)", []string{
			"SELECT 1 WHERE a OR (b OR c)",
			"SELECT 1 WHERE a AND (b AND c)",
		}},
		{"where-drop", "UPDATE o SET a = 1 FROM l WHERE o.k = l.k RETURNING o.k", []string{
			"UPDATE o SET a = 1 FROM l RETURNING o.k",
		}},
		{"not-drop", "SELECT 1 WHERE a AND NOT EXISTS (SELECT 1 FROM f)", []string{
			"SELECT 1 WHERE a AND EXISTS (SELECT 1 FROM f)",
		}},
		{"is-true", "SELECT 1 WHERE (a < 1) IS TRUE AND (b) IS NOT FALSE", []string{
			"SELECT 1 WHERE (a < 1) AND (b) IS NOT FALSE",
			"SELECT 1 WHERE (a < 1) IS NOT TRUE AND (b) IS NOT FALSE",
			"SELECT 1 WHERE (a < 1) IS NOT FALSE AND (b) IS NOT FALSE",
			"SELECT 1 WHERE (a < 1) IS TRUE AND (b)",
			"SELECT 1 WHERE (a < 1) IS TRUE AND (b) IS FALSE",
			"SELECT 1 WHERE (a < 1) IS TRUE AND (b) IS TRUE",
		}},
		{"is-null", "SELECT a IS NULL, b IS NOT NULL", []string{
			"SELECT a IS NOT NULL, b IS NOT NULL",
			"SELECT a IS NULL, b IS NULL",
		}},
		{"bool", "SELECT true FROM a JOIN b ON true", []string{"SELECT false FROM a JOIN b ON true", "SELECT true FROM a JOIN b ON false"}},
		{"when-drop", "SELECT CASE WHEN a THEN 1 WHEN b THEN 2 ELSE 0 END, CASE x WHEN 3 THEN y END", []string{
			"SELECT CASE WHEN b THEN 2 ELSE 0 END, CASE x WHEN 3 THEN y END",
			"SELECT CASE WHEN a THEN 1 ELSE 0 END, CASE x WHEN 3 THEN y END",
			"SELECT CASE WHEN a THEN 1 WHEN b THEN 2 ELSE 0 END, NULL",
		}},
		{"when-swap", "SELECT CASE WHEN a THEN 1 WHEN b THEN 2 ELSE 0 END", []string{
			"SELECT CASE WHEN b THEN 2 WHEN a THEN 1 ELSE 0 END",
		}},
		{"result-swap", "SELECT CASE WHEN a THEN 1 WHEN b THEN 2 ELSE 0 END", []string{
			"SELECT CASE WHEN a THEN 2 WHEN b THEN 1 ELSE 0 END",
			"SELECT CASE WHEN a THEN 1 WHEN b THEN 0 ELSE 2 END",
		}},
		{"else-drop", "SELECT CASE WHEN a THEN 1 ELSE 0 END", []string{"SELECT CASE WHEN a THEN 1 END"}},
		{"arithmetic", "SELECT a + 1, b - c", []string{"SELECT a - 1, b - c", "SELECT a + 1, b + c"}},
		{"operand-drop", "SELECT a + 1, now() + interval '1 hour'", []string{
			"SELECT a + 1, now()",
			"SELECT a + 1, interval '1 hour'",
		}},
		{"coalesce", "SELECT COALESCE(@at::timestamptz, now())", []string{"SELECT @at::timestamptz", "SELECT now()"}},
		{"interval", "SELECT now() + interval '15 minutes'", []string{"SELECT now() + interval '15 minutes 1 second'"}},
		{"param-other", "SELECT @actor::text, @cents::bigint, @other::text", []string{"SELECT @reason::text, @cents::bigint, @other::text"}},
		{"argument-drop", "SELECT jsonb_build_object('a', 1, 'b', 2), concat(x)", []string{
			"SELECT jsonb_build_object('b', 2), concat(x)",
			"SELECT jsonb_build_object('a', 1), concat(x)",
			"SELECT jsonb_build_object('a', 1, 'b', 2), concat()",
		}},
		{"argument-swap", "SELECT jsonb_build_object('a', 1, 'b', 2), jsonb_build_array(x, y)", []string{
			"SELECT jsonb_build_object('a', 2, 'b', 1), jsonb_build_array(x, y)",
			"SELECT jsonb_build_object('a', 1, 'b', 2), jsonb_build_array(y, x)",
		}},
		{"topic-drop", "SELECT ARRAY['paid'], ARRAY['paid', 'sent']", []string{
			"SELECT ARRAY[]::text[], ARRAY['paid', 'sent']",
			"SELECT ARRAY['paid'], ARRAY['sent']",
			"SELECT ARRAY['paid'], ARRAY['paid']",
		}},
		{"topic-drop", "SELECT 1 FROM f CROSS JOIN LATERAL (SELECT 'paid'::text) AS e(topic)", []string{
			"SELECT 1 FROM f CROSS JOIN LATERAL (SELECT 'paid'::text WHERE false) AS e(topic)",
		}},
		{"topic-drop", "SELECT 1 FROM f CROSS JOIN LATERAL (SELECT CASE f.c WHEN 1 THEN 'paid' WHEN 2 THEN 'sent' END) AS e(topic)", []string{
			"SELECT 1 FROM f CROSS JOIN LATERAL (SELECT CASE f.c WHEN 1 THEN 'paid' WHEN 2 THEN 'sent' END WHERE false) AS e(topic)",
			"SELECT 1 FROM f CROSS JOIN LATERAL (SELECT CASE f.c WHEN 2 THEN 'sent' END) AS e(topic)",
			"SELECT 1 FROM f CROSS JOIN LATERAL (SELECT CASE f.c WHEN 1 THEN 'paid' END) AS e(topic)",
		}},
		{"topic-twice", "SELECT ARRAY['paid']", []string{"SELECT ARRAY['paid', 'paid']"}},
		{"topic-twice", "SELECT 1 FROM f CROSS JOIN LATERAL (SELECT 'paid'::text) AS e(topic)", []string{
			"SELECT 1 FROM f CROSS JOIN LATERAL (SELECT 'paid'::text UNION ALL SELECT 'paid'::text) AS e(topic)",
		}},
		{"outcome-other", "SELECT 'Applied', 'raced'", []string{
			"SELECT 'Replayed', 'raced'",
			"SELECT 'Applied', 'Applied'",
			"SELECT 'Applied', 'Replayed'",
			"SELECT 'Applied', 'Ignored'",
		}},
		{"event-other", "SELECT 'pay'", []string{"SELECT 'send'"}},
		{"topic-other", "SELECT ARRAY['sent']", []string{"SELECT ARRAY['paid']"}},
		{"text-other", "SELECT '', 'key', 'NEW', 'pay', 'paid', interval '1 hour', sqlc.arg('a'), current_setting('x')", []string{
			"SELECT 'x', 'key', 'NEW', 'pay', 'paid', interval '1 hour', sqlc.arg('a'), current_setting('x')",
			"SELECT '', 'keyx', 'NEW', 'pay', 'paid', interval '1 hour', sqlc.arg('a'), current_setting('x')",
		}},
		{"row-other", "UPDATE o SET version = l.version + 1, cents = o.cents FROM l WHERE o.k = l.k", []string{
			"UPDATE o SET version = o.version + 1, cents = o.cents FROM l WHERE o.k = l.k",
			"UPDATE o SET version = l.version + 1, cents = l.cents FROM l WHERE o.k = l.k",
		}},
		{"column-other", "SELECT f.from_status AS x, f.version FROM f", []string{"SELECT f.to_status AS x, f.version FROM f"}},
		{"value-swap", "INSERT INTO h (a, b) SELECT l.a, m.b FROM l, m", []string{"INSERT INTO h (a, b) SELECT m.b, l.a FROM l, m"}},
		{"value-drop", "INSERT INTO h (a, b) VALUES (1, 'x')", []string{
			"INSERT INTO h (b) VALUES ('x')",
			"INSERT INTO h (a) VALUES (1)",
		}},
		{"set-drop", "UPDATE o SET a = 1, b = NULL WHERE k", []string{"UPDATE o SET b = NULL WHERE k", "UPDATE o SET a = 1 WHERE k"}},
		{"set-null", "UPDATE o SET a = (1 + 1)", []string{"UPDATE o SET a = NULL"}},
		{"write-drop", "WITH a AS (SELECT 1), h AS (INSERT INTO t SELECT 1 FROM a) SELECT 1 FROM a", []string{
			"WITH a AS (SELECT 1) SELECT 1 FROM a",
		}},
		{"write-twice", "WITH a AS (SELECT 1), h AS (INSERT INTO t SELECT 1 FROM a) SELECT 1 FROM a", []string{
			"WITH a AS (SELECT 1), h AS (INSERT INTO t SELECT 1 FROM a), h_again AS (INSERT INTO t SELECT 1 FROM a) SELECT 1 FROM a",
		}},
		{"join-drop", "UPDATE o SET a = 1 FROM l JOIN f ON f.k = l.k WHERE true", []string{"UPDATE o SET a = 1 FROM l WHERE true"}},
		{"join-kind", "SELECT 1 FROM a JOIN b ON x LEFT JOIN c ON y", []string{
			"SELECT 1 FROM a JOIN b ON x JOIN c ON y",
			"SELECT 1 FROM a LEFT JOIN b ON x LEFT JOIN c ON y",
		}},
		{"answer-drop", "SELECT 1 UNION ALL SELECT 2", []string{"SELECT 2", "SELECT 1"}},
		{"exists-other", "WITH a AS (SELECT 1), b AS (SELECT 2) SELECT 1 WHERE EXISTS (SELECT 1 FROM a)", []string{
			"WITH a AS (SELECT 1), b AS (SELECT 2) SELECT 1 WHERE EXISTS (SELECT 1 FROM b)",
		}},
		{"conflict-drop", "INSERT INTO f SELECT 1 ON CONFLICT ON CONSTRAINT c DO NOTHING RETURNING k", []string{"INSERT INTO f SELECT 1 RETURNING k"}},
		{"materialized-drop", "WITH a AS MATERIALIZED (SELECT 1) SELECT 1 FROM a", []string{"WITH a AS (SELECT 1) SELECT 1 FROM a"}},
		{"lock-drop", "SELECT 1 FROM o LIMIT 1 FOR NO KEY UPDATE OF o SKIP LOCKED", []string{"SELECT 1 FROM o LIMIT 1"}},
		{"lock-strong", "SELECT 1 FROM o FOR NO KEY UPDATE OF o", []string{"SELECT 1 FROM o FOR UPDATE OF o"}},
		{"lock-weak", "SELECT 1 FROM o FOR NO KEY UPDATE OF o SKIP LOCKED", []string{"SELECT 1 FROM o FOR SHARE OF o SKIP LOCKED"}},
		{"lock-wait", "SELECT 1 FROM o FOR NO KEY UPDATE OF o SKIP LOCKED", []string{"SELECT 1 FROM o FOR NO KEY UPDATE OF o"}},
		{"lock-wait", "SELECT 1 FROM o FOR NO KEY UPDATE OF o", []string{
			"SELECT 1 FROM o FOR NO KEY UPDATE OF o NOWAIT",
			"SELECT 1 FROM o FOR NO KEY UPDATE OF o SKIP LOCKED",
		}},
		{"order-turn", "SELECT 1 FROM o ORDER BY a DESC, b", []string{"SELECT 1 FROM o ORDER BY a, b", "SELECT 1 FROM o ORDER BY a DESC, b DESC"}},
		{"order-drop", "SELECT 1 FROM o ORDER BY a DESC, b LIMIT 1", []string{
			"SELECT 1 FROM o ORDER BY b LIMIT 1",
			"SELECT 1 FROM o ORDER BY a DESC LIMIT 1",
			"SELECT 1 FROM o LIMIT 1",
		}},
		{"limit-drop", "SELECT 1 FROM o LIMIT @n::integer OFFSET @m::integer", []string{
			"SELECT 1 FROM o OFFSET @m::integer",
			"SELECT 1 FROM o LIMIT @n::integer",
		}},
		{"row-unlocked", "WITH locked AS (SELECT k FROM o FOR NO KEY UPDATE OF o) SELECT 1 FROM locked AS l", []string{
			"WITH locked AS (SELECT k FROM o FOR NO KEY UPDATE OF o) SELECT 1 FROM (SELECT k FROM o) AS l",
		}},
		{
			"fact-unasked",
			"WITH fact AS (SELECT 1), moved AS (UPDATE o SET a = 1 FROM l JOIN fact AS f ON f.k = l.k WHERE x), " +
				"history AS (INSERT INTO h SELECT 1 FROM l JOIN fact AS f ON true LEFT JOIN moved AS m ON y) SELECT 1",
			[]string{"WITH fact AS (SELECT 1), moved AS (UPDATE o SET a = 1 FROM l WHERE x), " +
				"history AS (INSERT INTO h SELECT 1 FROM l LEFT JOIN moved AS m ON y) SELECT 1"},
		},
		{
			"emit-unasked",
			"WITH fact AS (INSERT INTO f (k, v) SELECT l.k, l.v + 1 FROM locked AS l ON CONFLICT DO NOTHING RETURNING k, v), " +
				"emitted AS (INSERT INTO b SELECT f.v FROM fact AS f JOIN locked AS l ON true) SELECT 1",
			[]string{"WITH fact AS (INSERT INTO f (k, v) SELECT l.k, l.v + 1 FROM locked AS l ON CONFLICT DO NOTHING RETURNING k, v), " +
				"emitted AS (INSERT INTO b SELECT f.v FROM (SELECT l.k AS k, l.v + 1 AS v FROM locked AS l) AS f JOIN locked AS l ON true) SELECT 1"},
		},
		{"constraint-drop", "CREATE TABLE t (a text NOT NULL, b int NOT NULL DEFAULT 0, CONSTRAINT p PRIMARY KEY (a), CONSTRAINT c CHECK (b > (0)))", []string{
			"CREATE TABLE t (a text NOT NULL, b int DEFAULT 0, CONSTRAINT p PRIMARY KEY (a), CONSTRAINT c CHECK (b > (0)))",
			"CREATE TABLE t (a text NOT NULL, b int NOT NULL , CONSTRAINT p PRIMARY KEY (a), CONSTRAINT c CHECK (b > (0)))",
			"CREATE TABLE t (a text NOT NULL, b int NOT NULL DEFAULT 0, CONSTRAINT c CHECK (b > (0)))",
			"CREATE TABLE t (a text NOT NULL, b int NOT NULL DEFAULT 0, CONSTRAINT p PRIMARY KEY (a))",
		}},
		{"key-drop", "CREATE TABLE t (CONSTRAINT p PRIMARY KEY (a, b), CONSTRAINT q PRIMARY KEY (a))", []string{
			"CREATE TABLE t (CONSTRAINT p PRIMARY KEY (b), CONSTRAINT q PRIMARY KEY (a))",
			"CREATE TABLE t (CONSTRAINT p PRIMARY KEY (a), CONSTRAINT q PRIMARY KEY (a))",
		}},
		{"object-drop", "CREATE INDEX i ON t (a); SELECT 1; CREATE TRIGGER r AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION f();", []string{
			"; SELECT 1; CREATE TRIGGER r AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION f();",
			"CREATE INDEX i ON t (a); SELECT 1; ;",
		}},
		{"trigger-narrow", "CREATE TRIGGER r AFTER UPDATE ON t FOR EACH ROW WHEN (OLD.a <> NEW.a) EXECUTE FUNCTION f()", []string{
			"CREATE TRIGGER r AFTER UPDATE OF status ON t FOR EACH ROW WHEN (OLD.a <> NEW.a) EXECUTE FUNCTION f()",
		}},
	} {
		seen[tc.operator] = true
		t.Run(tc.operator, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, made(t, tc.operator, tc.sql))
		})
	}
	for _, op := range Operators() {
		require.True(t, seen[op.Name], "no test of %s", op.Name)
		require.NotEmpty(t, op.Describe)
	}
}

// The body of a function is a string to the parser, and broken all the same.
func TestBodiesOfFunctionsAreBroken(t *testing.T) {
	t.Parallel()
	const head = "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
	require.Equal(t, []string{
		head + "IF NEW.k = OLD.k THEN RETURN NULL; END IF; DELETE FROM h WHERE h.k = OLD.k; END $$",
		head + "IF NEW.k = OLD.k AND a THEN RETURN NULL; END IF; DELETE FROM h ; END $$",
	}, append(
		made(t, "and-drop", head+"IF a AND NEW.k = OLD.k THEN RETURN NULL; END IF; DELETE FROM h WHERE h.k = OLD.k; END $$")[:1],
		made(t, "where-drop", head+"IF NEW.k = OLD.k AND a THEN RETURN NULL; END IF; DELETE FROM h WHERE h.k = OLD.k; END $$")...))
}
