package shop

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Who asks at once, as often as he can, gets through as often as one who asks in turn,
// and waits no longer.
func TestALimitHoldsForWhoAsksAtOnce(t *testing.T) {
	t.Parallel()
	l := newLimiter(Limit{PerSecond: 50, Burst: 100})
	var through, longest atomic.Int64
	begun := time.Now()
	var clients sync.WaitGroup
	for range 64 {
		clients.Go(func() {
			for time.Since(begun) < time.Second {
				switch d := int64(l.wait("192.0.2.7", time.Now)); {
				case d == 0:
					through.Add(1)
				case d > longest.Load():
					longest.Store(d)
				}
			}
		})
	}
	clients.Wait()
	require.LessOrEqual(t, float64(through.Load()), 100+50*time.Since(begun).Seconds()+1)
	require.GreaterOrEqual(t, through.Load(), int64(100))
	require.LessOrEqual(t, time.Duration(longest.Load()), time.Second/50)
}
