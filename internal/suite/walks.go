package suite

import "slices"

// plan says how often each arc is taken so that all that are in reach are, and
// where walks begin and end. It is a flow in which every arc carries at least 1
// and no node keeps any.
type plan struct {
	g *graph
	// uses is how often each arc is taken; 0 for one out of reach.
	uses []int64
	// walks is how many walks begin in the initial state; 0 for a closed tour.
	walks int64
}

// steps is the number of arcs on all walks together.
func (p *plan) steps() int64 { return sum(p.uses) }

// fewestWalks plans the fewest walks from the initial state that take every arc
// in reach, and of these the ones with the fewest steps: the least flow with
// lower bound 1 on each arc. It always exists. No arc in reach needs no walk.
//
// Each arc is taken once; then states with more arcs in than out have walks to
// spare, which end there or go on to states with more out than in, and the
// initial state has one walk for nothing and any number at a price above that
// of all steps. What goes on is a flow of least cost, on the pairs of states
// that an arc joins: a few rounds for 1,000 states and 20,000 arcs, where a
// matching of the states would need the way between every two.
func (g *graph) fewestWalks() *plan {
	p, f := g.once()
	if p.steps() == 0 {
		return p
	}
	initial := g.machine.Initial().Index
	f.add(f.source, initial, 1, 0)
	further := f.add(f.source, initial, unlimited, times(f.wanted, int64(len(g.out)))+1)
	f.send(f.source, f.sink)
	p.walks = 1 + f.flow(further)
	p.addTransfers(f)
	return p
}

// closedTour plans the shortest way that begins and ends in the initial state
// and takes every arc: the directed Chinese postman's. nil where there is none.
func (g *graph) closedTour() *plan {
	p, f := g.once()
	if !g.allReached() || f.send(f.source, f.sink) < f.wanted {
		return nil
	}
	p.addTransfers(f)
	return p
}

// openTour is the shortest way that begins in the initial state, takes every
// arc, and ends anywhere: the fewest walks, where they are one. The flow has
// chosen among all end states. nil where there is none.
func (p *plan) openTour() *plan {
	if !p.g.allReached() || p.walks > 1 {
		return nil
	}
	return p
}

func (g *graph) allReached() bool {
	for i := range g.arcs {
		if !g.reached(i) {
			return false
		}
	}
	return true
}

// transfers is the network that brings walks from where they are left over to
// where they are wanted.
type transfers struct {
	*network
	source, sink int
	// wanted is how many walks must be brought.
	wanted int64
	// steps are the places of the edges that take an arc once more, and arcs are these arcs.
	steps, arcs []int
}

// once plans to take every arc in reach once, and returns with it the network
// that is to balance that.
func (g *graph) once() (*plan, *transfers) {
	p := &plan{g: g, uses: make([]int64, len(g.arcs))}
	states := len(g.out)
	f := &transfers{network: newNetwork(states + 2), source: states, sink: states + 1}
	surplus := make([]int64, states)
	for i, a := range g.arcs {
		if g.reached(i) {
			p.uses[i] = 1
			surplus[a.from()]--
			surplus[a.to()]++
		}
	}
	for s, n := range surplus {
		switch {
		case n > 0:
			f.add(f.source, s, n, 0)
		case n < 0:
			f.add(s, f.sink, -n, 0)
			f.wanted -= n
		}
		for _, a := range g.steps(s) {
			f.steps = append(f.steps, f.add(s, g.arcs[a].to(), unlimited, 1))
			f.arcs = append(f.arcs, a)
		}
	}
	return p, f
}

// steps returns one arc from the state to each of those that follow it: the
// first without a guard, which is the easiest to take, else the first.
func (g *graph) steps(state int) []int {
	var arcs []int
	place := make(map[int]int) // of the arc to a state
	for _, i := range g.out[state] {
		to := g.arcs[i].to()
		at, known := place[to]
		switch {
		case to == state:
		case !known:
			place[to] = len(arcs)
			arcs = append(arcs, i)
		case g.arcs[arcs[at]].guarded() && !g.arcs[i].guarded():
			arcs[at] = i
		}
	}
	return arcs
}

// addTransfers takes the arcs once more on which walks are brought.
func (p *plan) addTransfers(f *transfers) {
	for i, at := range f.steps {
		p.uses[f.arcs[i]] += f.flow(at)
	}
}

// lay lays the planned arcs out as walks, in the order of their arcs. A closed
// tour is one; no arcs are none.
func (p *plan) lay() [][]int {
	if p.steps() == 0 {
		return nil
	}
	round := p.round()
	// The round is cut open behind its last reset, so that it ends with one.
	cut := 1 + lastReset(round)
	round = slices.Concat(round[cut:], round[:cut])
	var walks [][]int
	for len(round) > 0 {
		end := slices.Index(round, reset)
		if end < 0 {
			end = len(round) - 1
			walks = append(walks, round)
		} else {
			walks = append(walks, round[:end])
		}
		round = round[end+1:]
	}
	slices.SortStableFunc(walks, slices.Compare[[]int])
	return walks
}

// reset stands between arcs for the end of a walk and the beginning of the next
// one, in the initial state.
const reset = none

func lastReset(round []int) int {
	for at := len(round) - 1; at >= 0; at-- {
		if round[at] == reset {
			return at
		}
	}
	return -1
}

// round goes from the initial state through all planned arcs and resets and
// back to it (Hierholzer's algorithm). That can be done since every state is
// left as often as it is entered, and the initial one leads to all arcs.
func (p *plan) round() []int {
	left, resets := slices.Clone(p.uses), p.resets()
	next := make([]int, len(p.g.out))
	round := make([]int, 0, p.steps()+p.walks+1)
	for stack := []int{reset}; len(stack) > 0; { // as if one had just begun
		top := stack[len(stack)-1]
		at := p.g.machine.Initial().Index
		if top != reset {
			at = p.g.arcs[top].to()
		}
		out := p.g.out[at]
		for next[at] < len(out) && left[out[next[at]]] == 0 {
			next[at]++
		}
		switch {
		case next[at] < len(out):
			left[out[next[at]]]--
			stack = append(stack, out[next[at]])
		case resets[at] > 0:
			resets[at]--
			stack = append(stack, reset)
		default:
			round = append(round, top)
			stack = stack[:len(stack)-1]
		}
	}
	slices.Reverse(round)
	return round[1:]
}

// resets is how many walks end in each state.
func (p *plan) resets() []int64 {
	ends := make([]int64, len(p.g.out))
	ends[p.g.machine.Initial().Index] = p.walks
	for i, n := range p.uses {
		ends[p.g.arcs[i].from()] -= n
		ends[p.g.arcs[i].to()] += n
	}
	return ends
}
