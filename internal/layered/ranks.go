package layered

// placing is a layout on its way. Along is the direction of the layers, across
// the other one.
type placing struct {
	graph     Graph
	direction Direction

	reversed []bool // edges that are placed against their direction
	ranks    []int  // of nodes
	spine    []bool // edges of the spine
	onSpine  []bool // nodes of it

	items  []item
	layers [][]int // items in their order
	chains [][]int // by edge: its items from the lower end to the upper one, both nodes included
	layer0 []int   // item of each node
	// incident are the edges of each node, made when first asked for.
	incident [][]int
	pitch    int
	height   []int // thickness of layers
	start    []int // where they begin
}

// orient breaks cycles: an edge back to a node that a walk from the spine's
// begin has not left yet is turned round. The walk takes the spine first, then
// edges as they are written.
func (p *placing) orient() {
	g := p.graph
	p.reversed = make([]bool, len(g.Edges))
	p.spine = make([]bool, len(g.Edges))
	p.onSpine = make([]bool, len(g.Nodes))
	out := make([][]int, len(g.Nodes))
	next := make([]int, len(g.Nodes)) // what follows on the spine, and 1
	for i, v := range g.Spine {
		p.onSpine[v] = true
		if i > 0 {
			next[g.Spine[i-1]] = v + 1
		}
	}
	for i, e := range g.Edges {
		if next[e.From] == e.To+1 {
			p.spine[i] = true
			out[e.From] = append([]int{i}, out[e.From]...)
		} else {
			out[e.From] = append(out[e.From], i)
		}
	}
	const (
		fresh = iota
		open
		done
	)
	state := make([]int, len(g.Nodes))
	var walk func(v int)
	walk = func(v int) {
		state[v] = open
		for _, i := range out[v] {
			switch w := g.Edges[i].To; state[w] {
			case open:
				p.reversed[i] = true
			case fresh:
				walk(w)
			}
		}
		state[v] = done
	}
	for _, v := range p.first() {
		if state[v] == fresh {
			walk(v)
		}
	}
}

// first is all nodes, the spine's before the others.
func (p *placing) first() []int {
	nodes := append([]int(nil), p.graph.Spine...)
	for v := range p.graph.Nodes {
		if !p.onSpine[v] {
			nodes = append(nodes, v)
		}
	}
	return nodes
}

// ends are the nodes of an edge in the direction of the layers.
func (p *placing) ends(i int) (low, high int) {
	e := p.graph.Edges[i]
	if p.reversed[i] {
		return e.To, e.From
	}
	return e.From, e.To
}

// rank gives every node its layer: edges are short, those of the spine first.
func (p *placing) rank() {
	var arcs []arc
	begin := p.first()[0]
	for v := range p.graph.Nodes {
		if v != begin {
			arcs = append(arcs, arc{from: begin, to: v})
		}
	}
	for i := range p.graph.Edges {
		low, high := p.ends(i)
		weight := 2
		if p.spine[i] {
			weight = 16
		}
		if high == begin { // only when the spine does not begin the walk
			continue
		}
		arcs = append(arcs, arc{from: low, to: high, min: 1, weight: weight})
	}
	p.ranks = solve(len(p.graph.Nodes), arcs)
	least := p.ranks[begin]
	for v := range p.ranks {
		p.ranks[v] -= least
	}
}
