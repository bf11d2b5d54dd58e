package suite

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkSuites measures all suites of the sample's three machines.
func BenchmarkSuites(b *testing.B) {
	for b.Loop() {
		for _, name := range []string{"order", "payment", "refund"} {
			maker := For(sample(b, name))
			for _, suite := range []string{"all-cells", "guards", "races", "0-switch", "1-switch", "n-plus", "walks", "tour"} {
				if _, err := maker.Make(suite, 0); suite != "tour" {
					require.NoError(b, err)
				}
			}
		}
	}
}
