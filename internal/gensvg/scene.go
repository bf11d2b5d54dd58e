package gensvg

import (
	"github.com/pawl-go/pawl/internal/layered"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/picture"
)

// scene is a picture whose parts have their places.
type scene struct {
	picture *picture.Picture
	options Options

	title, intro []string
	nodes        []node
	edges        []edge
	direction    layered.Direction
	legend       legend
	// size is that of the whole, and graph where the drawing of the machine is in it.
	size  layered.Size
	graph layered.Point
}

// node is a state's box. In a slice a state may be drawn twice: as one that leads
// to the focus, and as one that follows it.
type node struct {
	*picture.Node
	block block
	box   layered.Box
}

// edge is an arrow. A loop has no route.
type edge struct {
	*picture.Edge
	index    int // in the picture
	from, to int // in the scene's nodes
	block    block
	label    layered.Box
	route    []layered.Point
}

const (
	margin = 28
	// startRoom is what the mark of the initial state needs before it.
	startRoom = 40
	// introWidth is where the description breaks at the latest, and at the
	// earliest in a small picture.
	introWidth, smallWidth = 900, 460
)

// compose gives everything its place; false for a picture that is too large.
func compose(p *picture.Picture, o Options) (*scene, bool) {
	s := &scene{picture: p, options: o}
	var size layered.Size
	if p.Focus != nil {
		size = s.placeSlice()
	} else {
		var ok bool
		if size, ok = s.placeWhole(); !ok {
			return nil, false
		}
	}
	s.frame(size)
	return s, true
}

// placeWhole lays out all nodes and edges in layers, the happy path straight.
func (s *scene) placeWhole() (layered.Size, bool) {
	p := s.picture
	if len(p.Nodes) > MaxStates || len(p.Edges) > MaxEdges {
		return layered.Size{}, false
	}
	var g layered.Graph
	place := make([]int, len(p.Machine.States))
	for i, n := range p.Nodes {
		place[n.State.Index] = i
		b := stateBlock(p, n, s.options.Lang)
		s.nodes = append(s.nodes, node{Node: n, block: b})
		g.Nodes = append(g.Nodes, layered.Node{Size: boxSize(b)})
		if n.Happy && follows(p.Happy, len(g.Spine), n.State) {
			g.Spine = append(g.Spine, i)
		}
	}
	for i, e := range p.Edges {
		b := edgeBlock(p, e, s.options)
		from, to := place[e.From.Index], place[e.To.Index]
		s.edges = append(s.edges, edge{Edge: e, index: i, from: from, to: to, block: b})
		if e.Loop() {
			g.Nodes[from].Loop = loopSize(b)
		} else {
			g.Edges = append(g.Edges, layered.Edge{From: from, To: to, Label: b.size()})
		}
	}
	l, ok := layered.Best(g)
	if ok {
		s.adopt(l)
	}
	return l.Size, ok
}

// follows reports whether the state is the next of the path, which a picture of
// a part may have with gaps.
func follows(path []*model.State, drawn int, s *model.State) bool {
	return drawn < len(path) && path[drawn] == s
}

// boxSize is the size of a state's box; none is tiny.
func boxSize(b block) layered.Size {
	s := b.size()
	return layered.Size{W: max(s.W, 92), H: max(s.H, 44)}
}

// loopSize is that of a loop's label, also of one without text: the loop is
// drawn behind it and needs room.
func loopSize(b block) layered.Size {
	s := b.size()
	return layered.Size{W: max(s.W, 34), H: max(s.H, 26)}
}

func (s *scene) adopt(l layered.Layout) {
	s.direction = l.Direction
	for i := range s.nodes {
		s.nodes[i].box = l.Nodes[i]
	}
	next := 0
	for i := range s.edges {
		e := &s.edges[i]
		if e.Loop() {
			e.label = l.Loops[e.from]
			continue
		}
		e.label, e.route = l.Labels[next], l.Routes[next]
		next++
	}
}

// frame puts title and legend around the drawing.
func (s *scene) frame(size layered.Size) {
	m := s.picture.Machine
	before := layered.Size{}
	if s.startNode() >= 0 {
		if s.direction == layered.Right {
			before.W = startRoom
		} else {
			before.H = startRoom
		}
	}
	inner := max(size.W+before.W, smallWidth)
	s.title = wrap(s.heading(), fontTitle, inner)
	s.intro = wrap(m.Describe, fontIntro, min(inner, introWidth))
	top := margin + len(s.title)*fontTitle.line + len(s.intro)*fontIntro.line + 24
	s.graph = layered.Point{X: margin + before.W + (inner-size.W-before.W)/2, Y: top + before.H}
	bottom := s.graph.Y + size.H + 28
	s.legend = makeLegend(s.picture, s.options, inner)
	s.legend.y = bottom
	s.size = layered.Size{W: inner + 2*margin, H: bottom + s.legend.height + margin}
	if s.legend.height == 0 {
		s.size.H -= 28
	}
}

// heading is the machine's name, and the state's in a slice.
func (s *scene) heading() string {
	name := s.picture.Machine.Name
	if f := s.picture.Focus; f != nil {
		title, _ := picture.Title(f, s.options.Lang)
		return name + " · " + title
	}
	return name
}

// startNode is the node that the mark of the initial state points at, -1 for
// none. A slice has no room for the arrow, and marks the box itself.
func (s *scene) startNode() int {
	for i, n := range s.nodes {
		if n.State.Initial && s.picture.Focus == nil {
			return i
		}
	}
	return -1
}
