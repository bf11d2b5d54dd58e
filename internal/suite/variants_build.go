package suite

import (
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

func newBuilder(f *filler, name string) *builder {
	return &builder{suite: &Suite{Machine: f.machine, Name: name}, filler: f, at: map[string]int{}}
}

// item adds something to be covered, and returns its index.
func (b *builder) item(kind ItemKind, id string, steps ...ItemStep) int {
	b.suite.Items = append(b.suite.Items, Item{ID: string(kind) + " " + id, Kind: kind, Steps: steps})
	return len(b.suite.Items) - 1
}

// add fills a case and adds it, with what it covers. A case for which no values
// exist is not added: the items that nothing else covers say so.
func (b *builder) add(id []string, steps []Step, more map[int][]example.Condition, covers ...int) bool {
	if b.full() {
		return false
	}
	c := &Case{ID: b.id(id), Start: steps[0].From, Steps: steps}
	if !b.filler.filled(c, more) {
		for _, i := range covers {
			b.suite.Items[i].Why = c.why()
		}
		return false
	}
	b.put(c, covers...)
	return true
}

// full reports whether the suite has more cases than are wanted, so that it is
// not worth its completion.
func (b *builder) full() bool {
	return b.filler.limit > 0 && len(b.suite.Cases) > b.filler.limit
}

// put adds a case that is filled.
func (b *builder) put(c *Case, covers ...int) {
	c.Covers = ascending(covers)
	b.suite.Cases = append(b.suite.Cases, c)
}

// id is the ID of a case, of parts that are free of slashes.
func (b *builder) id(parts []string) string {
	return caseID(b.suite.Machine, b.suite.Name, parts...)
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

// done is the suite, of whose items those that no case covers say why.
func (b *builder) done() *Suite {
	b.suite.settle()
	return b.suite
}

// path is a cell as the parts of an ID, with what follows, empty parts left out.
func path(cell *model.Cell, more ...string) []string {
	return with([]string{part(cell.State.Name), part(cell.Event.Name)}, more...)
}

// with is an ID with further parts, those that are not empty.
func with(id []string, parts ...string) []string {
	out := id[:len(id):len(id)]
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return out
}

// named is a cell in the ID of an item, with what is said of it.
func named(cell *model.Cell, more ...string) string {
	return strings.Join(with([]string{cellID(cell, "")}, more...), " ")
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
