package check

import (
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/sqlexpr"
	"github.com/pawl-go/pawl/internal/syntax"
)

// eventDecl is an event with the places of what was said of it.
type eventDecl struct {
	event    *model.Event
	fields   *syntax.Mapping
	identity diag.Position
	used     map[*model.Param]bool
	// moves says that a transition of the event is declared.
	moves bool
	// transitions are those of the event that could be read, in order.
	transitions []*transDecl
	// unasked is what '*' in otherwise says, where the event is no callback: cells with
	// guards do not ask it.
	unasked *choice
}

func (c *checker) events(top *syntax.Mapping) {
	entries, ok := c.section(top, "events", "")
	c.eventsKnown = ok
	c.eventOf = make(map[string]*eventDecl, len(entries))
	for _, e := range entries {
		event := &model.Event{Name: e.Key.Text, Pos: e.Key.Pos, Index: len(c.machine.Events)}
		c.clear(e.Key)
		if c.printableName(e.Key, "event") {
			event.Ident = c.exported(e.Key, "event")
		}
		fields := c.optionalMapping(e.Value, "an event")
		c.keys(fields, "event")
		event.Describe = c.describe(fields)
		event.Labels, event.Owner, event.Tags = c.labels(fields), c.owner(fields), c.tags(fields)
		event.Callback = c.word(fields, "source", "callback")
		event.ExpectVersion = c.word(fields, "expect", "version")
		d := &eventDecl{event: event, fields: fields, used: make(map[*model.Param]bool)}
		c.machine.Events = append(c.machine.Events, event)
		c.eventOf[event.Name], c.eventNames = d, append(c.eventNames, event.Name)
		c.eventDecls = append(c.eventDecls, d)
		c.params(d)
		d.identity = keyPos(fields, "identity", event.Pos)
		event.Identity = c.factParams(d, "identity")
		event.Fingerprint = c.factParams(d, "fingerprint")
	}
}

// word reads a key that has one possible value.
func (c *checker) word(fields *syntax.Mapping, key, value string) bool {
	n := fields.Get(key)
	if n.IsNull() {
		return false
	}
	s := n.AsScalar()
	if s == nil || s.Text != value {
		c.errorf(n.Pos, CodeWrongKind, "%q can only be %s; leave it out otherwise", key, value)
		return false
	}
	return true
}

func (c *checker) params(d *eventDecl) {
	event := d.event
	checks := make([]*syntax.Node, 0)
	for _, e := range c.optionalMapping(d.fields.Get("params"), "\"params\"").Entries {
		p := &model.Param{Name: e.Key.Text, Pos: e.Key.Pos}
		if !c.innerName(e.Key, "parameter") {
			continue
		}
		p.Ident = c.exported(e.Key, "parameter")
		event.Params = append(event.Params, p)
		checks = append(checks, nil)
		if e.Value.AsScalar() != nil {
			p.Type, _ = c.typeOf(e.Value)
			continue
		}
		fields := c.mapping(e.Value, "a parameter")
		if fields == nil {
			continue
		}
		c.keys(fields, "param")
		p.Describe = c.describe(fields)
		p.Optional = c.boolean(fields, "optional")
		checks[len(checks)-1] = fields.Get("check")
		if typed, ok := fields.Entry("type"); ok {
			p.Type, _ = c.typeOf(typed.Value)
		} else {
			c.errorf(e.Key.Pos, CodeMissing, "parameter %s has no type; write type: text", quote(p.Name))
		}
	}
	for i, n := range checks {
		if n == nil {
			continue
		}
		p := event.Params[i]
		p.Check = c.sql(n, use{what: "the check of parameter " + quote(p.Name), role: roleParamCheck, event: event,
			want: sqlexpr.Want{Category: sqlexpr.Boolean, As: "a check"}})
	}
}

// factParams reads the parameters of an identity or a fingerprint.
func (c *checker) factParams(d *eventDecl, key string) []*model.Param {
	var params []*model.Param
	for _, s := range c.distinct(c.names(d.fields.Get(key), quote(key)), quote(key)) {
		p := param(d.event, s.Text)
		switch {
		case p == nil:
			c.unknown(s.Pos, "parameter", s.Text, paramNames(d.event))
			continue
		case p.Optional:
			c.errorf(s.Pos, CodeFactParam, "parameter %s is optional, but %s needs a value in every call; delete optional", quote(p.Name), key)
		case p.Type.SQL != "" && !p.Type.Identifying():
			c.errorf(s.Pos, CodeFactParam, "parameter %s is %s, whose values have several spellings; %s needs text, uuid, an integer type or boolean", quote(p.Name), p.Type.SQL, key)
		}
		d.used[p] = true
		params = append(params, p)
	}
	return params
}

func param(e *model.Event, name string) *model.Param {
	for _, p := range e.Params {
		if p.Name == name {
			return p
		}
	}
	return nil
}

func paramNames(e *model.Event) []string {
	names := make([]string, 0, len(e.Params))
	for _, p := range e.Params {
		names = append(names, p.Name)
	}
	return names
}
