package check

import "github.com/pawl-go/pawl/internal/diag"

// The codes of this package; [Rules] says what each is about.
const (
	CodeUnknownName    diag.Code = "FSM012"
	CodeUnknownKey     diag.Code = "FSM020"
	CodeWrongKind      diag.Code = "FSM021"
	CodeMissing        diag.Code = "FSM022"
	CodeBadName        diag.Code = "FSM023"
	CodeAmbiguous      diag.Code = "FSM024"
	CodeReserved       diag.Code = "FSM025"
	CodeIdentifier     diag.Code = "FSM026"
	CodeType           diag.Code = "FSM027"
	CodeDuration       diag.Code = "FSM028"
	CodeKeyType        diag.Code = "FSM029"
	CodeInitial        diag.Code = "FSM030"
	CodeFinal          diag.Code = "FSM031"
	CodeShadowed       diag.Code = "FSM032"
	CodeSameGuard      diag.Code = "FSM033"
	CodeUnreached      diag.Code = "FSM034"
	CodeDeadEnd        diag.Code = "FSM035"
	CodeUnused         diag.Code = "FSM036"
	CodeUndecided      diag.Code = "FSM037"
	CodeDecidedTwice   diag.Code = "FSM038"
	CodeNotReached     diag.Code = "FSM039"
	CodeNothingLeft    diag.Code = "FSM040"
	CodeCompensate     diag.Code = "FSM041"
	CodeReplay         diag.Code = "FSM042"
	CodeFactParam      diag.Code = "FSM043"
	CodeRepeated       diag.Code = "FSM044"
	CodeFingerprint    diag.Code = "FSM045"
	CodeRepeatable     diag.Code = "FSM046"
	CodeDeadlineEvent  diag.Code = "FSM047"
	CodeMax            diag.Code = "FSM048"
	CodeSetOwn         diag.Code = "FSM049"
	CodeOwnColumn      diag.Code = "FSM050"
	CodeNoTable        diag.Code = "FSM051"
	CodeSQLSyntax      diag.Code = "FSM052"
	CodeSQLRows        diag.Code = "FSM053"
	CodeSQLVolatile    diag.Code = "FSM054"
	CodeSQLUnsupported diag.Code = "FSM055"
	CodeSQLSpelling    diag.Code = "FSM056"
	CodeSQLType        diag.Code = "FSM057"
	CodeTooLarge       diag.Code = "FSM058"
	CodeSameMachine    diag.Code = "FSM059"
	CodeSameTable      diag.Code = "FSM060"
	CodeSamePackage    diag.Code = "FSM061"
	CodeSameRelation   diag.Code = "FSM062"
	CodeNoEnd          diag.Code = "FSM063"
	CodeOverlap        diag.Code = "FSM064"
	CodeNotDecided     diag.Code = "FSM065"
	CodeGap            diag.Code = "FSM066"
	CodeNeverTrue      diag.Code = "FSM067"
	CodeCovered        diag.Code = "FSM068"
	CodeNullElse       diag.Code = "FSM069"
	CodeStuck          diag.Code = "FSM076"
	CodeMoney          diag.Code = "FSM077"
	CodeWaiver         diag.Code = "FSM078"
	CodeUnusedWaiver   diag.Code = "FSM079"
	CodeMapEvent       diag.Code = "FSM080"
	CodeUnmapped       diag.Code = "FSM081"
	CodeFormerName     diag.Code = "FSM082"
	CodeRetired        diag.Code = "FSM083"
	CodeStatus         diag.Code = "FSM084"
	CodeNoIdentity     diag.Code = "FSM085"
	CodeHistory        diag.Code = "FSM086"
)

// Rules documents every code of this package, in the order of the codes. The
// caller may keep and change the slice.
func Rules() []diag.Rule {
	rules := append(shapeRules(), lifecycleRules()...)
	rules = append(rules, dataRules()...)
	rules = append(rules, designRules()...)
	for i := range rules {
		rules[i].Waivable = waivable[rules[i].Code]
	}
	return rules
}

func shapeRules() []diag.Rule {
	return []diag.Rule{
		{Code: CodeUnknownName, Short: "name not declared", Cause: "A state, event, guard, parameter or column is used and declared nowhere, or SQL compares the status with what is no state; often a slip of the pen.", Fix: "Correct the name, or declare it."},
		{Code: CodeUnknownKey, Short: "key not known", Cause: "A mapping has a key that the language does not have at that place.", Fix: "Correct the key, or delete it."},
		{Code: CodeWrongKind, Short: "wrong kind of value", Cause: "A value is a list where a mapping is needed, a word where true or false is needed, and the like.", Fix: "Write the value as the message says."},
		{Code: CodeMissing, Short: "something is missing", Cause: "A key without which the definition has no meaning is left out.", Fix: "Add the key; the message shows an example."},
		{Code: CodeBadName, Short: "name not usable", Cause: "A name is too long, or has characters that SQL or Go cannot take.", Fix: "Choose a name of lower-case letters, digits and _; states and events may be any printable text."},
		{Code: CodeAmbiguous, Short: "name needs quotes", Cause: "YAML reads words such as no, on, null and 1.5 as something else than text.", Fix: "Put the name into quotes."},
		{Code: CodeReserved, Short: "name reserved", Cause: "The generated code or SQL uses the name for itself, or Go or PostgreSQL does; so do names that end like cart_windows, whose files Go would leave out elsewhere.", Fix: "Choose another name."},
		{Code: CodeIdentifier, Short: "Go names clash", Cause: "Two names give the same Go identifier, such as in_transit and \"in transit\", or event b_c of machine a and event c of machine a_b; or a name gives none.", Fix: "Rename one of them."},
		{Code: CodeType, Short: "type not known", Cause: "A column or parameter has a type that is not among the supported types of PostgreSQL.", Fix: "Use one of the types that the message lists."},
		{Code: CodeDuration, Short: "not a duration", Cause: "The time of a deadline cannot be read, or is below one second.", Fix: "Write it as Go does, with d for days: 30m, 24h, 1d12h."},
		{Code: CodeKeyType, Short: "type unfit for a key", Cause: "Values of the key's type have several spellings, so two calls could mean one row without noticing, or no value in Go that == compares.", Fix: "Use text, uuid, an integer type, date or boolean."},
	}
}

func lifecycleRules() []diag.Rule {
	return []diag.Rule{
		{Code: CodeInitial, Short: "not one initial state", Cause: "No state is initial, or several are; a row is created in exactly one.", Fix: "Mark one state with initial: true."},
		{Code: CodeFinal, Short: "final state is not final", Cause: "A final state has a transition, a deadline, or is marked resting.", Fix: "Delete final, or what contradicts it."},
		{Code: CodeShadowed, Short: "transition never taken", Cause: "A transition without a guard stands before it in the same cell and is always taken.", Fix: "Give the earlier one a guard, or put it last."},
		{Code: CodeSameGuard, Short: "guard repeated in a cell", Cause: "Two transitions of one event from one state have the same guard, so the second is never taken.", Fix: "Use another guard, or none for the last one."},
		{Code: CodeUnreached, Severity: diag.Warning, Short: "state never reached", Cause: "No way of transitions leads from the initial state to it.", Fix: "Add a transition, or delete the state."},
		{Code: CodeDeadEnd, Severity: diag.Warning, Short: "state without exit", Cause: "No transition leaves the state, yet it is neither final nor resting.", Fix: "Add a transition, or mark it final: true."},
		{Code: CodeUnused, Severity: diag.Warning, Short: "declared and not used", Cause: "A guard, event, parameter or column is declared and has no use.", Fix: "Use it, or delete it."},
		{Code: CodeUndecided, Short: "cell not decided", Cause: "An event from outside can arrive in a state for which nothing is said, or with all guards not true; that is where money gets lost.", Fix: "Name the states in otherwise, or write '*' for all that are left."},
		{Code: CodeDecidedTwice, Short: "cell decided twice", Cause: "A state, or '*', stands in two places of one otherwise.", Fix: "Delete one."},
		{Code: CodeNotReached, Short: "decision never reached", Cause: "A state is named in otherwise although a transition, or guard failed, answers there.", Fix: "Delete the name."},
		{Code: CodeNothingLeft, Severity: diag.Warning, Short: "'*' reaches nothing", Cause: "Every state is decided already by transitions and by name.", Fix: "Delete '*'."},
		{Code: CodeCompensate, Short: "compensate without identity", Cause: "Without an identity two deliveries of one fact would both be compensated.", Fix: "Add an identity, or ignore or reject the event."},
		{Code: CodeReplay, Short: "replay with identity", Cause: "A known fact is answered before states are looked at, so a replay cell of such an event meets new facts only, and would swallow them.", Fix: "Use ignore, reject or compensate."},
		{Code: CodeFactParam, Short: "parameter unfit for a fact", Cause: "A parameter of an identity or fingerprint is optional, or of a type whose values have several spellings.", Fix: "Use required parameters of text, uuid, an integer type or boolean."},
		{Code: CodeRepeated, Short: "name repeated in a list", Cause: "A list names the same thing twice.", Fix: "Delete one."},
		{Code: CodeFingerprint, Short: "fingerprint without identity", Cause: "A fingerprint is compared between deliveries of one fact, and without identity there is no telling which those are.", Fix: "Add an identity."},
		{Code: CodeRepeatable, Short: "a retry would count twice", Cause: "The event leads to a state from which it moves the row again, so a repeated call would take effect twice.", Fix: "Give the event an identity, or expect: version."},
		{Code: CodeDeadlineEvent, Short: "event unfit for a deadline", Cause: "A deadline fires an event without parameters, identity and outside source, and the event must move the row from that state.", Fix: "Use such an event, or add the transition."},
		{Code: CodeMax, Short: "max without self-loop", Cause: "max ends a self-loop of the deadline's event, and there is none.", Fix: "Delete max, or add the self-loop."},
	}
}

func dataRules() []diag.Rule {
	return []diag.Rule{
		{Code: CodeSetOwn, Short: "column cannot be set", Cause: "A transition sets the key, or a column that the machine keeps itself.", Fix: "Delete the assignment."},
		{Code: CodeOwnColumn, Short: "column is there already", Cause: "A declared column has the name of the key, or of status, version, deadline_at or deadline_runs.", Fix: "Delete it, or choose another name."},
		{Code: CodeNoTable, Short: "machine has no table", Cause: "A guard or an assignment needs a row, and the machine has no table.", Fix: "Add table, or delete the guard or set."},
		{Code: CodeSQLSyntax, Short: "SQL not readable", Cause: "A fragment is not exactly one SQL expression, or has a comment, a semicolon, or a string constant over several lines.", Fix: "Write one expression, as after SELECT, and a line break in a string as E'\\n'."},
		{Code: CodeSQLRows, Short: "SQL over other rows", Cause: "A subquery, aggregate, window or row-giving function looks beyond the guarded row, where two calls at once would both see it true.", Fix: "Keep a counter on the guarded row."},
		{Code: CodeSQLVolatile, Short: "SQL depends on more than its input", Cause: "A function or keyword reads the server's clock, chance or the session, or has an effect.", Fix: "Pass a parameter; write now() for the time, where a clock may be read."},
		{Code: CodeSQLUnsupported, Short: "SQL not supported", Cause: "A function, operator, type or form is not among those that are known to be safe.", Fix: "Use the supported ones, or compute the value elsewhere and pass it as a parameter."},
		{Code: CodeSQLSpelling, Short: "SQL name in another spelling", Cause: "A column is written with its table, a function with its schema, or a parameter as $1, :name or sqlc.arg.", Fix: "Write the bare name of a column or function, and @name for a parameter."},
		{Code: CodeSQLType, Short: "SQL types do not fit", Cause: "A function, operator, cast or column is given types that it never takes, a constant cannot be read as what it must be or cannot be computed with, a default is one that its column refuses, or a guard or check is no condition. PostgreSQL would refuse it on every call.", Fix: "Cast one side, use values of one type, or write the constant as the message says."},
		{Code: CodeTooLarge, Short: "machine too large", Cause: "The machine has more states, events or transitions than anybody could read.", Fix: "Split it into several machines."},
		{Code: CodeSameMachine, Short: "machine defined twice", Cause: "Two definitions have the same machine name.", Fix: "Rename or delete one."},
		{Code: CodeSameTable, Short: "table guarded twice", Cause: "Two machines name the same table, whose status can follow one lifecycle only.", Fix: "Use another table."},
		{Code: CodeSamePackage, Short: "Go packages clash", Cause: "Two machine names are equal without their underscores.", Fix: "Rename one."},
		{Code: CodeSameRelation, Short: "database names clash", Cause: "A table or index that is derived from a machine's name has the name of another one, or an enum has the name of a table.", Fix: "Rename a machine, a table or the enum."},
	}
}
