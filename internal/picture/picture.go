// Package picture says what a drawing of a machine shows, and how it is told
// apart: which states and edges, in which order, which of them are the happy
// path, what each edge and state has written on it, and the legend. It is data
// and words; how a box or an arrow looks in a format is the renderers' business.
//
// Everything is in an order that the definition alone decides, so that the same
// machine is always drawn the same way.
package picture

import (
	"cmp"
	"slices"

	"github.com/pawl-go/pawl/internal/model"
)

// Large is the number of states above which one picture of everything is no
// longer read: such a machine is drawn as an overview and a slice a state.
const Large = 25

// Picture is one drawing: of a whole machine, or of a part of it. It shares its
// machine and must not be changed; reading it from many goroutines is safe.
type Picture struct {
	Machine *model.Machine
	// Nodes are the states drawn: those of the happy path first, in its order,
	// then the others as declared.
	Nodes []*Node
	// Edges are the arrows drawn, at most one for each pair of from and to: those
	// of the happy path first, in its order, then the others by the place of
	// from in Nodes and, within one from, by the first transition declared.
	Edges []*Edge
	// Happy is the happy path: see the comment of happyPath for the rule. It has
	// at least the initial state, also where the picture does not draw it.
	Happy []*model.State
	// Everywhere are compensations that hold in every state of the machine in which
	// their event moves nothing: told once, they are not among the remarks of the
	// nodes. A slice has none, and all remarks at its node.
	Everywhere []Remark
	// Focus is the state that a slice is about; nil for any other picture.
	Focus *model.State
	// Bare says that edges and states are drawn without what is written on them.
	Bare bool
	// Part and Parts tell the pieces of a picture that was split apart: 1 of 3.
	// Both are 0 for a picture that is whole.
	Part, Parts int
}

// Node is one state drawn.
type Node struct {
	State *model.State
	// Happy says that the state is on the happy path.
	Happy bool
	// Remarks are what the state does with events that do not move it, as far as
	// somebody is refused or gets work: rejections first, then compensations
	// other than those of Picture.Everywhere.
	// Cells that replay or ignore do no harm, and are left to the matrix.
	Remarks []Remark
}

// Edge is one arrow: everything that leads from one state to another one, or
// back to itself.
type Edge struct {
	From, To *model.State
	// Arcs are what leads along the edge, in the order of the transitions; never
	// empty.
	Arcs []Arc
	// Happy says that the edge is a step of the happy path.
	Happy bool
}

// Loop reports whether the edge leads back to where it starts.
func (e *Edge) Loop() bool { return e.From == e.To }

// Kind is how the edge is drawn: the kind that all its arcs have, and Plain
// when they differ (each arc still carries its own mark in its text).
func (e *Edge) Kind() Kind {
	kind := e.Arcs[0].Kind()
	for _, a := range e.Arcs {
		if a.Kind() != kind {
			return Plain
		}
	}
	return kind
}

// Arc is one transition from one of its states.
type Arc struct {
	Transition *model.Transition
	// Deadline is the one of the state left, when it fires the transition's event;
	// else nil.
	Deadline *model.Deadline
	// Else says that the transition has no guard and is tried behind guarded
	// ones of the same cell.
	Else bool
}

// Kind is what sets the arc going. A deadline whose event is a callback too is
// a Deadline: the row is sure to leave by it.
func (a Arc) Kind() Kind {
	switch {
	case a.Deadline != nil:
		return Deadline
	case a.Transition.Event.Callback:
		return Callback
	}
	return Plain
}

// Kind tells arcs apart by what sets them going.
type Kind int

const (
	// Plain is a call of one's own program.
	Plain Kind = iota
	// Callback is news from outside, where duplicates, delays and disorder are normal.
	Callback
	// Deadline is a time that has passed.
	Deadline
)

// Rest tells states apart by whether a row may stay.
type Rest int

const (
	// Passing is a state that a row is to leave.
	Passing Rest = iota
	// Resting is one in which it may stay for good, and can still be moved.
	Resting
	// Final is one that it cannot leave.
	Final
)

// Rest is whether a row may stay in the state.
func (n *Node) Rest() Rest {
	switch {
	case n.State.Final:
		return Final
	case n.State.Resting:
		return Resting
	}
	return Passing
}

// Remark is what a state says to events that do not move it.
type Remark struct {
	// Decision is Reject or Compensate.
	Decision model.Decision
	// Cells are the cells that decide so, in the order of the events; never
	// empty. Those of a compensation that also move are meant as far as no guard
	// is true. Of Picture.Everywhere there is one cell for each event.
	Cells []*model.Cell
	// Emit is what a compensation writes to the outbox, perhaps nothing.
	Emit []string
	// Others are, for Reject, the events that the state does not reject, in order.
	Others []*model.Event
	// Everywhere says that the remark is one of Picture.Everywhere.
	Everywhere bool
}

// Of returns the picture of the whole machine. It has at least the initial
// state; a machine without transitions has no edges.
func Of(m *model.Machine) *Picture {
	happy := happyPath(m)
	p := &Picture{Machine: m, Happy: happy}
	told := make([]bool, len(m.Events))
	for _, e := range m.Events {
		if c := compensatedEverywhere(e); c != nil {
			told[e.Index] = true
			p.Everywhere = compensation(p.Everywhere, c)
		}
	}
	for i := range p.Everywhere {
		p.Everywhere[i].Everywhere = true
	}
	for _, s := range drawingOrder(m, happy) {
		p.Nodes = append(p.Nodes, &Node{State: s, Happy: slices.Contains(happy, s), Remarks: remarks(m, s, told)})
	}
	p.Edges = edges(m, p.Nodes, happy)
	return p
}

// Node returns the node of a state, or nil when the picture does not draw it.
func (p *Picture) Node(s *model.State) *Node {
	for _, n := range p.Nodes {
		if n.State == s {
			return n
		}
	}
	return nil
}

func drawingOrder(m *model.Machine, happy []*model.State) []*model.State {
	order := slices.Clone(happy)
	for _, s := range m.States {
		if !slices.Contains(happy, s) {
			order = append(order, s)
		}
	}
	return order
}

// edges collects the arcs of each pair of states, and sorts the pairs.
func edges(m *model.Machine, nodes []*Node, happy []*model.State) []*Edge {
	type pair [2]int
	byPair := map[pair]*Edge{}
	var all []*Edge
	for _, t := range m.Transitions {
		for _, from := range t.From {
			key := pair{from.Index, t.To.Index}
			e := byPair[key]
			if e == nil {
				e = &Edge{From: from, To: t.To}
				byPair[key] = e
				all = append(all, e)
			}
			e.Arcs = append(e.Arcs, arc(t, from))
		}
	}
	step := func(e *Edge) int { return stepOf(happy, e.From, e.To) }
	place := make([]int, len(m.States))
	for i, n := range nodes {
		place[n.State.Index] = i
	}
	for _, e := range all {
		e.Happy = step(e) >= 0
	}
	slices.SortStableFunc(all, func(a, b *Edge) int {
		switch {
		case a.Happy && b.Happy:
			return cmp.Compare(step(a), step(b))
		case a.Happy:
			return -1
		case b.Happy:
			return 1
		}
		return cmp.Compare(place[a.From.Index], place[b.From.Index])
	})
	return all
}

func arc(t *model.Transition, from *model.State) Arc {
	a := Arc{Transition: t}
	if d := from.Deadline; d != nil && d.Event == t.Event {
		a.Deadline = d
	}
	first := t.Event.Cells[from.Index].Transitions[0]
	a.Else = t.Guard == nil && first != t
	return a
}

// compensatedEverywhere returns a cell of an event that compensates in the same
// way in every state, as far as it moves nothing there; nil for any other
// event, and for one that compensates in a single state.
func compensatedEverywhere(e *model.Event) *model.Cell {
	var first *model.Cell
	n := 0
	for _, c := range e.Cells {
		switch {
		case c.Closed():
			continue
		case !c.Compensates(), first != nil && !slices.Equal(first.Emit, c.Emit):
			return nil
		case first == nil:
			first = c
		}
		n++
	}
	if n < 2 {
		return nil
	}
	return first
}

// remarks groups the state's cells that refuse or compensate. The compensations
// of events that are told elsewhere are left out; told may be nil.
func remarks(m *model.Machine, s *model.State, told []bool) []Remark {
	reject := Remark{Decision: model.Reject}
	var compensations []Remark
	for _, e := range m.Events {
		c := e.Cells[s.Index]
		if !c.Moves() && c.Otherwise == model.Reject {
			reject.Cells = append(reject.Cells, c)
			continue
		}
		reject.Others = append(reject.Others, e)
		if c.Compensates() && (told == nil || !told[e.Index]) {
			compensations = compensation(compensations, c)
		}
	}
	if len(reject.Cells) == 0 {
		return compensations
	}
	return append([]Remark{reject}, compensations...)
}

// compensation adds the cell to the remark that emits the same, or to a new one.
func compensation(all []Remark, c *model.Cell) []Remark {
	for i := range all {
		if slices.Equal(all[i].Emit, c.Emit) {
			all[i].Cells = append(all[i].Cells, c)
			return all
		}
	}
	return append(all, Remark{Decision: model.Compensate, Cells: []*model.Cell{c}, Emit: c.Emit})
}
