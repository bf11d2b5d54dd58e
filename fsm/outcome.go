package fsm

// Outcome is what a call did.
type Outcome string

// The outcomes, in the order in which a call judges. The row is looked up
// first: without one the call ends in [ErrNotFound]. Then a known identity is
// answered, then the cell of the row's state, then its guards in order, then
// the expected version.
const (
	// Replayed: the same fact took effect before, or the cell says replay.
	// Nothing was done; Result.Transition is the first result.
	Replayed Outcome = "Replayed"
	// Mismatched: the identity is known with another fingerprint or on another
	// row. Nothing was done, and it is never a success.
	Mismatched Outcome = "Mismatched"
	// Ignored: the event does no harm in this state. Nothing was done.
	Ignored Outcome = "Ignored"
	// Rejected: the event is not legal from this state. Nothing was done.
	Rejected Outcome = "Rejected"
	// GuardFailed: the state was right and no guard was true. Nothing was
	// done; Result.Guards names every guard tried.
	GuardFailed Outcome = "GuardFailed"
	// Stale: state and guard were right and the expected version was not.
	// Nothing was done; reload and decide again.
	Stale Outcome = "Stale"
	// Compensated: the row did not move; the fact was recorded once and its
	// emits were written, so that someone has work.
	Compensated Outcome = "Compensated"
	// Applied: this call moved the row.
	Applied Outcome = "Applied"
)

// OK reports whether the caller may take the outcome for a success: the event
// has its effect now, had it before, or has none to have. Compensated is a
// success for the caller, and work for someone.
func (o Outcome) OK() bool {
	switch o {
	case Applied, Replayed, Ignored, Compensated:
		return true
	}
	return false
}

// Outcomes returns all outcomes in the order in which a call judges.
func Outcomes() []Outcome {
	return []Outcome{Replayed, Mismatched, Ignored, Rejected, GuardFailed, Stale, Compensated, Applied}
}
