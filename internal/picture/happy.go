package picture

import (
	"slices"

	"github.com/pawl-go/pawl/internal/model"
)

// happyPath returns the way that a row takes when all goes well, as the
// definition tells it: by the order in which the states are declared.
//
// From the initial state it goes from state to state, each declared after the
// one before, and ends in the first one that is final or resting. Of the states
// that can follow, it takes the one declared first from which it can still end;
// only a resting state waits for a final one that can follow as well, since a
// row that can be done does not stop halfway. Steps that lead back are left out.
//
// Where no such way ends, it is the shortest one to the end declared first, of
// those that can be reached; and in a machine without an end, such as a
// cycle, it goes on for as long as states declared later can follow.
func happyPath(m *model.Machine) []*model.State {
	next := followers(m)
	start := m.Initial()
	if path := forward(m, next, start); path != nil {
		return path
	}
	for _, s := range m.States {
		if path := shortest(m, next, start, s); ends(s) && path != nil {
			return path
		}
	}
	path := []*model.State{start}
	for {
		last := path[len(path)-1]
		i := slices.IndexFunc(next[last.Index], func(s *model.State) bool { return s.Index > last.Index })
		if i < 0 {
			return path
		}
		path = append(path, next[last.Index][i])
	}
}

func ends(s *model.State) bool { return s.Final || s.Resting }

// followers returns, for each state, those that a transition leads to from it,
// in the order of their declaration, itself not among them.
func followers(m *model.Machine) [][]*model.State {
	next := make([][]*model.State, len(m.States))
	for _, t := range m.Transitions {
		for _, from := range t.From {
			if from != t.To && !slices.Contains(next[from.Index], t.To) {
				next[from.Index] = append(next[from.Index], t.To)
			}
		}
	}
	for _, to := range next {
		slices.SortFunc(to, func(a, b *model.State) int { return a.Index - b.Index })
	}
	return next
}

// forward returns the way through states declared later and later, or nil when
// none ends. It goes through the states backwards, so that it needs no more
// time or stack for a long machine.
func forward(m *model.Machine, next [][]*model.State, start *model.State) []*model.State {
	chosen := make([]*model.State, len(m.States)) // what follows a state on its best way
	reaches := make([]bool, len(m.States))
	for _, s := range slices.Backward(m.States) {
		if ends(s) {
			reaches[s.Index] = true
			continue
		}
		for _, to := range next[s.Index] {
			if to.Index < s.Index || !reaches[to.Index] {
				continue
			}
			if best := chosen[s.Index]; best == nil || best.Resting && !best.Final && to.Final {
				chosen[s.Index] = to
			}
		}
		reaches[s.Index] = chosen[s.Index] != nil
	}
	if !reaches[start.Index] {
		return nil
	}
	var path []*model.State
	for s := start; s != nil; s = chosen[s.Index] {
		path = append(path, s)
	}
	return path
}

// shortest returns a shortest way from one state to another, nil when there is
// none. Of several it is the one found first in the order of declaration.
func shortest(m *model.Machine, next [][]*model.State, from, to *model.State) []*model.State {
	before := make([]*model.State, len(m.States))
	before[from.Index] = from
	for queue := []*model.State{from}; len(queue) > 0 && before[to.Index] == nil; queue = queue[1:] {
		for _, s := range next[queue[0].Index] {
			if before[s.Index] == nil {
				before[s.Index] = queue[0]
				queue = append(queue, s)
			}
		}
	}
	if before[to.Index] == nil {
		return nil
	}
	path := []*model.State{to}
	for s := to; s != from; {
		s = before[s.Index]
		path = append(path, s)
	}
	slices.Reverse(path)
	return path
}

// stepOf returns the place of a step in a path, -1 when it is none of its.
func stepOf(path []*model.State, from, to *model.State) int {
	for i := 1; i < len(path); i++ {
		if path[i-1] == from && path[i] == to {
			return i
		}
	}
	return -1
}
