package bypass

import "github.com/pawl-go/pawl/internal/diag"

// Codes of what hand-written SQL may not do.
const (
	CodeSets    diag.Code = "FSM070"
	CodeInserts diag.Code = "FSM071"
	CodeLedger  diag.Code = "FSM072"
	CodeDisarms diag.Code = "FSM073"
	CodeUnread  diag.Code = "FSM074"
	CodeAllow   diag.Code = "FSM075"
)

// Rules documents the codes, in order.
func Rules() []diag.Rule {
	return []diag.Rule{{
		Code: CodeSets, Severity: diag.Error, Short: "own column set by hand",
		Cause: "A hand-written statement, trigger or function body sets the status, the version or a deadline column of a guarded table, so that a row moves without history, facts and outbox; or its key, which the machine's trigger refuses.",
		Fix:   "Call an event of the machine, or Correct for a repair. If it must be, write -- fsmgen:allow FSM070 and the reason directly above the statement.",
	}, {
		Code: CodeInserts, Severity: diag.Error, Short: "row inserted by hand",
		Cause: "A hand-written INSERT, MERGE or COPY makes rows of a guarded table, which then have no history and emit nothing.",
		Fix:   "Call Create of the machine.",
	}, {
		Code: CodeLedger, Severity: diag.Error, Short: "history, facts or outbox written by hand",
		Cause: "A hand-written statement writes the history or the facts of a machine, fsm_outbox or fsm_audit: what they say is then no longer what happened. A DELETE from fsm_outbox, which a relay needs, is a warning.",
		Fix:   "Leave the tables to the machine. For a relay's DELETE, write -- fsmgen:allow FSM072 and the reason directly above it.",
	}, {
		Code: CodeDisarms, Severity: diag.Error, Short: "guard taken away",
		Cause: "A hand-written statement disables, drops or replaces what guards a table: its triggers, their functions, its constraints, own columns, or the table; or puts a rule on it; or it sets session_replication_role, or writes to the catalog; or it uses TRUNCATE, which no row trigger sees. Or a trigger before the write gives back OLD or NULL, which undoes what the machine writes.",
		Fix:   "Take the statement out, or change the definition and let fsmgen generate migrate.",
	}, {
		Code: CodeUnread, Severity: diag.Error, Short: "SQL that cannot be read",
		Cause: "PostgreSQL's grammar cannot read the file at the place named. As a warning: a part could not be looked into, such as a dynamic EXECUTE or a body in another language, or a trigger undoes the machine's writes at times.",
		Fix:   "Correct the SQL. For a part that cannot be looked into, look yourself and write -- fsmgen:allow FSM074 and what you found directly above the statement.",
	}, {
		Code: CodeAllow, Severity: diag.Warning, Short: "allow that allows nothing",
		Cause: "A comment fsmgen:allow has no reason, names no code of these, does not stand directly above a statement, or the statement below it has no such finding.",
		Fix:   "Write it as -- fsmgen:allow FSM070 the reason, directly above the statement, or take it out.",
	}}
}
