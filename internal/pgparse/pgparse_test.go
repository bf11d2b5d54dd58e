package pgparse_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/pgparse"
)

// What would exhaust the parser's stack is refused before, and the parser is whole after it.
func TestDepthIsBounded(t *testing.T) {
	t.Parallel()
	many := func(s string) string { return strings.Repeat(s, 2000) }
	for name, sql := range map[string]string{
		"brackets":   "SELECT " + many("(") + "1" + many(")"),
		"subqueries": many("SELECT * FROM (") + "SELECT 1" + many(") AS a"),
		"cases":      "SELECT " + many("CASE WHEN true THEN ") + "1" + many(" END"),
		"operators":  "SELECT 1" + many(" + 1"),
		"negations":  "SELECT " + many("NOT ") + "true",
		"casts":      "SELECT 1" + many("::int"),
		"unions":     "SELECT 1, 2" + many(" UNION SELECT 1, 2"),
		"joins":      "SELECT 1 FROM a" + many(" CROSS JOIN a"),
		"atomic":     many("CREATE FUNCTION f() RETURNS int BEGIN ATOMIC ") + "SELECT 1;" + many("END;"),
		"arrays":     "SELECT " + many("ARRAY[") + "1" + many("]"),
	} {
		_, err := pgparse.Parse(sql)
		require.ErrorIs(t, err, pgparse.ErrDeep, name)
		_, err = pgparse.PLpgSQL("DO $$ BEGIN "+sql+"; END $$", " BEGIN "+sql+"; END ")
		require.ErrorIs(t, err, pgparse.ErrDeep, name)
	}
	for name, sql := range map[string]string{
		"rows":       "INSERT INTO a VALUES (1 + 1)" + many(", (1 + 1, now())"),
		"statements": many("UPDATE a SET b = (c + 1) * 2 WHERE NOT d;"),
		"conditions": "SELECT 1 WHERE a = 1" + many(" OR a = 1 AND NOT b"),
		"branches":   "SELECT CASE " + many("WHEN a = 1 THEN 1 + 1 ") + "END",
	} {
		_, err := pgparse.Parse(sql)
		require.NoError(t, err, name)
	}
}

func TestCursorCountsCharacters(t *testing.T) {
	t.Parallel()
	_, err := pgparse.Parse("SELECT 'é' FROM WHERE")
	require.Error(t, err)
	require.Equal(t, 17, pgparse.Cursor(err))
	require.Zero(t, pgparse.Cursor(pgparse.ErrDeep))
}

// The parser in C ends at a zero byte: what stands behind it would be seen by nobody.
func TestNothingIsHiddenBehindAZeroByte(t *testing.T) {
	t.Parallel()
	const sql = "SELECT 'é'\x00; DELETE FROM a"
	_, err := pgparse.Parse(sql)
	require.ErrorIs(t, err, pgparse.ErrNUL)
	require.Equal(t, 11, pgparse.Cursor(err))
	_, err = pgparse.Scan(sql)
	require.ErrorIs(t, err, pgparse.ErrNUL)
	require.Equal(t, 11, pgparse.Cursor(err))
	_, err = pgparse.PLpgSQL("DO $$ BEGIN NULL;\x00 END $$", " BEGIN NULL; END ")
	require.ErrorIs(t, err, pgparse.ErrNUL)
	_, err = pgparse.PLpgSQL("DO $$ BEGIN NULL; END $$", "\x00")
	require.ErrorIs(t, err, pgparse.ErrNUL)
}
