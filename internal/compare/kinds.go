package compare

// Kind names what changed, for programs. A kind is never given another meaning.
type Kind string

// The kinds. docs/diff.md says when each is breaking.
const (
	MachineAdded    Kind = "machine.added"
	MachineRemoved  Kind = "machine.removed"
	MachineDescribe Kind = "machine.describe"
	MachineOwner    Kind = "machine.owner"
	MachineTags     Kind = "machine.tags"
	MachineInitial  Kind = "machine.initial"

	TableAdded    Kind = "table.added"
	TableRemoved  Kind = "table.removed"
	TableName     Kind = "table.name"
	TableKey      Kind = "table.key"
	TableStorage  Kind = "table.storage"
	TableOwn      Kind = "table.own"
	TableExisting Kind = "table.existing"
	TableHistory  Kind = "table.history"
	TableKeep     Kind = "table.keep"

	ColumnAdded    Kind = "column.added"
	ColumnRemoved  Kind = "column.removed"
	ColumnType     Kind = "column.type"
	ColumnOptional Kind = "column.optional"
	ColumnDefault  Kind = "column.default"
	ColumnCheck    Kind = "column.check"
	ColumnCreate   Kind = "column.create"
	ColumnDescribe Kind = "column.describe"

	StateAdded      Kind = "state.added"
	StateRemoved    Kind = "state.removed"
	StateRenamed    Kind = "state.renamed"
	StateMerged     Kind = "state.merged"
	StateWasAdded   Kind = "state.was.added"
	StateWasRemoved Kind = "state.was.removed"
	StateRetired    Kind = "state.retired"
	StateUnretired  Kind = "state.unretired"
	StateFinal      Kind = "state.final"
	StateResting    Kind = "state.resting"
	StateCode       Kind = "state.code"
	StateLabel      Kind = "state.label"
	StateDescribe   Kind = "state.describe"
	StateOwner      Kind = "state.owner"
	StateTags       Kind = "state.tags"

	DeadlineAdded   Kind = "deadline.added"
	DeadlineRemoved Kind = "deadline.removed"
	DeadlineAfter   Kind = "deadline.after"
	DeadlineEvent   Kind = "deadline.event"
	DeadlineMax     Kind = "deadline.max"

	GuardAdded    Kind = "guard.added"
	GuardRemoved  Kind = "guard.removed"
	GuardSQL      Kind = "guard.sql"
	GuardDescribe Kind = "guard.describe"

	EventAdded       Kind = "event.added"
	EventRemoved     Kind = "event.removed"
	EventSource      Kind = "event.source"
	EventIdentity    Kind = "event.identity"
	EventFingerprint Kind = "event.fingerprint"
	EventExpect      Kind = "event.expect"
	EventLabel       Kind = "event.label"
	EventDescribe    Kind = "event.describe"
	EventOwner       Kind = "event.owner"
	EventTags        Kind = "event.tags"

	ParamAdded    Kind = "param.added"
	ParamRemoved  Kind = "param.removed"
	ParamType     Kind = "param.type"
	ParamOptional Kind = "param.optional"
	ParamCheck    Kind = "param.check"
	ParamDescribe Kind = "param.describe"

	CellDecision    Kind = "cell.decision"
	TransitionOrder Kind = "transition.order"
	TransitionGuard Kind = "transition.guard"
	TransitionSet   Kind = "transition.set"
	TransitionTags  Kind = "transition.tags"
	EmitAdded       Kind = "emit.added"
	EmitRemoved     Kind = "emit.removed"

	MapAdded    Kind = "map.added"
	MapRemoved  Kind = "map.removed"
	WordAdded   Kind = "map.word.added"
	WordRemoved Kind = "map.word.removed"
	WordChanged Kind = "map.word.changed"
	WordKeep    Kind = "map.word.keep"
)

// Kinds returns every kind, in the order of a definition. The caller may keep
// and change the slice.
func Kinds() []Kind {
	return []Kind{
		MachineAdded, MachineRemoved, MachineDescribe, MachineOwner, MachineTags, MachineInitial, TableAdded,
		TableRemoved, TableName, TableKey, TableStorage, TableOwn, TableExisting, TableHistory, TableKeep, ColumnAdded, ColumnRemoved,
		ColumnType, ColumnOptional, ColumnDefault, ColumnCheck, ColumnCreate, ColumnDescribe, StateAdded,
		StateRemoved, StateRenamed, StateMerged, StateWasAdded, StateWasRemoved, StateRetired, StateUnretired,
		StateFinal, StateResting, StateCode, StateLabel, StateDescribe, StateOwner, StateTags, DeadlineAdded,
		DeadlineRemoved, DeadlineAfter, DeadlineEvent, DeadlineMax, GuardAdded, GuardRemoved, GuardSQL,
		GuardDescribe, EventAdded, EventRemoved, EventSource, EventIdentity, EventFingerprint, EventExpect,
		EventLabel, EventDescribe, EventOwner, EventTags, ParamAdded, ParamRemoved, ParamType, ParamOptional,
		ParamCheck, ParamDescribe, CellDecision, TransitionOrder, TransitionGuard, TransitionSet, TransitionTags,
		EmitAdded, EmitRemoved, MapAdded, MapRemoved, WordAdded, WordRemoved, WordChanged, WordKeep,
	}
}
