package simulate

import (
	"slices"

	"github.com/pawl-go/pawl/internal/example"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/oracle"
	"github.com/pawl-go/pawl/internal/picture"
	"github.com/pawl-go/pawl/internal/suite"
)

// StoryKind is what a story shows.
type StoryKind string

// Kinds of stories, in the order in which they are told.
const (
	// Happy goes the way that a row takes when all goes well.
	Happy StoryKind = "happy"
	// Late has Event come after a deadline has moved the row on.
	Late StoryKind = "late"
	// Wrong has Event come with values for which no guard is true.
	Wrong StoryKind = "wrong"
	// Twice has Event told again, and then with another fingerprint.
	Twice StoryKind = "twice"
	// Deadline has the row left alone until Event fires by itself.
	Deadline StoryKind = "deadline"
	// Refused has Event come where it is not legal.
	Refused StoryKind = "refused"
)

// Story is a life worth a look.
type Story struct {
	Kind  StoryKind
	Event *model.Event
	// State is where the row stands when the event of the story comes; nil for Happy.
	State *model.State
	Steps []Step
}

// Stories are lives that the definition itself suggests, each at most once of a
// kind. Only those are told of which the data are known and which go as the suites
// say that they must; there may be none.
func (m *Machine) Stories() []Story { return m.stories() }

// Created is the creation of a row with values that people like to read: those of
// the first story.
func (m *Machine) Created() Step {
	for _, s := range m.Stories() {
		return s.Steps[0]
	}
	return m.created()
}

func (m *Machine) created() Step {
	s := Step{Kind: Create}
	if !m.HasTable() {
		return s
	}
	finder := example.NewFinder(m.Model)
	for _, e := range m.Model.Events {
		a := finder.Find(example.Problem{Created: true, Calls: []example.Call{{State: m.Model.Initial(), To: m.Model.Initial(), Event: e}}})
		if a.Failed >= 0 {
			continue
		}
		for _, v := range a.Row {
			if m.gives(v) {
				s.Args = append(s.Args, Arg{v.Name, v.Text})
			}
		}
		return s
	}
	for _, c := range m.Model.Created() {
		if !c.Optional {
			s.Args = append(s.Args, Arg{c.Name, example.Natural(c.Name, c.Type, 0).Text})
		}
	}
	return s
}

// gives reports whether a creation must say the value: its column is the creator's,
// or the key's and not the one that a creation has by itself.
func (m *Machine) gives(v example.Value) bool {
	named := func(c *model.Column) bool { return c.Name == v.Name }
	if i := slices.IndexFunc(m.Model.Table.Keys, named); i >= 0 {
		return v.Text != m.key(m.Model.Table.Keys[i])
	}
	return !v.Null && slices.ContainsFunc(m.Model.Created(), named)
}

// key is the value that a column of the key has when a creation does not say it.
func (m *Machine) key(c *model.Column) string { return example.Natural(c.Name, c.Type, 0).Text }

func (m *Machine) makeStories() []Story {
	t := &teller{m, suite.For(m.Model)}
	var out []Story
	for i, tell := range []func() *Story{t.happy, t.late, t.wrong, t.twice, t.deadline, t.refused} {
		if i >= 4 && len(out) >= 3 {
			break // the last two are for machines without callbacks
		}
		s := tell()
		if s != nil && !slices.ContainsFunc(out, func(o Story) bool { return Text(o.Steps) == Text(s.Steps) }) {
			out = append(out, *s)
		}
	}
	return out
}

// teller makes the stories of a machine.
type teller struct {
	*Machine
	maker *suite.Maker
}

// happy goes along the happy path, by events of which the row is not left alone
// where it can be.
func (t *teller) happy() *Story {
	path := picture.Of(t.Model).Happy
	var ways []suite.Way
	for i := 1; i < len(path); i++ {
		var best *suite.Way
		byClock := true
		for _, e := range t.Model.Events {
			cell := e.Cells[path[i-1].Index]
			for _, move := range cell.Transitions {
				if move.To == path[i] && (best == nil || byClock) {
					way := suite.WayOf(cell, move)
					best, byClock = &way, fires(path[i-1], e)
				}
			}
		}
		ways = append(ways, *best)
	}
	if len(ways) == 0 {
		return nil
	}
	return t.told(Story{Kind: Happy, Event: ways[len(ways)-1].Cell.Event}, ways)
}

// fires reports whether the deadline of a state fires the event.
func fires(s *model.State, e *model.Event) bool { return s.Deadline != nil && s.Deadline.Event == e }

// late has a callback come to a state that a deadline has led to: one that would
// have moved the row before, if there is one.
func (t *teller) late() *Story {
	var second *Story
	for _, from := range t.Model.States {
		way, ok := t.clock(from)
		if !ok || way.Variant().To == from {
			continue
		}
		ways, reached := t.maker.Shortest(from)
		if !reached {
			continue
		}
		to := way.Variant().To
		for _, e := range t.Model.Events {
			if !e.Callback {
				continue
			}
			late := e.Cells[to.Index]
			for at, v := range suite.Variants(late) {
				if v.Outcome != suite.Applied && v.Outcome != suite.Compensated {
					continue
				}
				s := t.told(Story{Kind: Late, Event: e, State: to}, append(slices.Clip(ways), way, suite.Way{Cell: late, At: at}))
				if s != nil && e.Cells[from.Index].Moves() {
					return s
				}
				if second == nil {
					second = s
				}
			}
		}
	}
	return second
}

// clock is the way that the deadline of a state goes, if it moves the row.
func (t *teller) clock(s *model.State) (suite.Way, bool) {
	if s.Deadline == nil {
		return suite.Way{}, false
	}
	cell := s.Deadline.Event.Cells[s.Index]
	return suite.Way{Cell: cell}, cell.Moves()
}

// each calls f with every cell in reach and the ways that lead to its state,
// callbacks first, until f has a story.
func (t *teller) each(f func(ways []suite.Way, cell *model.Cell) *Story) *Story {
	for _, callback := range []bool{true, false} {
		for _, e := range t.Model.Events {
			if e.Callback != callback {
				continue
			}
			for _, cell := range e.Cells {
				ways, reached := t.maker.Shortest(cell.State)
				if !reached {
					continue
				}
				if s := f(slices.Clip(ways), cell); s != nil {
					return s
				}
			}
		}
	}
	return nil
}

// wrong has an event come for which no guard is true.
func (t *teller) wrong() *Story {
	return t.each(func(ways []suite.Way, cell *model.Cell) *Story {
		at := len(cell.Transitions)
		if !cell.Moves() || cell.Closed() || cell.Otherwise != model.Compensate && cell.Otherwise != model.GuardFailed {
			return nil
		}
		return t.told(Story{Kind: Wrong, Event: cell.Event, State: cell.State}, append(ways, suite.Way{Cell: cell, At: at}))
	})
}

// twice has a fact told again.
func (t *teller) twice() *Story {
	return t.each(func(ways []suite.Way, cell *model.Cell) *Story {
		if len(cell.Event.Fingerprint) == 0 || !cell.Moves() {
			return nil
		}
		s := t.told(Story{Kind: Twice, Event: cell.Event, State: cell.State}, append(ways, suite.Way{Cell: cell}))
		if s == nil {
			return nil
		}
		tape := t.Play(s.Steps)
		again := tape.Again(&tape.Steps[len(tape.Steps)-1])
		if again == nil || again.Other == nil {
			return nil
		}
		s.Steps = append(s.Steps, again.Same, *again.Other)
		return s
	})
}

// deadline leaves the row alone.
func (t *teller) deadline() *Story {
	for _, from := range t.Model.States {
		way, ok := t.clock(from)
		ways, reached := t.maker.Shortest(from)
		if !ok || !reached {
			continue
		}
		if s := t.told(Story{Kind: Deadline, Event: from.Deadline.Event, State: from}, append(ways, way)); s != nil {
			return s
		}
	}
	return nil
}

// refused has an event come where it is not legal.
func (t *teller) refused() *Story {
	return t.each(func(ways []suite.Way, cell *model.Cell) *Story {
		if cell.Moves() || cell.Otherwise != model.Reject || len(ways) == 0 {
			return nil
		}
		return t.told(Story{Kind: Refused, Event: cell.Event, State: cell.State}, append(ways, suite.Way{Cell: cell}))
	})
}

// told makes the story whose row goes these ways, nil where the data are not known
// or it does not go as the suites say.
func (t *teller) told(s Story, ways []suite.Way) *Story {
	c := t.maker.Life("", ways)
	create := Step{Kind: Create}
	if len(c.Given) == 0 {
		create = t.created()
	} else {
		for _, v := range c.Given {
			if t.gives(example.Value(v)) {
				create.Args = append(create.Args, Arg{v.Name, v.Text})
			}
		}
	}
	s.Steps = []Step{create}
	var want []Outcome
	for i := range c.Steps {
		step := &c.Steps[i]
		if step.Unknown != "" {
			return nil
		}
		if fires(step.From, step.Event) && step.Moved() {
			s.Steps = append(s.Steps, Step{Kind: Wait, After: step.From.Deadline.After}, Step{Kind: Sweep})
			want = append(want, Passed, oracle.Applied)
			continue
		}
		call := Step{Kind: Fire, Name: step.Event.Name}
		call.Args = given(step, i)
		if step.Event.ExpectVersion && t.HasTable() {
			call.Version = t.Play(s.Steps).version()
		}
		s.Steps, want = append(s.Steps, call), append(want, Outcome(step.Outcome))
	}
	tape := t.Play(s.Steps)
	for i, told := range tape.Steps {
		if i == 0 && told.Outcome != oracle.Applied || i > 0 && told.Outcome != want[i-1] {
			return nil
		}
	}
	if len(s.Steps) > MaxSteps {
		return nil
	}
	return &s
}

// given are the parameters of a step; of a machine without a table, for which suites
// have none, the first that the types have.
func given(step *suite.Step, at int) []Arg {
	var out []Arg
	for _, v := range step.Params {
		if !v.Null {
			out = append(out, Arg{v.Name, v.Text})
		}
	}
	if len(step.Params) == 0 {
		for _, p := range step.Event.Params {
			out = append(out, Arg{p.Name, example.Natural(p.Name, p.Type, at).Text})
		}
	}
	return out
}

func (t *Tape) version() int64 {
	r, _ := t.Row()
	return r.Version
}
