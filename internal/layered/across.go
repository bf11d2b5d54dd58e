package layered

import (
	"cmp"
	"slices"
)

// across gives every item its place across the layers: the spine on one line,
// each edge in pieces as long and straight as those that go first allow, and
// the whole as close together as the simplex can make it.
func (p *placing) across() {
	blocks := p.blocks()
	pos := solve(p.system(blocks))
	if pos == nil { // not reached: pieces that do not cross are never a cycle
		for i := range p.items {
			p.items[i].block = i
		}
		pos = solve(p.system(len(p.items)))
	}
	for i := range p.items {
		p.items[i].pos = pos[p.items[i].block]
	}
}

// blocks joins items that shall stand on one line and numbers the lines. Two
// joints between the same layers never cross, so the lines have an order.
func (p *placing) blocks() int {
	parent := make([]int, len(p.items))
	for i := range parent {
		parent[i] = i
	}
	var root func(i int) int
	root = func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	taken := make([][][2]int, len(p.layers)) // seats of joints by their upper layer
	join := func(a, b int) {
		l, s, t := p.items[a].layer, p.items[a].seat, p.items[b].seat
		for _, j := range taken[l] {
			if (j[0] < s) != (j[1] < t) || j[0] == s || j[1] == t {
				return
			}
		}
		taken[l] = append(taken[l], [2]int{s, t})
		parent[root(b)] = root(a)
	}
	for _, i := range p.longest() {
		chain := p.chains[i]
		for k := 1; k < len(chain); k++ {
			inner := k > 1 && k < len(chain)-1
			if inner || p.spine[i] {
				join(chain[k-1], chain[k])
			}
		}
	}
	number := make([]int, len(p.items))
	count := 0
	for i := range p.items {
		r := root(i)
		if number[r] == 0 {
			count++
			number[r] = count
		}
		p.items[i].block = number[r] - 1
	}
	return count
}

// longest are the edges, the spine's first and then by their length.
func (p *placing) longest() []int {
	edges := make([]int, len(p.chains))
	for i := range edges {
		edges[i] = i
	}
	slices.SortStableFunc(edges, func(a, b int) int {
		if p.spine[a] != p.spine[b] {
			if p.spine[a] {
				return -1
			}
			return 1
		}
		return cmp.Compare(len(p.chains[b]), len(p.chains[a]))
	})
	return edges
}

// Weights of joints: an edge bends at its ends rather than on its way.
const (
	endWeight   = 1
	innerWeight = 6
)

// system keeps neighbours apart and draws together what is joined. What two
// joined items are apart is their distances from a helper that both are beyond,
// so it counts one helper more for each joint that may bend.
func (p *placing) system(blocks int) (n int, arcs []arc) {
	n = blocks
	for _, layer := range p.layers {
		for s := 1; s < len(layer); s++ {
			a, b := p.items[layer[s-1]], p.items[layer[s]]
			gap := a.after + b.before + a.margin + b.margin
			arcs = append(arcs, arc{from: a.block, to: b.block, min: gap})
		}
	}
	for i, chain := range p.chains {
		for k := 1; k < len(chain); k++ {
			a, b := p.items[chain[k-1]], p.items[chain[k]]
			if a.block == b.block {
				continue
			}
			weight := innerWeight
			if a.node >= 0 || b.node >= 0 {
				weight = endWeight
			}
			arcs = append(arcs,
				arc{from: n, to: a.block, min: -p.offset(chain[k-1], i), weight: weight},
				arc{from: n, to: b.block, min: -p.offset(chain[k], i), weight: weight})
			n++
		}
	}
	return n, arcs
}
