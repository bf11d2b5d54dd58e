package gensql

import (
	"fmt"
	"strings"

	"github.com/pawl-go/pawl/internal/sqlname"
)

// pageSize is how many rows are taken in by one transaction.
const pageSize = 1000

// adoptProcedure gives rows that no history entry begins one of their own: from
// nothing to their state, at their version. A row that moved since begins where
// its first entry comes from. A deadline is set from now. Pages follow the key,
// each is a transaction, and a row that another transaction holds is passed
// over and told at the end.
func (s Schema) adoptProcedure(name string) string {
	var declare, from, next, step []string
	for i, k := range s.keys() {
		from, next = append(from, fmt.Sprintf("from_%d", i)), append(next, fmt.Sprintf("next_%d", i))
		declare = append(declare, fmt.Sprintf("  %s %s;\n  %s %[2]s;", from[i], k.Type, next[i]))
		step = append(step, fmt.Sprintf("    %s := %s;", from[i], next[i]))
	}
	table, keys, start := ident(s.Table), s.keyList("o"), strings.Join(from, ", ")
	page := fmt.Sprintf("SELECT * FROM %s AS o WHERE (%s) >= (%s) ORDER BY %[2]s LIMIT %[4]d", table, keys, start, pageSize)
	l := []string{
		fmt.Sprintf("CREATE OR REPLACE PROCEDURE %s() LANGUAGE plpgsql AS $$", name),
		"-- It may be called again at any time, outside a transaction: for the rows that a program of before inserted, say.",
		"DECLARE",
		strings.Join(declare, "\n"),
		"  last boolean;",
		"  held bigint := 0;",
		"  page_held bigint;",
		"BEGIN",
		fmt.Sprintf("  SELECT %s INTO %s FROM %s AS o ORDER BY %[1]s LIMIT 1;", keys, start, table),
		"  last := NOT FOUND;",
		"  WHILE NOT last LOOP",
		fmt.Sprintf("    SELECT %s INTO %s FROM %s AS o WHERE (%[1]s) >= (%[4]s) ORDER BY %[1]s OFFSET %[5]d LIMIT 1;", keys, strings.Join(next, ", "), table, start, pageSize),
		"    last := NOT FOUND;",
		"    WITH page AS MATERIALIZED (",
		"      " + page,
	}
	l = append(l, s.freshRows()...)
	if s.Deadlines {
		l = append(l, s.dueRows()...)
	}
	l = append(l,
		"    )",
		fmt.Sprintf("    INSERT INTO %s (%s, version, event, from_status, to_status, at)", s.called().History(), s.keyList("")),
		fmt.Sprintf("    SELECT %s, COALESCE(f.first_version - 1, f.version), '%s', NULL, COALESCE(f.first_from, f.state), now() FROM fresh AS f", s.keyList("f"), adoptEvent),
		fmt.Sprintf("    ON CONFLICT ON CONSTRAINT %s DO NOTHING;", sqlname.PrimaryKey(s.called().History())))
	if s.Deadlines {
		l = append(l,
			fmt.Sprintf("    SELECT count(*) INTO page_held FROM (%s) AS o WHERE NOT EXISTS (", page),
			fmt.Sprintf("      SELECT FROM %s AS h WHERE %s AND h.from_status IS NULL);", s.called().History(), s.sameKey("h", "o")),
			"    held := held + page_held;")
	}
	l = append(l, "    COMMIT;")
	l = append(l, step...)
	l = append(l,
		"  END LOOP;",
		"  IF held > 0 THEN",
		fmt.Sprintf("    RAISE EXCEPTION '%% rows of %s are held by other transactions', held USING ERRCODE = 'lock_not_available',", s.Table),
		"      HINT = 'All others are taken in; migrate again.';",
		"  END IF;",
		"END $$;")
	return dollarQuoted(lines(l...))
}

// freshRows are the rows of the page that no entry begins. They are locked
// where they get a deadline, without waiting for those that others hold.
func (s Schema) freshRows() []string {
	l := []string{
		"    ), fresh AS MATERIALIZED (",
		fmt.Sprintf("      SELECT %s, (%s)::text AS state, %s AS version, h.version AS first_version, h.from_status AS first_from", s.keyList("o"), s.text("o"), s.version("o")),
		fmt.Sprintf("      FROM page AS p JOIN %s AS o ON %s", ident(s.Table), s.sameKey("o", "p")),
		fmt.Sprintf("      LEFT JOIN LATERAL (SELECT h.version, h.from_status FROM %s AS h WHERE %s ORDER BY h.version LIMIT 1) AS h ON true", s.called().History(), s.sameKey("h", "o")),
		"      WHERE h.version IS NULL OR h.from_status IS NOT NULL",
	}
	if s.Deadlines {
		l = append(l, "      FOR NO KEY UPDATE OF o SKIP LOCKED")
	}
	return l
}

// dueRows sets the due time of the fresh rows as if they had just come into
// their state, whatever it was before: the machine alone gives it a meaning.
// One that has moved since got its own.
func (s Schema) dueRows() []string {
	var whens, states []string
	for _, d := range s.Due {
		whens = append(whens, fmt.Sprintf("WHEN %s THEN interval '%s'", literal(d.State), d.After))
		states = append(states, literal(d.State))
	}
	set := fmt.Sprintf("%s = now() + CASE f.state %s END", ident(s.own().Deadline), strings.Join(whens, " "))
	if s.Runs {
		set += fmt.Sprintf(", %s = 0", ident(s.own().Runs))
	}
	stale := qualified("o", s.own().Deadline) + " IS NOT NULL"
	if s.Runs {
		stale += " OR " + qualified("o", s.own().Runs) + " <> 0"
	}
	return []string{
		"    ), due AS (",
		fmt.Sprintf("      UPDATE %s AS o SET %s", ident(s.Table), set),
		fmt.Sprintf("      FROM fresh AS f WHERE %s AND f.first_version IS NULL AND (f.state IN (%s) OR %s)", s.sameKey("o", "f"), strings.Join(states, ", "), stale),
	}
}
