package picture

import (
	"slices"

	"github.com/pawl-go/pawl/internal/model"
)

// Overview returns the picture with nothing written on its edges and states: all
// that a machine with many states leaves room for.
func (p *Picture) Overview() *Picture {
	bare := *p
	bare.Bare = true
	bare.Everywhere = nil
	return &bare
}

// Slice returns the picture of one state: itself, what leads into it and what
// leads out. Only its own edges are drawn, and only its own remarks.
func (p *Picture) Slice(s *model.State) *Picture {
	slice := *p
	slice.Focus = s
	slice.Everywhere = nil
	slice.Edges = nil
	for _, e := range p.Edges {
		if e.From == s || e.To == s {
			slice.Edges = append(slice.Edges, e)
		}
	}
	slice.Nodes = slice.nodesOf(slice.Edges, s)
	return &slice
}

// nodesOf returns the nodes at the ends of edges, and those of the other states
// given, in the picture's order.
func (p *Picture) nodesOf(edges []*Edge, others ...*model.State) []*Node {
	drawn := make([]bool, len(p.Machine.States))
	for _, e := range edges {
		drawn[e.From.Index], drawn[e.To.Index] = true, true
	}
	for _, s := range others {
		drawn[s.Index] = true
	}
	var nodes []*Node
	for _, n := range p.Nodes {
		if !drawn[n.State.Index] {
			continue
		}
		nodes = append(nodes, p.nodeOf(n))
	}
	return nodes
}

// nodeOf returns a node as the picture draws it: a slice has all remarks at its
// focus, and none elsewhere.
func (p *Picture) nodeOf(n *Node) *Node {
	switch p.Focus {
	case nil:
		return n
	case n.State:
		return &Node{State: n.State, Happy: n.Happy, Remarks: remarks(p.Machine, n.State, nil)}
	}
	return &Node{State: n.State, Happy: n.Happy}
}

// Split cuts the picture into parts that fit, each complete in itself: it has
// the states of all its edges. Together they have every arc once and every
// state at least once; an edge is cut only where it alone does not fit. A
// picture that fits is the only part. One that cannot be cut any more (a
// single arc, or a single state) is a part whether it fits or not.
func (p *Picture) Split(fits func(*Picture) bool) []*Picture {
	parts := p.halves(fits)
	if len(parts) > 1 {
		for i, part := range parts {
			part.Part, part.Parts = i+1, len(parts)
		}
	}
	return parts
}

func (p *Picture) halves(fits func(*Picture) bool) []*Picture {
	if fits(p) {
		return []*Picture{p}
	}
	var lone []*model.State // without an edge: they are cut like edges
	joined := p.nodesOf(p.Edges)
	if p.Focus == nil {
		for _, n := range p.Nodes {
			if !slices.ContainsFunc(joined, func(j *Node) bool { return j.State == n.State }) {
				lone = append(lone, n.State)
			}
		}
	}
	switch {
	case len(p.Edges)+len(lone) >= 2:
	case len(p.Edges) == 1 && len(p.Edges[0].Arcs) >= 2 && !p.Bare:
		first, second := p.Edges[0].halves()
		return append(p.piece([]*Edge{first}, nil).halves(fits), p.piece([]*Edge{second}, nil).halves(fits)...)
	default:
		return []*Picture{p}
	}
	cut := (len(p.Edges) + len(lone)) / 2
	edge, state := min(cut, len(p.Edges)), max(0, cut-len(p.Edges))
	first := p.piece(p.Edges[:edge], lone[:state])
	second := p.piece(p.Edges[edge:], lone[state:])
	return append(first.halves(fits), second.halves(fits)...)
}

func (p *Picture) piece(edges []*Edge, states []*model.State) *Picture {
	piece := *p
	piece.Edges = edges
	if p.Focus != nil {
		states = []*model.State{p.Focus}
	}
	piece.Nodes = p.nodesOf(edges, states...)
	return &piece
}

// halves cuts the arcs of an edge in two.
func (e *Edge) halves() (first, second *Edge) {
	cut := len(e.Arcs) / 2
	first, second = new(Edge), new(Edge)
	*first, *second = *e, *e
	first.Arcs, second.Arcs = e.Arcs[:cut], e.Arcs[cut:]
	return first, second
}
