package gensql

import (
	"fmt"
	"strings"

	"github.com/pawl-go/pawl/internal/sqlname"
)

// pageSize is how many rows are taken in by one transaction.
const pageSize = 1000

// adoptProcedure gives the history the entries that it lacks for what programs
// of before did, each called adopted. A row without any begins with its state at
// its version. One whose newest entry is of an earlier version came from there
// to where it is, and where an entry does not follow the one before it, the row
// came in between to where the entry leaves. A deadline is set from now. Pages
// follow the key, each is a transaction, and a row that another transaction
// holds is passed over and told at the end.
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
		"-- It may be called again at any time, outside a transaction: for what a program of before inserted and moved.",
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
	l = append(l, s.movedRows()...)
	if s.Deadlines {
		l = append(l, s.dueRows()...)
	}
	l = append(l, s.gaps()...)
	l = append(l,
		"    )",
		fmt.Sprintf("    INSERT INTO %s (%s, version, event, from_status, to_status, at)", s.called().History(), s.keyList("")),
		fmt.Sprintf("    SELECT %s, m.version, '%s', m.last, m.state, now() FROM moved AS m", s.keyList("m"), adoptEvent),
		"    UNION ALL",
		fmt.Sprintf("    SELECT %s, g.version - 1, '%s', g.last, g.from_status, now() FROM entries AS g", s.keyList("g"), adoptEvent),
		fmt.Sprintf("    WHERE g.from_status IS NOT NULL AND g.event <> '%s' AND g.last_version IS DISTINCT FROM g.version - 1", adoptEvent),
		fmt.Sprintf("    ON CONFLICT ON CONSTRAINT %s DO NOTHING;", sqlname.PrimaryKey(s.called().History())))
	if s.Deadlines {
		l = append(l,
			fmt.Sprintf("    SELECT count(*) INTO page_held FROM (%s) AS o WHERE NOT EXISTS (", page),
			fmt.Sprintf("      SELECT FROM %s AS h WHERE %s AND h.version = %s);", s.called().History(), s.sameKey("h", "o"), s.version("o")),
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

// movedRows are the rows of the page that history does not lead to, with where
// it ends. They are locked where they get a deadline, without waiting for those
// that others hold.
func (s Schema) movedRows() []string {
	l := []string{
		"    ), moved AS MATERIALIZED (",
		fmt.Sprintf("      SELECT %s, (%s)::text AS state, %s AS version, h.to_status AS last", s.keyList("o"), s.text("o"), s.version("o")),
		fmt.Sprintf("      FROM page AS p JOIN %s AS o ON %s", ident(s.Table), s.sameKey("o", "p")),
		fmt.Sprintf("      LEFT JOIN LATERAL (SELECT h.version, h.to_status FROM %s AS h WHERE %s ORDER BY h.version DESC LIMIT 1) AS h ON true", s.called().History(), s.sameKey("h", "o")),
		fmt.Sprintf("      WHERE h.version IS NULL OR h.version < %s", s.version("o")),
	}
	if s.Deadlines {
		l = append(l, "      FOR NO KEY UPDATE OF o SKIP LOCKED")
	}
	return l
}

// gaps are the entries of the page, each with the one before it.
func (s Schema) gaps() []string {
	return []string{
		"    ), entries AS (",
		fmt.Sprintf("      SELECT %s, h.version, h.event, h.from_status, lag(h.version) OVER each_row AS last_version, lag(h.to_status) OVER each_row AS last", s.keyList("h")),
		fmt.Sprintf("      FROM page AS p JOIN %s AS h ON %s", s.called().History(), s.sameKey("h", "p")),
		fmt.Sprintf("      WINDOW each_row AS (PARTITION BY %s ORDER BY h.version)", s.keyList("h")),
	}
}

// dueRows sets the due time of the moved rows as if they had just come into
// their state: what the table or a program of before left there means nothing
// to the machine.
func (s Schema) dueRows() []string {
	due, runs := ident(s.own().Deadline), ident(s.own().Runs)
	var whens, states []string
	for _, d := range s.Due {
		whens = append(whens, fmt.Sprintf("WHEN %s THEN now() + interval '%s'", literal(d.State), d.After))
		states = append(states, literal(d.State))
	}
	set, wrong := due+" = NULL", "o."+due+" IS NOT NULL"
	if len(whens) > 0 {
		set = fmt.Sprintf("%s = CASE m.state %s END", due, strings.Join(whens, " "))
		wrong += fmt.Sprintf(" OR m.state IN (%s)", strings.Join(states, ", "))
	}
	if s.Runs {
		set, wrong = set+", "+runs+" = 0", wrong+" OR o."+runs+" <> 0"
	}
	return []string{
		"    ), due AS (",
		fmt.Sprintf("      UPDATE %s AS o SET %s", ident(s.Table), set),
		fmt.Sprintf("      FROM moved AS m WHERE %s AND (%s)", s.sameKey("o", "m"), wrong),
	}
}
