package suite

import "github.com/pawl-go/pawl/internal/model"

// arc is one way to take a transition: a transition with several states in
// from has one for each, and each guarded variant of a cell is one. Arcs are
// the transitions that all sizes count.
type arc struct {
	cell *model.Cell
	// at is the transition's place in the cell.
	at int
}

func (a arc) transition() *model.Transition { return a.cell.Transitions[a.at] }

// from and to are the indexes of the states that the arc leaves and enters.
func (a arc) from() int { return a.cell.State.Index }
func (a arc) to() int   { return a.transition().To.Index }

// guarded reports whether the transition is taken only when a guard is true.
func (a arc) guarded() bool { return a.transition().Guard != nil }

// graph is a machine as its arcs. States are named by their indexes.
type graph struct {
	machine *model.Machine
	// filler gives the cases their data.
	filler *filler
	// arcs are in the order of the states, for each in that of the events, and
	// for each cell in the order in which its transitions are tried.
	arcs []arc
	// out has, for each state, the indexes of the arcs that leave it.
	out [][]int
	// depth is how few arcs lead to each state from the initial one, or far.
	depth []int
	// by is the arc by which the breadth-first search first came to each state;
	// none for the initial state and for those out of reach.
	by []int
}

const (
	// far is the depth of a state that the initial one does not lead to.
	far = -1
	// none is no arc.
	none = -1
)

// graphOf reads the arcs of a machine and how far each state is away.
func graphOf(m *model.Machine) *graph {
	g := &graph{machine: m, filler: newFiller(m), out: make([][]int, len(m.States))}
	for _, s := range m.States {
		for _, e := range m.Events {
			for at := range e.Cells[s.Index].Transitions {
				g.out[s.Index] = append(g.out[s.Index], len(g.arcs))
				g.arcs = append(g.arcs, arc{e.Cells[s.Index], at})
			}
		}
	}
	g.search()
	return g
}

// search is the breadth-first search from the initial state. It follows arcs in
// order, so a state is come to by the first of the shortest ways.
func (g *graph) search() {
	g.depth = make([]int, len(g.out))
	g.by = make([]int, len(g.out))
	for s := range g.out {
		g.depth[s], g.by[s] = far, none
	}
	initial := g.machine.Initial()
	if initial == nil {
		return
	}
	g.depth[initial.Index] = 0
	for queue := []int{initial.Index}; len(queue) > 0; queue = queue[1:] {
		for _, i := range g.out[queue[0]] {
			if to := g.arcs[i].to(); g.depth[to] == far {
				g.depth[to], g.by[to] = g.depth[queue[0]]+1, i
				queue = append(queue, to)
			}
		}
	}
}

// reached reports whether the arc can be taken by a row that was created.
func (g *graph) reached(i int) bool { return g.depth[g.arcs[i].from()] != far }

// leadsTo reports, for each state, whether a way leads to it from the state, on
// which it lies itself.
func (g *graph) leadsTo(state int) []bool {
	seen := make([]bool, len(g.out))
	seen[state] = true
	for queue := []int{state}; len(queue) > 0; queue = queue[1:] {
		for _, i := range g.out[queue[0]] {
			if to := g.arcs[i].to(); !seen[to] {
				seen[to] = true
				queue = append(queue, to)
			}
		}
	}
	return seen
}

// way returns the arcs of the search tree that lead from the initial state to
// the arc, and the arc itself last. The arc must be reached.
func (g *graph) way(i int) []int {
	way := make([]int, g.depth[g.arcs[i].from()]+1)
	for at := len(way) - 1; at >= 0; at-- {
		way[at] = i
		i = g.by[g.arcs[i].from()]
	}
	return way
}
