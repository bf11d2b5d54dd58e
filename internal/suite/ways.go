package suite

import "github.com/pawl-go/pawl/internal/model"

// Ways has, for each state of a machine in order, one of the shortest ways from
// a row's creation to it: none for the initial state, and nil for a state that
// no row reaches. The steps have no data, and guards may stand in the way.
func Ways(m *model.Machine) [][]Step {
	g := graphOf(m)
	ways := make([][]Step, len(m.States))
	for s := range m.States {
		switch {
		case g.depth[s] == far:
		case g.by[s] == none:
			ways[s] = []Step{}
		default:
			for _, a := range g.way(g.by[s]) {
				ways[s] = append(ways[s], wayStep(g.arcs[a].cell, g.arcs[a].at))
			}
		}
	}
	return ways
}
