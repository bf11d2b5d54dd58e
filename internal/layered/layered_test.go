package layered_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/layered"
)

// random is a graph whose spine is its first nodes.
func random(r *rand.Rand, nodes, edges int) layered.Graph {
	var g layered.Graph
	for range nodes {
		n := layered.Node{Size: layered.Size{W: 40 + r.IntN(160), H: 30 + r.IntN(60)}}
		if r.IntN(4) == 0 {
			n.Loop = layered.Size{W: 30 + r.IntN(200), H: 20 + r.IntN(40)}
		}
		g.Nodes = append(g.Nodes, n)
	}
	spine := 1 + r.IntN(nodes)
	drawn := map[[2]int]bool{}
	add := func(from, to int) {
		if from == to || drawn[[2]int{from, to}] {
			return
		}
		drawn[[2]int{from, to}] = true
		label := layered.Size{W: 20 + r.IntN(180), H: 18 + r.IntN(40)}
		if r.IntN(6) == 0 {
			label = layered.Size{}
		}
		g.Edges = append(g.Edges, layered.Edge{From: from, To: to, Label: label})
	}
	for range edges {
		add(r.IntN(nodes), r.IntN(nodes))
	}
	for i := range spine {
		g.Spine = append(g.Spine, i)
		if i > 0 {
			add(i-1, i)
		}
	}
	return g
}

// check holds a layout against what a reader relies on.
func check(t *testing.T, g layered.Graph, l layered.Layout) {
	t.Helper()
	type owned struct {
		layered.Box
		edge, node int
	}
	var boxes []owned
	for v, b := range l.Nodes {
		require.GreaterOrEqual(t, b.W, g.Nodes[v].Size.W)
		require.GreaterOrEqual(t, b.H, g.Nodes[v].Size.H)
		boxes = append(boxes, owned{b, -1, v})
		loop := l.Loops[v]
		require.Equal(t, g.Nodes[v].Loop, layered.Size{W: loop.W, H: loop.H})
		if loop.W > 0 {
			boxes = append(boxes, owned{loop, -1, v})
		}
	}
	for i, b := range l.Labels {
		require.Equal(t, g.Edges[i].Label, layered.Size{W: b.W, H: b.H})
		if b.W > 0 {
			boxes = append(boxes, owned{b, i, -1})
		}
	}
	for i, a := range boxes {
		require.True(t, a.X >= 0 && a.Y >= 0 && a.X+a.W <= l.Size.W && a.Y+a.H <= l.Size.H, "%v is outside %v", a, l.Size)
		for _, b := range boxes[i+1:] {
			if overlap(a.Box, b.Box, 4) {
				t.Fatalf("%v and %v touch", a, b)
			}
		}
	}
	for i, route := range l.Routes {
		e := g.Edges[i]
		require.True(t, onBorder(route.Points[0], l.Nodes[e.From]), "edge %d begins at %v, not at %v", i, route, l.Nodes[e.From])
		require.True(t, onBorder(route.Points[len(route.Points)-1], l.Nodes[e.To]), "edge %d ends at %v, not at %v", i, route, l.Nodes[e.To])
		for _, p := range drawn(route, l.Direction) {
			if !inside(p, layered.Box{X: -1, Y: -1, W: l.Size.W + 2, H: l.Size.H + 2}) {
				t.Fatalf("edge %d leaves the picture at %v", i, p)
			}
			for _, b := range boxes {
				if b.edge != i && inside(p, b.Box) {
					t.Fatalf("edge %d passes over %v at %v", i, b, p)
				}
			}
		}
	}
	for i, v := range g.Spine[:max(0, len(g.Spine)-1)] {
		w := g.Spine[i+1]
		for j, e := range g.Edges {
			if e.From == v && e.To == w {
				require.True(t, straight(l.Routes[j].Points, l.Direction), "spine bends between %d and %d: %v", v, w, l.Routes[j])
			}
		}
	}
}

func overlap(a, b layered.Box, gap int) bool {
	return a.X < b.X+b.W+gap && b.X < a.X+a.W+gap && a.Y < b.Y+b.H+gap && b.Y < a.Y+a.H+gap
}

func onBorder(p layered.Point, b layered.Box) bool {
	within := p.X >= b.X && p.X <= b.X+b.W && p.Y >= b.Y && p.Y <= b.Y+b.H
	return within && (p.X == b.X || p.X == b.X+b.W || p.Y == b.Y || p.Y == b.Y+b.H)
}

func inside(p layered.Point, b layered.Box) bool {
	return p.X > b.X && p.X < b.X+b.W && p.Y > b.Y && p.Y < b.Y+b.H
}

func straight(route []layered.Point, d layered.Direction) bool {
	for _, p := range route {
		if d == layered.Right && p.Y != route[0].Y || d == layered.Down && p.X != route[0].X {
			return false
		}
	}
	return true
}

// drawn are points along a route as it is drawn.
func drawn(route layered.Route, d layered.Direction) []layered.Point {
	var all []layered.Point
	for i := 1; i < len(route.Points); i++ {
		a, b := route.Points[i-1], route.Points[i]
		p, q := a, b // handles
		if i%2 == 0 {
			turn := route.Turns[i/2-1]
			if p.X, q.X = turn, turn; d == layered.Down {
				p, q = layered.Point{X: a.X, Y: turn}, layered.Point{X: b.X, Y: turn}
			}
		}
		const steps = 16
		for k := 0; k <= steps; k++ {
			s := float64(k) / steps
			r := 1 - s
			cubic := func(a, p, q, b int) int {
				return int(math.Round(r*r*r*float64(a) + 3*r*r*s*float64(p) + 3*r*s*s*float64(q) + s*s*s*float64(b)))
			}
			all = append(all, layered.Point{X: cubic(a.X, p.X, q.X, b.X), Y: cubic(a.Y, p.Y, q.Y, b.Y)})
		}
	}
	return all
}

func TestNothingTouchesWhatItDoesNotBelongTo(t *testing.T) {
	t.Parallel()
	const seed = 1129
	for i := range 150 {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		nodes := 1 + r.IntN(14)
		g := random(r, nodes, r.IntN(3*nodes))
		for _, d := range []layered.Direction{layered.Right, layered.Down} {
			l, ok := layered.Place(g, d)
			require.True(t, ok)
			require.Equal(t, d, l.Direction)
			t.Logf("seed %d, graph %d", seed, i)
			check(t, g, l)
		}
	}
}

func TestBestIsTheSameEveryTime(t *testing.T) {
	t.Parallel()
	g := random(rand.New(rand.NewPCG(7, 7)), 12, 24)
	first, ok := layered.Best(g)
	require.True(t, ok)
	for range 20 {
		again, _ := layered.Best(g)
		require.Equal(t, first, again)
	}
}

func TestEmptyAndTooLarge(t *testing.T) {
	t.Parallel()
	l, ok := layered.Best(layered.Graph{})
	require.True(t, ok)
	require.Zero(t, l.Size)

	var g layered.Graph // a ladder whose edges are all long
	for i := range 120 {
		g.Nodes = append(g.Nodes, layered.Node{Size: layered.Size{W: 10, H: 10}})
		g.Spine = append(g.Spine, i)
		if i > 0 {
			g.Edges = append(g.Edges, layered.Edge{From: i - 1, To: i, Label: layered.Size{W: 5, H: 5}})
		}
		if i > 60 {
			g.Edges = append(g.Edges, layered.Edge{From: i - 60, To: i, Label: layered.Size{W: 5, H: 5}})
		}
	}
	_, ok = layered.Best(g)
	require.False(t, ok)
}

// A node that nothing leads to, and edges that go back, have their places too.
func TestFewCrossings(t *testing.T) {
	t.Parallel()
	box, label := layered.Node{Size: layered.Size{W: 80, H: 40}}, layered.Size{W: 40, H: 20}
	g := layered.Graph{
		Nodes: []layered.Node{box, box, box, box, box},
		Spine: []int{0, 1, 2},
		Edges: []layered.Edge{{0, 1, label}, {1, 2, label}, {1, 0, label}, {2, 0, label}, {0, 3, label}, {3, 2, label}, {4, 3, label}},
	}
	for _, d := range []layered.Direction{layered.Right, layered.Down} {
		l, ok := layered.Place(g, d)
		require.True(t, ok)
		require.Zero(t, l.Crossings)
		check(t, g, l)
	}
}

// Of edges that bend the same way the one ahead turns first.
func TestTurns(t *testing.T) {
	t.Parallel()
	require.Equal(t, []int{56, 44, 50, 44, 56}, layered.Turns(0, 100, [][2]int{{0, 40}, {10, 50}, {60, 60}, {90, 30}, {95, 35}}))
	require.Empty(t, layered.Turns(0, 10, nil))
}

func BenchmarkBest(b *testing.B) {
	for _, size := range []struct {
		name         string
		nodes, edges int
	}{{"4", 4, 6}, {"12", 12, 24}, {"40", 40, 80}, {"60", 60, 140}} {
		g := random(rand.New(rand.NewPCG(1, uint64(size.nodes))), size.nodes, size.edges)
		b.Run(size.name, func(b *testing.B) {
			for b.Loop() {
				layered.Best(g)
			}
		})
	}
}
