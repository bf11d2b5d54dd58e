package keyed

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// told is what is told of a text's references to t, by k, and u, by v.
func told(t *testing.T, sql string) string {
	t.Helper()
	refs, err := References(sql, []Table{{"t", "k"}, {"u", "v"}})
	require.NoError(t, err, sql)
	var list []string
	for _, r := range refs {
		list = append(list, r.String())
	}
	return strings.Join(list, ", ")
}

func TestReferences(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]string{
		``:                              "",
		`SELECT 1`:                      "",
		`SELECT w.a FROM w WHERE w.k=1`: "",

		`SELECT a FROM t`:                                          "t anywhere",
		`SELECT a FROM t WHERE k = @key::uuid`:                     "t by key",
		`SELECT a FROM t AS o WHERE sqlc.arg('key')::text = o.k`:   "t by key",
		`SELECT a FROM t WHERE k = COALESCE(@key::text)::date`:     "t by key",
		`SELECT a FROM t WHERE (a = 1 AND k = @key) IS TRUE`:       "t by key",
		`SELECT a FROM t WHERE k = concat(@a::text, '/', @b)`:      "t by concat(a, b)",
		`SELECT a FROM t WHERE k = 1`:                              "t anywhere",
		`SELECT a FROM t WHERE k = COALESCE(@key, k)`:              "t anywhere",
		`SELECT a FROM t WHERE k = @key OR a = 1`:                  "t anywhere",
		`SELECT a FROM t WHERE NOT k = @key`:                       "t anywhere",
		`SELECT a FROM t WHERE (k = @key) IS NOT TRUE`:             "t anywhere",
		`SELECT a FROM t WHERE k <> @key`:                          "t anywhere",
		`SELECT a FROM t WHERE k IN (SELECT x FROM w)`:             "t anywhere",
		`SELECT a FROM t WHERE k::text = @key`:                     "t anywhere",
		`SELECT a FROM t WHERE other = @key`:                       "t anywhere",
		`SELECT a FROM t WHERE k = @key FOR NO KEY UPDATE OF t`:    "t by key",
		`SELECT a FROM t WHERE EXISTS (SELECT FROM u)`:             "t anywhere, u anywhere",
		`SELECT (SELECT v FROM u WHERE v = t.k) FROM t WHERE k=@k`: "u by k, t by k",

		`SELECT 1 FROM t JOIN u ON u.v = t.k WHERE t.k = @key`:                                                    "t by key, u by key",
		`SELECT 1 FROM t, u WHERE u.v = t.k AND u.v = @key`:                                                       "t by key, u by key",
		`SELECT 1 FROM t JOIN u ON u.v = t.a WHERE t.k = @key`:                                                    "t by key, u anywhere",
		`SELECT 1 FROM t LEFT JOIN u ON u.v = t.k AND t.k = @key`:                                                 "t anywhere, u anywhere",
		`SELECT 1 FROM t LEFT JOIN u ON u.v = @key`:                                                               "t anywhere, u by key",
		`SELECT 1 FROM t RIGHT JOIN u ON u.v = @key AND t.k = @key`:                                               "t by key, u anywhere",
		`SELECT 1 FROM t FULL JOIN u ON u.v = @key AND t.k = @key`:                                                "t anywhere, u anywhere",
		`SELECT 1 FROM t JOIN u USING (k) WHERE t.k = @key`:                                                       "t by key, u anywhere",
		`SELECT 1 FROM t LEFT JOIN LATERAL (SELECT FROM u WHERE u.v = t.k LIMIT 1) AS x ON true WHERE t.k = @key`: "t by key, u by key",
		`SELECT 1 FROM (SELECT @key::text AS a) AS x JOIN t ON t.k = x.a`:                                         "t by key",
		`SELECT 1 FROM (SELECT @key::text) AS x(a) JOIN t ON t.k = x.a`:                                           "t by key",
		`SELECT 1 FROM (SELECT unnest(@keys::text[]) AS a) AS x JOIN t ON t.k = x.a`:                              "t by each keys",
		`SELECT 1 FROM (SELECT k FROM t WHERE k = @key) AS x JOIN u ON u.v = x.k`:                                 "t by key, u by key",

		`WITH c AS (SELECT k FROM t WHERE k = @key) SELECT 1 FROM u JOIN c ON c.k = u.v`:                                     "t by key, u by key",
		`WITH c AS (SELECT k, a FROM t WHERE k = @key) SELECT 1 FROM u JOIN c ON c.a = u.v`:                                  "t by key, u anywhere",
		`WITH c(x) AS (SELECT k FROM t WHERE k = @key) SELECT 1 FROM u WHERE v IN (SELECT c.x FROM c)`:                       "t by key, u by key",
		`WITH t AS (SELECT 1) SELECT 1 FROM t`:                                                                               "",
		`WITH c AS (SELECT k FROM t WHERE k = @a UNION ALL SELECT k FROM t WHERE k = @a) SELECT 1 FROM u, c WHERE u.v = c.k`: "t by a, t by a, u by a",
		`WITH c AS (SELECT k FROM t WHERE k = @a UNION ALL SELECT k FROM t WHERE k = @b) SELECT 1 FROM u, c WHERE u.v = c.k`: "t by a, t by b, u anywhere",

		`INSERT INTO t (a, k) VALUES (1, @key::uuid)`:                                                 "t by key",
		`INSERT INTO t (a, k) VALUES (1, @a), (1, @b)`:                                                "t anywhere",
		`INSERT INTO t (k, a) VALUES (1, @key)`:                                                       "t anywhere",
		`INSERT INTO t VALUES (@key)`:                                                                 "t anywhere",
		`WITH c AS (INSERT INTO t (k) VALUES (@key) RETURNING k) INSERT INTO u (v) SELECT c.k FROM c`: "t by key, u by key",
		`INSERT INTO t (k) VALUES (@key) ON CONFLICT (k) DO UPDATE SET a = (SELECT 1 FROM u)`:         "t by key, u anywhere",

		`UPDATE t SET a = 1 WHERE k = @key`:                                                                          "t by key",
		`UPDATE t SET k = @other WHERE k = @key`:                                                                     "t anywhere",
		`UPDATE t AS o SET a = 1 FROM u WHERE o.k = u.v AND u.v = @key`:                                              "t by key, u by key",
		`UPDATE t SET a = (SELECT max(a) FROM u WHERE v = t.k) WHERE k = @key`:                                       "t by key, u by key",
		`WITH m AS (UPDATE t AS o SET a = 1 WHERE o.k = @key RETURNING o.k AS x) SELECT 1 FROM u, m WHERE u.v = m.x`: "t by key, u by key",
		`DELETE FROM t WHERE k = @key`:                                                                               "t by key",
		`DELETE FROM t USING u WHERE k = v AND u.v = @key`:                                                           "t anywhere, u by key",
		`DELETE FROM t`: "t anywhere",
		`MERGE INTO t USING u ON t.k = u.v WHEN MATCHED THEN DELETE`: "t anywhere, u anywhere",
		`TRUNCATE t`:                            "t anywhere",
		`SELECT 1 FROM t WHERE k = @a; TABLE u`: "t by a, u anywhere",
	} {
		require.Equal(t, want, told(t, sql), sql)
	}
}

func TestReferencesRefuses(t *testing.T) {
	t.Parallel()
	_, err := References("SELEC 1", nil)
	require.ErrorContains(t, err, "syntax error")
}
