package gensvg

import (
	"slices"

	"github.com/pawl-go/pawl/internal/layered"
)

const (
	sliceGap = 64 // between columns
	rowGap   = 14
	sliceRow = 16 // between the ends of edges at the focus
)

// placeSlice puts the focus in the middle, what leads to it at its left and what
// it leads to at its right, with the labels in columns between.
func (s *scene) placeSlice() layered.Size {
	p := s.picture
	s.direction = layered.Right
	focus := p.Node(p.Focus)
	s.nodes = append(s.nodes, node{Node: focus, block: stateBlock(p, focus, s.options.Lang)})
	var loop *edge
	var ins, outs []int // edges, and as many nodes
	for i, e := range p.Edges {
		sc := edge{Edge: e, index: i, block: edgeBlock(p, e, s.options)}
		switch {
		case e.Loop():
			loop = &sc
			continue
		case e.To == p.Focus:
			sc.from = s.addNeighbour(e.From.Index)
			ins = append(ins, len(s.edges))
		default:
			sc.to = s.addNeighbour(e.To.Index)
			outs = append(outs, len(s.edges))
		}
		s.edges = append(s.edges, sc)
	}
	size := boxSize(s.nodes[0].block)
	size.H = max(size.H, sliceRow*(max(len(ins), len(outs))+1))
	above := 0
	if loop != nil {
		l := loopSize(loop.block)
		above = l.H + sliceLoop
		size.W = max(size.W, l.W) // so that no edge comes near its label
	}
	left, right := s.column(ins), s.column(outs)
	height := max(left.height, right.height, size.H+2*above)
	x := 0
	if len(ins) > 0 {
		x = left.boxes + left.labels + 2*sliceGap
	}
	if loop != nil {
		x += max(0, loopSize(loop.block).W-size.W) / 2
	}
	middle := layered.Box{X: x, Y: (height - size.H) / 2, W: size.W, H: size.H}
	s.nodes[0].box = middle
	s.fill(ins, left, (height-left.height)/2, true)
	s.fill(outs, right, (height-right.height)/2, false)
	total := layered.Size{W: middle.X + middle.W, H: height}
	if len(outs) > 0 {
		total.W += right.boxes + right.labels + 2*sliceGap
	}
	if loop != nil {
		l := loopSize(loop.block)
		loop.label = layered.Box{X: middle.X + (middle.W-l.W)/2, Y: middle.Y - sliceLoop - l.H, W: l.W, H: l.H}
		s.edges = append(s.edges, *loop)
	}
	return total
}

// sliceLoop is between the focus and the label of its loop.
const sliceLoop = 22

func (s *scene) addNeighbour(state int) int {
	p := s.picture
	n := p.Node(p.Machine.States[state])
	s.nodes = append(s.nodes, node{Node: n, block: stateBlock(p, n, s.options.Lang)})
	return len(s.nodes) - 1
}

// column is one side of a slice.
type column struct {
	boxes, labels, height int
	rows                  []int
}

func (s *scene) column(edges []int) column {
	var c column
	for _, i := range edges {
		e := s.edges[i]
		box, label := boxSize(s.nodes[max(e.from, e.to)].block), e.block.size()
		c.boxes, c.labels = max(c.boxes, box.W), max(c.labels, label.W)
		row := max(box.H, label.H)
		c.rows = append(c.rows, row)
		c.height += row
	}
	c.height += rowGap * max(0, len(edges)-1)
	return c
}

// fill places the nodes, labels and routes of one side.
func (s *scene) fill(edges []int, c column, y int, in bool) {
	middle := s.nodes[0].box
	border, outwards := middle.X+middle.W, 1
	if in {
		border, outwards = middle.X, -1
	}
	near := border + outwards*sliceGap
	far := near + outwards*c.labels
	beyond := far + outwards*sliceGap
	ports, rows, ways := make([]int, len(edges)), make([]int, len(edges)), make([][2]int, len(edges))
	for k := range edges {
		ports[k], rows[k] = middle.Y+middle.H/2+(2*k-len(edges)+1)*sliceRow/2, y+c.rows[k]/2
		y += c.rows[k] + rowGap
		ways[k] = [2]int{ports[k], rows[k]}
		if in {
			slices.Reverse(ways[k][:])
		}
	}
	turns := layered.Turns(min(border, near), max(border, near), ways)
	for k, i := range edges {
		e := &s.edges[i]
		n := &s.nodes[max(e.from, e.to)]
		port, row := ports[k], rows[k]
		e.route = layered.Route{
			Points: []layered.Point{{X: border, Y: port}, {X: border, Y: port}, {X: near, Y: row}, {X: beyond, Y: row}},
			Turns:  turns[k : k+1],
		}
		if in {
			slices.Reverse(e.route.Points)
		}
		label, size := e.block.size(), boxSize(n.block)
		e.label = layered.Box{X: (near+far)/2 - label.W/2, Y: row - label.H/2, W: label.W, H: label.H}
		n.box = layered.Box{X: beyond, Y: row - size.H/2, W: c.boxes, H: size.H}
		if in {
			n.box.X -= c.boxes
		}
	}
}
