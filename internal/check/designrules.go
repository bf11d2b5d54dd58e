package check

import "github.com/pawl-go/pawl/internal/diag"

// waivable are the rules about what is probably wrong and sometimes meant. What
// has no meaning, or loses money for certain, is not among them.
var waivable = map[diag.Code]bool{
	CodeUnreached: true, CodeDeadEnd: true, CodeUnused: true, CodeNothingLeft: true, CodeRepeatable: true,
	CodeNoEnd: true, CodeOverlap: true, CodeNotDecided: true, CodeGap: true, CodeNullElse: true,
	CodeStuck: true, CodeMoney: true, CodeUnmapped: true, CodeNoIdentity: true,
}

// designRules documents the rules that judge what a lifecycle says rather than
// how it is written.
func designRules() []diag.Rule {
	return []diag.Rule{
		{Code: CodeNoEnd, Severity: diag.Warning, Short: "no end in reach", Cause: "From a state no way leads to a final state, or to one where a row may rest, though the machine has final states.", Fix: "Add the missing transition, or mark a state final or resting."},
		{Code: CodeOverlap, Short: "guards overlap", Cause: "Two guarded transitions of one event and state can both be true, so their order in the file decides where a row goes. The message shows such a row.", Fix: "Make the guards exclude each other, or let the last transition have none."},
		{Code: CodeNotDecided, Severity: diag.Warning, Short: "guards not decided", Cause: "Whether two guards can both be true, or none, could not be found out: they use functions, or arithmetic that is not linear.", Fix: "Write the guards as comparisons where you can, or waive the rule with the reason why they exclude each other."},
		{Code: CodeGap, Severity: diag.Warning, Short: "guards leave a gap", Cause: "An event has several guarded transitions from a state, and for some row none of the guards is true. The message shows such a row.", Fix: "Add a transition without guard, or one whose guard covers the rest; what otherwise says of the state is asked then if the event has source: callback, and of no other event; waive the rule where a refusal is meant."},
		{Code: CodeNeverTrue, Short: "guard never true", Cause: "No row and no parameters make the guard true, as with total > 5 AND total < 3, or against a check of the table, or none in a state from which the transition starts, as with status = 'OPEN' from AJAR.", Fix: "Correct the guard, delete the transition, or take the state out of its from."},
		{Code: CodeCovered, Short: "transition covered by others", Cause: "Whenever the guard of a transition is true, that of one before it is true as well, so it is never taken.", Fix: "Put the narrower guard first, or delete one."},
		{Code: CodeNullElse, Severity: diag.Warning, Short: "NULL falls to the last transition", Cause: "A guard reads a column or parameter that may be NULL. It is then not true, and the transition without guard is taken.", Fix: "Say in a guard what NULL means, with IS NULL or IS NOT NULL."},
		{Code: CodeStuck, Severity: diag.Warning, Short: "nobody can move the row on", Cause: "A state that is neither final nor resting has no deadline, and is left by callbacks alone, or by events that the deadlines of other states fire. When none comes, rows stay for good.", Fix: "Give the state a deadline whose event asks the provider, or add an event from inside, or mark the state resting."},
		{Code: CodeMoney, Severity: diag.Warning, Short: "money without a return", Cause: "From a state tagged money, a row can come to a final state on a way on which no transition is tagged refund or delivery.", Fix: "Tag the transitions that give the money or the goods, or close the way."},
		{Code: CodeWaiver, Short: "waiver not usable", Cause: "A waiver names no rule, or one that cannot be waived, or gives no reason.", Fix: "Correct the code, write the reason, or mend what the rule finds."},
		{Code: CodeUnusedWaiver, Severity: diag.Warning, Short: "waiver of nothing", Cause: "A waiver stands where its rule finds nothing, or nothing any more. The message says where the rule finds something, if anywhere.", Fix: "Delete the waiver, or move it to a part that the problem names."},
		{Code: CodeMapEvent, Short: "outside word, inside event", Cause: "A map leads a word of an outside system to an event that does not come from outside, whose cells may be undecided.", Fix: "Give the event source: callback, or map another one."},
		{Code: CodeUnmapped, Severity: diag.Warning, Short: "callback that no word means", Cause: "The machine maps the words of outside systems, and one of its callback events is reached by none of them.", Fix: "Map a word to it."},
		{Code: CodeFormerName, Short: "former name taken", Cause: "The former name of a state is the name, or the former name, of another one.", Fix: "Correct was, or rename the other state."},
		{Code: CodeRetired, Short: "retired state entered", Cause: "A retired state is initial or final, or a transition leads to it.", Fix: "Lead the transition elsewhere; a retired state may only be left."},
		{Code: CodeStatus, Short: "state cannot be kept so", Cause: "The status column has a type that holds no states, its enum has the name of a type of PostgreSQL or is made by another machine, or states have codes where names are kept, or none or equal ones where codes are.", Fix: "Write the type and the codes as the message says."},
		{Code: CodeNoIdentity, Severity: diag.Warning, Short: "callback without identity", Cause: "An event from outside moves rows and has no identity, so a delivery that is repeated looks like a new one.", Fix: "Give the event a parameter that names the fact, and identity."},
		{Code: CodeHistory, Short: "history cannot be cut so", Cause: "The partitions of a history have no length that there is, or entries are to be kept for a part of a day, or the table was there before its machine.", Fix: "Write history: {partition: month, keep: 400d}, with day, week or month; leave it out for a table that was there before."},
	}
}
