package example

import (
	"slices"

	"github.com/pawl-go/pawl/internal/model"
)

// assigned has, for each state by its index, the columns that have been set on
// some way that leads there from the creation of a row: of an order that is PAID
// something may have gone back, and what has is then better no longer its default,
// so that it matters to whoever reads it.
type assigned [][]bool

// assignments works that out as the least solution of: in a state is set what is
// set in a state that a transition comes from, and by that transition.
func assignments(m *model.Machine) assigned {
	columns := m.Table.Columns
	out := make(assigned, len(m.States))
	for i := range out {
		out[i] = make([]bool, len(columns))
	}
	for again := true; again; {
		again = false
		for _, t := range m.Transitions {
			to := out[t.To.Index]
			for i, c := range columns {
				sets := slices.ContainsFunc(t.Set, func(a model.Assignment) bool { return a.Column == c })
				had := slices.ContainsFunc(t.From, func(from *model.State) bool { return out[from.Index][i] })
				if !to[i] && (sets || had) {
					to[i], again = true, true
				}
			}
		}
	}
	return out
}

// has reports whether a column may have been set in some row that stands in a state.
func (a assigned) has(t *model.Table, s *model.State, c *model.Column) bool {
	i := slices.Index(t.Columns, c)
	return i >= 0 && a[s.Index][i]
}
