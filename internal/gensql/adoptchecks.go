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
	table := ident(s.Table)
	var steps []step
	for _, c := range checks {
		steps = append(steps, step{
			[]string{
				block("BEGIN", s.unless(c.name), fmt.Sprintf("    ALTER TABLE %s ADD CONSTRAINT %s CHECK (%s) NOT VALID;", table, ident(c.name), c.sql), s.markCheck(c.name), "  END IF;"),
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
	table, name := ident(s.Table), s.called().NullCheck()
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
			s.markCheck(name),
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
