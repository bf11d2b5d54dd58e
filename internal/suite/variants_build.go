package suite

import (
	"slices"
	"strings"

	"github.com/pawl-go/pawl/internal/example"
	"github.com/pawl-go/pawl/internal/model"
)

// builder gathers a suite whose cases are of single cells.
type builder struct {
	suite  *Suite
	filler *filler
	at     map[string]int // of an item, by its ID
}

func newBuilder(m *model.Machine, name string) *builder {
	return &builder{suite: &Suite{Machine: m, Name: name}, filler: newFiller(m), at: map[string]int{}}
}

// item adds something to be covered, and returns its index.
func (b *builder) item(kind ItemKind, id string, steps ...ItemStep) int {
	b.suite.Items = append(b.suite.Items, Item{ID: string(kind) + " " + id, Kind: kind, Steps: steps})
	return len(b.suite.Items) - 1
}

// add fills a case and adds it, with what it covers. A case for which no values
// exist is not added: the items that nothing else covers say so.
func (b *builder) add(id []string, steps []Step, more map[int][]example.Condition, covers ...int) bool {
	c := &Case{ID: strings.Join(append([]string{b.suite.Machine.Name, b.suite.Name}, id...), "/"), Start: steps[0].From, Steps: steps}
	if !b.filler.filled(c, more) {
		for _, i := range covers {
			b.suite.Items[i].Why = c.why()
		}
		return false
	}
	slices.Sort(covers)
	c.Covers = slices.Compact(covers)
	b.suite.Cases = append(b.suite.Cases, c)
	return true
}

// why is the first reason for which a step has no values.
func (c *Case) why() string {
	for i := range c.Steps {
		if c.Steps[i].Unknown != "" {
			return c.Steps[i].Unknown
		}
	}
	return ""
}

// done takes back the reasons of items that some case covers all the same.
func (b *builder) done() *Suite {
	for i, by := range b.suite.CoveredBy() {
		if len(by) > 0 {
			b.suite.Items[i].Why = ""
		}
	}
	return b.suite
}

// path is the part of an ID that names a cell.
func path(cell *model.Cell, more ...string) []string {
	out := []string{cell.State.Name, cell.Event.Name}
	for _, part := range more {
		if part != "" {
			out = append(out, part)
		}
	}
	return out
}

func named(cell *model.Cell, more ...string) string {
	out := cell.State.Name + "/" + cell.Event.Name
	for _, part := range more {
		if part != "" {
			out += " " + part
		}
	}
	return out
}

func of(cell *model.Cell, v Variant) ItemStep {
	return ItemStep{State: cell.State, Event: cell.Event, Transition: v.Transition, Variant: v.Name}
}

// each calls f for every cell, state by state.
func each(m *model.Machine, f func(*model.Cell)) {
	for _, s := range m.States {
		for _, e := range m.Events {
			f(e.Cells[s.Index])
		}
	}
}
