package layered

const (
	// bendRoom is what edges have at least to bend in between two layers, and
	// maxBendRoom at most: the further they go across, the more they get.
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
}

// room is the distance between a layer and the one before.
func (p *placing) room(l int) int {
	furthest := 0
	for _, i := range p.layers[l-1] {
		for _, j := range p.near(i, false) {
			furthest = max(furthest, abs(p.place(i, j)-p.place(j, i)))
		}
	}
	return min(bendRoom+furthest/5, maxBendRoom)
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
		Routes:    make([][]Point, len(p.graph.Edges)),
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
func (p *placing) route(i int) []Point {
	chain := p.chains[i]
	var route []Point
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
		route = append(route, p.point(from, across), p.point(to, across))
	}
	if p.reversed[i] {
		for a, b := 0, len(route)-1; a < b; a, b = a+1, b-1 {
			route[a], route[b] = route[b], route[a]
		}
	}
	return route
}

func (p *placing) point(along, across int) Point {
	if p.direction == Right {
		return Point{along, across}
	}
	return Point{across, along}
}
