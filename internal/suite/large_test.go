package suite_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/suite"
)

// large is a machine of so many states and events that leads through all
// states, with further transitions at random.
func large(states, transitions int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 0))
	var b strings.Builder
	b.WriteString("machine: large\nstates:\n  S0: {initial: true}\n")
	for i := 1; i < states; i++ {
		fmt.Fprintf(&b, "  S%d: {resting: true}\n", i)
	}
	b.WriteString("events:\n")
	events := transitions/states + 1
	for i := range events {
		fmt.Fprintf(&b, "  e%d: {expect: version}\n", i)
	}
	b.WriteString("transitions:\n")
	for s := range states - 1 {
		fmt.Fprintf(&b, "  - {event: e0, from: S%d, to: S%d}\n", s, s+1)
	}
	for i := range transitions - states + 1 {
		fmt.Fprintf(&b, "  - {event: e%d, from: S%d, to: S%d}\n", 1+i/states, i%states, r.IntN(states))
	}
	return []byte(b.String())
}

// ladder is the hard case of a tour: a chain of states that only its end leads
// back from, with many transitions to places before, so that walks are brought far.
func ladder(states, transitions int) []byte {
	var b strings.Builder
	b.WriteString("machine: ladder\nstates:\n  S0: {initial: true}\n")
	for i := 1; i < states; i++ {
		fmt.Fprintf(&b, "  S%d: {resting: true}\n", i)
	}
	events := transitions/states + 1
	b.WriteString("events:\n")
	for i := range events {
		fmt.Fprintf(&b, "  e%d: {expect: version}\n", i)
	}
	b.WriteString("transitions:\n")
	for s := range states {
		fmt.Fprintf(&b, "  - {event: e0, from: S%d, to: S%d}\n", s, (s+1)%states)
	}
	for i := range transitions - states {
		from := i % states
		fmt.Fprintf(&b, "  - {event: e%d, from: S%d, to: S%d}\n", 1+i/states, from, from*(i/states+1)/events)
	}
	return []byte(b.String())
}

// These take a second; anything but a flow would never come back.
func TestTheLargestMachinesHaveTheirSizes(t *testing.T) {
	t.Parallel()
	for name, src := range map[string][]byte{
		"random": large(1000, 10_000, 1), "sparse": large(1000, 1_500, 2), "ladder": ladder(1000, 10_000), "dense": dense(200, 100),
	} {
		sizes := suite.SizesOf(parse(t, name, src))
		require.GreaterOrEqual(t, sizes.WalkSteps, sizes.Transitions, name)
		if sizes.TourClosed != nil {
			require.Equal(t, sizes.WalkSteps, *sizes.TourOpen, name)
			require.GreaterOrEqual(t, *sizes.TourClosed, *sizes.TourOpen, name)
		}
	}
}

// The tour of a large machine is as long as its size says, and whole.
func TestALargeTourIsWalked(t *testing.T) {
	t.Parallel()
	m := parse(t, "large", large(300, 2000, 3))
	size := suite.SizesOf(m).TourOpen
	s, err := suite.Make(m, "tour", 0)
	require.NoError(t, err)
	require.Len(t, s.Cases, 1)
	way := walk(t, m, s.Cases[0]).way
	require.Len(t, way, int(*size))
	slices.Sort(way)
	require.ElementsMatch(t, moves(m), slices.Compact(way))
}

func TestSuitesAreTheSameEachTime(t *testing.T) {
	t.Parallel()
	for _, name := range suite.Names() {
		var first []string
		for range 20 {
			s, err := suite.Make(machine(t, "refunds"), name, 0)
			if err != nil {
				break
			}
			var have []string
			for _, c := range s.Cases {
				have = append(have, fmt.Sprint(c.ID, c.Covers, len(c.Steps)))
				for _, step := range c.Steps {
					have = append(have, step.From.Name+" "+step.Event.Name+" "+step.Variant)
				}
			}
			if first == nil {
				first = have
			}
			require.Equal(t, first, have, name)
		}
	}
}
