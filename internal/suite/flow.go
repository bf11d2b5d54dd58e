package suite

import (
	"container/heap"
	"math"
)

// network is a flow network whose edges have a capacity and a cost, none of
// them negative. The edge at an even place is followed by its reverse, on which
// flow is taken back.
type network struct {
	edges []edge
	out   [][]int
	// price makes the cost of every edge with room left not negative: see reduced.
	price []int64
}

type edge struct {
	from, to   int
	room, cost int64
}

// unlimited is room enough for any flow, and sums of it do not overflow.
const unlimited = math.MaxInt64 / 4

func newNetwork(nodes int) *network {
	return &network{out: make([][]int, nodes), price: make([]int64, nodes)}
}

// add adds an edge and returns its place.
func (n *network) add(from, to int, room, cost int64) int {
	at := len(n.edges)
	n.edges = append(n.edges, edge{from, to, room, cost}, edge{to, from, 0, -cost})
	n.out[from] = append(n.out[from], at)
	n.out[to] = append(n.out[to], at+1)
	return at
}

// flow is what goes through the edge of that place.
func (n *network) flow(at int) int64 { return n.edges[at^1].room }

// send sends as much as fits from source to sink, as cheaply as that can be,
// and returns how much. It is the primal-dual method: while there is a way,
// find how cheap the cheapest is, and send all that fits through ways of that
// cost. Costs only rise, so there are no more rounds than costs of a way.
func (n *network) send(source, sink int) int64 {
	var sent int64
	for n.reprice(source, sink) {
		for level := n.levels(source, sink); level != nil; level = n.levels(source, sink) {
			tried := make([]int, len(n.out))
			sent += n.push(source, sink, unlimited, level, tried)
		}
	}
	return sent
}

// reduced is an edge's cost after prices: none negative where there is room, and
// 0 on all cheapest ways.
func (n *network) reduced(e *edge) int64 { return e.cost + n.price[e.from] - n.price[e.to] }

// reprice finds the cheapest way from source to sink (Dijkstra's algorithm) and
// sets prices by it. It returns false when there is no way.
func (n *network) reprice(source, sink int) bool {
	cost := make([]int64, len(n.out))
	for i := range cost {
		cost[i] = unlimited
	}
	cost[source] = 0
	for queue := (costs{{source, 0}}); len(queue) > 0; {
		next := heap.Pop(&queue).(nodeCost)
		if next.cost > cost[next.node] {
			continue
		}
		for _, at := range n.out[next.node] {
			e := &n.edges[at]
			if c := next.cost + n.reduced(e); e.room > 0 && c < cost[e.to] {
				cost[e.to] = c
				heap.Push(&queue, nodeCost{e.to, c})
			}
		}
	}
	if cost[sink] == unlimited {
		return false
	}
	for i := range n.price {
		n.price[i] += min(cost[i], cost[sink])
	}
	return true
}

// levels counts how few edges of cheapest ways lead from source to each node,
// -1 where none do; nil when the sink is such a node.
func (n *network) levels(source, sink int) []int {
	level := make([]int, len(n.out))
	for i := range level {
		level[i] = -1
	}
	level[source] = 0
	for queue := []int{source}; len(queue) > 0; queue = queue[1:] {
		for _, at := range n.out[queue[0]] {
			if e := &n.edges[at]; e.room > 0 && n.reduced(e) == 0 && level[e.to] < 0 {
				level[e.to] = level[e.from] + 1
				queue = append(queue, e.to)
			}
		}
	}
	if level[sink] < 0 {
		return nil
	}
	return level
}

// push sends up to limit from the node on, along edges of cheapest ways that
// lead a level further, and returns how much. Edges before tried lead nowhere.
func (n *network) push(node, sink int, limit int64, level, tried []int) int64 {
	if node == sink {
		return limit
	}
	var sent int64
	for ; tried[node] < len(n.out[node]); tried[node]++ {
		at := n.out[node][tried[node]]
		e := &n.edges[at]
		if e.room == 0 || level[e.to] != level[node]+1 || n.reduced(e) != 0 {
			continue
		}
		pushed := n.push(e.to, sink, min(limit-sent, e.room), level, tried)
		e.room -= pushed
		n.edges[at^1].room += pushed
		if sent += pushed; sent == limit {
			break // the edge may have room left
		}
	}
	return sent
}

// nodeCost is what it costs to come to a node.
type nodeCost struct {
	node int
	cost int64
}

// costs is a heap of them, the cheapest on top.
type costs []nodeCost

func (c costs) Len() int           { return len(c) }
func (c costs) Less(i, j int) bool { return c[i].cost < c[j].cost }
func (c costs) Swap(i, j int)      { c[i], c[j] = c[j], c[i] }
func (c *costs) Push(x any)        { *c = append(*c, x.(nodeCost)) }

func (c *costs) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}
