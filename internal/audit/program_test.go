package audit

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What a function of IF, RETURN and RAISE does is judged as PostgreSQL does it,
// and one with anything else in it is not judged.
func TestPrograms(t *testing.T) {
	t.Parallel()
	columns := scope{"old.status": "OPEN", "new.status": "PAID", "tg_op": "UPDATE", "old.note": nil}
	for body, want := range map[string]bool{
		"BEGIN RETURN NULL; END":                                                                                               false,
		"BEGIN RETURN new; RAISE EXCEPTION 'no'; END":                                                                          false,
		"-- a note\n/* and another */ BEGIN RAISE 'no'; END;":                                                                  true,
		"BEGIN RAISE EXCEPTION 'no' USING ERRCODE = 'check_violation'; END":                                                    true,
		"BEGIN RAISE NOTICE 'no'; RAISE WARNING 'no'; RETURN OLD; END":                                                         false,
		"BEGIN RAISE NOTICE 'it comes to its end'; END":                                                                        true,
		"BEGIN IF OLD.status = 'OPEN' THEN RETURN NULL; END IF; RAISE 'no'; END":                                               false,
		"BEGIN IF OLD.status = 'SHUT' THEN RETURN NULL; END IF; RAISE 'no'; END":                                               true,
		"BEGIN IF OLD.note = 'x' THEN RETURN NULL; END IF; RAISE 'no'; END":                                                    true, // NULL is not true
		"BEGIN IF NOT OLD.note = 'x' THEN RETURN NULL; END IF; RAISE 'no'; END":                                                true,
		"BEGIN IF TG_OP = 'INSERT' THEN RAISE 'no'; ELSIF NEW.status = 'PAID' THEN RETURN NULL; ELSE RAISE 'no'; END IF; END":  false,
		"BEGIN IF TG_OP = 'INSERT' THEN RETURN NULL; ELSIF NEW.status = 'OPEN' THEN RETURN NULL; ELSE RAISE 'no'; END IF; END": true,
		"BEGIN IF TG_OP = 'UPDATE' THEN RAISE NOTICE 'x'; END IF; RETURN NULL; END":                                            false,
		"BEGIN IF TG_OP = 'UPDATE' THEN IF NEW.status = 'PAID' THEN RAISE 'no'; END IF; END IF; RETURN NULL; END":              true,
		"BEGIN RETURN NULL; END; -- $fsm$":                                                                                     false,
	} {
		p, err := readProgram(body)
		require.NoError(t, err, body)
		is, err := p.holds(columns)
		require.NoError(t, err, body)
		require.Equal(t, want, is, body)
	}
	for _, body := range []string{
		"", "x", "'", "SELECT 1", "BEGIN", "BEGIN RETURN NULL; END BEGIN",
		"DECLARE old record; BEGIN RETURN NULL; END", "<<outer>> BEGIN RETURN NULL; END", "#variable_conflict use_column\nBEGIN RETURN NULL; END",
		"BEGIN BEGIN RAISE 'no'; EXCEPTION WHEN others THEN RETURN NULL; END; END", "BEGIN RAISE 'no'; EXCEPTION WHEN others THEN RETURN NULL; END",
		"BEGIN BEGIN RETURN NULL; END; END", "BEGIN PERFORM f(); RETURN NULL; END", "BEGIN NEW.status := 'x'; RETURN NEW; END", "BEGIN RETURN f(NEW); END",
		"BEGIN IF true, false THEN RETURN NULL; END IF; END", "BEGIN LOOP EXIT; END LOOP; RETURN NULL; END", "BEGIN CASE 1 WHEN 1 THEN RETURN NULL; END CASE; END",
		"BEGIN IF length(OLD.status) > 3 THEN RETURN NULL; END IF; RAISE 'no'; END", "BEGIN IF OLD.other = 'x' THEN RETURN NULL; END IF; RAISE 'no'; END",
		"BEGIN IF true THEN PERFORM f(); END IF; RETURN NULL; END", "BEGIN IF false THEN RETURN NULL; ELSIF true THEN PERFORM f(); END IF; END", "BEGIN IF false THEN RETURN NULL; ELSE PERFORM f(); END IF; END",
	} {
		p, err := readProgram(body)
		if err == nil {
			_, err = p.holds(columns)
		}
		require.ErrorIs(t, err, errForeign, body)
	}
}
