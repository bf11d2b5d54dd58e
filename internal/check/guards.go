package check

import (
	"strconv"
	"strings"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/sqlexpr"
	"github.com/pawl-go/pawl/internal/syntax"
)

// guardDecl is a named guard as declared. Its SQL is read once for each event
// that uses it, since parameters are the event's.
type guardDecl struct {
	name     *syntax.Scalar
	describe string
	sql      *syntax.Node
	// users are the events that use it, with the guard as resolved for each.
	users  []*model.Event
	guards []*model.Guard
}

func (c *checker) guards(top *syntax.Mapping) {
	entries, _ := c.section(top, "guards", "")
	for _, e := range entries {
		c.clear(e.Key)
		c.lowerName(e.Key, "guard", maxName)
		d := &guardDecl{name: e.Key}
		c.guardDecls = append(c.guardDecls, d)
		if fields := c.mapping(e.Value, "a guard"); fields != nil {
			d.describe, d.sql = c.guardFields(fields, e.Key)
		}
	}
}

// guardFields reads what a named guard and an inline one have in common.
func (c *checker) guardFields(fields *syntax.Mapping, name *syntax.Scalar) (string, *syntax.Node) {
	c.keys(fields, "guard")
	pos := fields.Pos
	if name != nil {
		pos = name.Pos
	}
	n := fields.Get("sql")
	if n == nil {
		c.errorf(pos, CodeMissing, "the guard has no SQL; write sql: total_cents = @paid_cents")
	}
	return c.describe(fields), n
}

func guardUse(what string) use {
	return use{what: what, role: roleGuard, columns: true, clock: true, want: sqlexpr.Want{Category: sqlexpr.Boolean, As: "a guard"}}
}

// guard returns the guard of a transition, or nil when it cannot be used.
func (c *checker) guard(n *syntax.Node, event *model.Event) *model.Guard {
	if fields := n.AsMapping(); fields != nil {
		g := &model.Guard{Pos: n.Pos}
		var sql *syntax.Node
		if g.Describe, sql = c.guardFields(fields, nil); sql != nil {
			u := guardUse("the guard")
			u.event = event
			g.SQL = c.sql(sql, u)
		}
		return g
	}
	s := c.nameValue(n, "\"guard\"")
	if s == nil {
		return nil
	}
	if strings.ContainsAny(s.Text, " =<>@(") {
		c.errorf(s.Pos, CodeUnknownName, "%s is no name of a guard; for SQL in its place write guard: {sql: %s}", quote(s.Text), strconv.Quote(s.Text))
		return nil
	}
	names := make([]string, 0, len(c.guardDecls))
	for _, d := range c.guardDecls {
		if d.name.Text == s.Text {
			return c.named(d, event)
		}
		names = append(names, d.name.Text)
	}
	c.unknown(s.Pos, "guard", s.Text, names)
	return nil
}

// named resolves a declared guard for an event. Transitions of one event share
// the result; so do all events when the guard uses no parameter.
func (c *checker) named(d *guardDecl, event *model.Event) *model.Guard {
	for i, user := range d.users {
		if user == event || d.guards[i].SQL != nil && len(d.guards[i].SQL.Params()) == 0 {
			return d.guards[i]
		}
	}
	g := &model.Guard{Name: d.name.Text, Describe: d.describe, Pos: d.name.Pos}
	if d.sql != nil {
		u := guardUse("guard " + quote(d.name.Text))
		u.event = event
		g.SQL = c.sql(d.sql, u)
	}
	d.users, d.guards = append(d.users, event), append(d.guards, g)
	return g
}
