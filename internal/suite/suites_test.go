package suite_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/suite"
)

// every runs a test for each machine.
func every(t *testing.T, f func(t *testing.T, file string)) {
	t.Helper()
	for _, file := range machineFiles(t) {
		t.Run(strings.TrimSuffix(file[strings.LastIndex(file, "/")+1:], ".yaml"), func(t *testing.T) {
			t.Parallel()
			f(t, file)
		})
	}
}

func TestSwitchSuitesAreAllSequences(t *testing.T) {
	t.Parallel()
	every(t, func(t *testing.T, file string) {
		m := readMachine(t, file)
		sizes := suite.SizesOf(m)
		for k, count := range []int64{sizes.Transitions, sizes.Switch1, sizes.Switch2} {
			s, err := suite.Make(m, fmt.Sprintf("n-switch=%d", k), 0)
			require.NoError(t, err)
			require.Len(t, s.Cases, int(count))
			require.Len(t, s.Items, int(count))
			var have []string
			for i, w := range requireWalkable(t, s) {
				require.NotNil(t, s.Cases[i].Start)
				have = append(have, "\n"+strings.Join(w.way, "\n"))
			}
			require.ElementsMatch(t, chains(m, k+1), have)
		}
	})
}

func TestNPlusWalksTheTreeAndSneaks(t *testing.T) {
	t.Parallel()
	every(t, func(t *testing.T, file string) {
		m := readMachine(t, file)
		sizes := suite.SizesOf(m)
		s, err := suite.Make(m, "n-plus", 0)
		require.NoError(t, err)
		require.Len(t, s.Cases, int(sizes.NPlusSneak))
		var leaves, steps, null, guardFalse int
		for i, w := range requireWalkable(t, s) {
			c := s.Cases[i]
			switch {
			case c.Start == nil:
				leaves++
				steps += len(w.way)
			case !c.Steps[0].Event.Cells[c.Start.Index].Moves():
				null++
			default:
				guardFalse++
			}
		}
		require.EqualValues(t, sizes.NPlusLeaves, leaves)
		require.EqualValues(t, sizes.NPlusSteps, steps)
		require.EqualValues(t, sizes.NullCells, null)
		require.EqualValues(t, sizes.NPlusSneak-sizes.NPlusLeaves-sizes.NullCells, guardFalse)
		require.Len(t, s.Items, int(sizes.Transitions)+null+guardFalse)
	})
}

func TestWalksTakeEveryTransitionThatARowReaches(t *testing.T) {
	t.Parallel()
	every(t, func(t *testing.T, file string) {
		m := readMachine(t, file)
		sizes := suite.SizesOf(m)
		s, err := suite.Make(m, "walks", 0)
		require.NoError(t, err)
		require.Len(t, s.Cases, int(sizes.Walks))
		require.Len(t, s.Items, int(sizes.Transitions))
		steps := 0
		for i, w := range requireWalkable(t, s) {
			require.Nil(t, s.Cases[i].Start)
			steps += len(w.way)
		}
		require.EqualValues(t, sizes.WalkSteps, steps)
	})
}

func TestToursTakeEveryTransition(t *testing.T) {
	t.Parallel()
	every(t, func(t *testing.T, file string) {
		m := readMachine(t, file)
		sizes := suite.SizesOf(m)
		for name, size := range map[string]*int64{"tour": sizes.TourOpen, "tour=closed": sizes.TourClosed} {
			s, err := suite.Make(m, name, 0)
			if size == nil {
				var none *suite.NoTourError
				require.ErrorAs(t, err, &none)
				require.NotEmpty(t, none.Why)
				continue
			}
			require.NoError(t, err)
			seen := requireWalkable(t, s)
			if len(m.Transitions) == 0 {
				require.Empty(t, s.Cases)
				continue
			}
			require.Len(t, seen, 1)
			require.Len(t, seen[0].way, int(*size))
			all := slices.Clone(seen[0].way)
			slices.Sort(all)
			require.ElementsMatch(t, moves(m), slices.Compact(all))
			if last := s.Cases[0].Steps[*size-1]; name == "tour=closed" {
				require.Same(t, m.Initial(), last.To)
			}
		}
	})
}

func TestSuitesOfCellsGuardsAndRacesDoWhatTheyClaim(t *testing.T) {
	t.Parallel()
	every(t, func(t *testing.T, file string) {
		m := readMachine(t, file)
		sizes := suite.SizesOf(m)
		for name, want := range map[string]struct {
			kind  suite.ItemKind
			items int64
		}{"all-cells": {suite.ItemCell, sizes.Cells}, "races": {suite.ItemRace, sizes.RacePairs}, "guards": {suite.ItemCell, 0}} {
			s, err := suite.Make(m, name, 0)
			require.NoError(t, err)
			requireClaims(t, s)
			var items int64
			for _, i := range s.Items {
				if i.Kind == want.kind {
					items++
				}
			}
			require.Equal(t, want.items, items, name)
		}
	})
}

func TestItIsSaidWhyThereIsNoTour(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ machine, suite, want string }{
		{"m3_exercise", "tour=closed", "machine m3_exercise has no tour: no way leads back from state S1 to state SS; the suite walks covers it with several cases"},
		{"m4_lockout", "tour", "machine m4_lockout has no tour: after bad from state S1 no way leads to ok from state S0, nor the other way round; the suite walks covers it with several cases"},
		{"island", "tour", "machine island has no tour: no way leads from state A to state lost, which has transitions; the suite walks covers it with several cases"},
	} {
		_, err := suite.Make(machine(t, c.machine), c.suite, 0)
		require.EqualError(t, err, c.want)
	}
}

func TestWhatNoRowReachesIsSaidToBeUncovered(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"n-plus", "walks"} {
		s, err := suite.Make(machine(t, "island"), name, 0)
		require.NoError(t, err)
		why := map[string]string{}
		for _, i := range s.Items {
			if i.Why != "" {
				why[i.ID] = i.Why
			}
		}
		require.Equal(t, map[string]string{
			"transition lost/end":  "no row ever reaches state lost",
			"transition lost/swim": "no row ever reaches state lost",
		}, why, name)
	}
}

// Names that hold an ID's own marks do not make two IDs one, and an ID says
// nothing of how many cases there are.
func TestIDsAreOfNames(t *testing.T) {
	t.Parallel()
	m := machine(t, "refunds")
	for name, want := range map[string][]string{
		"0-switch": {"refunds/0-switch/open/give/part", "refunds/0-switch/open/give/guard 2", "refunds/0-switch/a%2Fb/give/part",
			"refunds/0-switch/a%2Fb/give/guard 2", "refunds/0-switch/a%2Fb/c%2Bd/guard 1", "refunds/0-switch/a%2Fb/c%2Bd/else", "refunds/0-switch/in transit/back"},
		"1-switch": {"refunds/1-switch/open/give/part+a%2Fb/give/part"},
		"n-plus":   {"refunds/n-plus/leaf/open/give/guard 2"},
		"walks":    {"refunds/walks/open/give/part"},
	} {
		s, err := suite.Make(m, name, 0)
		require.NoError(t, err)
		var have []string
		for _, c := range s.Cases[:len(want)] {
			have = append(have, c.ID)
		}
		require.Equal(t, want, have)
	}
	s, err := suite.Make(m, "n-plus", 0)
	require.NoError(t, err)
	require.Equal(t, "refunds/n-plus/sneak/open/give/not part", s.Cases[5].ID)
	require.Equal(t, "refunds/n-plus/sneak/100%25/back", s.Cases[17].ID)
	s, err = suite.Make(machine(t, "lonely"), "n-plus", 0)
	require.NoError(t, err)
	require.Equal(t, "lonely/n-plus/leaf/Here", s.Cases[0].ID)
}

func TestWaysLeadFromCreationToEachState(t *testing.T) {
	t.Parallel()
	var have []string
	m := machine(t, "island")
	for i, way := range suite.Ways(m) {
		text := m.States[i].Name + ":"
		for _, s := range way {
			text += " " + s.Event.Name
		}
		have = append(have, fmt.Sprint(text, " ", way == nil))
	}
	require.Equal(t, []string{"A: false", "B: go false", "Z: end false", "lost: true", "found: true"}, have)
}
