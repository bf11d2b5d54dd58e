package gensuite

import (
	"slices"
	"strings"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/suite"
	"github.com/pawl-go/pawl/internal/wording"
)

// line is one step for a tester: each part is one or several sentences.
type line struct {
	action []string
	// last is how many sentences of the action, at its end, come after the values.
	last int
	// values are what the call, or the row's creation, is given, and data what is
	// said of them.
	values   []suite.Value
	data     []string
	expected []string
}

// given are the values and what is said of them, in sentences.
func (d *document) given(l line) []string {
	if len(l.values) == 0 {
		return l.data
	}
	return append([]string{d.values(l.values)}, l.data...)
}

// script is what a tester does in a case, one line after another. A case that
// begins with the row's creation has a line for it.
func (d *document) script(c *suite.Case) []line { return once(d.scripts, c, d.lines) }

// lines works the script out.
func (d *document) lines(c *suite.Case) []line {
	lines := make([]line, 0, len(c.Steps)+1)
	if c.Start == nil {
		lines = append(lines, d.creation(c))
	}
	for i := range c.Steps {
		s := &c.Steps[i]
		l := line{action: d.action(s), values: s.Params, data: d.data(s), expected: d.expected(s)}
		switch {
		case s.Second:
			l.action, l.last = append(l.action, d.say(commit)), 1
		case i+1 < len(c.Steps) && c.Steps[i+1].Second:
			l.action = append([]string{d.say(inFirst)}, l.action...)
		}
		lines = append(lines, l)
	}
	return lines
}

// precondition says how the row stands before the first line, and how it comes
// to stand so.
func (d *document) precondition(c *suite.Case) []string { return once(d.befores, c, d.before) }

// before works the precondition out.
func (d *document) before(c *suite.Case) []string {
	said := d.stands(c)
	if c.Start != nil {
		said = slices.Insert(said, 1, d.way(c.Start)...)
	}
	return said
}

// way tells one of the shortest ways to a state; nothing for the initial one.
func (d *document) way(to *model.State) []string {
	way := d.ways[to.Index]
	if way == nil {
		return []string{d.say(noWay)}
	}
	if len(way) == 0 {
		return nil
	}
	events := make([]string, len(way))
	for i := range way {
		events[i] = d.name(way[i].Event.Name)
		if way[i].Variant != "" {
			events[i] += " [" + d.text(way[i].Variant) + "]"
		}
	}
	return []string{d.say(oneWay, strings.Join(events, d.say(comma)))}
}

// stands says how the row stands.
func (d *document) stands(c *suite.Case) []string {
	machine := d.name(d.suite.Machine.Name)
	if c.Start == nil {
		if d.hasRow() {
			return []string{d.say(rowIsNew, machine)}
		}
		return []string{d.say(isNew, machine)}
	}
	if !d.hasRow() {
		said := []string{d.say(itStands, machine, d.state(c.Start))}
		if slices.ContainsFunc(c.Steps, func(s suite.Step) bool { return s.Other }) {
			said = append(said, d.say(otherOne))
		}
		return said
	}
	said := []string{d.say(rowStands, machine, d.state(c.Start))}
	if len(c.Given) > 0 && !d.tables {
		said = append(said, d.say(itsValues, d.values(c.Given)))
	}
	if len(c.Other) > 0 {
		said = append(said, d.say(otherRow, d.values(c.Other)))
	}
	return append(said, d.say(noteIt))
}

// creation is the line that makes the row.
func (d *document) creation(c *suite.Case) line {
	m := d.suite.Machine
	initial := m.Initial()
	if !d.hasRow() {
		return line{
			action:   []string{d.say(startNew, d.name(m.Name))},
			expected: []string{d.say(stateMoved, d.state(initial))},
		}
	}
	l := line{
		action: []string{d.say(createRow, d.name(m.Name))},
		values: c.Given,
		expected: []string{
			d.say(answer, d.outcome(suite.Applied)),
			d.say(rowCreated, d.state(initial)),
		},
	}
	if initial.Deadline != nil {
		l.expected = append(l.expected, d.say(deadlineSet, d.deadline(initial.Deadline)))
	}
	l.expected = append(l.expected, d.say(historyOne, d.name(initial.Name)), d.emitted(m.CreateEmit))
	return l
}

// action says what to do.
func (d *document) action(s *suite.Step) []string { return d.alike(ofAction, s, d.actionOf) }

// actionOf works the action out.
func (d *document) actionOf(s *suite.Step) []string {
	var said []string
	if s.Second {
		said = append(said, d.say(inSecond))
	}
	if s.Other {
		said = append(said, d.say(forOther))
	}
	event := d.event(s.Event)
	switch deadline := s.From.Deadline; {
	case deadline != nil && deadline.Event == s.Event && d.suite.Name != "races": // nobody holds a session open for days
		said = append(said, d.say(letPass, wording.Duration(deadline.After, d.lang), event))
	case s.Event.Callback:
		said = append(said, d.say(deliver, event))
	default:
		said = append(said, d.say(call, event))
	}
	if s.Repeat {
		said = append(said, d.say(theSame))
	}
	switch s.Version {
	case suite.RightVersion:
		said = append(said, d.say(sendRight))
	case suite.WrongVersion:
		said = append(said, d.say(sendWrong))
	}
	return said
}

// data says what the parameters are like, or must be where no values are given.
func (d *document) data(s *suite.Step) []string {
	conditions := strings.Join(d.conditions(s), d.say(and))
	switch {
	case s.Unknown != "" && conditions != "":
		return []string{d.say(chooseData, conditions), d.say(reason, d.text(s.Unknown))}
	case s.Unknown != "":
		return []string{d.say(reason, d.text(s.Unknown))}
	case conditions != "":
		return []string{d.say(thereby, conditions)}
	case len(s.Params) == 0 && len(s.Event.Params) > 0:
		return []string{d.say(rest)}
	}
	return nil
}

// conditions are what row and parameters must be like for the step to go the
// way that it says: the guards tried before are not true, and its own is.
func (d *document) conditions(s *suite.Step) []string {
	return d.alike(ofConditions, s, d.conditionsOf)
}

// conditionsOf works the conditions out.
func (d *document) conditionsOf(s *suite.Step) []string {
	if s.Repeat {
		return nil // a known fact is answered before any guard is looked at
	}
	var said []string
	for i, t := range s.Event.Cells[s.From.Index].Transitions {
		if t.Guard == nil {
			break
		}
		guard := d.text(wording.Guard(t.Guard))
		if s.Chooses(i) {
			said = append(said, d.say(holds, guard))
			break
		}
		said = append(said, d.say(fails, guard))
	}
	return said
}

// values are names with their values: "paid_cents = 100, payment_no = P-1".
func (d *document) values(values []suite.Value) string {
	said := make([]string, len(values))
	for i, v := range values {
		text := "NULL"
		switch {
		case v.Null:
		case v.Text == "":
			text = "''"
		default:
			text = d.name(v.Text)
		}
		said[i] = d.name(v.Name) + " = " + text
	}
	return strings.Join(said, d.say(comma))
}

// expected says what must be seen after the step. Behind what is said of the row
// come the columns that were written.
func (d *document) expected(s *suite.Step) []string {
	said := d.alike(ofExpected, s, d.expectedOf)
	if d.hasRow() && s.Moved() {
		if set := d.set(s); set != "" {
			return slices.Insert(slices.Clone(said), 2, d.say(columns, set))
		}
	}
	return said
}

// expectedOf works out what must be seen, the columns apart.
func (d *document) expectedOf(s *suite.Step) []string {
	said := []string{d.say(answer, d.outcome(s.Outcome))}
	switch {
	case !d.hasRow() && s.Moved():
		said = append(said, d.say(stateMoved, d.state(s.To)))
	case !d.hasRow():
		said = append(said, d.say(stateStays, d.state(s.To)))
	case s.Moved():
		said = append(said, d.moved(s)...)
	case s.Other:
		said = append(said, d.say(otherStays, d.state(s.To)), d.say(historyOld))
	default:
		said = append(said, d.say(rowStays, d.state(s.To)), d.say(historyOld))
	}
	if d.hasRow() || len(s.Emit) > 0 {
		said = append(said, d.emitted(s.Emit))
	}
	if d.hasRow() && len(s.Event.Identity) > 0 {
		if s.Fact {
			return append(said, d.say(factNew))
		}
		said = append(said, d.say(factNone))
	}
	return said
}

// moved says how the row stands after a transition, the columns apart.
func (d *document) moved(s *suite.Step) []string {
	said := []string{d.say(rowMoved, d.state(s.To))}
	switch {
	case s.To.Deadline != nil:
		said = append(said, d.say(deadlineSet, d.deadline(s.To.Deadline)))
	case s.From.Deadline != nil:
		said = append(said, d.say(deadlineOff))
	}
	return append(said, d.say(historyNew, d.name(s.From.Name), d.name(s.To.Name)))
}

// set says what the transition has written: values where they are known, else
// the expressions of the definition, and so for what is of the time of the call.
func (d *document) set(s *suite.Step) string {
	if s.Transition == nil {
		return d.values(s.After)
	}
	var said []string
	for _, a := range s.Transition.Set {
		at := slices.IndexFunc(s.After, func(v suite.Value) bool { return v.Name == a.Column.Name })
		if at >= 0 && !ofClock(a.Value) {
			said = append(said, d.values(s.After[at:at+1]))
			continue
		}
		said = append(said, d.name(a.Column.Name)+" = "+d.name(a.Value.Source))
	}
	return strings.Join(said, d.say(comma))
}

// ofClock reports whether the value is of the time at which it is worked out.
func ofClock(e *model.Expr) bool {
	return slices.ContainsFunc(e.Parts, func(p model.Part) bool { return p.Kind == model.Now })
}

func (d *document) deadline(dl *model.Deadline) string {
	return d.text(wording.Deadline(dl, d.lang))
}

func (d *document) emitted(topics []string) string {
	if len(topics) == 0 {
		return d.say(outboxNone)
	}
	names := make([]string, len(topics))
	for i, t := range topics {
		names[i] = d.name(t)
	}
	return d.say(outbox, strings.Join(names, d.say(comma)))
}

// outcome is the runtime's word, and what it means.
func (d *document) outcome(o suite.Outcome) string {
	if means := d.say(outcomes[o]); means != "" {
		return d.say(brackets, string(o), means)
	}
	return string(o)
}
