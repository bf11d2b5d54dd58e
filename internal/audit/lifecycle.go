package audit

import (
	"bytes"
	"strconv"

	"github.com/pawl-go/pawl/internal/model"
)

// Events that every machine has beside its own.
const (
	createEvent  = "create"
	adoptedEvent = "adopted" // the row was there before its machine
)

// lifecycle is a machine made for looking up what a record says.
type lifecycle struct {
	*model.Machine
	// stored has the states by what the status column holds, names by what
	// history and facts hold. Both know the former names.
	stored, names map[string]*model.State
	events        map[string]*model.Event
	// edges and moves are indexed by from, to, and for moves the event.
	edges  [][]bool
	moves  [][][]bool
	topics map[string]bool
}

func newLifecycle(m *model.Machine) *lifecycle {
	l := &lifecycle{Machine: m, stored: map[string]*model.State{}, names: map[string]*model.State{}, events: map[string]*model.Event{}, topics: map[string]bool{}}
	for _, s := range m.States {
		l.names[s.Name] = s
		if s.Was != "" {
			l.names[s.Was] = s
		}
		l.edges = append(l.edges, make([]bool, len(m.States)))
		to := make([][]bool, len(m.States))
		for i := range to {
			to[i] = make([]bool, len(m.Events))
		}
		l.moves = append(l.moves, to)
	}
	l.stored = l.names
	if m.Table.Status.Storage == model.StoredCode {
		l.stored = map[string]*model.State{}
		for _, s := range m.States {
			l.stored[strconv.Itoa(s.Code)] = s
		}
	}
	for _, t := range m.Transitions {
		for _, from := range t.From {
			l.edges[from.Index][t.To.Index] = true
			l.moves[from.Index][t.To.Index][t.Event.Index] = true
		}
	}
	for _, e := range m.Events {
		l.events[e.Name] = e
	}
	l.collectTopics()
	return l
}

func (l *lifecycle) collectTopics() {
	add := func(topics []string) {
		for _, t := range topics {
			l.topics[t] = true
		}
	}
	add(l.CreateEmit)
	for _, t := range l.Transitions {
		add(t.Emit)
	}
	for _, e := range l.Events {
		for _, c := range e.Cells {
			add(c.Emit)
		}
	}
}

// same reports whether two names of history or facts are one state, by either
// of its names. NULL is no state.
func (l *lifecycle) same(a, b []byte) bool {
	if a == nil || b == nil {
		return false
	}
	s := l.names[string(a)]
	return bytes.Equal(a, b) || s != nil && s == l.names[string(b)]
}
