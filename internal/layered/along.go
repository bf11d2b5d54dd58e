package layered

import (
	"cmp"
	"slices"
)

const (
	// bendRoom is what edges have at least to bend in between two layers. The
	// further they go across, the more they get, up to maxBendRoom, and a little
	// more where many go far.
	bendRoom    = 26
	maxBendRoom = 72
)

// along gives every layer its depth and its beginning. Nodes of one layer get
// the same depth.
func (p *placing) along() {
	boxes := make([]int, len(p.layers))
	for l, layer := range p.layers {
		p.height[l] = 0
		for _, i := range layer {
			it := p.items[i]
			p.height[l] = max(p.height[l], it.depth)
			if it.node < 0 {
				continue
			}
			boxes[l] = max(boxes[l], it.depth)
			loop, _ := p.flip(p.graph.Nodes[it.node].Loop)
			p.height[l] = max(p.height[l], loop)
		}
	}
	for i := range p.items {
		if it := &p.items[i]; it.node >= 0 {
			it.depth = boxes[it.layer]
		}
	}
	p.start = make([]int, len(p.layers))
	for l := 1; l < len(p.layers); l++ {
		p.start[l] = p.start[l-1] + p.height[l-1] + p.room(l)
	}
	p.bend()
}

// room is the distance between a layer and the one before.
func (p *placing) room(l int) int {
	furthest, far := 0, 0
	for _, i := range p.layers[l-1] {
		for _, j := range p.near(i, false) {
			shift := abs(p.place(i, j) - p.place(j, i))
			furthest = max(furthest, shift)
			if shift > 2*maxBendRoom {
				far++
			}
		}
	}
	return min(bendRoom+furthest/5, maxBendRoom+5*min(far, 8))
}

// place is where across the edge between two joined items meets the first.
func (p *placing) place(i, j int) int {
	it := p.items[i]
	if it.node < 0 {
		return it.pos
	}
	return it.pos + p.offset(i, p.items[j].edge)
}

// layout turns what was found into the picture's own directions.
func (p *placing) layout() Layout {
	least, most := 0, 0
	for i, it := range p.items {
		if i == 0 {
			least, most = it.pos-it.before, it.pos+it.after
		}
		least, most = min(least, it.pos-it.before), max(most, it.pos+it.after)
	}
	for i := range p.items {
		p.items[i].pos -= least
	}
	last := len(p.layers) - 1
	l := Layout{
		Direction: p.direction,
		Size:      p.size(p.start[last]+p.height[last], most-least),
		Nodes:     make([]Box, len(p.graph.Nodes)),
		Loops:     make([]Box, len(p.graph.Nodes)),
		Labels:    make([]Box, len(p.graph.Edges)),
		Routes:    make([]Route, len(p.graph.Edges)),
		Crossings: p.crossings(),
	}
	for _, it := range p.items {
		switch {
		case it.node >= 0:
			l.Nodes[it.node], l.Loops[it.node] = p.nodeBoxes(it)
		case it.label:
			l.Labels[it.edge] = p.box(it, it.depth, it.before, it.after)
		}
	}
	for i := range p.chains {
		l.Routes[i] = p.route(i)
	}
	return l
}

func (p *placing) size(along, across int) Size {
	if p.direction == Right {
		return Size{along, across}
	}
	return Size{across, along}
}

// box is in the middle of the item's layer.
func (p *placing) box(it item, depth, before, after int) Box {
	a := p.start[it.layer] + (p.height[it.layer]-depth)/2
	if p.direction == Right {
		return Box{a, it.pos - before, depth, before + after}
	}
	return Box{it.pos - before, a, before + after, depth}
}

func (p *placing) nodeBoxes(it item) (node, loop Box) {
	size := p.graph.Nodes[it.node].Loop
	if size == (Size{}) {
		return p.box(it, it.depth, it.before, it.after), Box{}
	}
	depth, width := p.flip(size)
	if p.direction == Right {
		node = p.box(it, it.depth, it.before-loopGap-width, it.after)
		return node, p.box(it, depth, it.before, width-it.before)
	}
	node = p.box(it, it.depth, it.before, it.after-loopGap-width)
	return node, p.box(it, depth, width-it.after, it.after)
}

// route goes straight through every layer and bends between them.
func (p *placing) route(i int) Route {
	chain := p.chains[i]
	var r Route
	for k, at := range chain {
		it := p.items[at]
		from, to := p.start[it.layer], p.start[it.layer]+p.height[it.layer]
		across := it.pos
		if it.node >= 0 {
			across += p.offset(at, i)
			from += (p.height[it.layer] - it.depth) / 2
			if k == 0 { // from the node's border to the end of its layer
				from += it.depth
			} else {
				from, to = p.start[it.layer], from
			}
		}
		r.Points = append(r.Points, p.point(from, across), p.point(to, across))
		if k > 0 {
			r.Turns = append(r.Turns, p.turns[[2]int{chain[k-1], at}])
		}
	}
	if p.reversed[i] {
		slices.Reverse(r.Points)
		slices.Reverse(r.Turns)
	}
	return r
}

// bend decides where every edge turns between two layers.
func (p *placing) bend() {
	p.turns = map[[2]int]int{}
	for l := 1; l < len(p.layers); l++ {
		var joints, ways [][2]int
		for _, i := range p.layers[l-1] {
			for _, j := range p.near(i, false) {
				joints = append(joints, [2]int{i, j})
				ways = append(ways, [2]int{p.place(i, j), p.place(j, i)})
			}
		}
		for k, turn := range Turns(p.start[l-1]+p.height[l-1], p.start[l], ways) {
			p.turns[joints[k]] = turn
		}
	}
}

// Turns returns where edges that go side by side from one line to another shall
// turn, so that those which bend the same way do not lie on each other: the one
// ahead turns first. Each way is the places across at which an edge comes and
// goes.
func Turns(from, to int, ways [][2]int) []int {
	turns := make([]int, len(ways))
	for i := range turns {
		turns[i] = (from + to) / 2
	}
	for _, sign := range []int{1, -1} {
		var group []int
		for i, w := range ways {
			if sign*(w[1]-w[0]) > 0 {
				group = append(group, i)
			}
		}
		slices.SortStableFunc(group, func(a, b int) int { return sign * cmp.Compare(ways[b][0], ways[a][0]) })
		step := min(turnStep, (to-from)/2/max(1, len(group)-1))
		for k, i := range group {
			turns[i] += (2*k - len(group) + 1) * step / 2
		}
	}
	return turns
}

// turnStep is what the turns of two edges are apart, where there is room.
const turnStep = 12

func (p *placing) point(along, across int) Point {
	if p.direction == Right {
		return Point{along, across}
	}
	return Point{across, along}
}
