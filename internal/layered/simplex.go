package layered

// arc asks for pos[to] - pos[from] >= min, and every unit of that difference
// costs weight, which is not negative.
type arc struct{ from, to, min, weight int }

// solve returns positions that fulfil all arcs at the least cost, or near it
// when the pivots run out. It returns nil when the arcs are a contradiction: a
// cycle. It is the network simplex of the paper named at the package, with cut
// values taken from the sums of whole subtrees.
func solve(n int, arcs []arc) []int {
	s := &simplex{n: n + 1, arcs: append([]arc(nil), arcs...)}
	entered := make([]bool, n)
	for _, a := range arcs {
		entered[a.to] = true
	}
	for v, e := range entered { // a root from which everything is reached
		if !e {
			s.arcs = append(s.arcs, arc{from: n, to: v})
		}
	}
	if !s.start() {
		return nil
	}
	s.tighten()
	s.hang()
	for range maxPivots(s.n) {
		leave := s.leaving()
		if leave < 0 {
			break
		}
		enter := s.entering(leave)
		if enter < 0 {
			break
		}
		s.exchange(leave, enter)
	}
	return s.pos[:n]
}

func maxPivots(n int) int { return 200 + 12*n }

type simplex struct {
	n      int
	arcs   []arc
	pos    []int
	inTree []bool // by arc
	// The tree, hung up at the last node: the arc to the parent, the order in
	// which nodes were left, the first of each subtree in it, and what leaves
	// a subtree less what enters it.
	up, left, first, sum []int
	visited              []int // nodes in the order of left
}

func (s *simplex) slack(a arc) int { return s.pos[a.to] - s.pos[a.from] - a.min }

// start gives every node the least position that the arcs allow.
func (s *simplex) start() bool {
	s.pos = make([]int, s.n)
	set := make([]bool, s.n)
	waits := make([]int, s.n)
	out := make([][]int, s.n)
	for i, a := range s.arcs {
		waits[a.to]++
		out[a.from] = append(out[a.from], i)
	}
	var ready []int
	for v, w := range waits {
		if w == 0 {
			ready = append(ready, v)
		}
	}
	for i := 0; i < len(ready); i++ {
		for _, j := range out[ready[i]] {
			a := s.arcs[j]
			if p := s.pos[a.from] + a.min; !set[a.to] || p > s.pos[a.to] {
				s.pos[a.to], set[a.to] = p, true
			}
			if waits[a.to]--; waits[a.to] == 0 {
				ready = append(ready, a.to)
			}
		}
	}
	return len(ready) == s.n
}

// tighten finds a spanning tree of arcs without slack, moving nodes together
// where there is none.
func (s *simplex) tighten() {
	s.inTree = make([]bool, len(s.arcs))
	in := make([]bool, s.n)
	in[s.n-1] = true
	for size := 1; size < s.n; {
		best, least := -1, 0
		for i, a := range s.arcs {
			if in[a.from] == in[a.to] {
				continue
			}
			if k := s.slack(a); best < 0 || k < least {
				best, least = i, k
			}
			if least == 0 {
				break
			}
		}
		if best < 0 {
			return // not reached: every node hangs on the root
		}
		a := s.arcs[best]
		move := least
		if in[a.to] {
			move = -least
		}
		for v := range in {
			if in[v] {
				s.pos[v] += move
			}
		}
		in[a.from], in[a.to], s.inTree[best] = true, true, true
		size++
	}
}

// hang walks the tree from the root and notes what entering and leaving need.
func (s *simplex) hang() {
	near := make([][]int, s.n)
	sum := make([]int, s.n)
	for i, a := range s.arcs {
		sum[a.from] += a.weight
		sum[a.to] -= a.weight
		if s.inTree[i] {
			near[a.from] = append(near[a.from], i)
			near[a.to] = append(near[a.to], i)
		}
	}
	s.sum = sum
	s.up, s.left, s.first = make([]int, s.n), make([]int, s.n), make([]int, s.n)
	s.visited = s.visited[:0]
	s.up[s.n-1] = -1
	type frame struct{ node, next int }
	stack := []frame{{node: s.n - 1}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		v := top.node
		if top.next == 0 {
			s.first[v] = len(s.visited)
		}
		if top.next == len(near[v]) {
			s.left[v] = len(s.visited)
			s.visited = append(s.visited, v)
			if i := s.up[v]; i >= 0 {
				s.sum[s.other(i, v)] += s.sum[v]
			}
			stack = stack[:len(stack)-1]
			continue
		}
		i := near[v][top.next]
		top.next++
		if i != s.up[v] {
			w := s.other(i, v)
			s.up[w] = i
			stack = append(stack, frame{node: w})
		}
	}
}

func (s *simplex) other(i, v int) int { return s.arcs[i].from + s.arcs[i].to - v }

// below reports whether v is in the subtree of top.
func (s *simplex) below(v, top int) bool {
	return s.first[top] <= s.left[v] && s.left[v] <= s.left[top]
}

// leaving returns the node whose arc to its parent costs most to keep, -1 at
// the optimum.
func (s *simplex) leaving() int {
	best, worst := -1, 0
	for _, v := range s.visited {
		if s.up[v] < 0 {
			continue
		}
		cut := s.sum[v]
		if s.arcs[s.up[v]].to == v {
			cut = -cut
		}
		if cut < worst {
			best, worst = v, cut
		}
	}
	return best
}

// entering returns the arc of least slack that crosses between the subtree and
// the rest against the one that leaves.
func (s *simplex) entering(top int) int {
	inwards := s.arcs[s.up[top]].from == top
	best, least := -1, 0
	for i, a := range s.arcs {
		from, to := s.below(a.from, top), s.below(a.to, top)
		if from == to || to != inwards || s.inTree[i] {
			continue
		}
		if k := s.slack(a); best < 0 || k < least {
			best, least = i, k
		}
	}
	return best
}

func (s *simplex) exchange(top, enter int) {
	a := s.arcs[enter]
	move := s.slack(a)
	if s.below(a.to, top) {
		move = -move
	}
	for _, v := range s.visited[s.first[top] : s.left[top]+1] {
		s.pos[v] += move
	}
	s.inTree[s.up[top]], s.inTree[enter] = false, true
	s.hang()
}
