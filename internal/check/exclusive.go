package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-go/pawl/internal/example"
	"github.com/pawl-go/pawl/internal/logic"
	"github.com/pawl-go/pawl/internal/model"
)

// exclusive asks of every cell with guards whether they exclude each other,
// cover what can come, and can be true at all. Cells that try the same guards
// in the same order are asked about once, unless the guards tell their states
// apart.
func (c *checker) exclusive() {
	if c.machine.Table == nil {
		return
	}
	for _, d := range c.eventDecls {
		j := &judge{checker: c, event: d.event, unasked: d.unasked, vars: example.Variables(c.machine.Table, d.event), assume: example.Assumptions(c.machine.Table, d.event), at: make(map[finding]int)}
		for _, g := range j.groups() {
			for _, part := range j.apart(g) {
				j.group(part)
			}
		}
		j.tell()
	}
}

// group is the transitions that several cells of an event try in one order.
type group struct {
	tried  []*transDecl
	states []*model.State
	// status has what the status column may hold, where a condition asks; it is
	// nil where none does.
	status []string
}

// groups puts the cells of the event together that try the same guards.
func (j *judge) groups() []*group {
	var groups []*group
	found := make(map[string]*group)
	for _, cell := range j.event.Cells {
		tried := j.tried(cell)
		if tried == nil {
			continue
		}
		var key strings.Builder
		for _, t := range tried {
			fmt.Fprintf(&key, "%t %s\n", t.guarded, t.guardKey)
		}
		if g := found[key.String()]; g != nil {
			g.states = append(g.states, cell.State)
			continue
		}
		g := &group{tried: tried, states: []*model.State{cell.State}}
		found[key.String()] = g
		groups = append(groups, g)
	}
	return groups
}

// apart divides a group by what the guards and the checks of the table say of
// the state's name or code.
func (j *judge) apart(g *group) []*group {
	if !j.asksForStatus(g) {
		return []*group{g}
	}
	values := make([][]string, len(g.states))
	for i, s := range g.states {
		values[i] = j.stored(s)
	}
	var parts []*group
	for i, n := range j.reader.Alike(j.vars, j.assume, g.guards(), j.machine.Table.Status.Column, values) {
		if n == len(parts) {
			parts = append(parts, &group{tried: g.tried, status: values[i]})
		}
		parts[n].states = append(parts[n].states, g.states[i])
	}
	return parts
}

// asksForStatus reports whether a guard of the group, or a check that every row
// passes, reads the status column.
func (j *judge) asksForStatus(g *group) bool {
	reads := func(e *model.Expr) bool {
		return e != nil && slices.ContainsFunc(e.Parts, func(p model.Part) bool {
			return p.Kind == model.ColumnRef && p.Text == j.machine.Table.Status.Column
		})
	}
	return slices.ContainsFunc(g.exprs(), reads) ||
		slices.ContainsFunc(j.machine.Table.Columns, func(column *model.Column) bool { return reads(column.Check) })
}

// stored returns what the status column may hold for a state: its code, or its
// name, and while it is being renamed the former name too.
func (j *judge) stored(s *model.State) []string {
	status := j.machine.Table.Status
	values := []string{status.Text(s.Name, s.Code)}
	if s.Was != "" && status.Storage != model.StoredCode {
		values = append(values, s.Was)
	}
	return values
}

// tried returns the transitions of a cell with a guard to ask about, up to the
// first without one; nil for a cell in which a guard is missing or broken, or
// stands twice, which is told elsewhere.
func (c *checker) tried(cell *model.Cell) []*transDecl {
	var tried []*transDecl
	keys := make(map[string]bool)
	for _, t := range cell.Transitions {
		d := c.transDecls[t.Index]
		if d.guarded && (t.Guard == nil || t.Guard.SQL == nil || keys[d.guardKey]) {
			return nil
		}
		keys[d.guardKey] = true
		tried = append(tried, d)
		if !d.guarded {
			break
		}
	}
	if len(tried) == 0 || !tried[0].guarded {
		return nil
	}
	return tried
}

// guards returns the conditions of a group, and an empty one for none.
func (g *group) guards() []logic.Guard {
	guards := make([]logic.Guard, len(g.tried))
	for i, d := range g.tried {
		if d.guarded {
			guards[i].SQL = d.t.Guard.SQL.Source
		}
	}
	return guards
}

func (g *group) exprs() []*model.Expr {
	var exprs []*model.Expr
	for _, d := range g.tried {
		if d.guarded {
			exprs = append(exprs, d.t.Guard.SQL)
		}
	}
	return exprs
}

// sameEffect reports whether it does not matter which of the two is taken.
func sameEffect(a, b *model.Transition) bool {
	return a.To == b.To && slices.Equal(a.Emit, b.Emit) && slices.EqualFunc(a.Set, b.Set, func(x, y model.Assignment) bool {
		return x.Column == y.Column && x.Value != nil && y.Value != nil && x.Value.Source == y.Value.Source
	})
}

// guardName is what a message calls the guard of a transition.
func guardName(d *transDecl) string {
	if d.t.Guard.Name != "" {
		return "guard " + quote(d.t.Guard.Name)
	}
	return "guard " + quote(strings.Join(strings.Fields(d.t.Guard.SQL.Source), " "))
}

func quoted(states []*model.State) []string {
	names := make([]string, len(states))
	for i, s := range states {
		names[i] = quote(s.Name)
	}
	return names
}
