package fsm

import (
	"testing"

	"go.uber.org/goleak"
)

// No goroutine of a coalescer, a lane or a sweeper outlives its Close or its context.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
