package gensql

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
)

// renames carries on the renames of prev and begins those that the definition
// asks for. Whatever would leave rows or programs with a name that nobody
// reads is a problem.
func (s *Schema) renames(prev Schema, m *model.Machine, problems *diag.List) {
	for _, r := range prev.Renames {
		if s.goesOn(r, m, problems) {
			s.Renames = append(s.Renames, r)
		}
	}
	known := func(state string) bool {
		return slices.Contains(prev.States, state) || slices.Contains(prev.pending().States, state)
	}
	for _, state := range m.States {
		under := slices.ContainsFunc(prev.Renames, func(r Rename) bool { return r.Is == state.Name || r.Is == state.Was })
		switch {
		case state.Was == "" || under:
		case known(state.Was) && known(state.Name):
			problems.Addf(state.WasPos, CodeTwoIntoOne, diag.Error,
				"the states %q and %q were both there before; was gives one state another name and cannot make one of two: retire %[1]q and lead its rows to %[2]q by a transition", state.Was, state.Name)
		case known(state.Was):
			if s.coded() && prev.code(state.Was) != state.Code {
				problems.Addf(state.Pos, CodeMigration, diag.Error, "the code of %q was %d when it was called %q; a rename keeps it", state.Name, prev.code(state.Was), state.Was)
				continue
			}
			s.Renames = append(s.Renames, Rename{state.Was, state.Name, RenameExpand})
		case !known(state.Name):
			problems.Addf(state.WasPos, CodeWasUnknown, diag.Error, "the newest migration knows no state %q%s", state.Was,
				suggest(state.Was, slices.DeleteFunc(slices.Clone(prev.States), func(name string) bool { return m.State(name) != nil })))
		}
	}
	s.namedInSQL(m, problems)
}

// namedInSQL refuses expressions that look for a state under rename by its name:
// rows hold either name until the rename is through, and a condition with one
// of them is silently wrong for the others.
func (s *Schema) namedInSQL(m *model.Machine, problems *diag.List) {
	if s.coded() {
		return // the code stays
	}
	told := map[*model.Expr]bool{} // a guard may serve several transitions
	look := func(what string, e *model.Expr) {
		for _, r := range s.Renames {
			if told[e] || !names(e, s.own().Status, []string{r.Was, r.Is}) {
				continue
			}
			told[e] = true
			problems.Addf(e.Pos, CodeRenameUnderWay, diag.Error,
				"this %s looks for a state by its name, and while %q is renamed to %q rows hold either: take the name out and deploy that, rename, and put the new name in when the rename is through (a transition's from says in which states it goes, better than a guard)",
				what, r.Was, r.Is)
		}
	}
	for _, c := range m.Table.Columns {
		if c.Check != nil {
			look("check", c.Check)
		}
	}
	for _, t := range m.Transitions {
		if t.Guard != nil {
			look("guard", t.Guard.SQL)
		}
		for _, a := range t.Set {
			look("value", a.Value)
		}
	}
}

// names reports whether an expression reads the status column and has one of
// the states' names as a constant.
func names(e *model.Expr, status string, states []string) bool {
	reads := slices.ContainsFunc(e.Parts, func(p model.Part) bool { return p.Kind == model.ColumnRef && p.Text == status })
	return reads && slices.ContainsFunc(e.Parts, func(p model.Part) bool {
		return p.Kind == model.Text && slices.ContainsFunc(states, func(state string) bool { return strings.Contains(p.Text, literal(state)) })
	})
}

// FormerNames tells, of a machine with migrations, the former names of states
// that were there before which none of its migrations ever had: made is what
// they made, in order. Of a state that is new, or whose rename is under way, the
// migration itself tells it.
func FormerNames(m *model.Machine, made []Schema, problems *diag.List) {
	if len(made) == 0 {
		return
	}
	newest, ever := made[len(made)-1], []string{}
	for _, s := range made {
		ever = union(ever, s.statesInForce())
		for _, r := range s.Renames {
			ever = union(ever, []string{r.Was})
		}
	}
	gone := slices.DeleteFunc(slices.Clone(ever), func(name string) bool { return m.State(name) != nil })
	for _, state := range m.States {
		there := slices.Contains(newest.statesInForce(), state.Name)
		under := slices.ContainsFunc(newest.Renames, func(r Rename) bool { return r.Is == state.Name })
		if state.Was != "" && there && !under && !slices.Contains(ever, state.Was) {
			problems.Addf(state.WasPos, CodeWasUnknown, diag.Error, "no migration of %q ever had a state %q%s", m.Name, state.Was, suggest(state.Was, gone))
		}
	}
}

func suggest(name string, candidates []string) string {
	if near := diag.Nearest(name, candidates); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return "; delete was if the state had no other name"
}

// goesOn reports whether the definition still says of a rename under way what
// it said at its beginning; otherwise it is a problem.
func (s *Schema) goesOn(r Rename, m *model.Machine, problems *diag.List) bool {
	refuse := func(pos diag.Position, format string, args ...any) bool {
		problems.Addf(pos, CodeRenameUnderWay, diag.Error, format+"; the rename of %q to %q is under way: let it end by fsmgen generate --advance, or take its migration back (see fsmgen rules FSM093)",
			append(args, r.Was, r.Is)...)
		return false
	}
	is := m.State(r.Is)
	again := slices.IndexFunc(m.States, func(state *model.State) bool { return state.Was == r.Is })
	switch {
	case m.State(r.Was) != nil:
		return refuse(m.State(r.Was).Pos, "a state %q cannot be declared yet", r.Was)
	case is == nil && again >= 0:
		return refuse(m.States[again].WasPos, "the state %q cannot get another name yet", r.Is)
	case is == nil:
		return refuse(m.Pos, "the state %q cannot go yet", r.Is)
	case is.Was == "":
		return refuse(is.Pos, "the state %q must keep was: %s", r.Is, r.Was)
	case is.Was != r.Was:
		return refuse(is.WasPos, "the state %q must keep was: %s", r.Is, r.Was)
	}
	return true
}

// backNames is the way back from a rename that has begun: rows, history and
// facts that have the new name get the former one again.
func (s Schema) backNames(begun []Rename) step {
	var back step
	for _, r := range begun {
		back.up = append(back.up, comment(fmt.Sprintf("The state %q is now called %q; both names are accepted.", r.Was, r.Is)))
	}
	swapped := make([]Rename, len(begun))
	for i, r := range begun {
		swapped[i] = Rename{Was: r.Is, Is: r.Was}
	}
	for _, t := range s.named() {
		back.down = append(back.down, fmt.Sprintf("UPDATE %s AS o SET %s WHERE %s;", ident(t.table), t.set(swapped), t.where(swapped)))
	}
	return back
}
