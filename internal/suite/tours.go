package suite

// tour is one case that takes every arc, from the creation of a row on. A
// machine without arcs has no case.
func tour(g *graph, name string, p *plan) *Suite {
	s := &Suite{Machine: g.machine, Name: name}
	s.addWalks(g, p, func([]int) string { return caseID(g.machine, name) })
	return s
}

// walks are the fewest cases that together take every arc in reach, each from
// the creation of a row on. A case is named by the first arc that none before
// it takes.
func walks(g *graph) *Suite {
	s := &Suite{Machine: g.machine, Name: "walks"}
	taken := make([]bool, len(g.arcs))
	s.addWalks(g, g.fewestWalks(), func(walk []int) string {
		first := none
		for _, a := range walk {
			if first == none && !taken[a] {
				first = a
			}
			taken[a] = true
		}
		return caseID(g.machine, s.Name, g.arcs[first].id())
	})
	return s
}

// addWalks adds the planned walks as cases, and all arcs as items.
func (s *Suite) addWalks(g *graph, p *plan, name func(walk []int) string) {
	s.Items = g.items()
	for _, walk := range p.lay() {
		c := g.newCase(name(walk), nil, walk)
		c.Covers = ascending(walk)
		s.Cases = append(s.Cases, c)
	}
}
