package audit

// Kind is what a finding is of. Its text is stable: programs may rely on it.
type Kind string

// Kinds of findings.
const (
	UnknownState       Kind = "unknown-state"
	BadVersion         Kind = "bad-version"
	NoHistory          Kind = "no-history"
	HistoryMismatch    Kind = "history-mismatch"
	BadBeginning       Kind = "bad-beginning"
	VersionGap         Kind = "version-gap"
	BrokenChain        Kind = "broken-chain"
	IllegalEdge        Kind = "illegal-edge"
	WrongEvent         Kind = "wrong-event"
	UnsignedForce      Kind = "unsigned-force"
	UnauditedForce     Kind = "unaudited-force"
	OrphanHistory      Kind = "orphan-history"
	OrphanFacts        Kind = "orphan-facts"
	UnknownFact        Kind = "unknown-fact"
	EmptyIdentity      Kind = "empty-identity"
	FactMismatch       Kind = "fact-mismatch"
	FactMissing        Kind = "fact-missing"
	Overdue            Kind = "overdue"
	DeadlineMissing    Kind = "deadline-missing"
	StrayDeadline      Kind = "stray-deadline"
	BadRuns            Kind = "bad-runs"
	OutboxStale        Kind = "outbox-stale"
	OutboxUnknown      Kind = "outbox-unknown"
	ColumnType         Kind = "column-type"
	ConstraintMissing  Kind = "constraint-missing"
	ConstraintNotValid Kind = "constraint-not-valid"
	TriggerMissing     Kind = "trigger-missing"
	TriggerDisabled    Kind = "trigger-disabled"
	GuardWeakened      Kind = "guard-weakened"
	GuardMixed         Kind = "guard-mixed"
)

// kinds lists every kind in the order in which counts are told.
var kinds = []Kind{
	ColumnType, ConstraintMissing, ConstraintNotValid, TriggerMissing, TriggerDisabled, GuardWeakened, GuardMixed,
	UnknownState, BadVersion, NoHistory, HistoryMismatch, BadBeginning, VersionGap, BrokenChain, IllegalEdge, WrongEvent,
	UnsignedForce, UnauditedForce, OrphanHistory, OrphanFacts,
	UnknownFact, EmptyIdentity, FactMismatch, FactMissing,
	Overdue, DeadlineMissing, StrayDeadline, BadRuns, OutboxStale, OutboxUnknown,
}

// Kinds returns every kind, in the order in which counts are told.
func Kinds() []Kind { return append([]Kind(nil), kinds...) }

// Finding is one contradiction.
type Finding struct {
	Kind    Kind   `json:"kind"`
	Machine string `json:"machine"`
	// Key is the row's key as text, several columns as a JSON array; empty for
	// a finding that is of a table.
	Key string `json:"key,omitempty"`
	// Version is that of the row, entry or fact that the finding is of, 0 for none.
	Version int64 `json:"version,omitempty"`
	// Text is one sentence for people.
	Text string `json:"text"`
}

// Count is how many findings there are of a kind.
type Count struct {
	Kind  Kind  `json:"kind"`
	Count int64 `json:"count"`
}

// Read is how much was read of a machine.
type Read struct {
	Machine string `json:"machine"`
	Rows    int64  `json:"rows"`
	Entries int64  `json:"entries"`
	Facts   int64  `json:"facts"`
}

// Report is what an audit comes to, beside its findings.
type Report struct {
	// Counts are exact, whatever Options.Limit is, and have no zeros.
	Counts []Count `json:"counts"`
	// Notes are sentences on what is no finding and yet worth knowing.
	Notes []string `json:"notes"`
	Read  []Read   `json:"read"`
}

// Findings is the number of all findings.
func (r Report) Findings() int64 {
	var n int64
	for _, c := range r.Counts {
		n += c.Count
	}
	return n
}
