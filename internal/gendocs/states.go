package gendocs

import (
	"slices"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/wording"
)

// stateEntry is one state with all that is said of it.
type stateEntry struct {
	*model.State
	ID, Label string
	Marks     []mark
	Meaning   []string
	Deadline  *deadline
	// In, Out and Stay are the transitions that enter and leave the state, and
	// those that stay on it.
	In, Out, Stay []way
	// Told are the events that move nothing, by what is said to them.
	Told []told
}

// way is a transition as seen from one state, with the states at its other end.
type way struct {
	Event  *model.Event
	Guard  *model.Guard
	States []*model.State
}

// told is one decision with the events or states that it is said to.
type told struct {
	Class, Word, Explained string
	Decision               model.Decision
	Emit                   []string
	Events                 []*model.Event
	States                 []*model.State
	// Guarded says that it is told when no guard is true, and Rest that it is
	// told in every state that was not named before.
	Guarded, Rest bool
}

func stateEntries(m *model.Machine, lang string) []stateEntry {
	var entries []stateEntry
	for _, s := range m.States {
		e := stateEntry{State: s, ID: stateID(s), Label: labelOf(s, lang), Deadline: deadlineOf(s, lang)}
		e.Marks, e.Meaning = stateMarks(s, lang)
		for _, t := range m.Transitions {
			e.ways(s, t)
		}
		for _, event := range m.Events {
			if cell := event.Cells[s.Index]; !cell.Moves() {
				e.Told = addTold(e.Told, cell, lang, func(t *told) { t.Events = append(t.Events, event) })
			}
		}
		entries = append(entries, e)
	}
	return entries
}

// ways adds a transition where it touches the state.
func (e *stateEntry) ways(s *model.State, t *model.Transition) {
	w := way{Event: t.Event, Guard: t.Guard}
	leaves, enters := slices.Contains(t.From, s), t.To == s
	if leaves && enters {
		e.Stay = append(e.Stay, w)
	}
	if leaves && !enters {
		out := w
		out.States = []*model.State{t.To}
		e.Out = append(e.Out, out)
	}
	if enters {
		w.States = slices.DeleteFunc(slices.Clone(t.From), func(from *model.State) bool { return from == s })
		if len(w.States) > 0 {
			e.In = append(e.In, w)
		}
	}
}

// addTold puts a cell's decision with the equal one before it, or at the end.
func addTold(list []told, c *model.Cell, lang string, add func(*told)) []told {
	at := slices.IndexFunc(list, func(t told) bool {
		return t.Decision == c.Otherwise && t.Guarded == c.Moves() && slices.Equal(t.Emit, c.Emit)
	})
	if at < 0 {
		at = len(list)
		list = append(list, told{
			Class: class(c.Otherwise), Word: wording.Decision(c.Otherwise).In(lang), Explained: wording.Explained(c.Otherwise).In(lang),
			Decision: c.Otherwise, Emit: c.Emit, Guarded: c.Moves(),
		})
	}
	add(&list[at])
	return list
}
