package gensql

import (
	"slices"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
)

// expand completes s, the schema of the definition, with what stays of prev
// and with what the programs of prev need: the database then accepts what they
// do and what the program of the definition does. What cannot be had so is a
// problem.
func (s *Schema) expand(prev Schema, m *model.Machine, problems *diag.List) {
	s.keep(prev)
	before := problems.Errors()
	s.renames(prev, m, problems)
	was := prev.inTermsOf(s.Renames)
	p := Pending{}
	gone := problems
	if problems.Errors() > before {
		gone = &diag.List{} // a rename that is refused looks like a state that is gone: told once is enough
	}
	s.goneStates(was, m, &p, gone)
	s.takenCodes(was, m, gone)
	accepted := func(state string) bool { return slices.Contains(s.States, state) || slices.Contains(p.States, state) }
	for _, e := range was.edgesInForce() {
		for _, to := range e.To {
			if accepted(e.From) && accepted(to) && !hasEdge(s.Edges, e.From, to) {
				p.Edges = joinEdges(p.Edges, []Edge{{e.From, []string{to}}})
			}
		}
	}
	for _, state := range append([]string{was.Initial}, was.pending().Initial...) {
		if state != s.Initial && accepted(state) && !slices.Contains(p.Initial, state) {
			p.Initial = append(p.Initial, state)
		}
	}
	for _, state := range append(s.changedDue(was), was.pending().Due...) {
		if slices.Contains(s.States, state) && !slices.Contains(p.Due, state) {
			p.Due = append(p.Due, state)
		}
	}
	s.pendingColumns(prev, m, &p)
	s.newLabels(prev, m, p, problems)
	if !p.none() {
		s.Pending = &p
	}
}

// inTermsOf is s with the states called by their new names.
func (s Schema) inTermsOf(renames []Rename) Schema {
	name := func(state string) string {
		for _, r := range renames {
			if r.Was == state {
				return r.Is
			}
		}
		return state
	}
	names := func(states []string) []string {
		var out []string
		for _, state := range states {
			out = append(out, name(state))
		}
		return out
	}
	edges := func(edges []Edge) []Edge {
		var out []Edge
		for _, e := range edges {
			out = append(out, Edge{name(e.From), names(e.To)})
		}
		return out
	}
	s.States, s.Initial, s.Edges = names(s.States), name(s.Initial), edges(s.Edges)
	s.Due = slices.Clone(s.Due)
	for i := range s.Due {
		s.Due[i].State = name(s.Due[i].State)
	}
	p := s.pending()
	p.States, p.Initial, p.Edges, p.Due = names(p.States), names(p.Initial), edges(p.Edges), names(p.Due)
	s.Pending = &p
	return s
}

// goneStates keeps the states that are no longer declared, as long as a
// program of before may bring rows there. One that nothing enters, since it
// was retired, goes at once.
func (s *Schema) goneStates(was Schema, m *model.Machine, p *Pending, problems *diag.List) {
	for _, name := range append(slices.Clone(was.States), was.pending().States...) {
		if slices.Contains(s.States, name) || slices.Contains(p.States, name) || !was.enters(name) {
			continue
		}
		p.States = append(p.States, name)
		if was.coded() {
			p.Codes = append(p.Codes, was.code(name))
		}
		if !slices.Contains(was.States, name) {
			continue // told when it went
		}
		hint := "retire it first (retired: true), so that its rows leave it"
		if is := s.lookAlike(was, name); is != "" {
			hint = "if it is now called \"" + is + "\", say was: " + name + " there; otherwise " + hint
		}
		problems.Addf(m.Pos, CodeStateGone, diag.Warning, "the state %q is gone, and rows may stand in it; the new program answers them with UnknownStateError: %s", name, hint)
	}
}

// takenCodes refuses to let a code stand for a new state while rows, and
// programs of before, have it for another one.
func (s *Schema) takenCodes(was Schema, m *model.Machine, problems *diag.List) {
	if !s.coded() || !was.coded() {
		return
	}
	known := was.statesInForce()
	for _, name := range s.States {
		state := m.State(name)
		for _, other := range known {
			switch {
			case other == name && was.code(other) != state.Code && !slices.Contains(was.States, name):
				problems.Addf(state.CodePos, CodeMigration, diag.Error,
					"the code of %q was %d before, and rows may still have it; give it that one again", name, was.code(other))
			case other != name && was.code(other) == state.Code && !slices.Contains(known, name):
				problems.Addf(state.CodePos, CodeMigration, diag.Error,
					"the code %d stands for %q in the rows there are, so they would be read as %q: give the new state another code; if it is the same state, say was: %[2]s", state.Code, other, name)
			}
		}
	}
}

// enters reports whether rows may come into the state from elsewhere.
func (s Schema) enters(state string) bool {
	return s.Initial == state || slices.Contains(s.pending().Initial, state) ||
		slices.ContainsFunc(s.edgesInForce(), func(e Edge) bool { return e.From != state && slices.Contains(e.To, state) })
}

// lookAlike returns the new state that seems to be the gone one under another
// name: it has the same edges, or it is the only new one and no other is gone.
func (s *Schema) lookAlike(was Schema, gone string) string {
	var fresh, left []string
	for _, name := range s.States {
		if !slices.Contains(was.States, name) {
			fresh = append(fresh, name)
		}
	}
	for _, name := range was.States {
		if !slices.Contains(s.States, name) {
			left = append(left, name)
		}
	}
	for _, name := range fresh {
		if was.inTermsOf([]Rename{{Was: gone, Is: name}}).sameEdges(*s, name) {
			return name
		}
	}
	if len(fresh) == 1 && len(left) == 1 {
		return fresh[0]
	}
	return ""
}

// sameEdges reports whether the same edges touch the state here and there.
func (s Schema) sameEdges(other Schema, state string) bool {
	touching := func(edges []Edge) map[[2]string]bool {
		set := map[[2]string]bool{}
		for _, e := range edges {
			for _, to := range e.To {
				if e.From == state || to == state {
					set[[2]string{e.From, to}] = true
				}
			}
		}
		return set
	}
	a, b := touching(s.Edges), touching(other.Edges)
	for e := range a {
		if !b[e] {
			return false
		}
	}
	return len(a) > 0 && len(a) == len(b)
}

// changedDue lists the states whose deadline came or went.
func (s Schema) changedDue(was Schema) []string {
	has := func(due []Due, state string) bool {
		return slices.ContainsFunc(due, func(d Due) bool { return d.State == state })
	}
	var states []string
	for _, d := range s.Due {
		if !has(was.Due, d.State) {
			states = append(states, d.State)
		}
	}
	for _, d := range was.Due {
		if !has(s.Due, d.State) {
			states = append(states, d.State)
		}
	}
	return states
}

// pendingColumns notes which columns are not yet as they are declared, since
// the programs of before write them by the rules of before.
func (s *Schema) pendingColumns(prev Schema, m *model.Machine, p *Pending) {
	for _, is := range s.Columns {
		was := find(prev.Columns, is.Name)
		if check, later := s.laterCheck(prev, was, is, m); later {
			p.Checks = append(p.Checks, PendingCheck{is.Name, check})
		}
		if was != nil && is.Default == "" && prev.inForce(*was).Default != "" {
			p.Defaults = append(p.Defaults, PendingDefault{is.Name, prev.inForce(*was).Default})
		}
		filled := slices.Contains(prev.pending().Filled, is.Name)
		if !is.Optional && is.Default != "" && was != nil && (was.Optional || filled) {
			p.Filled = append(p.Filled, is.Name)
		}
	}
	for _, c := range s.Left {
		if find(prev.Columns, c.Name) != nil && !c.Optional && (c.Default != "" || standIn(c.Type) != "") || slices.Contains(prev.pending().Left, c.Name) {
			p.Left = append(p.Left, c.Name)
		}
	}
}

// laterCheck returns the check that a column has until the programs of before
// are gone, and whether it is another than the declared one: either the one of
// before or the new one must hold. Which of two conditions is the stricter one
// is not asked, since both programs are right by one of them.
func (s *Schema) laterCheck(prev Schema, was *Column, is Column, m *model.Machine) (string, bool) {
	switch {
	case is.Check == "":
		return "", false
	case was == nil:
		// Programs of before leave a new column to its default. Only a check that
		// looks at other columns, the machine's own and the key among them, can
		// refuse what they write.
		for _, part := range m.Table.Column(is.Name).Check.Parts {
			if part.Kind == model.ColumnRef && (find(s.Columns, part.Text) == nil || find(prev.Columns, part.Text) != nil) {
				return "", true
			}
		}
		return "", false
	}
	force := prev.inForce(*was).Check
	switch {
	case force == is.Check:
		return "", false
	case was.Check == is.Check || force == "":
		return force, true
	}
	return "(" + force + ") OR (" + is.Check + ")", true
}

// newLabels refuses a check that is put on by the migration that adds a state
// of its to the enum: PostgreSQL uses no value before it is committed.
func (s *Schema) newLabels(prev Schema, m *model.Machine, p Pending, problems *diag.List) {
	if !s.enum() || !prev.enum() {
		return
	}
	fresh := slices.DeleteFunc(slices.Clone(s.States), func(state string) bool { return slices.Contains(prev.labels(), state) })
	for _, c := range s.Columns {
		check := m.Table.Column(c.Name).Check
		off := PendingCheck{Column: c.Name} // it waits
		if check != nil && !slices.Contains(p.Checks, off) && names(check, s.own().Status, fresh) {
			problems.Addf(check.Pos, CodeMigration, diag.Error, "the check names a state that is new in the enum %q, which PostgreSQL refuses in one migration: add the state first, and change the check in the next release", s.Status.Type)
		}
	}
}
