package gensql

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/pawl-go/pawl/internal/model"
)

// adoptEvent is the event of the history entry with which a row begins that
// was there before its machine.
const adoptEvent = "adopted"

// adopt makes everything of a machine whose table is there, with rows in it
// and programs that go on with them. No statement holds the table for the
// length of a scan: what needs a strong lock is short and gives up when it does
// not get it, and what looks at all rows takes a lock that stops nobody. Every
// statement may run again, so that a migration that gave up, or was cut off,
// is simply run once more.
func (s Schema) adopt() []step {
	steps := []step{
		{
			[]string{lines(
				"-- A statement that waits for a lock makes others wait behind it, so it gives up soon. Migrate again then.",
				"SET lock_timeout = '1s';")},
			[]string{"RESET lock_timeout;"},
		},
		{up: []string{s.fits()}},
	}
	if s.enum() {
		steps = append(steps, step{up: []string{s.enumLabels()}})
	}
	steps = append(steps,
		step{
			[]string{s.missingColumns()},
			[]string{lines("-- The columns stay: which of them were there before is not known.")},
		},
		step{up: []string{s.rowsFit()}},
	)
	steps = append(steps, s.checks()...)
	steps = append(steps, s.notNull())
	if s.Deadlines {
		steps = append(steps, s.concurrentIndex())
	}
	steps = append(steps, again(s.historyTable()))
	if s.Facts {
		steps = append(steps, again(s.factsTable()))
	}
	for _, made := range []step{s.function(), s.goneFunction(), s.edgeTrigger(), s.birthTrigger(), s.goneTrigger()} {
		steps = append(steps, again(made))
	}
	name := s.Machine + "_adopt"
	return append(steps,
		step{[]string{s.adoptProcedure(name)}, []string{"DROP PROCEDURE IF EXISTS " + name + "();"}},
		step{[]string{"CALL " + name + "();", "RESET lock_timeout;"}, []string{lines(
			"-- Gives up, as the way up does, rather than make others wait.",
			"SET lock_timeout = '1s';")}},
	)
}

// again makes a step that may run a second time.
func again(s step) step {
	up := strings.NewReplacer("CREATE TABLE ", "CREATE TABLE IF NOT EXISTS ", "CREATE INDEX ", "CREATE INDEX IF NOT EXISTS ",
		"CREATE FUNCTION ", "CREATE OR REPLACE FUNCTION ", "CREATE TRIGGER ", "CREATE OR REPLACE TRIGGER ")
	down := strings.NewReplacer("DROP TABLE ", "DROP TABLE IF EXISTS ", "DROP FUNCTION ", "DROP FUNCTION IF EXISTS ",
		"DROP TRIGGER ", "DROP TRIGGER IF EXISTS ")
	first := func(r *strings.Replacer, statements []string) []string {
		out := slices.Clone(statements)
		for i, text := range out {
			head, rest, _ := strings.Cut(text, "\n")
			out[i] = r.Replace(head)
			if rest != "" {
				out[i] += "\n" + rest
			}
		}
		return out
	}
	return step{first(up, s.up), first(down, s.down)}
}

// block is an anonymous block of PL/pgSQL.
func block(l ...string) string {
	return dollarQuoted(lines(append(append([]string{"DO $$"}, l...), "END $$;")...))
}

// dollarQuoted gives the body between $$ another quote where it holds one, as
// a state's name may.
func dollarQuoted(statement string) string {
	first, last := strings.Index(statement, "$$"), strings.LastIndex(statement, "$$")
	body := statement[first+2 : max(last, first+2)]
	tag := "$$"
	for n := 0; strings.Contains(body, tag); n++ {
		tag = fmt.Sprintf("$fsm%d$", n)
	}
	return statement[:first] + tag + body + tag + statement[last+2:]
}

// relation is the table as a constant for the catalogs.
func (s Schema) relation() string { return literal(ident(s.Table)) + "::regclass" }

// fits looks whether the table is what the definition says of it, before
// anything is changed.
func (s Schema) fits() string {
	var wanted []string
	for _, c := range slices.Concat(s.keys(), s.ownColumns(), s.Columns) {
		typ := c.Type
		if typ == "timestamptz" {
			typ = "timestamp with time zone"
		}
		wanted = append(wanted, fmt.Sprintf("      (%d, %s, %s)", len(wanted)+1, literal(c.Name), literal(typ)))
	}
	var names []string
	for _, k := range s.keys() {
		names = append(names, k.Name)
	}
	sort.Strings(names)
	key := strings.ReplaceAll(s.keyList(""), "'", "''")
	return block(
		"DECLARE",
		"  problem text;",
		"BEGIN",
		fmt.Sprintf("  IF NOT EXISTS (SELECT FROM pg_class AS r WHERE r.oid = to_regclass(%s) AND r.relkind = 'r') THEN", literal(ident(s.Table))),
		fmt.Sprintf("    RAISE EXCEPTION '%s is no table here, or a partitioned one' USING ERRCODE = 'undefined_table';", s.Table),
		"  END IF;",
		"  SELECT string_agg(format('%s is %s, not %s', w.name, format_type(a.atttypid, a.atttypmod), w.type), '; ' ORDER BY w.place) INTO problem",
		"    FROM (VALUES",
		strings.Join(wanted, ",\n"),
		"    ) AS w(place, name, type)",
		fmt.Sprintf("    JOIN pg_attribute AS a ON a.attrelid = %s AND a.attname = w.name AND NOT a.attisdropped", s.relation()),
		"    WHERE format_type(a.atttypid, a.atttypmod) <> w.type"+s.lenient()+";",
		"  IF problem IS NOT NULL THEN",
		fmt.Sprintf("    RAISE EXCEPTION '%s is not what the definition says: %%', problem USING ERRCODE = 'datatype_mismatch',", s.Table),
		"      HINT = 'Correct the types in the definition, or alter the table first.';",
		"  END IF;",
		"  IF NOT EXISTS (",
		"    SELECT FROM pg_index AS i",
		fmt.Sprintf("    WHERE i.indrelid = %s AND i.indisunique AND i.indisvalid AND i.indimmediate AND i.indpred IS NULL AND i.indexprs IS NULL", s.relation()),
		"      AND (SELECT array_agg(a.attname::text ORDER BY a.attname::text COLLATE \"C\") FROM pg_attribute AS a",
		"           WHERE a.attrelid = i.indrelid AND a.attnotnull AND a.attnum = ANY ((i.indkey::int2[])[0:i.indnkeyatts - 1]))",
		fmt.Sprintf("          = ARRAY[%s]", literals(names)),
		fmt.Sprintf("      AND i.indnkeyatts = %d) THEN", len(names)),
		fmt.Sprintf("    RAISE EXCEPTION '%s has no primary key or unique index of NOT NULL columns on exactly (%s)' USING ERRCODE = 'undefined_object';", s.Table, key),
		"  END IF;",
	)
}

// lenient lets a status that is kept by its name be varchar of any length.
func (s Schema) lenient() string {
	if s.Status != nil {
		return ""
	}
	return fmt.Sprintf("\n      AND NOT (w.name = %s AND a.atttypid = 'varchar'::regtype)", literal(s.own().Status))
}

// enumLabels makes the enum, or adds the states that it lacks.
func (s Schema) enumLabels() string {
	return block(
		"DECLARE",
		"  state text;",
		"BEGIN",
		fmt.Sprintf("  IF to_regtype(%s) IS NULL THEN", literal(s.statusType())),
		"    "+s.enumType().up[0],
		"  END IF;",
		fmt.Sprintf("  FOREACH state IN ARRAY ARRAY[%s] LOOP", literals(s.labels())),
		fmt.Sprintf("    IF NOT EXISTS (SELECT FROM pg_enum AS e WHERE e.enumtypid = to_regtype(%s) AND e.enumlabel = state) THEN", literal(s.statusType())),
		fmt.Sprintf("      EXECUTE format('ALTER TYPE %s ADD VALUE %%L', state);", strings.ReplaceAll(s.statusType(), "%", "%%")),
		"    END IF;",
		"  END LOOP;",
	)
}

// missingColumns adds what the table lacks. The status has a default, as the
// version has, since programs of before insert without them; a constant one
// rewrites no row.
func (s Schema) missingColumns() string {
	var adds []string
	own := s.ownColumns()
	own[0].Default = s.values([]string{s.Initial})[0]
	own[1].Default = "1"
	for _, c := range slices.Concat(own, s.Columns) {
		adds = append(adds, "  ADD COLUMN IF NOT EXISTS "+c.declare())
	}
	return "ALTER TABLE " + ident(s.Table) + "\n" + strings.Join(adds, ",\n") + ";"
}

// required are the columns that must have a value.
func (s Schema) required() []Column {
	return slices.DeleteFunc(slices.Concat(s.ownColumns(), s.Columns), func(c Column) bool { return c.Optional })
}

// rowsFit looks for rows that the constraints would refuse, and names them:
// PostgreSQL itself would only say that there are some.
func (s Schema) rowsFit() string {
	var empty []string
	for _, c := range s.required() {
		empty = append(empty, fmt.Sprintf("    CASE WHEN bool_or(o.%s IS NULL) THEN %s END", ident(c.Name), literal(c.Name)))
	}
	return block(
		"DECLARE",
		"  problem text;",
		"BEGIN",
		"  SELECT concat_ws(', ',",
		strings.Join(empty, ",\n"),
		fmt.Sprintf("  ) INTO problem FROM %s AS o;", ident(s.Table)),
		"  IF problem <> '' THEN",
		fmt.Sprintf("    RAISE EXCEPTION '%s has rows without a value in: %%', problem USING ERRCODE = 'not_null_violation',", s.Table),
		"      HINT = 'Give those rows a value, then migrate again; only columns were added so far.';",
		"  END IF;",
		"  SELECT string_agg(format('%s (%s rows)', r.state, r.rows), ', ' ORDER BY r.state) INTO problem FROM (",
		fmt.Sprintf("    SELECT %s::text AS state, count(*) AS rows FROM %s AS o WHERE NOT (%s) GROUP BY 1 ORDER BY 1 LIMIT 20", qualified("o", s.own().Status), ident(s.Table), s.standsIn("o", s.States)),
		"  ) AS r;",
		"  IF problem IS NOT NULL THEN",
		fmt.Sprintf("    RAISE EXCEPTION '%s has rows in states that %s does not have: %%', problem USING ERRCODE = 'check_violation',", s.Table, s.Machine),
		"      HINT = 'Declare the states or move the rows out of them, then migrate again; only columns were added so far.';",
		"  END IF;",
	)
}

// checks puts the constraints on: first for what is written from now on, which
// is short, then for the rows there are, under a lock that stops nobody.
func (s Schema) checks() []step {
	type check struct{ name, sql string }
	checks := []check{
		{s.statusName(), fmt.Sprintf("%s IS NOT NULL AND %s", ident(s.own().Status), s.known())},
		{s.Table + "_fsm_version_check", s.version("") + " > 0"},
	}
	for _, c := range s.Columns {
		if c.Check != "" {
			checks = append(checks, check{s.checkName(c), c.Check})
		}
	}
	table := ident(s.Table)
	var steps []step
	for _, c := range checks {
		steps = append(steps, step{
			[]string{
				block("BEGIN", s.unless(c.name), fmt.Sprintf("    ALTER TABLE %s ADD CONSTRAINT %s CHECK (%s) NOT VALID;", table, ident(c.name), c.sql), "  END IF;"),
				fmt.Sprintf("ALTER TABLE %s VALIDATE CONSTRAINT %s;", table, ident(c.name)),
			},
			[]string{fmt.Sprintf("ALTER TABLE %s DROP CONSTRAINT IF EXISTS %s;", table, ident(c.name))},
		})
	}
	return steps
}

// unless is the head of an IF that asks for a constraint.
func (s Schema) unless(constraint string) string {
	return fmt.Sprintf("  IF NOT EXISTS (SELECT FROM pg_constraint AS c WHERE c.conrelid = %s AND c.conname = %s) THEN", s.relation(), literal(constraint))
}

// notNull makes NOT NULL what must have a value. PostgreSQL does not look at
// the rows where a valid constraint says so already, which therefore comes
// first and goes again. It has no way back: what was NOT NULL is not known.
func (s Schema) notNull() step {
	table, name := ident(s.Table), s.Table+"_fsm_null_check"
	var set, whole, names []string
	for _, c := range s.required() {
		set = append(set, "  ALTER COLUMN "+ident(c.Name)+" SET NOT NULL")
		whole = append(whole, ident(c.Name)+" IS NOT NULL")
		names = append(names, c.Name)
	}
	return step{up: []string{
		block("BEGIN",
			fmt.Sprintf("  IF EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = %s AND NOT a.attnotnull AND a.attname = ANY (ARRAY[%s]))", s.relation(), literals(names)),
			fmt.Sprintf("    AND NOT EXISTS (SELECT FROM pg_constraint AS c WHERE c.conrelid = %s AND c.conname = %s) THEN", s.relation(), literal(name)),
			fmt.Sprintf("    ALTER TABLE %s ADD CONSTRAINT %s CHECK (%s) NOT VALID;", table, name, strings.Join(whole, " AND ")),
			"  END IF;"),
		block("BEGIN",
			fmt.Sprintf("  IF EXISTS (SELECT FROM pg_constraint AS c WHERE c.conrelid = %s AND c.conname = %s) THEN", s.relation(), literal(name)),
			fmt.Sprintf("    ALTER TABLE %s VALIDATE CONSTRAINT %s;", table, name),
			"  END IF;"),
		"ALTER TABLE " + table + "\n" + strings.Join(set, ",\n") + ";",
		fmt.Sprintf("ALTER TABLE %s DROP CONSTRAINT IF EXISTS %s;", table, name),
	}}
}

// concurrentIndex is the deadline index, made while others write. It waits for
// the transactions of before, however long they last, and stops nobody by it;
// one that was cut off leaves an index that is of no use and is dropped first.
func (s Schema) concurrentIndex() step {
	name := s.Table + "_deadline_idx"
	made := strings.Replace(s.deadlineIndex().up[0], "CREATE INDEX ", "CREATE INDEX CONCURRENTLY IF NOT EXISTS ", 1)
	return step{
		[]string{
			block("BEGIN",
				fmt.Sprintf("  IF EXISTS (SELECT FROM pg_index AS i WHERE i.indexrelid = to_regclass(%s) AND NOT i.indisvalid) THEN", literal(ident(name))),
				fmt.Sprintf("    DROP INDEX %s;", ident(name)),
				"  END IF;"),
			"SET lock_timeout = 0;",
			made,
			"SET lock_timeout = '1s';",
		},
		[]string{fmt.Sprintf("DROP INDEX IF EXISTS %s;", ident(name))},
	}
}

// pageSize is how many rows are taken in by one transaction.
const pageSize = 1000

// adoptProcedure gives rows that no history entry begins one of their own: from
// nothing to their state, at their version. A row that moved since begins where
// its first entry comes from. A deadline is set from now. Pages follow the key,
// each is a transaction, and a row that another transaction holds is passed
// over and told at the end.
func (s Schema) adoptProcedure(name string) string {
	var declare, from, into, next []string
	for i, k := range s.keys() {
		declare = append(declare, fmt.Sprintf("  from_%d %s;", i, k.Type), fmt.Sprintf("  next_%d %s;", i, k.Type))
		from, into, next = append(from, fmt.Sprintf("from_%d", i)), append(into, fmt.Sprintf("next_%d", i)), append(next, fmt.Sprintf("  from_%d := next_%d;", i, i))
	}
	table, keys := ident(s.Table), s.keyList("o")
	status := "(" + s.text("o") + ")::text AS state"
	lock := ""
	if s.Deadlines {
		lock = "\n      FOR NO KEY UPDATE OF o SKIP LOCKED"
	}
	begun := fmt.Sprintf("SELECT FROM %s_history AS h WHERE %s AND h.from_status IS NULL", s.Machine, s.sameKey("h", "o"))
	page := fmt.Sprintf("SELECT * FROM %s AS o WHERE (%s) >= (%s) ORDER BY %s LIMIT %d", table, keys, strings.Join(from, ", "), keys, pageSize)
	l := []string{
		fmt.Sprintf("CREATE OR REPLACE PROCEDURE %s() LANGUAGE plpgsql AS $$", name),
		"-- It may be called again at any time, outside a transaction: for the rows that a program of before inserted, say.",
		"DECLARE",
		strings.Join(declare, "\n"),
		"  last boolean;",
		"  held bigint := 0;",
		"  page_held bigint;",
		"BEGIN",
		fmt.Sprintf("  SELECT %s INTO %s FROM %s AS o ORDER BY %[1]s LIMIT 1;", keys, strings.Join(from, ", "), table),
		"  last := NOT FOUND;",
		"  WHILE NOT last LOOP",
		fmt.Sprintf("    SELECT %s INTO %s FROM %s AS o WHERE (%[1]s) >= (%[4]s) ORDER BY %[1]s OFFSET %[5]d LIMIT 1;", keys, strings.Join(into, ", "), table, strings.Join(from, ", "), pageSize),
		"    last := NOT FOUND;",
		"    WITH page AS MATERIALIZED (",
		"      " + page,
		"    ), fresh AS MATERIALIZED (",
		fmt.Sprintf("      SELECT %s, %s, %s AS version, h.version AS first_version, h.from_status AS first_from", keys, status, s.version("o")),
		fmt.Sprintf("      FROM page AS p JOIN %s AS o ON %s", table, s.sameKey("o", "p")),
		fmt.Sprintf("      LEFT JOIN LATERAL (SELECT h.version, h.from_status FROM %s_history AS h WHERE %s ORDER BY h.version LIMIT 1) AS h ON true", s.Machine, s.sameKey("h", "o")),
		"      WHERE h.version IS NULL OR h.from_status IS NOT NULL" + lock,
	}
	if s.Deadlines {
		due := ident(s.own().Deadline)
		var whens, states []string
		for _, d := range s.Due {
			whens = append(whens, fmt.Sprintf("WHEN %s THEN interval '%s'", literal(d.State), d.After))
			states = append(states, literal(d.State))
		}
		l = append(l,
			"    ), due AS (",
			fmt.Sprintf("      UPDATE %s AS o SET %s = now() + CASE f.state %s END", table, due, strings.Join(whens, " ")),
			fmt.Sprintf("      FROM fresh AS f WHERE %s AND f.first_version IS NULL AND f.state IN (%s) AND o.%s IS NULL", s.sameKey("o", "f"), strings.Join(states, ", "), due))
	}
	l = append(l,
		"    )",
		fmt.Sprintf("    INSERT INTO %s_history (%s, version, event, from_status, to_status, at)", s.Machine, s.keyList("")),
		fmt.Sprintf("    SELECT %s, COALESCE(f.first_version - 1, f.version), '%s', NULL, COALESCE(f.first_from, f.state), now() FROM fresh AS f", s.keyList("f"), adoptEvent),
		fmt.Sprintf("    ON CONFLICT ON CONSTRAINT %s_history_pkey DO NOTHING;", s.Machine))
	if s.Deadlines {
		l = append(l,
			fmt.Sprintf("    SELECT count(*) INTO page_held FROM (%s) AS o WHERE NOT EXISTS (%s);", page, begun),
			"    held := held + page_held;")
	}
	l = append(l, "    COMMIT;")
	l = append(l, next...)
	l = append(l,
		"  END LOOP;",
		"  IF held > 0 THEN",
		fmt.Sprintf("    RAISE EXCEPTION '%% rows of %s are held by other transactions', held USING ERRCODE = 'lock_not_available',", s.Table),
		"      HINT = 'All others are taken in; migrate again.';",
		"  END IF;",
		"END $$;")
	return dollarQuoted(lines(l...))
}

// StandIn declares the table of the machine, and its enum, as the definition
// has them, for an SQL analyser that sees no migration which makes them. Only
// a table that was there before needs it.
func StandIn(m *model.Machine, enum bool) []byte {
	s := SchemaOf(m)
	var w writer
	w.line(0, "-- Code generated by fsmgen. DO NOT EDIT.")
	if enum && s.enum() {
		w.line(0, "%s", s.enumType().up[0])
	}
	w.line(0, "%s", s.table())
	return []byte(w.b.String())
}
