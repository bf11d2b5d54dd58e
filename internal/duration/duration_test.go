package duration

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"0":        0,
		"0d":       0,
		"30m":      30 * time.Minute,
		"1d":       24 * time.Hour,
		"10d":      240 * time.Hour,
		"1d12h":    36 * time.Hour,
		"1h30m":    90 * time.Minute,
		"1.5h":     90 * time.Minute,
		"1ns":      time.Nanosecond,
		"106751d":  106751 * 24 * time.Hour,
		"1000000h": 1000000 * time.Hour,
	} {
		got, ok := Parse(text)
		require.True(t, ok, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{
		"", "d", "-1h", "-0d", "-1d", "1d-1h", "1d+1h", "5", "1w", "106752d", "106751d24h", "999999d", "1000000d", "1h1d", "1.5d", "soon", "1d ", " 1d",
	} {
		_, ok := Parse(text)
		require.False(t, ok, text)
	}
}

func TestFormat(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]time.Duration{
		"1s": time.Second, "1m30s": 90 * time.Second, "20m": 20 * time.Minute, "1h30m": 90 * time.Minute, "10h": 10 * time.Hour,
		"1d": 24 * time.Hour, "10d": 240 * time.Hour, "36h": 36 * time.Hour, "1h0m5s": time.Hour + 5*time.Second, "30m": 30 * time.Minute, "1h": time.Hour, "10s": 10 * time.Second, "1ms": time.Millisecond,
	} {
		require.Equal(t, want, Format(d))
		read, ok := Parse(want)
		require.True(t, ok, want)
		require.Equal(t, d, read, want)
	}
}
