package compare

import (
	"slices"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/sqlexpr"
)

func (d *differ) guards() {
	for _, p := range merged(d.old.Guards, d.new.Guards, func(o, n *model.Guard) bool { return o.Name == n.Name }) {
		switch o, n := p.old, p.new; {
		case o == nil:
			d.add(GuardAdded, "guards."+n.Name, diag.Position{}, n.Pos, Patch, "guard "+n.Name+" is new: "+oneLine(n.SQL.Source))
		case n == nil:
			d.add(GuardRemoved, "guards."+o.Name, o.Pos, diag.Position{}, Patch, "guard "+o.Name+" is removed; it was "+oneLine(o.SQL.Source))
		default:
			d.guard(o, n)
		}
	}
}

func (d *differ) guard(o, n *model.Guard) {
	if !same(o.SQL, n.SQL) {
		how, text := checks(o.SQL, n.SQL)
		alone := !slices.ContainsFunc(d.new.Transitions, func(t *model.Transition) bool { return t.Guard == n && !d.lastOfItsCells(t) })
		d.add(GuardSQL, "guards."+n.Name+".sql", o.Pos, n.Pos, Minor, "guard "+n.Name+" is "+text, d.guardReasons(how, alone)...)
	}
	if o.Describe != n.Describe {
		d.add(GuardDescribe, "guards."+n.Name+".describe", o.Pos, n.Pos, Patch, "guard "+n.Name+" is described anew")
	}
}

// lastOfItsCells reports whether nothing is tried after the transition.
func (d *differ) lastOfItsCells(t *model.Transition) bool {
	for _, c := range t.Event.Cells {
		if slices.Contains(c.Transitions, t) && c.Transitions[len(c.Transitions)-1] != t {
			return false
		}
	}
	return true
}

// guardReasons says what another condition does. alone tells that no other
// transition is tried after those that have it.
func (d *differ) guardReasons(how strictness, alone bool) []Reason {
	reasons := []Reason{programs("they judge by the old condition until they are stopped")}
	switch {
	case how == looser && alone:
		return append(reasons, callers("whatever moved a row still does, and more"))
	case how == looser:
		return append(reasons, breaks(callers("some calls take this transition that took one after it")))
	case how == stricter:
		return append(reasons, breaks(callers("some calls that moved a row do not any more")))
	}
	return append(reasons, breaks(callers("some calls that moved a row may not any more")))
}

// compareGuards compares the conditions of two transitions, nil for none.
func compareGuards(o, n *model.Guard) strictness {
	switch {
	case o == nil:
		return stricter
	case n == nil:
		return looser
	}
	was, is := sqlexpr.FormOf(o.SQL.Source), sqlexpr.FormOf(n.SQL.Source)
	switch {
	case was.Implies(is):
		return looser
	case is.Implies(was):
		return stricter
	}
	return other
}

func guardName(g *model.Guard) string {
	switch {
	case g == nil:
		return "no guard"
	case g.Name != "":
		return g.Name
	}
	return oneLine(g.SQL.Source)
}
