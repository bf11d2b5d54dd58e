package inbox

import "github.com/pawl-go/pawl/fsm"

// State is where an event is.
type State string

// The states of an event. Received and parked events are waiting to be processed;
// done, ignored and closed ones have ended; dead ones wait for a person.
const (
	// Received: stored, and under a lease, or released when time was up.
	Received State = "received"
	// Parked: it could not be processed, and is tried again.
	Parked State = "parked"
	// Done: processed; the event's outcome is the machine's.
	Done State = "done"
	// Ignored: of a type that is none of ours.
	Ignored State = "ignored"
	// Dead: given up, with a reason. A person replays it, or ends it.
	Dead State = "dead"
	// Closed: ended by a person.
	Closed State = "closed"
)

// States returns all states, those that wait first.
func States() []State { return []State{Received, Parked, Dead, Done, Ignored, Closed} }

// Verdict is what came of one event of one delivery.
type Verdict string

// The verdicts. All but Unreadable and Refused are an acceptance: the provider
// has done its part.
const (
	// VerdictDone: processed now.
	VerdictDone Verdict = "done"
	// VerdictStale: processed now, and nothing changed, since the machine is
	// beyond it (Ignored or Rejected): a failure told after the success, say.
	VerdictStale Verdict = "stale"
	// VerdictIgnored: of a type that is none of ours.
	VerdictIgnored Verdict = "ignored"
	// VerdictDuplicate: told before, and ended before.
	VerdictDuplicate Verdict = "duplicate"
	// VerdictRunning: told before, and being processed by another.
	VerdictRunning Verdict = "running"
	// VerdictParked: stored, to be tried again.
	VerdictParked Verdict = "parked"
	// VerdictDeferred: stored; there was no time left to process it.
	VerdictDeferred Verdict = "deferred"
	// VerdictDead: given up. A person has to look.
	VerdictDead Verdict = "dead"
	// VerdictConflict: the event is known, and said something else before. What
	// was said first stands. A person has to look.
	VerdictConflict Verdict = "conflict"
	// VerdictUnreadable: genuine, stored, and not what Parse can read.
	VerdictUnreadable Verdict = "unreadable"
	// VerdictRefused: not believed, and not stored.
	VerdictRefused Verdict = "refused"
	// VerdictInterrupted: the delivery ended before its outcome was recorded.
	// Its events tell what came of them.
	VerdictInterrupted Verdict = "interrupted"
)

// Told is one event of a delivery, a retry or a command, and what came of it.
type Told struct {
	// Event is the event's number in the inbox, 0 when it has none.
	Event    int64
	Provider string
	// ID is the provider's.
	ID      string
	Verdict Verdict
	// State is where the event is now, empty when it is not stored.
	State State
	// Outcome is the machine's, when the event was processed now.
	Outcome fsm.Outcome
	// Reason says why an event is parked, dead, refused or unreadable.
	Reason string
}

// ended is the state, the verdict and the reason of a handler's outcome, or no
// state for one that has to be tried again.
func ended(o fsm.Outcome) (State, Verdict, string) {
	switch o {
	case fsm.Ignored, fsm.Rejected:
		return Done, VerdictStale, ""
	case fsm.Mismatched:
		return Dead, VerdictDead, "the machine has this fact, and it said something else"
	case fsm.GuardFailed:
		return Dead, VerdictDead, "no guard of the machine was true"
	case fsm.Stale:
		return "", "", ""
	default: // Applied, Replayed, Compensated, or a handler without a machine
		return Done, VerdictDone, ""
	}
}

// verdictOf is the verdict of an event that was found in a state.
func verdictOf(s State) Verdict {
	switch s {
	case Received:
		return VerdictRunning
	case Parked:
		return VerdictParked
	case Dead:
		return VerdictDead
	case Ignored:
		return VerdictIgnored
	default:
		return VerdictDone
	}
}
