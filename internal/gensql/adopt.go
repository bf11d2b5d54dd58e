package gensql

import (
	"fmt"
	"slices"
	"strings"
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
		shortLocks(),
		{up: []string{s.fits()}},
		{up: []string{s.usable()}},
		{up: []string{s.foreign()}},
		{up: []string{s.statesAllowed()}},
	}
	if s.enum() {
		steps = append(steps, step{up: []string{s.enumLabels()}}, step{up: []string{s.statesAllowed()}})
	}
	steps = append(steps,
		step{
			[]string{s.missingColumns()},
			[]string{lines("-- The columns stay: which of them were there before is not known.")},
		},
		step{up: []string{s.rowsFit()}},
	)
	steps = append(steps, s.ownDefaults(), step{up: []string{s.rowsFit()}})
	steps = append(steps, s.checks()...)
	steps = append(steps, s.notNull(s.required()))
	if s.Deadlines {
		steps = append(steps, s.concurrentIndex())
	}
	called := s.called()
	steps = append(steps, s.ownedTable(s.historyTable(), called.History()))
	if s.Facts {
		steps = append(steps, s.ownedTable(s.factsTable(), called.Facts()))
	}
	steps = append(steps,
		s.owned(s.function(), "FUNCTION "+called.Refuse()+"()"),
		s.owned(s.goneFunction(), "FUNCTION "+called.Forget()+"()"),
		again(s.edgeTrigger()), again(s.birthTrigger()), again(s.goneTrigger()))
	name := called.Adopt()
	return append(steps,
		s.owned(step{[]string{s.adoptProcedure(name)}, []string{"DROP PROCEDURE IF EXISTS " + name + "();"}}, "PROCEDURE "+name+"()"),
		step{[]string{"CALL " + name + "();", "RESET lock_timeout;"}, []string{lines(
			"-- Gives up, as the way up does, rather than make others wait.",
			"SET lock_timeout = '1s';")}},
	)
}

// shortLocks begins a migration whose statements give up rather than wait.
func shortLocks() step {
	return step{
		[]string{lines(
			"-- A statement that waits for a lock makes others wait behind it, so it gives up soon. Migrate again then.",
			"SET lock_timeout = '1s';")},
		[]string{"RESET lock_timeout;"},
	}
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
