package suite

import "github.com/pawl-go/pawl/internal/model"

// Races is the suite of calls that meet: for each state, each unordered pair of
// events that can move a row out of it, an event with itself included. The
// second call begins when the first is done and not yet committed, so it must be
// answered as if it had come afterwards: by the state and the values that the
// first has left. A pair of two events has cases for both orders, and one for
// every way that the first and then the second can go; an event with an identity
// meets itself with the same fact, too.
func Races(m *model.Machine) *Suite { return raceSuite(newFiller(m)) }

func raceSuite(f *filler) *Suite {
	r := &races{newBuilder(f, "races")}
	for _, state := range f.machine.States {
		moving := movingFrom(f.machine, state)
		for i, a := range moving {
			for _, b := range moving[i:] {
				r.pair(a, b)
			}
		}
	}
	return r.done()
}

// movingFrom returns the cells of a state that have transitions.
func movingFrom(m *model.Machine, state *model.State) []*model.Cell {
	var moving []*model.Cell
	for _, e := range m.Events {
		if cell := e.Cells[state.Index]; cell.Moves() {
			moving = append(moving, cell)
		}
	}
	return moving
}

// raceOrders is how many pairs there are when the order counts.
func raceOrders(m *model.Machine) int64 {
	n := int64(0)
	for _, state := range m.States {
		out := int64(len(movingFrom(m, state)))
		n += out * out
	}
	return n
}

type races struct{ *builder }

func (r *races) pair(a, b *model.Cell) {
	item := r.item(ItemRace, named(a)+"+"+part(b.Event.Name),
		ItemStep{State: a.State, Event: a.Event}, ItemStep{State: b.State, Event: b.Event})
	id := []string{part(a.State.Name), part(a.Event.Name) + "+" + part(b.Event.Name)}
	if a == b {
		r.order(id, a, b.Event, item)
		return
	}
	r.order(append(id, a.Event.Name+" first"), a, b.Event, item)
	r.order(append(id[:2:2], b.Event.Name+" first"), b, a.Event, item)
}

// order adds the cases in which the event of one cell comes first.
func (r *races) order(id []string, first *model.Cell, event *model.Event, item int) {
	for _, v := range Variants(first) {
		if v.Outcome != Applied {
			continue
		}
		if first.Event == event && v.Fact {
			again := Step{From: v.To, Event: event, Repeat: true, Second: true, Version: late(event)}.still(Replayed)
			r.add(with(id, v.Name, "same fact"), []Step{v.step(first), again}, nil, item)
		}
		for _, next := range second(event.Cells[v.To.Index]) {
			name := next.Variant
			if name != "" {
				name = "then " + name
			}
			r.add(with(id, v.Name, name), []Step{v.step(first), next}, nil, item)
		}
	}
}

// second has the ways of the call that comes second. It expects the version that
// it saw before the first, when it must expect one.
func second(cell *model.Cell) []Step {
	var out []Step
	for _, v := range Variants(cell) {
		s := v.step(cell)
		s.Second, s.Version = true, late(cell.Event)
		if s.Version == WrongVersion && v.Outcome == Applied {
			s = s.still(Stale)
		}
		out = append(out, s)
	}
	return out
}

func late(e *model.Event) Expect {
	if e.ExpectVersion {
		return WrongVersion
	}
	return AnyVersion
}
