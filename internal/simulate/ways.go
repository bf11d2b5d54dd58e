package simulate

import (
	"slices"
	"strconv"

	"github.com/pawl-go/pawl/internal/example"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/oracle"
	"github.com/pawl-go/pawl/internal/suite"
)

// Way is a call that can be made now, with example parameters, and what it would
// answer.
type Way struct {
	Step Step
	Told Told
}

// EventWays are the ways of one event.
type EventWays struct {
	Event *model.Event
	// Ways is never empty: the first is the one to offer, and no two of them come to
	// the same.
	Ways []Way
}

// Ways returns, for each event in order, what it would do now. It is empty where
// there is no row.
func (t *Tape) Ways() []EventWays {
	r, there := t.Row()
	if !there {
		return nil
	}
	c := &chooser{Tape: t, row: r, finder: example.NewFinder(t.Machine.Model), told: map[*model.Event]int{}}
	for _, f := range t.Facts() {
		c.told[f.Event]++
	}
	out := make([]EventWays, len(t.Machine.Model.Events))
	for i, e := range t.Machine.Model.Events {
		out[i] = EventWays{e, c.ways(e)}
	}
	return out
}

// chooser finds parameters for calls of the row as it stands.
type chooser struct {
	*Tape
	row    oracle.Row
	finder *example.Finder
	told   map[*model.Event]int
}

// ways tries each variant of the cell. What is offered is what the oracle answers,
// and not what the variant hoped for.
func (c *chooser) ways(e *model.Event) []Way {
	cell := e.Cells[c.row.State.Index]
	variants := suite.Variants(cell)
	var out []Way
	for at := range variants {
		s, possible := c.step(cell, at)
		if !possible && len(variants) > 1 {
			continue
		}
		way := c.judged(s, at)
		if !slices.ContainsFunc(out, func(w Way) bool { return w.same(way) }) {
			out = append(out, way)
		}
	}
	if len(out) == 0 {
		s, _ := c.found(e, nil)
		out = append(out, c.judged(s, -1))
	}
	return out
}

// same reports whether two ways come to the same.
func (w Way) same(v Way) bool {
	return w.Told.Outcome == v.Told.Outcome && w.Told.Taken() == v.Told.Taken()
}

// Taken is the transition that the call takes, or would take with another version; nil
// for none.
func (t *Told) Taken() *model.Transition {
	for _, g := range t.Guards {
		if g.Taken {
			return g.Transition
		}
	}
	return nil
}

// step is a call for which the cell goes the way of that place. possible is false
// where there is certainly none.
func (c *chooser) step(cell *model.Cell, at int) (s Step, possible bool) {
	var must []example.Condition
	for i, t := range cell.Transitions {
		if t.Guard == nil || i > at {
			break
		}
		must = append(must, example.Condition{Expr: t.Guard.SQL, Untrue: i != at})
	}
	return c.found(cell.Event, must)
}

// found makes a call with parameters that suit the conditions, or at least the
// parameters' types.
func (c *chooser) found(e *model.Event, must []example.Condition) (s Step, possible bool) {
	s = Step{Kind: Fire, Name: e.Name}
	if e.ExpectVersion && c.Machine.HasTable() {
		s.Version = c.row.Version
	}
	const tries = 4 // of the identities that were told by hand
	for told := c.told[e]; ; told++ {
		values, never := c.find(e, must, told)
		if never {
			return s, false
		}
		s.Args = nil
		for i, p := range e.Params {
			if v := values[i]; !v.Null {
				s.Args = append(s.Args, Arg{p.Name, v.Text})
			}
		}
		if told == c.told[e]+tries || !c.isKnown(e, s) {
			return s, true
		}
	}
}

// find asks for parameters; where none are known, it takes the first that the
// types have.
func (c *chooser) find(e *model.Event, must []example.Condition, told int) (values []example.Value, never bool) {
	call := example.Call{State: c.row.State, To: c.row.State, Event: e, Must: must, Told: told}
	if c.Machine.HasTable() {
		a := c.finder.Find(example.Problem{Known: c.columns(), Calls: []example.Call{call}})
		if a.Failed < 0 {
			return a.Calls[0].Params, false
		}
		if a.Never {
			return nil, true
		}
	}
	for _, p := range e.Params {
		values = append(values, example.Natural(p.Name, p.Type, told))
	}
	return values, false
}

// columns are the row as it stands.
func (c *chooser) columns() []example.Value {
	var out []example.Value
	for name, v := range c.row.Key { // in any order: they are looked up by name
		out = append(out, literal(name, v))
	}
	for name, v := range c.row.Columns {
		out = append(out, literal(name, v))
	}
	table := c.Machine.Model.Table
	return append(out, example.Value{Name: table.Version, SQL: strconv.FormatInt(c.row.Version, 10)})
}

func (c *chooser) isKnown(e *model.Event, s Step) bool {
	params, problem := arguments(e, s.Args)
	if problem != nil || len(e.Identity) == 0 {
		return false
	}
	identity := oracle.Identity(e.Identity, params)
	return slices.ContainsFunc(c.Facts(), func(f Fact) bool { return f.Event == e && f.Identity == identity })
}

// judged asks the oracle. Where it waits for a choice, the choice is the one that
// leads the way of that place.
func (c *chooser) judged(s Step, at int) Way {
	told := c.Then(s)
	for told.Outcome == Open {
		open := ""
		for _, g := range told.Guards {
			if g.Guard != nil && g.Guard.Truth == Untold {
				open = g.Guard.Of
				break
			}
		}
		if open == "" || s.choice(open) != Untold {
			break
		}
		truth := False
		if open == strconv.Itoa(at+1) {
			truth = True
		}
		s = s.Choose(open, truth)
		told = c.Then(s)
	}
	return Way{s, told}
}
