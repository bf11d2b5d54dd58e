package command

import (
	"context"
	"errors"

	"github.com/pawl-go/pawl/fsm"
)

// Outcome is what a call of a command did, told to [Command.Observe].
type Outcome string

// The outcomes. Each call has one; TakenOver comes in addition.
const (
	// Done: this call did the work, and its reply is kept.
	Done Outcome = "Done"
	// Refused: this call did the work, which said no; the refusal is kept.
	Refused Outcome = "Refused"
	// Replayed: the reply of an earlier call was given.
	Replayed Outcome = "Replayed"
	// Mismatched: the key was used for another request.
	Mismatched Outcome = "Mismatched"
	// InProgress: an equal request is at work.
	InProgress Outcome = "InProgress"
	// LeaseLost: this call was late, and what it wrote is rolled back.
	LeaseLost Outcome = "LeaseLost"
	// Unknown: a COMMIT was lost. The same call again finds the truth.
	Unknown Outcome = "Unknown"
	// Failed: the work, or the database, failed; the next call does the work.
	Failed Outcome = "Failed"
	// Invalid: the request was refused before any SQL.
	Invalid Outcome = "Invalid"
	// TakenOver: this call claimed a command whose lease had run out. It is told
	// beside how the call ended.
	TakenOver Outcome = "TakenOver"
)

// Outcomes returns all outcomes.
func Outcomes() []Outcome {
	return []Outcome{Done, Refused, Replayed, Mismatched, InProgress, LeaseLost, Unknown, Failed, Invalid, TakenOver}
}

// told makes a call and tells how it ended; a panic has failed.
func (c *Command) told(ctx context.Context, call func() (Answer, error)) (Answer, error) {
	outcome := Failed
	defer func() { c.observe(ctx, outcome) }()
	answer, err := call()
	outcome = outcomeOf(answer, err)
	return answer, err
}

func (c *Command) observe(ctx context.Context, o Outcome) {
	if c.Observe != nil {
		c.Observe(ctx, o)
	}
}

func outcomeOf(a Answer, err error) Outcome {
	switch {
	case err == nil && a.Replayed:
		return Replayed
	case err == nil && a.Refused():
		return Refused
	case err == nil:
		return Done
	case errors.Is(err, ErrMismatch):
		return Mismatched
	case errors.Is(err, ErrInProgress):
		return InProgress
	case errors.Is(err, ErrLeaseLost):
		return LeaseLost
	case errors.Is(err, fsm.ErrUnknown):
		return Unknown
	case errors.Is(err, fsm.ErrArgument), errors.Is(err, ErrBody):
		return Invalid
	}
	return Failed
}
