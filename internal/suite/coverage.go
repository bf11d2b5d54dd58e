package suite

import (
	"slices"
	"strings"
)

// Impossible reports whether it is certain that no row and no parameters exist
// with which the step, and those before it, go the way that they say. The
// graph of a machine has such ways, since it knows nothing of guards. A case
// covers nothing from such a step on, though it is counted: the sizes of suites
// are those of the graph.
func (s *Step) Impossible() bool { return strings.HasPrefix(s.Unknown, impossible) }

// cover notes which items a case covers: those that each of its steps completes,
// up to one that is impossible. The items from there on say why, until another
// case covers them: see settle.
func (s *Suite) cover(c *Case, completes func(step int) []int) {
	why := ""
	for i := range c.Steps {
		if why == "" && c.Steps[i].Impossible() {
			why = c.Steps[i].Unknown
		}
		for _, item := range completes(i) {
			if why == "" {
				c.Covers = append(c.Covers, item)
			} else if s.Items[item].Why == "" {
				s.Items[item].Why = why
			}
		}
	}
	c.Covers = ascending(c.Covers)
}

// settle takes back the reasons of items that some case covers.
func (s *Suite) settle() {
	for i, by := range s.CoveredBy() {
		if len(by) > 0 {
			s.Items[i].Why = ""
		}
	}
}

// ascending returns the numbers in order, each once.
func ascending(numbers []int) []int {
	sorted := slices.Clone(numbers)
	slices.Sort(sorted)
	return slices.Compact(sorted)
}
