package gensql

import (
	"fmt"
	"slices"

	"github.com/pawl-go/pawl/internal/model"
)

// deadlineAt is the due time of a row that enters a state, without a look at
// how often it ran.
func deadlineAt(s *model.State) string {
	if s.Deadline == nil {
		return "NULL"
	}
	return now + " + " + interval(s.Deadline.After)
}

// loops reports whether a transition is the counted self-loop of a deadline
// of its target state.
func loops(t *model.Transition) bool {
	d := t.To.Deadline
	if d == nil || d.Max == 0 || d.Event != t.Event {
		return false
	}
	for _, s := range t.From {
		if s == t.To {
			return true
		}
	}
	return false
}

// setDeadline is the SET of the deadline columns; nothing for a machine
// without deadlines.
func (j *judge) setDeadline() []string {
	if !j.m.Deadlines() {
		return nil
	}
	stays := func(t *model.Transition) string {
		return j.m.state("l") + " = " + literal(t.To.Name)
	}
	lines := []string{j.m.deadline() + " = " + j.choose(func(_ int, t *model.Transition) string {
		if loops(t) {
			return fmt.Sprintf("CASE WHEN %s AND l.%s + 1 >= %d THEN NULL ELSE %s END",
				stays(t), j.m.runs(), t.To.Deadline.Max, deadlineAt(t.To))
		}
		return deadlineAt(t.To)
	}, "NULL")}
	if j.m.CountsRuns() {
		lines = append(lines, j.m.runs()+" = "+j.choose(func(_ int, t *model.Transition) string {
			if loops(t) {
				return fmt.Sprintf("CASE WHEN %s THEN l.%s + 1 ELSE 0 END", stays(t), j.m.runs())
			}
			return "0"
		}, "0"))
	}
	return lines
}

// setColumns is the SET of the declared columns that a transition of the event
// sets, in table order, and of those that a CHECK looks at beside a column that
// is written. All are computed from the locked row: PostgreSQL first tries an
// UPDATE, and its CHECKs, on the row as the statement saw it, and only then
// finds that it has become another. A mixture of both could break a CHECK that
// each of them keeps.
func (j *judge) setColumns() []string {
	var written []string
	for _, t := range j.moves {
		for _, a := range t.Set {
			written = append(written, a.Column.Name)
		}
	}
	beside := j.m.checkedBeside(written)
	var lines []string
	for _, c := range j.m.Table.Columns {
		set := slices.Contains(beside, c.Name)
		rest := "l." + ident(c.Name)
		value := j.choose(func(_ int, t *model.Transition) string {
			for _, a := range t.Set {
				if a.Column == c {
					set = true
					return j.setValue(a)
				}
			}
			return rest
		}, rest)
		if set {
			lines = append(lines, ident(c.Name)+" = "+value)
		}
	}
	return lines
}

// checkedBeside returns the names of the columns in each CHECK that looks at
// several and at one that is written, by itself or as one of the machine's own.
// What is taken from the locked row is written too, so that it reaches the next
// CHECK that looks at it.
func (t stored) checkedBeside(written []string) []string {
	written = append(t.Table.Own(), written...)
	var beside []string
	for more := true; more; {
		more = false
		for _, c := range t.Table.Columns {
			names := checked(c)
			if len(names) < 2 || !slices.ContainsFunc(names, func(name string) bool { return slices.Contains(written, name) }) {
				continue
			}
			for _, name := range names {
				if !slices.Contains(beside, name) {
					beside, written, more = append(beside, name), append(written, name), true
				}
			}
		}
	}
	return beside
}

// checked returns the names of the columns that a column's CHECK looks at.
func checked(c *model.Column) []string {
	if c.Check == nil {
		return nil
	}
	var names []string
	for _, p := range c.Check.Parts {
		if p.Kind == model.ColumnRef && !slices.Contains(names, p.Text) {
			names = append(names, p.Text)
		}
	}
	return names
}

// setValue renders what a transition assigns, in parentheses unless it is one
// thing. The locked row has the state's name where the table may have a code.
func (j *judge) setValue(a model.Assignment) string {
	row := "l"
	if asks := func(p model.Part) bool { return p.Kind == model.ColumnRef && p.Text == j.m.Table.Status.Column }; slices.ContainsFunc(a.Value.Parts, asks) {
		row = "o"
	}
	sql := j.takes.inQuery(a.Value, row)
	if len(a.Value.Parts) == 1 {
		return sql
	}
	return "(" + sql + ")"
}
