package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-go/pawl/internal/logic"
	"github.com/pawl-go/pawl/internal/model"
)

// exclusive asks of every cell with guards whether they exclude each other,
// cover what can come, and can be true at all. Cells that try the same guards
// in the same order are asked about once.
func (c *checker) exclusive() {
	if c.machine.Table == nil {
		return
	}
	for _, d := range c.eventDecls {
		var groups []*group
		found := make(map[string]*group)
		for _, cell := range d.event.Cells {
			tried := c.tried(cell)
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
		for _, g := range groups {
			c.judge(d.event, g)
		}
	}
}

// group is the transitions that several cells of an event try in one order.
type group struct {
	tried  []*transDecl
	states []*model.State
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

// judge tells what is found of one group.
func (c *checker) judge(event *model.Event, g *group) {
	guards := make([]logic.Guard, len(g.tried))
	var exprs []*model.Expr
	for i, d := range g.tried {
		if d.guarded {
			guards[i].SQL = d.t.Guard.SQL.Source
			exprs = append(exprs, d.t.Guard.SQL)
		}
	}
	vars, assume := c.variables(event), c.assumptions(event)
	report := logic.Analyse(vars, assume, guards)
	in := some(quoted(g.states))
	covered := make([]bool, len(guards))
	for i, d := range g.tried {
		if !d.guarded {
			continue
		}
		switch {
		case report.Never[i].Answer == logic.Yes:
			c.errorf(d.guardPos, CodeNeverTrue, "%s is never true, whatever the row and the parameters are; correct it, or delete the transition", guardName(d))
			covered[i] = true
		case report.Shadowed[i].Answer == logic.Yes:
			c.errorf(d.guardPos, CodeCovered, "%s is true only where one of the guards before it is, so event %s never takes this transition from %s; put it first, or delete it", guardName(d), quote(event.Name), in)
			covered[i] = true
		}
	}
	for _, o := range report.Overlaps {
		a, b := g.tried[o.A], g.tried[o.B]
		switch {
		case covered[o.A] || covered[o.B] || sameEffect(a.t, b.t):
		case o.Answer == logic.Yes:
			c.errorf(b.guardPos, CodeOverlap, "%s and %s can both be true when event %s comes in %s, as with %s; make them exclude each other",
				guardName(a), guardName(b), quote(event.Name), in, example(o.Witness, exprs))
		default:
			c.warnf(b.guardPos, CodeNotDecided, "whether %s and %s can both be true when event %s comes in %s is not decided: %s", guardName(a), guardName(b), quote(event.Name), in, o.Why)
		}
	}
	last := g.tried[len(g.tried)-1]
	switch {
	case !last.guarded:
		c.nullElse(event, g, vars, assume, guards, exprs)
	case len(g.tried) > 1 && !event.Callback && report.Gap.Answer == logic.Yes:
		c.warnf(event.Pos, CodeGap, "no guard of event %s is true in %s with %s, which is then refused; add a transition for it, or waive this rule where the refusal is meant",
			quote(event.Name), in, example(report.Gap.Witness, exprs))
	case len(g.tried) > 1 && !event.Callback && report.Gap.Answer == logic.NotDecided:
		c.warnf(event.Pos, CodeNotDecided, "whether a guard of event %s is always true in %s is not decided: %s", quote(event.Name), in, report.Gap.Why)
	}
}

// sameEffect reports whether it does not matter which of the two is taken.
func sameEffect(a, b *model.Transition) bool {
	return a.To == b.To && slices.Equal(a.Emit, b.Emit) && slices.EqualFunc(a.Set, b.Set, func(x, y model.Assignment) bool {
		return x.Column == y.Column && x.Value != nil && y.Value != nil && x.Value.Source == y.Value.Source
	})
}

// nullElse warns of a guard that is NULL, and so not true, for a row that the
// transition without guard then takes.
func (c *checker) nullElse(event *model.Event, g *group, vars []logic.Var, assume []string, guards []logic.Guard, exprs []*model.Expr) {
	n := len(guards) - 1
	for i, d := range g.tried[:n] {
		report := logic.Analyse(vars, append(slices.Clone(assume), "("+guards[i].SQL+") IS NULL"), guards[:n])
		if report.Gap.Answer == logic.Yes {
			c.warnf(d.guardPos, CodeNullElse, "%s is NULL with %s, so event %s takes the transition without guard from %s; say in a guard what NULL means, with IS NULL or IS NOT NULL",
				guardName(d), example(report.Gap.Witness, exprs), quote(event.Name), some(quoted(g.states)))
		}
	}
}

// variables are the names that a guard of the event may use; without an event
// those of the row alone.
func (c *checker) variables(event *model.Event) []logic.Var {
	t := c.machine.Table
	vars := []logic.Var{{Name: t.Version, Kind: logic.Int, Bits: 64}}
	switch t.Status.Storage {
	case model.StoredCode:
		vars = append(vars, logic.Var{Name: t.Status.Column, Kind: logic.Int, Bits: 64})
	case model.StoredEnum:
		vars = append(vars, logic.Var{Name: t.Status.Column, Kind: logic.Other})
	default:
		vars = append(vars, logic.Var{Name: t.Status.Column, Kind: logic.Text})
	}
	for _, column := range slices.Concat(t.Keys, t.Columns) {
		vars = append(vars, variable(column.Name, column.Type, column.Optional, false))
	}
	if event == nil {
		return vars
	}
	for _, p := range event.Params {
		vars = append(vars, variable(p.Name, p.Type, p.Optional, true))
	}
	return vars
}

func variable(name string, t model.Type, optional, param bool) logic.Var {
	v := logic.Var{Name: name, Param: param, Optional: optional}
	switch t.Kind {
	case model.KindText:
		v.Kind = logic.Text
	case model.KindUUID:
		v.Kind = logic.UUID
	case model.KindInt16:
		v.Kind, v.Bits = logic.Int, 16
	case model.KindInt32:
		v.Kind, v.Bits = logic.Int, 32
	case model.KindInt64:
		v.Kind, v.Bits = logic.Int, 64
	case model.KindBool:
		v.Kind = logic.Bool
	case model.KindNumeric:
		v.Kind, v.Precision, v.Scale = logic.Decimal, t.Precision, t.Scale
	case model.KindFloat64:
		v.Kind = logic.Float
	case model.KindTime:
		v.Kind = logic.Time
	case model.KindDate:
		v.Kind = logic.Date
	default:
		v.Kind = logic.Other
	}
	return v
}

// assumptions are the checks that every row and every call has passed.
func (c *checker) assumptions(event *model.Event) []string {
	var assume []string
	for _, column := range c.machine.Table.Columns {
		if column.Check != nil {
			assume = append(assume, column.Check.Source)
		}
	}
	for _, p := range event.Params {
		if p.Check != nil {
			assume = append(assume, p.Check.Source)
		}
	}
	return assume
}

// example shows the values of a witness that the guards look at.
func example(witness []logic.Value, exprs []*model.Expr) string {
	var values []string
	for _, v := range witness {
		used := slices.ContainsFunc(exprs, func(e *model.Expr) bool {
			return slices.ContainsFunc(e.Parts, func(p model.Part) bool {
				return p.Text == v.Name && (p.Kind == model.ColumnRef && !v.Param || p.Kind == model.ParamRef && v.Param)
			})
		})
		if used {
			values = append(values, v.String())
		}
	}
	if len(values) == 0 {
		return "any row"
	}
	return strings.Join(values, ", ")
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
