package layered

import (
	"cmp"
	"slices"
)

// starts are the orders that the sweeps begin with: where nodes that are not on
// the spine stand beside it.
var starts = []start{both, after, before}

type start int

const (
	// both puts them on either side in turn.
	both start = iota
	// after puts them all after it.
	after
	// before puts them all before it.
	before
)

// sweeps is how often the layers are put in order, down and up.
const sweeps = 10

// order arranges the items of each layer so that few edges cross: each is drawn
// to the middle of what it is joined to in the layer before, then in the layer
// behind, and neighbours change places where that helps.
func (p *placing) order(s start) {
	p.begin(s)
	best := p.copyLayers()
	least := p.crossings()
	for i := 0; i < sweeps && least > 0; i++ {
		p.sweep(i%2 == 0)
		p.transpose()
		if c := p.crossings(); c < least {
			least, best = c, p.copyLayers()
		}
	}
	p.layers = best
	p.seats()
}

// begin puts the items in the first order: nodes as the walk comes to them, and
// edges beside the nodes they belong to.
func (p *placing) begin(s start) {
	p.layers = make([][]int, len(p.height))
	side := make([]int, len(p.graph.Nodes)) // of nodes, 0 on the spine
	turn := 1
	for v := range p.graph.Nodes {
		if p.onSpine[v] {
			continue
		}
		switch s {
		case both:
			side[v] = turn * (v + 1)
			turn = -turn
		case after:
			side[v] = v + 1
		case before:
			side[v] = -v - 1
		}
	}
	key := make([]int, len(p.items))
	for i, it := range p.items {
		p.layers[it.layer] = append(p.layers[it.layer], i)
		if it.node >= 0 {
			key[i] = 2 * side[it.node]
			continue
		}
		if p.spine[it.edge] {
			continue
		}
		e := p.graph.Edges[it.edge]
		key[i] = side[e.From] + side[e.To]
		if key[i] == 0 {
			key[i] = 1
			if s == before || s == both && it.edge%2 == 0 {
				key[i] = -1
			}
		}
	}
	for _, layer := range p.layers {
		slices.SortStableFunc(layer, func(a, b int) int { return cmp.Compare(key[a], key[b]) })
	}
	p.seats()
}

func (p *placing) seats() {
	for _, layer := range p.layers {
		for seat, i := range layer {
			p.items[i].seat = seat
		}
	}
}

func (p *placing) copyLayers() [][]int {
	layers := make([][]int, len(p.layers))
	for l := range layers {
		layers[l] = slices.Clone(p.layers[l])
	}
	return layers
}

// near are the items joined to one in the layer before (up) or behind it.
func (p *placing) near(i int, up bool) []int {
	it := p.items[i]
	var out []int
	if it.node < 0 {
		chain := p.chains[it.edge]
		at := it.layer - p.items[chain[0]].layer
		if up {
			return chain[at-1 : at]
		}
		return chain[at+1 : at+2]
	}
	for _, j := range p.touching(it.node) {
		chain := p.chains[j]
		switch {
		case up && chain[len(chain)-1] == i:
			out = append(out, chain[len(chain)-2])
		case !up && chain[0] == i:
			out = append(out, chain[1])
		}
	}
	return out
}

// touching are the edges of a node.
func (p *placing) touching(v int) []int {
	if p.incident == nil {
		p.incident = make([][]int, len(p.graph.Nodes))
		for i, e := range p.graph.Edges {
			p.incident[e.From] = append(p.incident[e.From], i)
			p.incident[e.To] = append(p.incident[e.To], i)
		}
	}
	return p.incident[v]
}

// sweep orders every layer by the mean seats of what its items are joined to.
// An item joined to nothing keeps its seat.
func (p *placing) sweep(down bool) {
	for k := range p.layers {
		l := k
		if !down {
			l = len(p.layers) - 1 - k
		}
		layer := p.layers[l]
		mean := make([]float64, len(layer))
		for seat, i := range layer {
			mean[seat] = float64(seat)
			joined := p.near(i, down)
			if len(joined) == 0 {
				continue
			}
			sum := 0
			for _, j := range joined {
				sum += p.items[j].seat
			}
			mean[seat] = float64(sum) / float64(len(joined))
		}
		slices.SortStableFunc(layer, func(a, b int) int {
			return cmp.Compare(mean[p.items[a].seat], mean[p.items[b].seat])
		})
		for seat, i := range layer {
			p.items[i].seat = seat
		}
	}
}

// transpose changes neighbours' places as long as edges then cross less.
func (p *placing) transpose() {
	if len(p.items) > MaxElements/2 {
		return
	}
	for range 4 {
		better := false
		for _, layer := range p.layers {
			for s := 0; s+1 < len(layer); s++ {
				a, b := layer[s], layer[s+1]
				if p.pair(a, b) <= p.pair(b, a) {
					continue
				}
				layer[s], layer[s+1] = b, a
				p.items[a].seat, p.items[b].seat = s+1, s
				better = true
			}
		}
		if !better {
			return
		}
	}
}

// pair is how often the edges of two items cross when a stands before b.
func (p *placing) pair(a, b int) int {
	n := 0
	for _, up := range []bool{true, false} {
		for _, i := range p.near(a, up) {
			for _, j := range p.near(b, up) {
				if p.items[i].seat > p.items[j].seat {
					n += p.weight(a, i) * p.weight(b, j)
				}
			}
		}
	}
	return n
}

// weight makes it dear to cross the spine.
func (p *placing) weight(i, j int) int {
	edge := p.items[i].edge
	if edge < 0 {
		edge = p.items[j].edge
	}
	if p.spine[edge] {
		return 2
	}
	return 1
}

// crossings is how often edges cross, those of the spine weighed.
func (p *placing) crossings() int {
	total := 0
	for l := 1; l < len(p.layers); l++ {
		// Inversions among the seats that segments end at, in the order in
		// which they begin, by a Fenwick tree of weights.
		tree := make([]int, len(p.layers[l])+1)
		all := 0
		for _, i := range p.layers[l-1] {
			joined := p.near(i, false)
			for _, j := range joined {
				before := 0
				for k := p.items[j].seat + 1; k > 0; k -= k & -k {
					before += tree[k]
				}
				total += (all - before) * p.weight(i, j)
			}
			for _, j := range joined { // those of one item do not cross
				w := p.weight(i, j)
				all += w
				for k := p.items[j].seat + 1; k < len(tree); k += k & -k {
					tree[k] += w
				}
			}
		}
	}
	return total
}
