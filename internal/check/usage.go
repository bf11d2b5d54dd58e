package check

import "github.com/pawl-go/pawl/internal/model"

// usage warns of what is declared and used by nothing, and takes the guards
// that are used into the machine.
func (c *checker) usage() {
	for _, d := range c.guardDecls {
		if len(d.guards) > 0 {
			c.machine.Guards = append(c.machine.Guards, d.guards[0])
			continue
		}
		if !c.lookAtUnused(d) || c.gaps {
			continue
		}
		c.warnf(d.name.Pos, CodeUnused, "guard %s is used by no transition; use it, or delete it", quote(d.name.Text))
	}
	if c.gaps {
		return
	}
	for _, d := range c.eventDecls {
		if !d.moves && !d.event.Compensates() {
			c.warnf(d.event.Pos, CodeUnused, "event %s has no transition, so it never moves a row; add one, or delete it", quote(d.event.Name))
		}
		for _, p := range d.event.Params {
			if !d.used[p] && !emits(c.machine, d.event) {
				c.warnf(p.Pos, CodeUnused, "parameter %s is used by no guard, set, identity or fingerprint; use it, or delete it", quote(p.Name))
			}
		}
	}
}

// lookAtUnused reads the SQL of a guard that nothing uses, so that its mistakes
// are told too, and reports whether there were none. Its parameters are not
// known, since it belongs to no event.
func (c *checker) lookAtUnused(d *guardDecl) bool {
	if d.sql == nil {
		return true
	}
	if c.machine.Table == nil && !c.hasTable {
		c.errorf(d.name.Pos, CodeNoTable, "this machine has no table, so there is no row that a guard could look at; add table, or delete the guard")
		return false
	}
	before := c.problems.Len()
	u := guardUse("guard " + quote(d.name.Text))
	u.anyParam = true
	c.sql(d.sql, u)
	return c.problems.Len() == before
}

// emits reports whether the event writes to the outbox, where its parameters go.
func emits(m *model.Machine, e *model.Event) bool {
	for _, c := range e.Cells {
		if len(c.Emit) > 0 {
			return true
		}
	}
	for _, t := range m.Transitions {
		if t.Event == e && len(t.Emit) > 0 {
			return true
		}
	}
	return false
}
