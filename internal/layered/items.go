package layered

import "slices"

// item is what takes room in a layer: a node, a label, or an edge that passes.
type item struct {
	layer int
	// node is the node's index, -1 for others; edge is the edge's, -1 for nodes.
	node, edge int
	label      bool
	// before and after are the extents across, from the line on which edges
	// arrive; depth is the one along.
	before, after, depth int
	// margin is what must be free around it across.
	margin int
	// lows and highs are the ends of edges at a node, in order across.
	lows, highs []end
	block       int
	pos         int // across
	seat        int // place in the order of the layer
}

// end is where an edge leaves or enters a node, off its middle.
type end struct{ edge, off int }

const (
	nodeMargin  = 14
	labelMargin = 5
	lineMargin  = 7
	// loopGap is between a node and the label of its loop.
	loopGap = 22
	// portMargin is from a node's corner to its first edge.
	portMargin = 12
	// evenGrowth is half the width up to which a node with many edges on one side
	// of its middle grows on the other side, too.
	evenGrowth = 110
)

// flip turns a size into depth along and width across.
func (p *placing) flip(s Size) (along, across int) {
	if p.direction == Right {
		return s.W, s.H
	}
	return s.H, s.W
}

// elements makes the items: nodes on even layers, and for each edge one on
// every layer between its ends, one of which is its label. The label is near
// the node that the edge comes from. It returns false when there are too many.
func (p *placing) elements() bool {
	layers := 0
	total := len(p.graph.Nodes)
	for _, r := range p.ranks {
		layers = max(layers, 2*r+1)
	}
	for i := range p.graph.Edges {
		low, high := p.ends(i)
		total += 2*(p.ranks[high]-p.ranks[low]) - 1
	}
	if total > MaxElements {
		return false
	}
	p.height = make([]int, layers)
	p.own = make([]int, len(p.graph.Nodes))
	for v, n := range p.graph.Nodes {
		p.own[v] = len(p.items)
		p.items = append(p.items, p.nodeItem(v, n))
	}
	p.chains = make([][]int, len(p.graph.Edges))
	for i, e := range p.graph.Edges {
		low, high := p.ends(i)
		first, last := 2*p.ranks[low]+1, 2*p.ranks[high]-1
		at := first
		if p.reversed[i] {
			at = last
		}
		chain := []int{p.own[low]}
		for l := first; l <= last; l++ {
			it := item{layer: l, node: -1, edge: i, margin: lineMargin}
			if l == at {
				depth, width := p.flip(e.Label)
				it.label, it.margin = true, labelMargin
				it.depth, it.before, it.after = depth, width/2, width-width/2
			}
			chain = append(chain, len(p.items))
			p.items = append(p.items, it)
		}
		p.chains[i] = append(chain, p.own[high])
	}
	p.join()
	return true
}

// nodeItem is the node with its loop: above it when layers go right, at its
// right when they go down.
func (p *placing) nodeItem(v int, n Node) item {
	depth, width := p.flip(n.Size)
	it := item{layer: 2 * p.ranks[v], node: v, edge: -1, margin: nodeMargin, depth: depth}
	it.before, it.after = width/2, width-width/2
	return it
}

// loopRoom adds the room of the node's loop to its extents.
func (p *placing) loopRoom(it *item) {
	loop := p.graph.Nodes[it.node].Loop
	if loop == (Size{}) {
		return
	}
	_, width := p.flip(loop)
	if p.direction == Right {
		it.before += loopGap + width
	} else {
		it.after += loopGap + width
	}
}

// ports spreads the ends of edges over the sides of nodes, in the order of the
// layers, with the spine in the middle; nodes grow where they must.
func (p *placing) ports() {
	p.pitch = 14
	if p.direction == Down {
		p.pitch = 20
	}
	for v, n := range p.graph.Nodes {
		i := p.own[v]
		fresh := p.nodeItem(v, n)
		it := &p.items[i]
		it.before, it.after, it.depth = fresh.before, fresh.after, fresh.depth
		it.lows, it.highs = it.lows[:0], it.highs[:0]
	}
	// Chains are visited in the order of the layer beside the node.
	for _, layer := range p.layers {
		for _, i := range layer {
			it := p.items[i]
			if it.node >= 0 {
				continue
			}
			chain := p.chains[it.edge]
			if i == chain[1] {
				low := &p.items[chain[0]]
				low.highs = append(low.highs, end{edge: it.edge})
			}
			if i == chain[len(chain)-2] {
				high := &p.items[chain[len(chain)-1]]
				high.lows = append(high.lows, end{edge: it.edge})
			}
		}
	}
	for v := range p.graph.Nodes {
		it := &p.items[p.own[v]]
		p.spread(it.lows)
		p.spread(it.highs)
		for _, e := range slices.Concat(it.lows, it.highs) {
			it.before, it.after = max(it.before, portMargin-e.off), max(it.after, portMargin+e.off)
		}
		if most := max(it.before, it.after); most <= evenGrowth && abs(it.before-it.after) > 1 {
			it.before, it.after = most, most
		}
		p.loopRoom(it)
	}
}

// spread gives the ends of one side their places.
func (p *placing) spread(ends []end) {
	middle := len(ends) - 1 // twice its place
	for i, e := range ends {
		if p.spine[e.edge] {
			middle = 2 * i
		}
	}
	for i := range ends {
		ends[i].off = (2*i - middle) * p.pitch / 2
	}
}

// offset is where an edge meets the item, off its line. A node has each edge
// on one side alone.
func (p *placing) offset(i, edge int) int {
	it := &p.items[i]
	for _, side := range [][]end{it.lows, it.highs} {
		for _, e := range side {
			if e.edge == edge {
				return e.off
			}
		}
	}
	return 0
}
