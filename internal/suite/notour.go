package suite

import (
	"cmp"
	"fmt"
	"slices"
)

// NoTourError says that a machine has no tour, and why. The suite walks covers
// such a machine with more cases than one.
type NoTourError struct {
	Machine string
	Why     string
}

func (e *NoTourError) Error() string {
	return fmt.Sprintf("machine %s has no tour: %s; the suite walks covers it with several cases", e.Machine, e.Why)
}

// noTour says why there is no closed tour, or no open one.
func (g *graph) noTour(closed bool) error {
	return &NoTourError{g.machine.Name, g.whyNoTour(closed)}
}

func (g *graph) whyNoTour(closed bool) string {
	initial := g.machine.Initial()
	for i, a := range g.arcs {
		if !g.reached(i) {
			return fmt.Sprintf("no way leads from state %s to state %s, which has transitions", initial.Name, a.cell.State.Name)
		}
	}
	if closed {
		for _, a := range g.arcs {
			if after := a.transition().To; !g.leadsTo(after.Index)[initial.Index] {
				return fmt.Sprintf("no way leads back from state %s to state %s", after.Name, initial.Name)
			}
		}
	}
	a, b := g.apart()
	return fmt.Sprintf("after %s from state %s no way leads to %s from state %s, nor the other way round",
		a.cell.Event.Name, a.cell.State.Name, b.cell.Event.Name, b.cell.State.Name)
}

// apart returns two arcs of which neither can be taken after the other, where
// one walk is not enough: if all could be put in one order, there would be a
// walk in that order. They are neighbours in an order in which an arc stands
// before all that can be taken after it and not before it; such arcs lead to
// more states, or at least come from a state that does.
func (g *graph) apart() (a, b arc) {
	leads := make([][]bool, len(g.out))
	count := make([]int, len(g.out))
	for s := range g.out {
		leads[s] = g.leadsTo(s)
		for _, led := range leads[s] {
			if led {
				count[s]++
			}
		}
	}
	sorted := slices.Clone(g.arcs)
	slices.SortStableFunc(sorted, func(a, b arc) int {
		return cmp.Or(count[b.to()]-count[a.to()], count[b.from()]-count[a.from()])
	})
	for i, a := range sorted[1:] {
		if !leads[sorted[i].to()][a.from()] && !leads[a.to()][sorted[i].from()] {
			return sorted[i], a
		}
	}
	return sorted[0], sorted[0]
}
