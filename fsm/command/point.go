package command

import (
	"context"

	"github.com/pawl-go/pawl/fsm/fault"
)

// Points at which a test can make a command fail or the process die; see package
// fault.
const (
	// PointClaimed is passed once the command is claimed and before its work: by
	// Do and DoTx in their transaction, by DoLeased after the claim's COMMIT.
	PointClaimed fault.Point = "command.claimed"
	// PointDone is passed when work and reply are written, before the COMMIT.
	PointDone fault.Point = "command.done"
	// PointCommitted is passed after the COMMIT and before the caller is told,
	// by the call that did the work. DoTx does not pass it.
	PointCommitted fault.Point = "command.committed"
)

// at passes a point.
func at(ctx context.Context, p fault.Point) error { return fault.At(ctx, p) }
