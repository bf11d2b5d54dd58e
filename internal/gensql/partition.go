package gensql

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/sqlname"
)

// partsAhead is how many partitions there are beyond the current one, and
// partsAtOnce how many a call of the keep function makes of times gone by, or
// drops: each takes a few locks of the server's table of them.
const (
	partsAhead  = 3
	partsAtOnce = 100
	// keepLock is the class of the advisory lock that the calls for one history
	// take turns by: "keep" in ASCII.
	keepLock = 0x6b656570
)

// keepPatience is how long the keep function waits for its lock where the caller
// sets no limit: whoever writes or reads the history stands behind it meanwhile.
const keepPatience = "200ms"

// daysText is a number of whole days as PostgreSQL writes it.
func daysText(d time.Duration) string { return fmt.Sprintf("%d days", d/(24*time.Hour)) }

// partitionedHistory makes a history in partitions, one of them for what no
// other one takes: no entry is refused for its time.
func (s Schema) partitionedHistory() step {
	name := s.called().History()
	return step{
		[]string{
			lines(
				"-- A unique index over partitions must have their column. That a row has a version once rests on the guarded",
				"-- UPDATE, which raises it under the row's lock; fsmgen audit would find it twice.",
				"CREATE TABLE "+name+" (",
				s.historyColumns(),
				fmt.Sprintf("  CONSTRAINT %s PRIMARY KEY (%s, version, at),", sqlname.PrimaryKey(name), s.keyList("")),
				fmt.Sprintf("  CONSTRAINT %s CHECK (NOT forced OR actor <> '' AND reason <> '')", s.called().ForcedCheck()),
				") PARTITION BY RANGE (at);",
			),
			fmt.Sprintf("CREATE TABLE %s PARTITION OF %s DEFAULT;", s.called().HistoryRest(), name),
		},
		[]string{"DROP TABLE " + name + ";"},
	}
}

// parts make what a history in partitions has beside them, and the first of
// them; none for a history that is whole.
func (s Schema) parts() []step {
	if s.History == nil {
		return nil
	}
	return []step{s.lastFunction(), s.keepFunction(), {up: []string{fmt.Sprintf("SELECT * FROM %s(now());", s.called().HistoryKeep())}}}
}

// lastFunction finds the newest entry of a row, or the newest of an event. It
// sees what the statement that calls it sees, since it is STABLE, and is not
// called with NULL, since it is STRICT; one in SQL would become part of the
// statement.
func (s Schema) lastFunction() step {
	var types, same []string
	for i, k := range s.keys() {
		types = append(types, k.Type)
		same = append(same, fmt.Sprintf("%s = $%d", qualified("h", k.Name), i+1))
	}
	event := len(types) + 1
	types = append(types, "text")
	name, arguments := s.called().HistoryLast(), strings.Join(types, ", ")
	return step{
		[]string{dollarQuoted(lines(
			fmt.Sprintf("CREATE FUNCTION %s(%s) RETURNS SETOF %s LANGUAGE plpgsql STABLE STRICT SET search_path FROM CURRENT AS $$", name, arguments, s.called().History()),
			fmt.Sprintf("-- The newest entry of a row, of one event where $%d is not empty.", event),
			"BEGIN",
			fmt.Sprintf("  RETURN QUERY SELECT h.* FROM %s AS h", s.called().History()),
			fmt.Sprintf("    WHERE %s AND $%d IN ('', h.event) ORDER BY h.version DESC LIMIT 1;", strings.Join(same, " AND "), event),
			"END $$;",
		))},
		[]string{fmt.Sprintf("DROP FUNCTION %s(%s);", name, arguments)},
	}
}

// keepFunction makes the partitions that are needed soon and drops those that
// are old. Calls take turns, by an advisory lock that nobody else waits for: to
// look is to read the rest, and two that have read it could not lock it both. A
// call looks first, so that one with nothing to do keeps no writer waiting; it
// looks again when it has the history, since entries may have come meanwhile.
//
// All else happens under one lock on the history, taken before any other: an
// entry whose transaction had found its place before a partition was attached
// would otherwise be refused by the default one. An old partition that cannot be
// dropped is told of and left, so that those to come are made.
func (s Schema) keepFunction() step {
	return step{
		[]string{dollarQuoted(lines(s.keepBody()...))},
		[]string{fmt.Sprintf("DROP FUNCTION %s(timestamptz);", s.called().HistoryKeep())},
	}
}

// keepBody is the function's text, line by line.
func (s Schema) keepBody() []string {
	name, rest, keep, part := s.called().History(), s.called().HistoryRest(), s.called().HistoryKeep(), s.called().HistoryPart()
	unit, oldest := s.History.Unit, "'-infinity'"
	if s.History.Keep != "" {
		oldest = fmt.Sprintf("date_trunc('%s', least(as_of, now()) - interval '%s')", unit, s.History.Keep)
	}
	return []string{
		fmt.Sprintf("CREATE FUNCTION %s(as_of timestamptz) RETURNS TABLE (partition text, did text, entries bigint)", keep),
		"LANGUAGE plpgsql SET search_path FROM CURRENT SET timezone TO 'UTC' AS $$",
		"-- It may be called at any time, by several at once. What is dropped is old by as_of and by the server's clock.",
		"DECLARE",
		fmt.Sprintf("  span CONSTANT interval := '1 %s';", unit),
		fmt.Sprintf("  this CONSTANT timestamptz := date_trunc('%s', as_of);", unit),
		fmt.Sprintf("  farthest CONSTANT timestamptz := this + %d * span;", partsAhead),
		fmt.Sprintf("  oldest CONSTANT timestamptz := %s;", oldest),
		"  patience CONSTANT text := current_setting('lock_timeout');",
		"  wanted timestamptz[];",
		"  gone regclass[];",
		"  stray boolean;",
		"  start timestamptz;",
		"  part regclass;",
		"BEGIN",
		"  IF as_of IS NULL OR NOT isfinite(as_of) THEN",
		fmt.Sprintf("    RAISE EXCEPTION '%s: as_of must be a time' USING ERRCODE = 'invalid_parameter_value';", keep),
		"  END IF;",
		"  -- Said at once, and not only on a day that has work.",
		"  IF NOT EXISTS (",
		"    SELECT FROM pg_class AS c",
		fmt.Sprintf("    WHERE c.oid = '%s'::regclass AND pg_has_role(c.relowner, 'USAGE') AND has_schema_privilege(c.relnamespace, 'CREATE')", name),
		"  ) THEN",
		fmt.Sprintf("    RAISE EXCEPTION '%s: the role %% must own the table %s and may create tables in its schema', current_user USING ERRCODE = 'insufficient_privilege';", keep, name),
		"  END IF;",
		fmt.Sprintf("  PERFORM pg_advisory_xact_lock(%d, '%s'::regclass::oid::int);", keepLock, name),
		"  FOR look IN 1..2 LOOP",
		"    WITH parts AS (",
		"      SELECT c.oid::regclass AS part,",
		"             substring(b.bound FROM 'FROM \\(''([^'']+)''\\)')::timestamptz AS begins,",
		"             substring(b.bound FROM 'TO \\(''([^'']+)''\\)')::timestamptz AS ends",
		"      FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid",
		"      CROSS JOIN LATERAL (SELECT pg_get_expr(c.relpartbound, c.oid)) AS b(bound)",
		fmt.Sprintf("      WHERE i.inhparent = '%s'::regclass AND b.bound <> 'DEFAULT'", name),
		"    ), needed AS (",
		"      SELECT a.start FROM generate_series(this, farthest, span) AS a(start)",
		"      UNION",
		fmt.Sprintf("      (SELECT DISTINCT date_trunc('%s', h.at) FROM %s AS h", unit, rest),
		fmt.Sprintf("       WHERE h.at >= oldest AND h.at < farthest + span AND isfinite(h.at) ORDER BY 1 DESC LIMIT %d)", partsAtOnce),
		"    )",
		"    SELECT ARRAY(",
		"      SELECT n.start FROM needed AS n",
		"      WHERE NOT EXISTS (",
		"        SELECT FROM parts AS p",
		"        WHERE COALESCE(p.begins, '-infinity') < n.start + span AND COALESCE(p.ends, 'infinity') > n.start",
		fmt.Sprintf("      ) AND to_regclass('%s' || to_char(n.start, 'YYYYMMDD')) IS NULL ORDER BY n.start", part),
		"    ), ARRAY(",
		fmt.Sprintf("      SELECT p.part FROM parts AS p WHERE p.ends <= oldest ORDER BY p.ends LIMIT %d", partsAtOnce),
		fmt.Sprintf("    ), EXISTS (SELECT FROM %s AS h WHERE h.at < oldest) INTO wanted, gone, stray;", rest),
		"    IF cardinality(wanted) = 0 AND cardinality(gone) = 0 AND NOT stray THEN",
		"      EXIT;",
		"    ELSIF look = 1 THEN",
		"      -- Behind a lock that waits, every transition waits: without a limit of the caller's, only for a moment.",
		"      IF patience = '0' THEN",
		fmt.Sprintf("        PERFORM set_config('lock_timeout', '%s', true);", keepPatience),
		"      END IF;",
		fmt.Sprintf("      LOCK TABLE %s IN ACCESS EXCLUSIVE MODE;", name),
		"      PERFORM set_config('lock_timeout', patience, true);",
		"    END IF;",
		"  END LOOP;",
		"  FOREACH start IN ARRAY wanted LOOP",
		fmt.Sprintf("    partition := '%s' || to_char(start, 'YYYYMMDD');", part),
		"    did := 'created';",
		fmt.Sprintf("    EXECUTE format('CREATE TABLE %%I (LIKE %s INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', partition);", name),
		fmt.Sprintf("    EXECUTE format('WITH moved AS (DELETE FROM %s AS h WHERE h.at >= $1 AND h.at < $2 RETURNING h.*)'", rest),
		"                   ' INSERT INTO %I SELECT m.* FROM moved AS m', partition) USING start, start + span;",
		"    GET DIAGNOSTICS entries = ROW_COUNT;",
		fmt.Sprintf("    EXECUTE format('ALTER TABLE %s ATTACH PARTITION %%I FOR VALUES FROM (%%L) TO (%%L)', partition, start, start + span);", name),
		"    RETURN NEXT;",
		"  END LOOP;",
		"  FOREACH part IN ARRAY gone LOOP",
		"    partition := part::text;",
		"    did := 'dropped';",
		"    entries := NULL;",
		"    BEGIN",
		fmt.Sprintf("      EXECUTE format('ALTER TABLE %s DETACH PARTITION %%s', partition);", name),
		"      EXECUTE format('DROP TABLE %s', partition);",
		"    EXCEPTION WHEN OTHERS THEN",
		"      -- A view reads it, perhaps. That must not keep anything else from being done.",
		"      did := 'not dropped: ' || SQLERRM;",
		"      RAISE WARNING '% is %', partition, did;",
		"    END;",
		"    RETURN NEXT;",
		"  END LOOP;",
		"  IF stray THEN",
		fmt.Sprintf("    DELETE FROM %s AS h WHERE h.at < oldest;", rest),
		"    GET DIAGNOSTICS entries = ROW_COUNT;",
		fmt.Sprintf("    partition := '%s';", rest),
		"    did := 'deleted';",
		"    RETURN NEXT;",
		"  END IF;",
		"END $$;",
	}
}

var keptFor = regexp.MustCompile(`interval '([0-9]+ days)'`)

// KeepsHistory reports whether a statement, less its semicolon, is to the letter
// the function that keeps the machine's history in partitions, of whatever length
// and kept for whatever time. It is for migrations by hand that copied it: where
// the function's text changes, what it was must go on being known.
func KeepsHistory(m *model.Machine, statement string) bool {
	if m.Table == nil || !strings.HasPrefix(statement, "CREATE FUNCTION ") {
		return false
	}
	keep := ""
	if found := keptFor.FindStringSubmatch(statement); found != nil {
		keep = found[1]
	}
	s := Schema{Machine: m.Name, Table: m.Table.Name, Existing: m.Table.Existing}
	return slices.ContainsFunc(model.PartitionUnits(), func(unit string) bool {
		s.History = &Partitions{Unit: unit, Keep: keep}
		return statement == strings.TrimSuffix(dollarQuoted(lines(s.keepBody()...)), ";")
	})
}

// changeKeep replaces the function where entries are to be kept for another time.
func (s Schema) changeKeep(prev Schema) []step {
	if s.History == nil || prev.History == nil {
		return nil
	}
	was, is := prev.keepFunction(), s.keepFunction()
	if slices.Equal(was.up, is.up) {
		return nil
	}
	return []step{replacedFunction(was, is)}
}

// sameHistory refuses to cut a history that is there in another way: to find
// the entries of each partition takes as long as there are entries, under a lock.
func (s Schema) sameHistory(prev Schema, m *model.Machine, refuse func(diag.Position, string, ...any)) {
	was, is := "one whole table", "one whole table"
	pos := m.Table.Pos
	if prev.History != nil {
		was = "in partitions of a " + prev.History.Unit
	}
	if s.History != nil {
		is, pos = "in partitions of a "+s.History.Unit, m.Table.History.Pos
	}
	if was != is {
		refuse(pos, "the history was %s before, and its entries do not move by themselves; docs/history.md of Pawl shows how to attach what is there as one partition", was)
	}
}
