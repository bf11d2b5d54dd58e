package example

import (
	"slices"

	"github.com/pawl-go/pawl/internal/logic"
	"github.com/pawl-go/pawl/internal/model"
)

// despite solves a group again of which not everything is understood, without
// what the database alone can answer: first without what is dark by itself, then
// without all that only CHECKs read. What is left out is noted as unsure. Where
// a condition of a call is beyond understanding the group stays as it was.
func (f *Finder) despite(s *scene, g group, found solution) (group, solution) {
	dark := g.without(func(c clause) bool { return f.dark(s, c) })
	all := g.without(func(c clause) bool { return c.defines >= 0 })
	for _, lean := range []group{dark, all} {
		if len(lean.clauses) == len(g.clauses) {
			continue
		}
		if again := f.group(s, lean); again.answer != logic.NotDecided {
			s.doubt(g, lean)
			return lean, again
		}
	}
	return g, found
}

// dark reports whether a clause is beyond understanding by itself, and one that
// the database judges anyway: a CHECK, or what a column is set to.
func (f *Finder) dark(s *scene, c clause) bool {
	if !c.check && c.defines < 0 {
		return false
	}
	return f.group(s, group{places: c.uses, clauses: []clause{c}}).answer == logic.NotDecided
}

// without leaves out the clauses that are unfit, and then the definitions and
// CHECKs that read a column whose new value nothing says any more. What a call's
// conditions read must stay said.
func (g group) without(unfit func(clause) bool) group {
	out, gone := group{}, map[int]bool{}
	for _, c := range g.clauses {
		reads := slices.ContainsFunc(c.uses, func(use int) bool { return use != c.defines && gone[use] })
		switch {
		case unfit(c) && (c.defines < 0 || !g.needed(c.defines)), reads && (c.check || c.defines >= 0):
			if c.defines >= 0 {
				gone[c.defines] = true
			}
		default:
			out.clauses = append(out.clauses, c)
		}
	}
	for _, place := range g.places {
		if !gone[place] {
			out.places = append(out.places, place)
		}
	}
	return out
}

// needed reports whether a condition of a call hangs on a variable, by itself or
// by way of what other columns are set to.
func (g group) needed(place int) bool {
	return slices.ContainsFunc(g.clauses, func(c clause) bool {
		if c.check || c.defines == place || !slices.Contains(c.uses, place) {
			return false
		}
		return c.defines < 0 || g.needed(c.defines)
	})
}

// doubt notes the variables of the CHECKs that a solution does without.
func (s *scene) doubt(g, lean group) {
	for _, c := range g.clauses {
		if !c.check || slices.ContainsFunc(lean.clauses, func(l clause) bool { return l.ask == c.ask }) {
			continue
		}
		for _, use := range c.uses {
			if s.unsure == nil {
				s.unsure = map[int]bool{}
			}
			s.unsure[use] = true
		}
	}
}

// unsureOf names the columns and parameters of a call of which a CHECK speaks
// that nobody has answered.
func (s *scene) unsureOf(call step) []string {
	var out []string
	for _, c := range s.table.Columns {
		set := slices.IndexFunc(call.Set, func(a model.Assignment) bool { return a.Column == c })
		before, read := s.row[c.Name]
		if read && s.unsure[before] || set >= 0 && set < len(call.after) && s.unsure[call.after[set]] {
			out = append(out, c.Name)
		}
	}
	for n, p := range call.Event.Params {
		if s.unsure[call.params[n]] {
			out = append(out, "@"+p.Name)
		}
	}
	return out
}
