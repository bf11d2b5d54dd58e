package attempt

import "github.com/pawl-go/pawl/fsm/fault"

// Points at which a test can make a round fail or kill its process.
const (
	// PointStarted: the attempt is committed and this process owns it; nothing
	// was sent in this round.
	PointStarted fault.Point = "attempt.started"
	// PointStep: a step's work is done and its transaction not committed yet.
	PointStep fault.Point = "attempt.step"
	// PointSent: the attempt is marked as sent, and the call is about to be made.
	PointSent fault.Point = "attempt.sent"
	// PointAnswered: the provider answered and nobody has recorded it.
	PointAnswered fault.Point = "attempt.answered"
	// PointRecorded: the answer is committed, the business change is not begun.
	PointRecorded fault.Point = "attempt.recorded"
	// PointCompleting: the business change is made and not committed.
	PointCompleting fault.Point = "attempt.completing"
	// PointCompleted: all is committed, and the caller was not told.
	PointCompleted fault.Point = "attempt.completed"
)
