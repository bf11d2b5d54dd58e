package example

import (
	"slices"

	"github.com/pawl-go/pawl/internal/model"
)

// assigned has, for each state by its index, the columns that have been set on
// every way that leads there from the creation of a row: a row in PAID has been
// paid, and what was paid is then no longer its default. A state that nothing
// leads to has all.
type assigned [][]bool

// assignments works that out as the greatest solution of: in the initial state
// nothing is set; elsewhere what is set in every state that a transition comes
// from, and by that transition.
func assignments(m *model.Machine) assigned {
	columns := m.Table.Columns
	at := map[*model.Column]int{}
	for i, c := range columns {
		at[c] = i
	}
	out := make(assigned, len(m.States))
	for _, s := range m.States {
		out[s.Index] = slices.Repeat([]bool{!s.Initial}, len(columns))
	}
	for again := true; again; {
		again = false
		for _, t := range m.Transitions {
			sets := make([]bool, len(columns))
			for _, a := range t.Set {
				if i, there := at[a.Column]; there {
					sets[i] = true
				}
			}
			for _, from := range t.From {
				for i, had := range out[t.To.Index] {
					if had && !sets[i] && !out[from.Index][i] {
						out[t.To.Index][i], again = false, true
					}
				}
			}
		}
	}
	return out
}

// has reports whether a column has been set in every row that stands in a state.
func (a assigned) has(t *model.Table, s *model.State, c *model.Column) bool {
	i := slices.Index(t.Columns, c)
	return i >= 0 && a[s.Index][i]
}
