package suite

import (
	"fmt"
	"math"
)

// ways counts, for each n up to longest and each state, the sequences of n arcs
// that begin in the state. Their sum over the states is that of all entries of
// the n-th power of the matrix that counts the arcs between two states (Chow's
// N-switch cover has the sequences of N+1). A count too large for an int64 is
// the largest one.
func (g *graph) ways(longest int) [][]int64 {
	ways := make([][]int64, longest+1)
	ways[0] = make([]int64, len(g.out))
	for s := range ways[0] {
		ways[0][s] = 1
	}
	for n := 1; n <= longest; n++ {
		ways[n] = make([]int64, len(g.out))
		for _, a := range g.arcs {
			ways[n][a.from()] = plus(ways[n][a.from()], ways[n-1][a.to()])
		}
	}
	return ways
}

// sequences is the number of sequences of that many arcs.
func (g *graph) sequences(arcs int) int64 {
	return sum(g.ways(arcs)[arcs])
}

func sum(counts []int64) int64 {
	var total int64
	for _, n := range counts {
		total = plus(total, n)
	}
	return total
}

// plus adds two numbers that are not negative, and times multiplies them; what
// is too large is the largest int64.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

func times(a, b int64) int64 {
	if b > 0 && a > math.MaxInt64/b {
		return math.MaxInt64
	}
	return a * b
}

// switchName is the suite's name for sequences of so many arcs.
func switchName(arcs int) string {
	if arcs <= 2 {
		return fmt.Sprintf("%d-switch", arcs-1)
	}
	return fmt.Sprintf("n-switch=%d", arcs-1)
}

// switches covers all sequences of so many arcs, each by a case that starts
// with the row put in the first state. States that no row ever reaches are
// among them: the table allows what it says there too.
func switches(g *graph, arcs int) *Suite {
	ways := g.ways(arcs)
	s := &Suite{Machine: g.machine, Name: switchName(arcs)}
	sequence := make([]int, 0, arcs)
	var extend func(state int)
	extend = func(state int) {
		left := arcs - len(sequence)
		if left == 0 {
			s.addSequence(g, sequence)
			return
		}
		if ways[left][state] == 0 {
			return
		}
		for _, a := range g.out[state] {
			sequence = append(sequence, a)
			extend(g.arcs[a].to())
			sequence = sequence[:len(sequence)-1]
		}
	}
	for state := range g.out {
		extend(state)
	}
	return s
}

// addSequence adds a sequence and the case that covers it.
func (s *Suite) addSequence(g *graph, arcs []int) {
	first := g.arcs[arcs[0]]
	c := g.newCase(caseID(g.machine, s.Name, g.ids(arcs, "+")), first.cell.State, arcs)
	c.Covers = []int{len(s.Items)}
	s.Cases = append(s.Cases, c)
	if len(arcs) == 1 {
		s.Items = append(s.Items, first.item())
		return
	}
	kind := "sequence "
	if len(arcs) == 2 {
		kind = "pair "
	}
	steps := make([]ItemStep, len(arcs))
	for i, a := range arcs {
		steps[i] = g.arcs[a].itemStep()
	}
	s.Items = append(s.Items, item(ItemSequence, kind+g.ids(arcs, " "), steps...))
}
