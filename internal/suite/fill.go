package suite

import (
	"fmt"

	"github.com/pawl-go/pawl/internal/model"
)

// fill gives a case the data with which its steps go the ways that they say.
func fill(_ *model.Machine, c *Case) {
	for i := range c.Steps {
		s := &c.Steps[i]
		if s.Transition != nil && s.Transition.Guard != nil {
			s.Unknown = guardWords(s.Transition.Guard)
		}
	}
}

func guardWords(g *model.Guard) string {
	switch {
	case g.Describe != "":
		return g.Describe
	case g.Name != "":
		return g.Name
	}
	return g.SQL.Source
}

// variantName names the cell's way of that place: one of its transitions, or
// behind them what is said when none is taken. Empty for a cell of one way.
func variantName(c *model.Cell, at int) string {
	switch {
	case len(c.Transitions) == 0 || c.Transitions[0].Guard == nil:
		return ""
	case at == len(c.Transitions):
		return "none"
	case c.Transitions[at].Guard == nil:
		return "else"
	case c.Transitions[at].Guard.Name != "":
		return c.Transitions[at].Guard.Name
	}
	return fmt.Sprintf("guard %d", at+1)
}
