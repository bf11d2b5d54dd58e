package check

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParseDuration(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"30m":      30 * time.Minute,
		"10d":      240 * time.Hour,
		"1d12h":    36 * time.Hour,
		"1d0s":     24 * time.Hour,
		"1h30m":    90 * time.Minute,
		"1.5h":     90 * time.Minute,
		"500ms":    500 * time.Millisecond,
		"36525d":   36525 * 24 * time.Hour,
		"1us":      time.Microsecond,
		"0d1h":     time.Hour,
		"36524d1h": 36524*24*time.Hour + time.Hour,
	} {
		got, ok := parseDuration(text)
		require.True(t, ok, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{
		"", "0", "0s", "0d", "d", "-1h", "1d-1h", "1d+1h", "-1d", "5", "1w", "1ns", "1500ns", "36526d", "36525d1s", "99999d", "100000d",
		"999999h", "9223372036s", "1h1d", "1.5d", "soon", "1d ", " 1d",
	} {
		_, ok := parseDuration(text)
		require.False(t, ok, text)
	}
}
