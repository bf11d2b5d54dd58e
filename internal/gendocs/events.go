package gendocs

import (
	"slices"

	"github.com/pawl-go/pawl/internal/model"
)

// eventEntry is one event with all that is said of it.
type eventEntry struct {
	*model.Event
	ID, Label string
	Marks     []mark
	// Deadlines are the states whose deadline fires the event.
	Deadlines []*model.State
	Moves     []*model.Transition
	Told      []told
}

func eventEntries(m *model.Machine, lang string) []eventEntry {
	var entries []eventEntry
	for _, e := range m.Events {
		entry := eventEntry{Event: e, ID: eventID(e), Label: labelOf(e, lang), Deadlines: m.DeadlineStates(e), Moves: m.Moves(e)}
		entry.Marks = eventMarks(e, len(entry.Deadlines), lang)
		for _, c := range e.Cells {
			if !c.Moves() || !c.Closed() {
				entry.Told = addTold(entry.Told, c, lang, func(t *told) { t.States = append(t.States, c.State) })
			}
		}
		shorten(entry.Told)
		entries = append(entries, entry)
	}
	return entries
}

// shorten puts the decision with the most states last, as that of every other
// state, where it stands for more than three beside another.
func shorten(list []told) {
	most := -1
	for i, t := range list {
		if !t.Guarded && len(t.States) > 3 && (most < 0 || len(t.States) > len(list[most].States)) {
			most = i
		}
	}
	if most < 0 {
		return
	}
	rest := list[most]
	rest.Rest = true
	copy(list[most:], list[most+1:])
	list[len(list)-1] = rest
}

// guardEntry is one guard with the transitions that it decides.
type guardEntry struct {
	*model.Guard
	ID   string
	Uses []*model.Transition
}

// guardEntries has the named guards, and then those written in transitions.
func guardEntries(m *model.Machine) []guardEntry {
	guards := slices.Clone(m.Guards)
	for _, t := range m.Transitions {
		if t.Guard != nil && t.Guard.Name == "" {
			guards = append(guards, t.Guard)
		}
	}
	var entries []guardEntry
	for _, g := range guards {
		e := guardEntry{Guard: g, ID: guardID(g)}
		for _, t := range m.Transitions {
			if t.Guard == g {
				e.Uses = append(e.Uses, t)
			}
		}
		entries = append(entries, e)
	}
	return entries
}
