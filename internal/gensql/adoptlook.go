package gensql

import (
	"fmt"
	"strings"
)

// raise stops a migration. What to do stands in the message, since few tools
// show a hint, and in the hint for those that do.
func raise(message, advice, code string, args ...string) string {
	return fmt.Sprintf("    RAISE EXCEPTION USING MESSAGE = format(%s), ERRCODE = %s, HINT = %s;",
		strings.Join(append([]string{literal(message + "; " + advice)}, args...), ", "), literal(code),
		literal(strings.ToUpper(advice[:1])+advice[1:]+"."))
}

// rowsFit looks for rows that the constraints would refuse, and names them:
// PostgreSQL itself would only say that there are some.
func (s Schema) rowsFit() string {
	const mend = "then migrate again; no constraint was put on so far"
	l := []string{"DECLARE", "  problem text;", "BEGIN"}
	l = append(l, s.filled(s.required(), "give those rows a value, "+mend)...)
	l = append(l,
		"  SELECT string_agg(format('%s (%s rows)', r.state, r.rows), ', ' ORDER BY r.state) INTO problem FROM (",
		fmt.Sprintf("    SELECT %s::text AS state, count(*) AS rows FROM %s AS o WHERE NOT (%s) GROUP BY 1 ORDER BY 1 LIMIT 20", qualified("o", s.own().Status), ident(s.Table), s.standsIn("o", s.States)),
		"  ) AS r;",
		"  IF problem IS NOT NULL THEN",
		raise(s.Table+" has rows in states that "+s.Machine+" does not have: %s", "declare the states or move the rows out of them, "+mend, "check_violation", "problem"),
		"  END IF;")
	l = append(l, s.allowed(s.version("")+" > 0", "has %s rows whose "+s.own().Version+" is below 1", "count them up, "+mend)...)
	for _, c := range s.Columns {
		if c.Check != "" {
			l = append(l, s.allowed(c.Check, "has %s rows that the check of "+c.Name+" refuses", "mend the rows, "+mend)...)
		}
	}
	return block(l...)
}

// filled stops at rows that lack a value in one of the columns.
func (s Schema) filled(columns []Column, advice string) []string {
	var empty []string
	for _, c := range columns {
		empty = append(empty, fmt.Sprintf("    CASE WHEN bool_or(o.%s IS NULL) THEN %s END", ident(c.Name), literal(c.Name)))
	}
	return []string{
		"  SELECT concat_ws(', ',",
		strings.Join(empty, ",\n"),
		fmt.Sprintf("  ) INTO problem FROM %s AS o;", ident(s.Table)),
		"  IF problem <> '' THEN",
		raise(s.Table+" has rows without a value in: %s", advice, "not_null_violation", "problem"),
		"  END IF;",
	}
}

// allowed stops at rows that do not meet a condition, and counts them. The
// condition names columns alone, one of which may be called as a variable is.
func (s Schema) allowed(condition, what, advice string) []string {
	return []string{
		fmt.Sprintf("  EXECUTE %s INTO problem;", literal(fmt.Sprintf("SELECT NULLIF(count(*), 0)::text FROM %s WHERE NOT (%s)", ident(s.Table), condition))),
		"  IF problem IS NOT NULL THEN",
		raise(s.Table+" "+what, advice, "check_violation", "problem"),
		"  END IF;",
	}
}
