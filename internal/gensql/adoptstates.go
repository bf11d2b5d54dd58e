package gensql

import (
	"fmt"
	"strings"
)

// statesAllowed looks for checks of the user's own that refuse a state: moves
// into it would fail for ever. A check of the status alone can be tried, as
// PostgreSQL itself would, on each state. What fails to be tried is left to
// the writes: a value that an enum does not have yet, or a function that wants
// more than is here.
func (s Schema) statesAllowed() string {
	var states []string
	for i, state := range s.States {
		value := literal(state)
		if s.coded() {
			value = literal(s.values([]string{state})[0])
		}
		states = append(states, fmt.Sprintf("      (%d, %s, %s)", i+1, literal(state), value))
	}
	status := s.own().Status
	return block(
		"DECLARE",
		"  own record;",
		"  problem text;",
		"  passes boolean;",
		"BEGIN",
		"  FOR own IN",
		"    SELECT k.conname AS name, pg_get_expr(k.conbin, k.conrelid) AS expression, a.atttypid::regtype AS type, w.state, w.value",
		fmt.Sprintf("    FROM pg_constraint AS k JOIN pg_attribute AS a ON a.attrelid = k.conrelid AND a.attname = %s AND k.conkey = ARRAY[a.attnum]", literal(status)),
		"    CROSS JOIN (VALUES",
		strings.Join(states, ",\n"),
		"    ) AS w(place, state, value)",
		fmt.Sprintf("    WHERE k.conrelid = %s AND k.contype = 'c' AND to_jsonb(k) ->> 'conenforced' IS DISTINCT FROM 'false'", s.relation()),
		"    ORDER BY k.conname, w.place",
		"  LOOP",
		"    BEGIN",
		fmt.Sprintf("      EXECUTE format('SELECT (%%s) IS NOT FALSE FROM (SELECT CAST(%%L AS %%s) AS %%I) AS %%I', own.expression, own.value, own.type, %s, %s) INTO passes;", literal(status), literal(s.Table)),
		"    EXCEPTION WHEN OTHERS THEN",
		"      passes := true;",
		"    END;",
		"    IF NOT passes THEN",
		"      problem := concat_ws(', ', problem, own.name || ' refuses ' || own.state);",
		"    END IF;",
		"  END LOOP;",
		"  IF problem IS NOT NULL THEN",
		raise(s.Table+" has checks that refuse states of the machine: %s", "drop or widen them, then migrate again", "check_violation", "problem"),
		"  END IF;")
}
