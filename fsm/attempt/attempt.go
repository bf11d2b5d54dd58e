package attempt

import (
	"encoding/json"
	"time"
)

// State is how far an attempt has come with the provider.
type State string

// The states of an attempt. Whether it is completed, that is, whether the
// business knows, is told by [Attempt.CompletedAt].
const (
	// Started: certainly nothing reached the provider.
	Started State = "STARTED"
	// Sent: it was sent, or is about to be; or the provider has it and is not
	// done. It is looked up before it is sent again.
	Sent State = "SENT"
	// Unknown: it may have been done. It is looked up before it is sent again.
	Unknown State = "UNKNOWN"
	// Succeeded: the provider did it.
	Succeeded State = "SUCCEEDED"
	// Refused: the provider did not do it, and never will under this key.
	Refused State = "REFUSED"
)

// Answered reports whether the provider's answer is final.
func (s State) Answered() bool { return s == Succeeded || s == Refused }

// Attempt is one call to a provider, however often it has to be sent.
type Attempt struct {
	// ID is the attempt's id, a uuid, and the key to give to the provider with
	// every send.
	ID string
	// Kind and BusinessKey are what Start was given; together they are unique.
	Kind, BusinessKey string
	// Request is what Start was given, as canonical JSON: members sorted, no
	// spaces. Every send reads it from here, so that all are equal.
	Request json.RawMessage

	State State
	// Result is the provider's answer when State is Succeeded, otherwise zero.
	Result Result
	// Code says why, when State is Refused: the code given to [Refuse].
	Code string
	// LastError says what went wrong in the last round, "" when nothing did.
	LastError string

	// Sends counts how often the call was sent, Rounds how often a round was
	// begun since the start or the last Resume.
	Sends, Rounds int
	// Fence grows with every owner. Give it to systems that can compare it.
	Fence int64
	// Steps holds the steps passed, in order.
	Steps []Passed

	CreatedAt time.Time
	// FirstSentAt is nil when nothing was ever sent.
	FirstSentAt *time.Time
	// CompletedAt is nil until the business change is committed.
	CompletedAt *time.Time
	// StuckAt is set while the attempt waits for a person; see Resume and Settle.
	StuckAt *time.Time
	// Archived says that the attempt was read from the archive.
	Archived bool
}

// Completed reports whether nothing is left to do.
func (a Attempt) Completed() bool { return a.CompletedAt != nil }

// Step returns what the named step left, and whether it was passed.
func (a Attempt) Step(name string) (json.RawMessage, bool) {
	for _, s := range a.Steps {
		if s.Name == name {
			return s.Data, true
		}
	}
	return nil, false
}

// Passed is a step that was passed, and what it left.
type Passed struct {
	Name string          `json:"name"`
	Data json.RawMessage `json:"data"`
}

// Result is what the provider says of a call that it did.
type Result struct {
	// Ref is the provider's own number; "" when it has none.
	Ref string
	// Data is anything else worth keeping, as JSON; nil for nothing.
	Data json.RawMessage
}
