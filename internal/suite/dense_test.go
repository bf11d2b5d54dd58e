package suite_test

import (
	"fmt"
	"strings"
)

// dense is a machine in which each state has so many transitions, the i-th to
// the state i+1 further on, round and round.
func dense(states, transitions int) []byte {
	var b strings.Builder
	b.WriteString("machine: dense\nstates:\n  S0: {initial: true}\n")
	for i := 1; i < states; i++ {
		fmt.Fprintf(&b, "  S%d: {}\n", i)
	}
	b.WriteString("events:\n")
	for i := range transitions {
		fmt.Fprintf(&b, "  e%d: {expect: version}\n", i)
	}
	b.WriteString("transitions:\n")
	for s := range states {
		for i := range transitions {
			fmt.Fprintf(&b, "  - {event: e%d, from: S%d, to: S%d}\n", i, s, (s+i+1)%states)
		}
	}
	return []byte(b.String())
}
