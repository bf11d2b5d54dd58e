package suite_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/suite"
)

// position is where an exhaustive search stands: the state, and the set of the
// transitions taken so far.
type position struct{ at, taken int }

// search tries all walks of a machine with few transitions, each one step or a
// reset to the initial state at a time.
type search struct {
	m     *model.Machine
	moves []move
	// wanted is the set of transitions that a row reaches, and all that of all.
	wanted, all int
}

type move struct{ from, to int }

func searchOf(m *model.Machine) *search {
	s := &search{m: m}
	for _, t := range m.Transitions {
		for _, from := range t.From {
			s.moves = append(s.moves, move{from.Index, t.To.Index})
		}
	}
	s.all = 1<<len(s.moves) - 1
	for p := range s.steps(position{m.Initial().Index, 0}) {
		s.wanted |= p.taken
	}
	return s
}

// steps returns how few steps lead from a position to each that it leads to.
func (s *search) steps(from position) map[position]int {
	found := map[position]int{from: 0}
	for queue := []position{from}; len(queue) > 0; queue = queue[1:] {
		for i, mv := range s.moves {
			next := position{mv.to, queue[0].taken | 1<<i}
			if _, known := found[next]; mv.from == queue[0].at && !known {
				found[next] = found[queue[0]] + 1
				queue = append(queue, next)
			}
		}
	}
	return found
}

// tours returns the fewest steps that take all transitions, back to the initial
// state and to any; -1 where none do.
func (s *search) tours() (closed, open int) {
	closed, open = -1, -1
	for p, steps := range s.steps(position{s.m.Initial().Index, 0}) {
		if p.taken != s.all {
			continue
		}
		if p.at == s.m.Initial().Index && (closed < 0 || steps < closed) {
			closed = steps
		}
		if open < 0 || steps < open {
			open = steps
		}
	}
	return closed, open
}

// walks returns the fewest walks that take all transitions in reach, and the
// fewest steps on so many: round by round, the fewest steps to each set of
// transitions taken by so many walks.
func (s *search) walks() (walks, steps int) {
	best := map[int]int{0: 0}
	for ; ; walks++ {
		if steps, done := best[s.wanted]; done {
			return walks, steps
		}
		next := make(map[int]int)
		for taken, before := range best {
			for p, more := range s.steps(position{s.m.Initial().Index, taken}) {
				if have, known := next[p.taken]; !known || before+more < have {
					next[p.taken] = before + more
				}
			}
		}
		best = next
	}
}

// randomMachine has up to 5 states and 7 transitions, at random.
func randomMachine(r *rand.Rand) []byte {
	states, transitions := 1+r.IntN(5), r.IntN(8)
	var b strings.Builder
	b.WriteString("machine: random\nstates:\n  S0: {initial: true}\n")
	for i := 1; i < states; i++ {
		fmt.Fprintf(&b, "  S%d: {}\n", i)
	}
	b.WriteString("events: {")
	for i := range transitions {
		fmt.Fprintf(&b, "e%d: {expect: version}, ", i)
	}
	b.WriteString("}\ntransitions: [")
	for i := range transitions {
		fmt.Fprintf(&b, "{event: e%d, from: S%d, to: S%d}, ", i, r.IntN(states), r.IntN(states))
	}
	b.WriteString("]\n")
	return []byte(b.String())
}

func TestToursAndWalksAreAsShortAsAnExhaustiveSearchFinds(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	var tours, several, repeats int
	for range 300 {
		src := randomMachine(r)
		m := parse(t, "random.yaml", src)
		s := searchOf(m)
		closed, open := s.tours()
		walks, steps := s.walks()
		sizes := suite.SizesOf(m)
		require.Equal(t, closed, orMinus(sizes.TourClosed), "seed %d\n%s", seed, src)
		require.Equal(t, open, orMinus(sizes.TourOpen), "seed %d\n%s", seed, src)
		require.EqualValues(t, walks, sizes.Walks, "seed %d\n%s", seed, src)
		require.EqualValues(t, steps, sizes.WalkSteps, "seed %d\n%s", seed, src)
		for _, name := range []string{"walks", "tour", "tour=closed", "n-plus", "1-switch"} {
			if made, err := suite.Make(m, name, 0); err == nil {
				requireWalkable(t, made)
			}
		}
		if closed > 0 {
			tours++
		}
		if walks > 1 {
			several++
		}
		if steps > len(s.moves) {
			repeats++
		}
	}
	require.Greater(t, min(tours, several, repeats), 5, "the machines must try what is hard: seed %d", seed)
}

func orMinus(n *int64) int {
	if n == nil {
		return -1
	}
	return int(*n)
}
