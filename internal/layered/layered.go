// Package layered places the nodes of a directed graph in layers, and its edges
// and their labels between them, so that most edges run one way, few cross, and
// no edge or label touches what it does not belong to. One path, the spine, is
// drawn as a straight line through the picture.
//
// It follows the steps of E. R. Gansner, E. Koutsofios, S. C. North and K.-P. Vo,
// "A Technique for Drawing Directed Graphs", IEEE Transactions on Software
// Engineering 19(3), 1993: cycles are broken, layers and places are each an
// optimum of a network simplex, and orders come from weighted sweeps. A label is
// an element of a layer of its own, so it has room like a node has.
//
// It knows boxes and no machine, text or colour. The same graph always has the
// same layout; nothing is random and no map is ranged over.
package layered

// Graph is what is to be placed. Sizes are in units of the picture, at least 1.
type Graph struct {
	Nodes []Node
	Edges []Edge
	// Spine are indexes of nodes, each followed by the next by an edge; it
	// begins with the node that comes first. It may be empty.
	Spine []int
}

// Node is a box. Loop is the label of its edge to itself, 0 × 0 for none.
type Node struct {
	Size Size
	Loop Size
}

// Edge leads from one node to another, with a label on its way. Both ends are
// indexes of nodes and are different; two edges may not have the same ends.
type Edge struct {
	From, To int
	Label    Size
}

// Size is a width and a height.
type Size struct{ W, H int }

// Direction is the way in which the layers follow each other.
type Direction int

// Directions.
const (
	// Right has the first layer at the left.
	Right Direction = iota
	// Down has the first layer at the top.
	Down
)

// Point is a place in the picture; y grows downwards.
type Point struct{ X, Y int }

// Box is a rectangle, by its upper left corner.
type Box struct{ X, Y, W, H int }

// Layout is a placed graph. Everything lies between (0, 0) and Size.
type Layout struct {
	Direction Direction
	Size      Size
	// Nodes are the boxes, which may be larger than was asked for: there is room
	// for the ends of all edges, and those of one layer are of one depth.
	Nodes []Box
	// Loops are the labels of edges from a node to itself; empty for none.
	Loops []Box
	// Labels are the edges' labels.
	Labels []Box
	// Routes are the edges' ways from the border of From to that of To. A route
	// has an even number of points: straight lines from each even point to the
	// next, along the direction, and curves between them.
	Routes [][]Point
	// Crossings is how often edges cross.
	Crossings int
}

// MaxElements is how many nodes, labels and bends Place takes.
const MaxElements = 4000

// Place lays the graph out in one direction; false when it is too large for
// that. The result for a graph without nodes is empty.
func Place(g Graph, d Direction) (Layout, bool) {
	if len(g.Nodes) == 0 {
		return Layout{Direction: d}, true
	}
	p := &placing{graph: g, direction: d}
	p.orient()
	p.rank()
	if !p.elements() {
		return Layout{}, false
	}
	best, cost := Layout{}, 0
	for i, start := range starts {
		if i > 0 && len(p.items) > MaxElements/4 {
			break
		}
		p.order(start)
		p.ports()
		p.across()
		p.along()
		if l := p.layout(); i == 0 || l.cost() < cost {
			best, cost = l, l.cost()
		}
	}
	return best, true
}

// Best lays the graph out in the direction that fits a page or a screen better.
func Best(g Graph) (Layout, bool) {
	right, ok := Place(g, Right)
	if !ok {
		return Layout{}, false
	}
	down, ok := Place(g, Down)
	if !ok || right.cost() <= down.cost() {
		return right, true
	}
	return down, true
}

// The shape that a picture should fill: a page on its side, which a screen is
// like, or upright.
const (
	pageLong  = 1400
	pageShort = 950
)

// cost weighs how small the picture must be shown to fit, and how tangled it is.
func (l Layout) cost() int {
	side := max(1000*l.Size.W/pageLong, 1000*l.Size.H/pageShort)
	upright := max(1100*l.Size.W/pageShort, 1100*l.Size.H/pageLong)
	fit := min(side, upright)
	length := 0
	for _, route := range l.Routes {
		for i := 1; i < len(route); i++ {
			length += abs(route[i].X-route[i-1].X) + abs(route[i].Y-route[i-1].Y)
		}
	}
	return fit + 20*l.Crossings + length/(8*max(1, len(l.Routes)))
}

func abs(x int) int { return max(x, -x) }
