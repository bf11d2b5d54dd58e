package suite

// tour is one case that takes every arc, from the creation of a row on. A
// machine without arcs has no case.
func tour(p *plan, name string) *Suite {
	s := &Suite{Machine: p.g.machine, Name: name}
	s.addWalks(p, func([]int) string { return caseID(s.Machine, name) })
	return s
}

// walks are the fewest cases that together take every arc in reach, each from
// the creation of a row on. A case is named by the first arc that none before
// it takes.
func walks(p *plan) *Suite {
	g := p.g
	s := &Suite{Machine: g.machine, Name: "walks"}
	taken := make([]bool, len(g.arcs))
	s.addWalks(p, func(walk []int) string {
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
func (s *Suite) addWalks(p *plan, name func(walk []int) string) {
	s.Items = p.g.items()
	for _, walk := range p.lay() {
		c := p.g.newCase(name(walk), nil, walk)
		c.Covers = ascending(walk)
		s.Cases = append(s.Cases, c)
	}
}
