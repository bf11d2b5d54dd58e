package check

import (
	"regexp"
	"time"

	"github.com/pawl-go/pawl/internal/duration"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/syntax"
)

// stateDecl is a state with the places of what was said of it.
type stateDecl struct {
	state    *model.State
	fields   *syntax.Mapping
	deadline *syntax.Mapping
}

// states reads the states in order.
func (c *checker) states(top *syntax.Mapping) {
	entries, ok := c.section(top, "states", "name the states, as in states: {OPEN: {initial: true}, DONE: {final: true}}")
	c.statesKnown = ok
	c.stateOf = make(map[string]*model.State, len(entries))
	var initial *model.State
	for _, e := range entries {
		fields := c.optionalMapping(e.Value, "a state")
		s := &model.State{Name: e.Key.Text, Pos: e.Key.Pos, Index: len(c.machine.States)}
		c.clear(e.Key)
		if c.printableName(e.Key, "state") {
			s.Ident = c.exported(e.Key, "state")
		}
		c.keys(fields, "state")
		s.Describe = c.describe(fields)
		s.Initial, s.Final, s.Resting = c.boolean(fields, "initial"), c.boolean(fields, "final"), c.boolean(fields, "resting")
		s.Retired = c.boolean(fields, "retired")
		s.Labels, s.Owner, s.Tags = c.labels(fields), c.owner(fields), c.tags(fields)
		d := &stateDecl{state: s, fields: fields}
		if n := fields.Get("deadline"); !n.IsNull() {
			d.deadline = c.deadline(s, n)
		}
		c.machine.States = append(c.machine.States, s)
		c.stateOf[s.Name], c.stateNames = s, append(c.stateNames, s.Name)
		c.stateDecls = append(c.stateDecls, d)
		switch {
		case s.Initial && initial != nil:
			c.gaps = true
			c.errorf(keyPos(fields, "initial", s.Pos), CodeInitial, "states %s and %s are both initial; a row is created in one", quote(initial.Name), quote(s.Name))
		case s.Initial:
			initial = s
		}
		if s.Final && s.Resting {
			c.errorf(keyPos(fields, "resting", s.Pos), CodeFinal, "state %s is final, so it is at rest anyway; delete one of resting and final", quote(s.Name))
		}
		if s.Final && d.deadline != nil {
			c.errorf(keyPos(fields, "deadline", s.Pos), CodeFinal, "state %s is final, so no deadline can move it on; delete one of deadline and final", quote(s.Name))
		}
	}
	if ok && initial == nil && len(entries) > 0 && !c.saysInitial() {
		c.errorf(keyPos(top, "states", top.Pos), CodeInitial, "no state is initial; mark the one in which a row is created with initial: true")
	}
}

// saysInitial reports whether a state says anything of initial, if only
// something wrong.
func (c *checker) saysInitial() bool {
	for _, d := range c.stateDecls {
		if d.fields.Get("initial") != nil && !d.state.Initial {
			if value, ok := d.fields.Get("initial").AsScalar().Bool(); value || !ok {
				return true
			}
		}
	}
	return false
}

var langTag = regexp.MustCompile(`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$`)

func (c *checker) labels(fields *syntax.Mapping) []model.Label {
	var labels []model.Label
	for _, e := range c.optionalMapping(fields.Get("label"), "\"label\"").Entries {
		if !c.clear(e.Key) {
			continue
		}
		if !langTag.MatchString(e.Key.Text) {
			c.errorf(e.Key.Pos, CodeBadName, "%s is no language; write a tag such as en, zh or pt-BR", quote(e.Key.Text))
			continue
		}
		s := e.Value.AsScalar()
		if s == nil || e.Value.IsNull() || s.Text == "" {
			c.wrongKind(e.Value, "a label", "a text")
			continue
		}
		for _, r := range s.Text {
			if r == '\n' || r == '\t' {
				c.errorf(s.Pos, CodeWrongKind, "a label must be one line of text")
				break
			}
		}
		labels = append(labels, model.Label{Lang: e.Key.Text, Text: s.Text})
	}
	return labels
}

// deadline reads after and max; the event is looked up when all are known.
func (c *checker) deadline(s *model.State, n *syntax.Node) *syntax.Mapping {
	fields := c.mapping(n, "\"deadline\"")
	if fields == nil {
		return nil
	}
	c.keys(fields, "deadline")
	s.Deadline = &model.Deadline{Pos: n.Pos}
	after, ok := fields.Entry("after")
	switch {
	case !ok:
		c.errorf(n.Pos, CodeMissing, "the deadline does not say after what time; write after: 30m")
	case after.Value.AsScalar() == nil || after.Value.IsNull():
		c.wrongKind(after.Value, "\"after\"", "a duration such as 30m or 10d")
	default:
		text := after.Value.AsScalar().Text
		s.Deadline.After, ok = parseDuration(text)
		if !ok || s.Deadline.After < time.Second {
			c.errorf(after.Value.Pos, CodeDuration, "%s is no duration of at least 1s and at most 100 years; write it as 30m, 24h or 1d12h", quote(text))
		}
	}
	if _, ok := fields.Entry("event"); !ok {
		c.errorf(n.Pos, CodeMissing, "the deadline does not say which event it fires; write event: expire")
	}
	if limit, ok := fields.Entry("max"); ok {
		s.Deadline.Max, ok = limit.Value.AsScalar().Int()
		if !ok || s.Deadline.Max < 1 {
			c.errorf(limit.Value.Pos, CodeWrongKind, "\"max\" must be a whole number from 1; leave it out for no end")
		}
	}
	return fields
}

// parseDuration refuses what is not above zero, not whole microseconds, or above
// a hundred years.
func parseDuration(text string) (time.Duration, bool) {
	const longest = 36525 * 24 * time.Hour
	d, ok := duration.Parse(text)
	return d, ok && d > 0 && d <= longest && d%time.Microsecond == 0
}
