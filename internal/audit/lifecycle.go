package audit

import (
	"bytes"
	"slices"

	"github.com/pawl-go/pawl/internal/model"
)

// Events that every machine has beside its own.
const (
	createEvent  = "create"
	correctEvent = "correct"
	adoptedEvent = "adopted" // the row was there before its machine
)

// own has them all: none of them moves a row that is not forced.
var own = map[string]bool{createEvent: true, correctEvent: true, adoptedEvent: true}

// lifecycle is a machine made for looking up what a record says.
type lifecycle struct {
	*model.Machine
	// states are those of the definition, and behind them those of the past.
	states []*model.State
	// stored has the states by what the status column holds, names by what
	// history and facts hold. Both know the former names.
	stored, names map[string]*model.State
	events        map[string]*model.Event
	// edges, once and moves are indexed by from, to, and for moves the event.
	// once has the edges that were legal by earlier migrations.
	edges, once [][]bool
	moves       [][][]bool
	// births and due are indexed by state: rows may have been created in it, and
	// programs generated before move its rows by other deadlines.
	births, due []bool
	// identities are events of the past that left facts.
	identities map[string]bool
	// former are names that states had once, each with the name of today.
	former [][2]string
	// migrated says that the migrations have told what was legal once.
	migrated bool
	topics   map[string]bool
}

func newLifecycle(m *model.Machine, past model.Past) *lifecycle {
	l := &lifecycle{
		Machine: m, states: slices.Clone(m.States), stored: map[string]*model.State{}, names: map[string]*model.State{},
		events: map[string]*model.Event{}, identities: map[string]bool{}, topics: map[string]bool{},
	}
	for _, s := range m.States {
		l.names[s.Name] = s
		l.stored[m.Table.Status.Text(s.Name, s.Code)] = s
		if s.Was != "" {
			l.names[s.Was] = s
			l.stored[m.Table.Status.Text(s.Was, s.Code)] = s
		}
	}
	for _, p := range past.States {
		l.addPast(p)
	}
	n := len(l.states)
	l.births, l.due = make([]bool, n), make([]bool, n)
	for range l.states {
		l.edges, l.once = append(l.edges, make([]bool, n)), append(l.once, make([]bool, n))
		to := make([][]bool, n)
		for i := range to {
			to[i] = make([]bool, len(m.Events))
		}
		l.moves = append(l.moves, to)
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
	l.collectPast(past)
	l.collectTopics()
	return l
}

// addPast adds a state that is no longer declared, unless its name or code is
// that of one which is.
func (l *lifecycle) addPast(p model.PastState) {
	if l.names[p.Name] != nil {
		return
	}
	s := &model.State{Name: p.Name, Code: p.Code, Index: len(l.states), Retired: true}
	l.states = append(l.states, s)
	l.names[p.Name] = s
	if text := l.Table.Status.Text(p.Name, p.Code); p.Pending && l.stored[text] == nil {
		l.stored[text] = s
	}
}

// forgets reports whether entries of the history are dropped when they are old.
func (l *lifecycle) forgets() bool { return l.Table.History != nil && l.Table.History.Keep > 0 }

// past reports whether the state is no longer declared.
func (l *lifecycle) past(s *model.State) bool { return s.Index >= len(l.States) }

// collectPast fills what is looked up of the past. A state that the
// definition calls otherwise by now is found by its former name.
func (l *lifecycle) collectPast(past model.Past) {
	mark := func(names []string, in []bool) {
		for _, name := range names {
			if s := l.names[name]; s != nil {
				in[s.Index] = true
			}
		}
	}
	mark(past.Initial, l.births)
	mark(past.Due, l.due)
	l.births[l.Initial().Index] = true
	for _, e := range past.Edges {
		if from, to := l.names[e[0]], l.names[e[1]]; from != nil && to != nil {
			l.once[from.Index][to.Index] = true
		}
	}
	l.former, l.migrated = past.Former, len(past.Initial) > 0
	for _, event := range past.Identities {
		l.identities[event] = true
	}
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
