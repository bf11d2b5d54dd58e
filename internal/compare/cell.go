package compare

import (
	"slices"
	"strings"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
)

// cells compares what an event does in each state that was there before; what
// a new or removed state does is told with it.
func (d *differ) cells(oe, ne *model.Event) {
	g := &grouped{differ: d, event: ne.Name}
	for _, s := range d.new.States {
		if o := d.former[s]; o != nil {
			g.state = s.Name
			g.cell(oe.Cells[o.Index], ne.Cells[s.Index])
		}
	}
	g.flush()
}

// grouped gathers the changes of an event's cells, and tells those that are
// the same in several states once.
type grouped struct {
	*differ
	event, state string
	found        []*cellChange
}

type cellChange struct {
	kind     Kind
	states   []string
	text     string
	level    Level
	reasons  []Reason
	old, new diag.Position
}

func (g *grouped) note(c cellChange) {
	for _, f := range g.found {
		if f.kind == c.kind && f.text == c.text && f.level == c.level && slices.Equal(f.reasons, c.reasons) {
			f.states = append(f.states, g.state)
			return
		}
	}
	c.states = []string{g.state}
	g.found = append(g.found, &c)
}

func (g *grouped) flush() {
	for _, c := range g.found {
		g.add(c.kind, "cells."+g.event+"."+strings.Join(c.states, ","), c.old, c.new, c.level, g.event+" in "+list(c.states)+": "+c.text, c.reasons...)
	}
}

// cell compares two cells of the same event and state.
func (g *grouped) cell(o, n *model.Cell) {
	if !g.sameAnswer(o, n) || len(o.Transitions) != len(n.Transitions) {
		g.decision(o, n)
		return
	}
	order, ok := g.match(o.Transitions, n.Transitions)
	switch {
	case !ok && !g.sameTargets(o, n):
		g.decision(o, n)
		return
	case !ok: // the same ways, some with another guard
		for i := range order {
			order[i] = i
		}
	case !slices.IsSorted(order):
		g.note(cellChange{kind: TransitionOrder, level: Minor, old: o.Transitions[0].Pos, new: n.Transitions[0].Pos,
			text:    "tried in another order; was: " + g.says(o, g.newName) + "; is: " + g.says(n, own),
			reasons: g.running(breaks(callers("where two guards are both true, the first one wins")))})
	}
	for i, t := range n.Transitions {
		g.transition(o.Transitions[order[i]], t, i == len(n.Transitions)-1)
	}
	if n.Compensates() {
		g.emitted("", o.Event.Pos, n.Event.Pos, o.Emit, n.Emit)
	}
}

// sameAnswer reports whether both cells say the same where no transition is taken.
func (g *grouped) sameAnswer(o, n *model.Cell) bool {
	return o.Closed() == n.Closed() && (n.Closed() || o.Otherwise == n.Otherwise)
}

func (g *grouped) sameTargets(o, n *model.Cell) bool {
	return slices.EqualFunc(o.Transitions, n.Transitions, func(a, b *model.Transition) bool { return g.newName(a.To) == b.To.Name })
}

// match finds for each transition the one of old with its target and guard.
func (g *grouped) match(old, new []*model.Transition) (order []int, ok bool) {
	order = make([]int, len(new))
	ok = true
	for i, n := range new {
		order[i] = -1
		for j, o := range old {
			if order[i] < 0 && !slices.Contains(order[:i], j) && g.newName(o.To) == n.To.Name && sameGuard(o.Guard, n.Guard) {
				order[i] = j
			}
		}
		ok = ok && order[i] >= 0
	}
	return order, ok
}

// sameGuard reports whether two transitions have the same guard. One that is
// called the same and says another is told where guards are.
func sameGuard(o, n *model.Guard) bool {
	switch {
	case o == nil || n == nil:
		return o == n
	case o.Name != "" && o.Name == n.Name:
		return true
	}
	return same(o.SQL, n.SQL)
}

func own(s *model.State) string { return s.Name }

// newName is what a state of old is called in new.
func (d *differ) newName(o *model.State) string {
	for _, s := range d.new.States {
		if d.former[s] == o {
			return s.Name
		}
	}
	return o.Name
}

// says tells a cell in words.
func (g *grouped) says(c *model.Cell, name func(*model.State) string) string {
	var ways []string
	for _, t := range c.Transitions {
		way := "moves to " + name(t.To)
		if t.Guard != nil {
			way += " when " + guardName(t.Guard)
		}
		ways = append(ways, way)
	}
	if !c.Closed() {
		ways = append(ways, answer(c))
	}
	return strings.Join(ways, ", else ")
}

// answer tells in words what a cell says where no transition is taken.
func answer(c *model.Cell) string {
	switch c.Otherwise {
	case model.Reject:
		return "refused"
	case model.GuardFailed:
		return "refused by the guards"
	case model.Replay:
		return "answered as a replay"
	case model.Ignore:
		return "ignored"
	case model.Compensate:
		if len(c.Emit) > 0 {
			return "compensated, which emits " + list(c.Emit)
		}
		return "compensated"
	}
	return c.Otherwise.String()
}

// running adds what old programs do meanwhile.
func (d *differ) running(reasons ...Reason) []Reason {
	if d.calls() {
		reasons = append(reasons, programs("they decide as before until they are stopped"))
	}
	return reasons
}

// transition compares what two transitions of one cell do. last tells that
// nothing is tried after it.
func (g *grouped) transition(o, n *model.Transition, last bool) {
	to := "to " + n.To.Name + ": "
	if !sameGuard(o.Guard, n.Guard) {
		how := compareGuards(o.Guard, n.Guard)
		g.note(cellChange{kind: TransitionGuard, level: Minor, old: o.Pos, new: n.Pos,
			text:    to + "guarded by " + guardName(n.Guard) + "; it was " + guardName(o.Guard),
			reasons: g.ifCalls(g.guardReasons(how, last))})
	} else if o.Guard != nil && o.Guard.Name != n.Guard.Name {
		g.note(cellChange{kind: TransitionGuard, level: Patch, old: o.Pos, new: n.Pos,
			text:    to + "its guard is called " + guardName(n.Guard) + "; it was " + guardName(o.Guard),
			reasons: []Reason{callers("it says the same")}})
	}
	g.sets(to, o, n)
	if len(without(o.Tags, n.Tags))+len(without(n.Tags, o.Tags)) > 0 {
		g.note(cellChange{kind: TransitionTags, level: Patch, old: o.Pos, new: n.Pos, text: to + "other tags: were " + none(list(o.Tags)) + ", are " + none(list(n.Tags))})
	}
	g.emitted(to, o.Pos, n.Pos, o.Emit, n.Emit)
}

// sets compares what two transitions set.
func (g *grouped) sets(to string, o, n *model.Transition) {
	find := func(t *model.Transition, column string) *model.Assignment {
		for i := range t.Set {
			if t.Set[i].Column.Name == column {
				return &t.Set[i]
			}
		}
		return nil
	}
	note := func(text string, r Reason) {
		g.note(cellChange{kind: TransitionSet, level: Minor, old: o.Pos, new: n.Pos, text: to + text,
			reasons: []Reason{programs("they set as before until they are stopped"), r}})
	}
	for _, a := range n.Set {
		was := find(o, a.Column.Name)
		switch {
		case was == nil:
			note("sets "+a.Column.Name+" to "+oneLine(a.Value.Source), rows("those moved before keep what they have"))
		case !same(was.Value, a.Value):
			note("sets "+a.Column.Name+" to "+oneLine(a.Value.Source)+"; it was "+oneLine(was.Value.Source), breaks(rows("those moved before have a value of the other making")))
		}
	}
	for _, a := range o.Set {
		if find(n, a.Column.Name) == nil {
			note("does not set "+a.Column.Name+" any more", breaks(rows("the column keeps what it had, so who reads it finds none, or an old value")))
		}
	}
}

// emitted compares the topics of one part of a cell.
func (g *grouped) emitted(to string, op, np diag.Position, old, new []string) {
	if topics := without(new, old); len(topics) > 0 {
		g.note(cellChange{kind: EmitAdded, level: Minor, old: op, new: np, text: to + "emits " + list(topics), reasons: []Reason{consumers("who does not know the topic must pass over it")}})
	}
	if topics := without(old, new); len(topics) > 0 {
		g.note(cellChange{kind: EmitRemoved, level: Major, old: op, new: np, text: to + "does not emit " + list(topics) + " any more", reasons: []Reason{breaks(consumers("who waits for it waits in vain"))}})
	}
}

// emits compares the topics of something that is no cell.
func (d *differ) emits(path, what string, op, np diag.Position, old, new []string) {
	if topics := without(new, old); len(topics) > 0 {
		d.add(EmitAdded, path, op, np, Minor, what+" emits "+list(topics), consumers("who does not know the topic must pass over it"))
	}
	if topics := without(old, new); len(topics) > 0 {
		d.add(EmitRemoved, path, op, np, Major, what+" does not emit "+list(topics)+" any more", breaks(consumers("who waits for it waits in vain")))
	}
}
