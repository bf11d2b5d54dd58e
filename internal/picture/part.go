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
// the states of all its edges. Together they have every edge once and every
// state at least once. A picture that fits is the only part. One that cannot be
// cut any more (a single edge, or a single state) is a part whether it fits or
// not.
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
	if len(p.Edges)+len(lone) < 2 {
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
