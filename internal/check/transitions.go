package check

import (
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/sqlexpr"
	"github.com/pawl-go/pawl/internal/syntax"
)

// transDecl is a transition with the places of its parts.
type transDecl struct {
	t *model.Transition
	// from has the place of each state of t.From.
	from []diag.Position
	to   diag.Position
	// guarded says that a guard was written, usable or not.
	guarded bool
	// guardKey tells equal guards apart from others: a name, or the SQL.
	guardKey string
	guardPos diag.Position
}

// transitions reads the transitions in order.
func (c *checker) transitions(top *syntax.Mapping) {
	entry, ok := top.Entry("transitions")
	if !ok || entry.Value.IsNull() {
		return // a machine may have one state, or states that are only given
	}
	list := entry.Value.AsSequence()
	if list == nil {
		c.gaps = true
		c.wrongKind(entry.Value, "\"transitions\"", "a list")
		return
	}
	for _, item := range list.Items {
		fields := c.mapping(item, "a transition")
		if fields == nil {
			c.gaps = true
			continue
		}
		c.keys(fields, "transition")
		c.transition(item, fields)
	}
}

func (c *checker) transition(item *syntax.Node, fields *syntax.Mapping) {
	d := &transDecl{t: &model.Transition{Pos: item.Pos}, to: item.Pos}
	t := d.t
	for _, key := range []string{"event", "from", "to"} {
		if _, ok := fields.Entry(key); !ok {
			c.errorf(item.Pos, CodeMissing, "the transition has no %q; write {event: close, from: OPEN, to: DONE}", key)
		}
	}
	if n := fields.Get("event"); n != nil {
		if s := c.nameValue(n, "\"event\""); s != nil {
			t.Event = c.event(s)
		}
	}
	if n := fields.Get("from"); n != nil {
		names := c.distinct(c.names(n, "\"from\""), "\"from\"")
		if n.IsNull() || n.AsSequence() != nil && len(n.AsSequence().Items) == 0 {
			c.errorf(n.Pos, CodeMissing, "the transition has no state to start from; write from: OPEN")
		}
		for _, s := range names {
			if state := c.state(s); state != nil {
				t.From, d.from = append(t.From, state), append(d.from, s.Pos)
			}
		}
	}
	if n := fields.Get("to"); n != nil {
		if s := c.nameValue(n, "\"to\""); s != nil {
			t.To, d.to = c.state(s), s.Pos
		}
	}
	if n := fields.Get("guard"); !n.IsNull() {
		c.transitionGuard(d, n)
	}
	c.sets(t, fields)
	t.Emit = c.topics(fields.Get("emit"))
	t.Tags = c.tags(fields)
	c.gaps = c.gaps || t.Event == nil || t.To == nil || len(t.From) == 0
	if t.Event == nil {
		return
	}
	c.eventOf[t.Event.Name].moves = true
	if t.To == nil || len(t.From) == 0 {
		return
	}
	t.Index = len(c.machine.Transitions)
	c.machine.Transitions = append(c.machine.Transitions, t)
	c.transDecls = append(c.transDecls, d)
	c.eventOf[t.Event.Name].transitions = append(c.eventOf[t.Event.Name].transitions, d)
	for i, from := range t.From {
		if from.Final {
			c.errorf(d.from[i], CodeFinal, "state %s is final, so event %s cannot leave it; delete final, or the transition", quote(from.Name), quote(t.Event.Name))
		}
	}
}

func (c *checker) transitionGuard(d *transDecl, n *syntax.Node) {
	d.guarded, d.guardPos = true, n.Pos
	if s := n.AsScalar(); s != nil {
		d.guardKey = "name " + s.Text
	} else if s := n.AsMapping().Get("sql").AsScalar(); s != nil {
		d.guardKey = "sql " + s.Text
	}
	if !c.hasTable {
		c.errorf(n.Pos, CodeNoTable, "this machine has no table, so there is no row that a guard could look at; add table, or delete the guard")
		return
	}
	d.t.Guard = c.guard(n, d.t.Event)
	c.gaps = c.gaps || d.t.Guard == nil
}

func (c *checker) sets(t *model.Transition, fields *syntax.Mapping) {
	entry, ok := fields.Entry("set")
	if !ok || entry.Value.IsNull() {
		return
	}
	if !c.hasTable {
		c.errorf(entry.Key.Pos, CodeNoTable, "this machine has no table, so there is no column to set; add table, or delete set")
		return
	}
	values := c.mapping(entry.Value, "\"set\"")
	if values == nil {
		return
	}
	for _, e := range values.Entries {
		c.clear(e.Key)
		table, name := c.machine.Table, e.Key.Text
		if c.isKey(name) || c.isOwn(name) {
			c.errorf(e.Key.Pos, CodeSetOwn, "column %s cannot be set: the key stays, and status, version and deadline are kept by the machine", quote(name))
			continue
		}
		column := table.Column(name)
		if column == nil {
			names := make([]string, 0, len(table.Columns))
			for _, known := range table.Columns {
				names = append(names, known.Name)
			}
			c.unknown(e.Key.Pos, "column", name, names)
			column = &model.Column{Name: name} // still look at the SQL
		}
		value := c.sql(e.Value, use{what: "the value of column " + quote(name), role: roleSet, event: t.Event, columns: true, clock: true,
			want: sqlexpr.Want{Category: category(column.Type), Type: column.Type.SQL, As: column.Type.SQL + " " + name}})
		t.Set = append(t.Set, model.Assignment{Column: column, Value: value, Pos: e.Key.Pos})
	}
}

func (c *checker) event(s *syntax.Scalar) *model.Event {
	if d := c.eventOf[s.Text]; d != nil {
		return d.event
	}
	if c.eventsKnown {
		c.unknown(s.Pos, "event", s.Text, c.eventNames)
	}
	return nil
}

func (c *checker) state(s *syntax.Scalar) *model.State {
	if s.Text == "*" {
		c.errorf(s.Pos, CodeUnknownName, "'*' stands for the rest of the states in otherwise alone; name the states here")
		return nil
	}
	if state := c.stateOf[s.Text]; state != nil {
		return state
	}
	if c.statesKnown {
		c.unknown(s.Pos, "state", s.Text, c.stateNames)
	}
	return nil
}
