package gengo

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDurationsReadAsDefined(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		30 * time.Minute: "30m", 240 * time.Hour: "10d", 24 * time.Hour: "1d", 36 * time.Hour: "36h", 90 * time.Minute: "1h30m",
		time.Hour: "1h", 10 * time.Second: "10s", time.Hour + time.Second: "1h0m1s", time.Millisecond: "1ms",
	} {
		require.Equal(t, want, duration(d))
	}
}

func TestSentences(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"the parcel left": "The parcel left.", "Done.": "Done.", "": "", " 到货 ": "到货."} {
		require.Equal(t, want, sentence(text))
	}
}
