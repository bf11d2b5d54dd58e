package gensql

import (
	"fmt"
	"strings"

	"github.com/pawl-go/pawl/internal/model"
)

// judge numbers what an event can come to on a row: 1 to n for its n
// transitions in the order written, n+1 for compensate, then the decisions
// that write nothing. 0 is a state that the definition does not have.
type judge struct {
	m     stored
	event *model.Event
	moves []*model.Transition
	// asks spells what the caller gives beside the real row, takes beside the
	// locked one.
	asks, takes args
	// only restricts the states of the transitions, for a sweep; nil for all.
	only []*model.State
}

func newJudge(m stored, e *model.Event) *judge {
	return &judge{m: m, event: e, moves: m.Moves(e)}
}

// number is that of a decision: after the transitions, those that occur,
// compensate first.
func (j *judge) number(d model.Decision) int {
	n := len(j.moves)
	for _, other := range decisions {
		if len(j.states(other)) > 0 {
			n++
		}
		if other == d {
			break
		}
	}
	return n
}

// compensate is the number of the compensate decision.
func (j *judge) compensate() int { return j.number(model.Compensate) }

// decisions are what a cell may say when no transition is taken, in the order
// of their numbers; the quiet ones write nothing.
var (
	decisions      = append([]model.Decision{model.Compensate}, quietDecisions...)
	quietDecisions = []model.Decision{model.Replay, model.Ignore, model.Reject, model.GuardFailed}
)

// states returns the states whose cell ends in the decision.
func (j *judge) states(d model.Decision) []*model.State {
	var states []*model.State
	for _, c := range j.event.Cells {
		if !c.Closed() && c.Otherwise == d {
			states = append(states, c.State)
		}
	}
	return states
}

// compensates reports whether a cell of the event compensates.
func (j *judge) compensates() bool { return j.event.Compensates() }

// compensateEmit is what a compensate of the event emits; an event has one list.
func (j *judge) compensateEmit() []string {
	for _, c := range j.event.Cells {
		if c.Otherwise == model.Compensate && !c.Closed() {
			return c.Emit
		}
	}
	return nil
}

// from returns the states of a transition that the judge looks at.
func (j *judge) from(t *model.Transition) []*model.State {
	if j.only == nil {
		return t.From
	}
	return only(t.From, j.only)
}

// cell renders the number as a CASE over the real row. With all unset it stops
// after what writes.
func (j *judge) cell(all bool) []string {
	lines := []string{"(CASE"}
	when := func(condition string, n int) {
		lines = append(lines, fmt.Sprintf("   WHEN %s THEN %d", condition, n))
	}
	for i, t := range j.moves {
		states := j.from(t)
		if len(states) == 0 {
			continue
		}
		condition := j.m.in(states)
		if t.Guard != nil {
			condition += " AND " + j.asks.isTrue(t.Guard, "o")
		}
		when(condition, i+1)
	}
	if j.only == nil && j.compensates() {
		when(j.m.in(j.states(model.Compensate)), j.compensate())
	}
	if all {
		for _, d := range quietDecisions {
			if states := j.states(d); len(states) > 0 {
				when(j.m.in(states), j.number(d))
			}
		}
	}
	if len(lines) == 1 {
		return []string{"0"}
	}
	return append(lines, "   ELSE 0 END)::integer")
}

// lateral joins the cell to the row as c.fsm_cell.
func (j *judge) lateral(all bool) []string {
	cell := j.cell(all)
	lines := []string{"CROSS JOIN LATERAL (SELECT " + cell[0]}
	lines = append(lines, cell[1:]...)
	lines[len(lines)-1] += " AS fsm_cell) AS c"
	return lines
}

// movingCell is the condition that a cell number is a transition's.
func (j *judge) movingCell(cell string) string {
	switch n := len(j.moves); n {
	case 1:
		return cell + " = 1"
	default:
		return fmt.Sprintf("%s BETWEEN 1 AND %d", cell, n)
	}
}

// writingCell is the condition that a cell number writes something.
func (j *judge) writingCell(cell string) string {
	switch {
	case !j.compensates():
		return j.movingCell(cell)
	case len(j.moves) == 0:
		return fmt.Sprintf("%s = %d", cell, j.compensate())
	}
	return fmt.Sprintf("%s BETWEEN 1 AND %d", cell, j.compensate())
}

// choose renders a value by transition: the value itself where all agree,
// otherwise a CASE over l.fsm_cell. A transition without a value gets rest.
func (j *judge) choose(value func(i int, t *model.Transition) string, rest string) string {
	values := make([]string, len(j.moves))
	same := true
	for i, t := range j.moves {
		values[i] = value(i, t)
		same = same && values[i] == values[0]
	}
	switch {
	case len(values) == 0:
		return rest
	case same:
		return values[0]
	}
	var b strings.Builder
	b.WriteString("CASE l.fsm_cell")
	for i, v := range values {
		if v != rest {
			fmt.Fprintf(&b, " WHEN %d THEN %s", i+1, v)
		}
	}
	if rest != "NULL" {
		b.WriteString(" ELSE " + rest)
	}
	return b.String() + " END"
}

// target is what the status column of a moved row gets; a row that does not
// move keeps what it holds.
func (j *judge) target() string {
	rest := j.m.state("l")
	if j.m.text() != j.m.status() {
		rest = j.m.status()
	}
	return j.choose(func(_ int, t *model.Transition) string { return j.m.value(t.To) }, rest)
}

// targetName is the name of the state that a moved row gets, as it is written.
func (j *judge) targetName() string {
	return j.choose(func(_ int, t *model.Transition) string { return literal(j.m.name(t.To)) }, j.m.written(j.m.state("l")))
}

// legend describes the numbers, for the query's comment.
func (j *judge) legend() []string {
	var lines []string
	for i, t := range j.moves {
		if len(j.from(t)) == 0 {
			continue
		}
		line := fmt.Sprintf("%d: %s → %s", i+1, model.StateNames(j.from(t)), t.To.Name)
		if t.Guard != nil && t.Guard.Name != "" {
			line += " when " + t.Guard.Name
		} else if t.Guard != nil {
			line += " when " + strings.Join(strings.Fields(t.Guard.SQL.Source), " ")
		}
		if len(t.Emit) > 0 {
			line += ", emits " + strings.Join(t.Emit, ", ")
		}
		lines = append(lines, line)
	}
	if j.only == nil {
		for _, d := range decisions {
			if states := j.states(d); len(states) > 0 {
				lines = append(lines, fmt.Sprintf("%d: %s in %s", j.number(d), d, model.StateNames(states)))
			}
		}
	}
	return lines
}
