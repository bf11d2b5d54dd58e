package gensql

import "github.com/pawl-go/pawl/internal/diag"

// Codes of changes that cannot be migrated, or not without a word.
const (
	// CodeMigration: a change cannot be made into a migration that is safe for
	// the rows there are.
	CodeMigration diag.Code = "FSM090"
	// CodeStateGone: a state is no longer there, although rows may stand in it.
	CodeStateGone diag.Code = "FSM092"
	// CodeRenameUnderWay: the definition gives up a rename that has begun, or has
	// SQL that would be wrong until its end.
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
	// CodeDistribution: the machine's tables cannot be spread over servers.
	CodeDistribution diag.Code = "FSM099"
)

// Rules documents the codes of this package.
func Rules() []diag.Rule {
	return []diag.Rule{{
		Code: CodeMigration, Severity: diag.Error, Short: "change without a safe migration",
		Cause: "The definition's table, key, own columns, way to keep the state, or a column's type changed, or what facts are known by, or a column has no value for the rows there are.",
		Fix:   "Give the column a default or make it optional; for the rest, write the migration by hand and end it with the line that fsmgen model NAME prints.",
	}, {
		Code: CodeStateGone, Severity: diag.Warning, Short: "state taken away",
		Cause: "A state is no longer declared, although programs of before bring rows there. The database accepts it until fsmgen generate --advance; that migration fails as long as rows stand in it.",
		Fix:   "Say was: OLD in the state that it is now called. To take a state away, mark it retired: true first, advance, let its rows leave it, and delete it then.",
	}, {
		Code: CodeRenameUnderWay, Severity: diag.Error, Short: "at odds with a rename",
		Cause: "The renaming of a state has begun, rows and programs use both names, and the definition no longer says so. Or a check, a guard or a value that is set looks for such a state by its name, which only some of its rows have then.",
		Fix:   "Take the name out of the SQL before the rename begins: a transition's from says in which states it goes; put the new name in when the rename is through. For the rest, put the definition back as it was, and end the rename with fsmgen generate --advance, twice from its beginning, each time when the programs of before are gone; change the name again after that. To give it up instead, roll the program back, migrate down past it, and delete its migrations.",
	}, {
		Code: CodeWasUnknown, Severity: diag.Error, Short: "former name unknown",
		Cause: "A state says was, and it is new and the newest migration of the machine has no state of that name, or it was there before and no migration ever had one.",
		Fix:   "Correct the name, or delete was if the state had no other name.",
	}, {
		Code: CodeTwoIntoOne, Severity: diag.Error, Short: "two states into one",
		Cause: "A state says was, and both names were states before, so programs mean different things by them.",
		Fix:   "Keep the other state as retired: true, and lead its rows over by a transition.",
	}, {
		Code: CodeReadEmpty, Severity: diag.Warning, Short: "unreadable for programs of before",
		Cause: "A required column may now be empty; a program of before cannot read a row where it is.",
		Fix:   "Write no empty value before those programs are gone. It is told once; generate says nothing of it later.",
	}, {
		Code: CodeNotMigrated, Severity: diag.Error, Short: "advance of a definition that changed",
		Cause: "fsmgen generate --advance ends what the newest migrations have begun, and the definition says something else by now, or an earlier fsmgen wrote them.",
		Fix:   "Run fsmgen generate and deploy that first, or undo the change; advance after that.",
	}, {
		Code: CodeRequired, Severity: diag.Error, Short: "required too early",
		Cause: "An optional column becomes required, and programs of before create rows without a value, since it had no default.",
		Fix:   "Give the column a default and leave it optional; make it required in a later release.",
	}, {
		Code: CodeDistribution, Severity: diag.Error, Short: "not to be distributed",
		Cause: "fsmgen generate --distribution citus was asked for, and the machine has its history in partitions. Its calls ask a function in PL/pgSQL for a row's last entry, and another function makes partitions; Citus refuses a function that reads a distributed table from within a query on one.",
		Fix:   "Leave the history whole (take history out of the table before its first migration), or generate without --distribution and use several databases instead.",
	}}
}
