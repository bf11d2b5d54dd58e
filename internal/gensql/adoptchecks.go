package gensql

import (
	"fmt"
	"strings"
)

// checks puts the constraints on: first for what is written from now on, which
// is short, then for the rows there are, under a lock that stops nobody.
func (s Schema) checks() []step {
	type check struct{ name, sql string }
	checks := []check{
		{s.called().StatusCheck(), fmt.Sprintf("%s IS NOT NULL AND %s", ident(s.own().Status), s.known())},
		{s.called().VersionCheck(), s.version("") + " > 0"},
	}
	for _, c := range s.Columns {
		if c.Check != "" {
			checks = append(checks, check{s.called().ColumnCheck(c.Name), c.Check})
		}
	}
	var steps []step
	for _, c := range checks {
		steps = append(steps, s.constraint(c.name, c.sql))
	}
	return steps
}

// constraint puts on a check: first for what is written from now on, then for
// the rows there are.
func (s Schema) constraint(name, check string) step {
	table := ident(s.Table)
	return step{
		[]string{
			block("BEGIN", s.unless(name), fmt.Sprintf("    ALTER TABLE %s ADD CONSTRAINT %s CHECK (%s) NOT VALID;", table, ident(name), check), s.markCheck(name), "  END IF;"),
			s.validate(name),
		},
		[]string{fmt.Sprintf("ALTER TABLE %s DROP CONSTRAINT IF EXISTS %s;", table, ident(name))},
	}
}

// validate looks at the rows there are. One that came in since they were looked
// at would leave a constraint that refuses what the program of before writes,
// and no machine: then the constraint goes again, for good, before the error.
func (s Schema) validate(name string) string {
	table := ident(s.Table)
	return block(
		"DECLARE",
		"  problem text;",
		"BEGIN",
		"  IF NOT EXISTS (SELECT FROM pg_constraint AS c WHERE c.conrelid = "+s.relation()+" AND c.conname = "+literal(name)+") THEN",
		"    RETURN;",
		"  END IF;",
		"  BEGIN",
		fmt.Sprintf("    ALTER TABLE %s VALIDATE CONSTRAINT %s;", table, ident(name)),
		"  EXCEPTION WHEN check_violation THEN",
		"    problem := SQLERRM;",
		"  END;",
		"  IF problem IS NOT NULL THEN",
		fmt.Sprintf("    ALTER TABLE %s DROP CONSTRAINT %s;", table, ident(name)),
		"    COMMIT;",
		raise("%s; such rows came in while the migration ran, and the constraint is gone again", "mend the rows, then migrate again", "check_violation", "problem"),
		"  END IF;")
}

// unless is the head of an IF that asks for a constraint.
func (s Schema) unless(constraint string) string {
	return fmt.Sprintf("  IF NOT EXISTS (SELECT FROM pg_constraint AS c WHERE c.conrelid = %s AND c.conname = %s) THEN", s.relation(), literal(constraint))
}

// notNull makes NOT NULL what must have a value. PostgreSQL does not look at
// the rows where a valid constraint says so already, which therefore comes
// first and goes again. It has no way back: what was NOT NULL is not known.
func (s Schema) notNull(columns []Column) step {
	table, name := ident(s.Table), s.called().NullCheck()
	var set, whole, names []string
	for _, c := range columns {
		set = append(set, "  ALTER COLUMN "+ident(c.Name)+" SET NOT NULL")
		whole = append(whole, ident(c.Name)+" IS NOT NULL")
		names = append(names, c.Name)
	}
	return step{up: []string{
		block("BEGIN",
			fmt.Sprintf("  IF EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = %s AND NOT a.attnotnull AND a.attname = ANY (ARRAY[%s]))", s.relation(), literals(names)),
			fmt.Sprintf("    AND NOT EXISTS (SELECT FROM pg_constraint AS c WHERE c.conrelid = %s AND c.conname = %s) THEN", s.relation(), literal(name)),
			fmt.Sprintf("    ALTER TABLE %s ADD CONSTRAINT %s CHECK (%s) NOT VALID;", table, name, strings.Join(whole, " AND ")),
			s.markCheck(name),
			"  END IF;"),
		s.validate(name),
		"ALTER TABLE " + table + "\n" + strings.Join(set, ",\n") + ";",
		fmt.Sprintf("ALTER TABLE %s DROP CONSTRAINT IF EXISTS %s;", table, name),
	}}
}

// concurrentIndex is the deadline index, made while others write. It waits for
// the transactions of before, however long they last, and stops nobody by it;
// one that was cut off leaves an index that is of no use and is dropped first.
func (s Schema) concurrentIndex() step {
	name := s.called().DeadlineIndex()
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
