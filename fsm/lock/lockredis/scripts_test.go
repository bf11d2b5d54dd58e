package lockredis

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Durations go to Redis in milliseconds, not in seconds or nanoseconds, and a part
// of one never makes the key end before its holder believes that it does.
func TestMillis(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		10 * time.Millisecond: "10", 10*time.Millisecond + 1: "11", 10999 * time.Microsecond: "11",
		1500 * time.Millisecond: "1500", time.Hour: "3600000",
	} {
		require.Equal(t, want, millis(d), d)
	}
}
