package suite

import (
	"slices"

	"github.com/pawl-go/pawl/internal/model"
)

// leaves returns the arcs that end a way of Binder's round-trip tree: the tree
// is grown breadth-first from the initial state, and a state is expanded only
// where it is first come to. They are all arcs in reach but those by which a
// state with an exit is first come to, so there are
//
//	arcs + 1 − states in reach with an exit
//
// and one, of no arc, for an initial state without an exit: see leafCount.
func (g *graph) leaves() []int {
	var leaves []int
	for i, a := range g.arcs {
		if g.reached(i) && (g.by[a.to()] != i || len(g.out[a.to()]) == 0) {
			leaves = append(leaves, i)
		}
	}
	return leaves
}

// bare reports whether the initial state has no exit, so that the round-trip
// tree is its root alone and the one way is the creation of a row.
func (g *graph) bare() bool {
	initial := g.machine.Initial()
	return initial != nil && len(g.out[initial.Index]) == 0
}

// leafSizes returns the number of ways through the round-trip tree and of the
// arcs on them.
func (g *graph) leafSizes() (leaves, steps int64) {
	for _, i := range g.leaves() {
		leaves++
		steps += int64(g.depth[g.arcs[i].from()] + 1)
	}
	if g.bare() {
		leaves++
	}
	return leaves, steps
}

// sneakSize is the number of sneak tests: the cells without a transition, and
// the guarded arcs with a guard that is not true.
func (g *graph) sneakSize() int64 {
	tests := int64(len(g.machine.States)*len(g.machine.Events)) - g.movingCells()
	for _, a := range g.arcs {
		if a.guarded() {
			tests++
		}
	}
	return tests
}

func (g *graph) movingCells() int64 {
	var cells int64
	for _, a := range g.arcs {
		if a.at == 0 {
			cells++
		}
	}
	return cells
}

// nPlus is Binder's N+ suite: the ways of the round-trip tree from a row's
// creation to each leaf, then the sneak tests, each from a row that is put in
// its state.
func nPlus(g *graph) *Suite {
	s := &Suite{Machine: g.machine, Name: "n-plus", Items: g.items()}
	if g.bare() {
		s.Cases = append(s.Cases, g.newCase(caseID(g.machine, s.Name, "leaf", part(g.machine.Initial().Name)), nil, nil))
	}
	for _, leaf := range g.leaves() {
		s.Cases = append(s.Cases, g.newCase(caseID(g.machine, s.Name, "leaf", g.arcs[leaf].id()), nil, g.way(leaf)))
	}
	sneaks := make(map[arc]int) // the item of each sneak test's way
	for _, state := range g.machine.States {
		for _, e := range g.machine.Events {
			for _, way := range sneakWays(e.Cells[state.Index]) {
				sneaks[way] = len(s.Items)
				s.addSneak(g, way)
			}
		}
	}
	s.coverWays(g, sneaks)
	return s
}

// coverWays says what each case covers: of each step the transition, and that
// the guard before it is not true, or what a cell without a transition says.
func (s *Suite) coverWays(g *graph, sneaks map[arc]int) {
	arcs := make(map[arc]int, len(g.arcs))
	for i, a := range g.arcs {
		arcs[a] = i
	}
	for _, c := range s.Cases {
		for i := range c.Steps {
			step := &c.Steps[i]
			cell := step.Event.Cells[step.From.Index]
			way := arc{cell, len(cell.Transitions)}
			if step.Transition != nil {
				way.at = slices.Index(cell.Transitions, step.Transition)
				c.Covers = append(c.Covers, arcs[way])
				s.Items[arcs[way]].Why = ""
			}
			if sneak, ok := sneaks[way]; ok {
				c.Covers = append(c.Covers, sneak)
			}
		}
		c.Covers = ascending(c.Covers)
	}
}

// sneakWays are the ways of a cell that sneak tests go: what a cell without a
// transition says, and the way behind each guard, which is gone when that guard
// and those before it are not true.
func sneakWays(c *model.Cell) []arc {
	if !c.Moves() {
		return []arc{{c, 0}}
	}
	var ways []arc
	for at, t := range c.Transitions {
		if t.Guard != nil {
			ways = append(ways, arc{c, at + 1})
		}
	}
	return ways
}

// addSneak adds the test of such a way, and its item.
func (s *Suite) addSneak(g *graph, way arc) {
	c := way.cell
	id := cellID(c, "")
	i := item(ItemCell, "cell "+id, ItemStep{State: c.State, Event: c.Event})
	if c.Moves() {
		id = cellID(c, "not "+variantName(c, way.at-1))
		i = item(ItemGuard, "guard "+id,
			ItemStep{State: c.State, Event: c.Event, Transition: c.Transitions[way.at-1], Variant: variantName(c, way.at)})
	}
	test := &Case{ID: caseID(s.Machine, s.Name, "sneak", id), Start: c.State, Steps: []Step{wayStep(c, way.at)}}
	g.filler.fill(test)
	s.Cases, s.Items = append(s.Cases, test), append(s.Items, i)
}
