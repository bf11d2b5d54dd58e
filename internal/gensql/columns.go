package gensql

import (
	"fmt"

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
// sets, in table order.
func (j *judge) setColumns() []string {
	var lines []string
	for _, c := range j.m.Table.Columns {
		set := false
		rest := "o." + ident(c.Name)
		value := j.choose(func(_ int, t *model.Transition) string {
			for _, a := range t.Set {
				if a.Column == c {
					set = true
					return setValue(a)
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

// setValue renders what a transition assigns, in parentheses unless it is one
// thing.
func setValue(a model.Assignment) string {
	sql := inQuery(a.Value, "o")
	if len(a.Value.Parts) == 1 {
		return sql
	}
	return "(" + sql + ")"
}
