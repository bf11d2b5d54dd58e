package audit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/pgparse"
)

// conditions and bodies that a database may show, ours and others'.
var (
	shownConditions = []string{
		"((status = ANY (ARRAY['OPEN'::text, 'PAID'::text])))", "(version = '005'::integer)", "((NOT forced) OR ((actor <> ''::text) AND (version = 5)))", "(new.version = (old.version + 1))", "status IN ('OPEN', 'PAID')",
		"CASE version WHEN 4 THEN 'a' WHEN 5 THEN 'b' ELSE version::text END = 'b'", "EXISTS (SELECT 1 FROM notes AS n WHERE n.no = version AND n.text = 'b')", "gone IS NULL", "NOT (gone <> 1 AND NOT forced)", "a.b.c = 1", "version = 1e400", "x'1f' = version",
		"status = 'OPEN' FROM (SELECT 'OPEN' AS status) AS x", "forced WHERE false", "forced LIMIT 0", "DISTINCT forced", "forced AS x", "forced INTO y", "forced ORDER BY 1", "forced GROUP BY 1 HAVING false", "forced FOR UPDATE", "forced; SELECT 1", "*", "", "'", "version::pg_catalog.int4 = 5", "version::int4[] = 5",
	}
	shownBodies = []string{
		"BEGIN IF OLD.status = 'OPEN' THEN RETURN NULL; END IF; RAISE 'no'; END", "BEGIN IF old.status = 'SHUT' FROM (SELECT 'SHUT' AS status) AS old THEN RETURN NULL; END IF; RAISE 'no'; END", "BEGIN IF false WHERE true THEN RETURN NULL; END IF; RAISE 'no'; END",
		"BEGIN RAISE NOTICE 'x'; END", "DECLARE old record; BEGIN RETURN NULL; END", "BEGIN RETURN NULL; END; -- $fsm$", "/* */ BEGIN RAISE 'no'; END;", "BEGIN IF TG_OP = 'INSERT' THEN RAISE 'no'; ELSIF NEW.status = 'PAID' THEN RETURN NULL; ELSE RAISE 'no'; END IF; END", "BEGIN RETURN NULL FROM x; END",
	}
)

// row is what conditions are judged on here.
func shownRow() scope {
	return scope{"status": "PAID", "version": "5", "forced": true, "actor": "", "old.status": "OPEN", "new.status": "PAID", "tg_op": "UPDATE", "old.version": "5", "new.version": "6", "gone": nil,
		entriesOf + "notes": []scope{{"no": "4", "text": "a"}, {"no": "5", "text": "b"}}}
}

// FuzzCondition: a text that is judged is one expression, which says the same in
// brackets, and the opposite behind NOT; and it is judged so each time.
func FuzzCondition(f *testing.F) {
	for _, text := range shownConditions {
		f.Add(text)
	}
	// The parser is made ready on its first use, which would pass for a hang.
	_, err := readCondition("true")
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<10 {
			return
		}
		is, err := judgedAs(text)
		again, repeated := judgedAs(text)
		require.Equal(t, is, again)
		require.Equal(t, err, repeated)
		if err != nil {
			require.ErrorIs(t, err, errForeign)
			return
		}
		// The line break is for a comment at its end.
		bracketed, err := judgedAs("(" + text + "\n)")
		require.NoError(t, err, "%q is judged, and in brackets it is not", text)
		require.Equal(t, is, bracketed)
		negated, err := judgedAs("NOT (" + text + "\n)")
		require.NoError(t, err)
		switch is {
		case true:
			require.Equal(t, false, negated)
		case false:
			require.Equal(t, true, negated)
		default:
			require.Nil(t, negated)
		}
	})
}

// judgedAs is true, false or nil for NULL.
func judgedAs(text string) (any, error) {
	c, err := readCondition(text)
	if err != nil {
		return nil, err
	}
	return shownRow().truth(c.node)
}

// FuzzProgram: a body that is judged has nothing in it but IF, RETURN and RAISE, and
// conditions that are judged, and says the same with a comment between any two words.
func FuzzProgram(f *testing.F) {
	for i, text := range shownBodies {
		f.Add(text, uint8(i*3), "c")
	}
	for _, text := range shownConditions {
		f.Add("BEGIN IF "+text+" THEN RETURN NULL; END IF; RAISE 'no'; END", uint8(len(text)), "IF x THEN")
	}
	// The parser is made ready on its first use, which would pass for a hang.
	_, err := readProgram("BEGIN RETURN NULL; END")
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, text string, at uint8, comment string) {
		if len(text) > 1<<10 {
			return
		}
		p, err := readProgram(text)
		if err != nil {
			require.ErrorIs(t, err, errForeign)
			return
		}
		is, err := p.holds(shownRow())
		if err != nil {
			require.ErrorIs(t, err, errForeign)
			return
		}
		tokens, err := pgparse.Scan(text)
		require.NoError(t, err)
		var starts []int
		for _, token := range tokens.GetTokens() {
			starts = append(starts, int(token.GetStart()))
		}
		n := starts[int(at)%len(starts)]
		comment = strings.NewReplacer("*", "x", "/", "x", "\x00", "x").Replace(strings.ToValidUTF8(comment, "?"))
		same, err := readProgram(text[:n] + " /*" + comment + "*/ " + text[n:])
		if err != nil { // a constant over two lines is cut by a comment
			return
		}
		again, err := same.holds(shownRow())
		require.NoError(t, err)
		require.Equal(t, is, again)
	})
}

// What stands behind a condition can make something else of it: names of other
// things, no row at all. Such a condition is not judged.
func TestAConditionIsAnExpressionAlone(t *testing.T) {
	t.Parallel()
	for _, behind := range []string{
		"FROM (SELECT 'PAID' AS status) AS old", "FROM order_history", "WHERE false", "LIMIT 0", "OFFSET 1", "ORDER BY 1", "GROUP BY 1", "GROUP BY 1 HAVING false", "FOR UPDATE", "INTO x", "AS x", "WINDOW w AS ()", ";", "; SELECT 1",
	} {
		_, err := readCondition("old.status = 'PAID' " + behind)
		require.ErrorIs(t, err, errForeign, behind)
		_, err = readProgram("BEGIN IF old.status = 'PAID' " + behind + " THEN RETURN NULL; END IF; RAISE 'no'; END")
		require.ErrorIs(t, err, errForeign, behind)
	}
	for _, before := range []string{"DISTINCT", "DISTINCT ON (1)", "ALL"} {
		_, err := readCondition(before + " old.status = 'PAID'")
		require.Equal(t, before == "ALL", err == nil, before)
	}
}
