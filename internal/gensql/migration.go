package gensql

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
)

// Codes of changes that cannot be migrated, or not without a word.
const (
	// CodeMigration: a change cannot be made into a migration that is safe for
	// the rows there are.
	CodeMigration diag.Code = "FSM090"
	// CodeStateGone: a state is no longer there, although rows may stand in it.
	CodeStateGone diag.Code = "FSM092"
	// CodeRenameUnderWay: the definition gives up a rename that has begun.
	CodeRenameUnderWay diag.Code = "FSM093"
	// CodeWasUnknown: was names a state that never was.
	CodeWasUnknown diag.Code = "FSM094"
	// CodeTwoIntoOne: was names a state beside which the other one was there before.
	CodeTwoIntoOne diag.Code = "FSM095"
	// CodeReadEmpty: programs of before cannot read what the new one may write.
	CodeReadEmpty diag.Code = "FSM096"
	// CodeNotMigrated: the definition has changed since its newest migration.
	CodeNotMigrated diag.Code = "FSM097"
	// CodeRequired: a column becomes required that programs of before leave empty.
	CodeRequired diag.Code = "FSM098"
)

// Rules documents the codes of this package.
func Rules() []diag.Rule {
	return []diag.Rule{{
		Code: CodeMigration, Severity: diag.Error, Short: "change without a safe migration",
		Cause: "The definition's table, key, or a column's type changed, or a new column has no value for the rows there are.",
		Fix:   "Give the column a default or make it optional; for the rest, write the migration by hand and end it with the line that fsmgen model NAME prints.",
	}, {
		Code: CodeStateGone, Severity: diag.Warning, Short: "state taken away",
		Cause: "A state is no longer declared, although programs of before bring rows there. The database accepts it until fsmgen generate --advance; that migration fails as long as rows stand in it.",
		Fix:   "Say was: OLD in the state that it is now called. To take a state away, mark it retired: true first, advance, let its rows leave it, and delete it then.",
	}, {
		Code: CodeRenameUnderWay, Severity: diag.Error, Short: "rename given up half way",
		Cause: "The renaming of a state has begun, rows and programs use both names, and the definition no longer says so.",
		Fix:   "Put was back until fsmgen generate --advance has ended the rename; change the name again after that.",
	}, {
		Code: CodeWasUnknown, Severity: diag.Error, Short: "former name unknown",
		Cause: "A new state says was, and the newest migration of the machine has no state of that name.",
		Fix:   "Correct the name, or delete was if the state is new.",
	}, {
		Code: CodeTwoIntoOne, Severity: diag.Error, Short: "two states into one",
		Cause: "A state says was, and both names were states before, so programs mean different things by them.",
		Fix:   "Keep the other state as retired: true, and lead its rows over by a transition.",
	}, {
		Code: CodeReadEmpty, Severity: diag.Warning, Short: "unreadable for programs of before",
		Cause: "A required column may now be empty; a program of before cannot read a row where it is.",
		Fix:   "Write no empty value before those programs are gone.",
	}, {
		Code: CodeNotMigrated, Severity: diag.Error, Short: "advance of a definition that changed",
		Cause: "fsmgen generate --advance ends what the newest migrations have begun, and the definition says something else by now.",
		Fix:   "Run fsmgen generate and deploy that first, or undo the change; advance after that.",
	}, {
		Code: CodeRequired, Severity: diag.Error, Short: "required too early",
		Cause: "An optional column becomes required, and programs of before create rows without a value, since it had no default.",
		Fix:   "Give the column a default and leave it optional; make it required in a later release.",
	}}
}

// Migration returns the goose migration that brings the database from prev to
// the machine, nil when there is nothing to do. prev is nil for a machine that
// was never migrated. Programs of prev may run on: what only they need stays,
// and is pending in the schema that the migration embeds; [Advance] ends it. A
// change that cannot be migrated safely is a problem at its place in the
// definition, and nothing is returned.
func Migration(m *model.Machine, prev *Schema, problems *diag.List) []byte {
	next := SchemaOf(m)
	var steps []step
	if prev == nil {
		steps = next.create()
		if next.Existing {
			steps = next.adopt()
		}
	} else {
		before := problems.Errors()
		next.expand(*prev, m, problems)
		steps = next.change(*prev, m, problems)
		if problems.Errors() > before {
			return nil
		}
		if next.same(*prev) {
			return nil
		}
	}
	return next.file(m, prev, steps, problems)
}

// Advance returns the migrations, in order, that take the next step from prev
// now that the programs generated before the definition's newest ones are gone;
// none when nothing is pending. A definition that says something else than prev
// is a problem: it has to be migrated first.
func Advance(m *model.Machine, prev Schema, problems *diag.List) [][]byte {
	now := SchemaOf(m)
	var unsaid diag.List // what is wrong with it is told when it is migrated
	now.expand(prev, m, &unsaid)
	if unsaid.Errors() > 0 || !now.same(prev) {
		problems.Addf(m.Pos, CodeNotMigrated, diag.Error, "the definition has changed since the newest migration of %q: run fsmgen generate and deploy it first", m.Name)
		return nil
	}
	next := SchemaOf(m)
	next.keep(prev)
	next.Renames = slices.Clone(prev.Renames)
	for i := range next.Renames {
		next.Renames[i].Step = RenameMigrate
	}
	var files [][]byte
	if !next.same(prev) {
		files = append(files, next.file(m, &prev, next.change(prev, m, problems), problems))
	}
	ended := next
	ended.Renames = nil
	for _, r := range prev.Renames {
		if r.Step == RenameExpand {
			ended.Renames = append(ended.Renames, Rename{r.Was, r.Is, RenameMigrate})
		}
	}
	if !ended.same(next) {
		up, down := ended.contractRenames(next)
		files = append(files, ended.render(m, noTransaction, marked(up), marked(down), problems))
	}
	return files
}

// same reports whether two schemas are equal.
func (s Schema) same(other Schema) bool {
	a, errA := s.Embed()
	b, errB := other.Embed()
	return errA == nil && errB == nil && a == b
}

// file renders the migration of steps.
func (s Schema) file(m *model.Machine, prev *Schema, steps []step, problems *diag.List) []byte {
	if len(steps) == 0 {
		steps = []step{{up: []string{"-- The tables stay as they are; rows that are in a state keep the deadline they have."}}}
	}
	up, down := text(steps)
	how := ""
	if prev == nil && s.Existing {
		how = noTransaction
	}
	return s.render(m, how, up, down, problems)
}

// noTransaction tells goose to run the statements of a migration one by one.
const noTransaction = "-- +goose NO TRANSACTION"

func (s Schema) render(m *model.Machine, how, up, down string, problems *diag.List) []byte {
	mark, err := s.Embed()
	if err != nil {
		problems.Addf(m.Pos, CodeMigration, diag.Error, "%v", err)
		return nil
	}
	var w writer
	w.line(0, "-- Code generated by fsmgen. DO NOT EDIT.")
	w.comment("Source", m.Source)
	if how != "" {
		w.line(0, "%s", how)
	}
	w.line(0, "")
	w.line(0, "-- +goose Up")
	w.line(0, "%s", up)
	w.line(0, "")
	w.line(0, "-- +goose Down")
	w.line(0, "%s", down)
	w.line(0, "")
	w.line(0, "%s", mark)
	return []byte(w.b.String())
}

// Mark is the line that a migration which brings the database from prev to the
// machine carries, for a migration written by hand. prev is nil for a machine
// that was never migrated.
func Mark(m *model.Machine, prev *Schema) (string, error) {
	next := SchemaOf(m)
	if prev != nil {
		var unsaid diag.List // a migration by hand is for what cannot be generated
		next.expand(*prev, m, &unsaid)
	}
	return next.Embed()
}

// change lists the steps from prev to s, both complete with what is pending.
// None means that the database needs no change.
func (s *Schema) change(prev Schema, m *model.Machine, problems *diag.List) []step {
	refuse := func(pos diag.Position, format string, args ...any) {
		problems.Addf(pos, CodeMigration, diag.Error, format+"; migrate it by hand (see fsmgen rules FSM090)", args...)
	}
	if prev.Table != s.Table {
		refuse(m.Table.Pos, "the table was called %q before", prev.Table)
	}
	s.sameStorage(prev, m, refuse)
	s.sameFacts(prev, m, refuse)
	steps := s.emptied(prev)
	steps = append(steps, s.changeColumns(prev, m, refuse, problems)...)
	alter := "ALTER TABLE " + ident(s.Table)
	if s.Deadlines && !prev.Deadlines {
		steps = append(steps, step{
			[]string{alter + " ADD COLUMN deadline_at timestamptz;"}, []string{alter + " DROP COLUMN deadline_at;"},
		}, s.deadlineIndex())
	}
	if s.Runs && !prev.Runs {
		steps = append(steps, step{
			[]string{alter + " ADD COLUMN deadline_runs integer NOT NULL DEFAULT 0;"}, []string{alter + " DROP COLUMN deadline_runs;"},
		})
	}
	if s.Facts && !prev.Facts {
		steps = append(steps, s.factsTable(), replacedFunction(prev.goneFunction(), s.goneFunction()))
	}
	steps = append(steps, s.changeRules(prev)...)
	return append(steps, s.changeDue(prev)...)
}

// changeRules replaces CHECK and triggers where what they allow is not the same.
func (s *Schema) changeRules(prev Schema) []step {
	steps := s.enumValues(prev)
	if was, is := prev.function(), s.function(); !slices.Equal(was.up, is.up) {
		steps = append(steps, replacedFunction(was, is))
	}
	var last []step
	var begun []Rename
	for _, r := range s.Renames {
		if !slices.ContainsFunc(prev.Renames, func(was Rename) bool { return was.Was == r.Was }) {
			begun = append(begun, r)
		}
	}
	was, is := prev.edgeTrigger(), s.edgeTrigger()
	switch changed := !slices.Equal(was.up, is.up); {
	case changed && len(begun) == 0:
		last = append(last, replaced(was, is))
	case changed: // on the way back, no trigger looks while names are given back
		steps = append(steps, step{was.down, was.up})
		last = append(last, s.backNames(begun), is)
	case len(begun) > 0:
		last = append(last, s.backNames(begun))
	}
	if was, is := prev.statusCheck(), s.statusCheck(); !slices.Equal(was.up, is.up) {
		steps = append(steps, replaced(was, is))
	}
	steps = append(steps, last...)
	if was, is := prev.birthTrigger(), s.birthTrigger(); !slices.Equal(was.up, is.up) {
		steps = append(steps, replaced(was, is))
	}
	return steps
}

// enumValues adds to the enum what the status column may now hold. A value of
// an enum cannot be taken away again; the CHECK keeps it out where it must not be.
func (s *Schema) enumValues(prev Schema) []step {
	var steps []step
	if !s.enum() {
		return nil
	}
	had := prev.labels()
	for _, label := range s.labels() {
		if !slices.Contains(had, label) {
			steps = append(steps, step{up: []string{fmt.Sprintf("ALTER TYPE %s ADD VALUE IF NOT EXISTS %s;", s.statusType(), literal(label))}})
		}
	}
	return steps
}

// emptied stops the migration, with words that help, while rows stand in a
// state that it takes away. The CHECK would stop it too.
func (s *Schema) emptied(prev Schema) []step {
	var gone []string
	accepted := s.statesInForce()
	for _, name := range prev.inTermsOf(s.Renames).statesInForce() {
		if !slices.Contains(accepted, name) {
			gone = append(gone, name)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return []step{{up: []string{block(
		"BEGIN",
		fmt.Sprintf("  IF EXISTS (SELECT 1 FROM %s AS o WHERE %s) THEN", ident(s.Table), prev.standsIn("o", gone)),
		fmt.Sprintf("    RAISE EXCEPTION '%%', %s", literal(s.Machine+": rows stand in a state that is taken away: "+strings.Join(gone, ", "))),
		"      USING ERRCODE = 'check_violation', HINT = 'Move them out by events or corrections, then migrate again.';",
		"  END IF;")}}}
}

// sameFacts refuses another identity or fingerprint for an event that has one:
// the facts there are would be compared with texts of another making, and told
// again count as new.
func (s *Schema) sameFacts(prev Schema, m *model.Machine, refuse func(diag.Position, string, ...any)) {
	for _, was := range prev.Identities {
		for _, is := range s.Identities {
			if is.Event != was.Event {
				continue
			}
			pos := m.Event(is.Event).Pos
			if !slices.Equal(was.Identity, is.Identity) {
				refuse(pos, "the identity of %q was %v before, and its facts are kept by that", is.Event, was.Identity)
			} else if !slices.Equal(was.Fingerprint, is.Fingerprint) {
				refuse(pos, "the fingerprint of %q was %v before, and its facts are compared with that", is.Event, was.Fingerprint)
			}
		}
	}
}

// changeDue gives rows their due time where a state now has a deadline, as if
// they had just come into it, and takes it away where it has none any more. It
// does so once more when the programs of before are gone, since they moved
// rows by the deadlines that they knew.
func (s *Schema) changeDue(prev Schema) []step {
	var steps []step
	states := s.changedDue(prev.inTermsOf(s.Renames))
	for _, state := range prev.pending().Due {
		if !slices.Contains(s.pending().Due, state) && !slices.Contains(states, state) {
			states = append(states, state)
		}
	}
	for _, state := range states {
		if !slices.Contains(s.States, state) {
			continue // its rows are those of programs of before
		}
		value, condition := "NULL", "NOT NULL"
		for _, d := range s.Due {
			if d.State == state {
				value, condition = "now() + interval '"+d.After+"'", "NULL"
			}
		}
		steps = append(steps, step{up: []string{fmt.Sprintf("UPDATE %s SET %s = %s WHERE %s AND %[2]s IS %[5]s;",
			ident(s.Table), ident(s.own().Deadline), value, s.stands("", state), condition)}})
	}
	return steps
}

// keep carries over what stays in the database although it is no longer declared.
func (s *Schema) keep(prev Schema) {
	s.Facts = s.Facts || prev.Facts
	s.Deadlines = s.Deadlines || prev.Deadlines
	s.Runs = s.Runs || prev.Runs
	for _, old := range append(append([]Column{}, prev.Left...), prev.Columns...) {
		if find(s.Columns, old.Name) == nil && find(s.Left, old.Name) == nil {
			s.Left = append(s.Left, old)
		}
	}
}

func find(columns []Column, name string) *Column {
	for i := range columns {
		if columns[i].Name == name {
			return &columns[i]
		}
	}
	return nil
}

func (s Schema) statusCheck() step {
	name := s.statusName()
	return step{
		[]string{
			fmt.Sprintf("ALTER TABLE %s ADD CONSTRAINT %s CHECK (%s);", ident(s.Table), name, s.known()),
		},
		[]string{fmt.Sprintf("ALTER TABLE %s DROP CONSTRAINT %s;", ident(s.Table), name)},
	}
}

// replacedFunction replaces a function in place, since its triggers stay.
func replacedFunction(was, is step) step {
	replace := func(lines []string) []string {
		out := slices.Clone(lines)
		for i, l := range out {
			out[i] = strings.Replace(l, "CREATE FUNCTION", "CREATE OR REPLACE FUNCTION", 1)
		}
		return out
	}
	return step{replace(is.up), replace(was.up)}
}
