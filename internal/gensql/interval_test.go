package gensql

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestIntervals(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		240 * time.Hour: "240 hours", 30 * time.Minute: "30 minutes", 90 * time.Minute: "90 minutes", 90 * time.Second: "90 seconds", 1500 * time.Millisecond: "1500000 microseconds",
	} {
		require.Equal(t, "interval '"+want+"'", interval(d))
	}
}
