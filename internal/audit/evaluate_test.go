package audit

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What PostgreSQL shows of conditions is judged as it judges them itself, and
// whatever else may stand there is not judged.
func TestConditions(t *testing.T) {
	t.Parallel()
	columns := scope{"status": "PAID", "version": "5", "forced": true, "actor": "", "old.version": "5", "new.version": "6", "gone": nil,
		entriesOf + "notes": []scope{{"no": "4", "text": "a"}, {"no": "5", "text": "b"}}}
	for text, want := range map[string]bool{
		"((status = ANY (ARRAY['OPEN'::text, 'PAID'::text])))":                                           true,
		"((status)::text = ANY ((ARRAY['OPEN'::character varying, 'LOST'::character varying])::text[]))": false,
		"(status <> ALL (ARRAY['OPEN'::text, 'LOST'::text]))":                                            true,
		"(status <> ALL (ARRAY['OPEN'::text, 'PAID'::text]))":                                            false,
		"(version = ANY (ARRAY['-5'::integer, 5]))":                                                      true,
		"(version = '005'::integer)":                                                                     true,
		"(version > 0)":                                                                                  true,
		"(version > '-99'::integer)":                                                                     true,
		"(NOT (version <= 5))":                                                                           false,
		"((version >= 5) AND (version < 5))":                                                             false,
		"((NOT forced) OR ((actor <> ''::text) AND (version = 5)))":                                      false,
		"(new.version = (old.version + 1))":                                                              true,
		"(old.version <> new.version)":                                                                   true,
		"(status IS NOT NULL)":                                                                           true,
		"(status IS NULL)":                                                                               false,
		"true":                                                                                           true,
		"((status = 'PAID'::text) OR (length(status) > 3))":                                              true, // what comes first decides
		"((status = 'OPEN'::text) AND (length(status) > 3))":                                             false,
		"status IN ('OPEN', 'PAID')":                                                                     true,
		"status NOT IN ('OPEN', 'PAID')":                                                                 false,
		"version IN (-5, 4)":                                                                             false,
		"CASE WHEN forced THEN true END":                                                                 true,
		"CASE WHEN NOT forced THEN true END":                                                             false, // NULL, which is not true
		"CASE version WHEN 4 THEN 'a' WHEN 5 THEN 'b' ELSE version::text END = 'b'":                      true,
		"(CASE version WHEN 4 THEN 'a' ELSE status END)::text = 'PAID'":                                  true,
		"EXISTS (SELECT 1 FROM notes AS n WHERE n.no = version AND n.text = 'b')":                        true,
		"EXISTS (SELECT 1 FROM notes AS n WHERE n.no = version AND n.text = 'a')":                        false,
		"gone = 1":                         false,
		"NOT gone = 1":                     false,
		"gone <> 1 AND forced":             false,
		"gone <> 1 OR forced":              true,
		"forced AND (gone <> 1 OR forced)": true,
		"NOT (gone <> 1 AND NOT forced)":   true,
		"gone IN (1, 2)":                   false,
		"gone + 1 = 2 OR gone::text = 'a'": false,
		"gone IS NULL":                     true,
		"gone IS NOT NULL":                 false,
	} {
		c, err := readCondition(text)
		require.NoError(t, err, text)
		is, err := c.holds(columns)
		require.NoError(t, err, text)
		require.Equal(t, want, is, text)
	}
	for _, text := range []string{
		"", "1; SELECT 1", "true, true", "(", "*", "NULL", "version", "status AND true", "length(status) > 3", "other = 'PAID'", "public.status = 'x'",
		"status OPERATOR(public.=) 'PAID'", "status ~ 'P'", "status = NULL", "(status)::varchar(2) = 'PA'", "status::public.text = 'PAID'", "status::name = 'PAID'",
		"status > 'A'", "version > 99999999999", "- version < 0", "version = 'x'::integer", "status = ANY (SELECT 'PAID')", "status = ANY ('{PAID}'::text[])", "forced = true", "forced::text = 'true'",
		"version + 1", "CASE WHEN status THEN true END", "CASE status WHEN length(status) THEN true END", "gone = 1 AND length(status) > 3",
		"EXISTS (SELECT 1 FROM others AS n WHERE n.no = 4)", "EXISTS (SELECT 1 FROM public.notes AS n WHERE n.no = 4)", "EXISTS (SELECT 1 FROM notes WHERE no = 4)", "EXISTS (SELECT 1 FROM notes AS n)",
		"EXISTS (SELECT 1 FROM notes AS n WHERE n.no = 4 LIMIT 0)", "EXISTS (SELECT 1 FROM notes AS n, notes AS m WHERE n.no = 4)", "EXISTS (SELECT 1 FROM notes AS n WHERE n.no = 4 UNION SELECT 1)", "4 IN (SELECT n.no FROM notes AS n WHERE true)",
		"status IN ('PAID') IS TRUE",
	} {
		c, err := readCondition(text)
		if err == nil {
			_, err = c.holds(columns)
		}
		require.ErrorIs(t, err, errForeign, text)
	}
	for _, text := range []string{"", "SELECT 1", "CREATE TRIGGER"} {
		_, err := readWhen(text)
		require.ErrorIs(t, err, errForeign, text)
	}
}
