package tokenredis

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCircuit(t *testing.T) {
	t.Parallel()
	now := time.Date(2020, 2, 29, 12, 0, 0, 0, time.UTC)
	c := circuit{stay: time.Minute, now: func() time.Time { return now }}
	require.True(t, c.enter())
	require.True(t, c.enter(), "all may ask while Redis is up")
	c.fail()
	require.False(t, c.enter())
	now = now.Add(time.Minute - 1)
	require.False(t, c.enter())
	now = now.Add(1)
	require.True(t, c.enter(), "one tries again")
	require.False(t, c.enter(), "and the others wait for how that goes")
	c.fail()
	now = now.Add(time.Minute)
	require.True(t, c.enter())
	c.up()
	require.True(t, c.enter())
	require.True(t, c.enter())
}

// What is no number in Redis is a token that is over.
func TestDuration(t *testing.T) {
	t.Parallel()
	require.Equal(t, 1500*time.Millisecond, duration(millis(1500*time.Millisecond)))
	for _, bad := range []string{"", "x", "1e9", "99999999999999999999"} {
		require.Zero(t, duration(bad))
	}
}
