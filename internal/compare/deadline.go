package compare

import (
	"fmt"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/duration"
	"github.com/pawl-go/pawl/internal/model"
)

func (d *differ) deadline(o, n *model.State) {
	path, what := "states."+n.Name+".deadline", "the deadline of state "+n.Name
	was, is := o.Deadline, n.Deadline
	switch {
	case was == nil && is == nil:
		return
	case was == nil:
		late := "a row that they move there gets its due time with --advance"
		reasons := []Reason{rows("those in it get a due time, counted from the migration")}
		if !d.old.Deadlines() {
			reasons = append(reasons, callers("Sweeps is new; without a sweeper that has it nothing fires"))
			late += "; they leave a due time standing when they move a row on, so run the sweeper after that"
		}
		reasons = append(reasons, programs(late))
		d.add(DeadlineAdded, path, diag.Position{}, is.Pos, Minor, "state "+n.Name+" has a deadline now: "+deadlineText(is), d.ifCalls(reasons)...)
		return
	case is == nil:
		reasons := []Reason{rows("those in it lose their due time, and stay until an event comes"),
			programs("rows that they move there have a due time, and their sweepers fire " + was.Event.Name + ", " + untilAdvance)}
		if !d.new.Deadlines() {
			reasons = append(reasons, breaks(callers("the machine has no deadline any more, so Sweeps is gone")))
		}
		d.add(DeadlineRemoved, path, was.Pos, diag.Position{}, Minor, "state "+n.Name+" has no deadline any more; it was "+deadlineText(was), d.ifCalls(reasons)...)
		return
	}
	if was.After != is.After {
		d.add(DeadlineAfter, path+".after", was.Pos, is.Pos, Minor, what+" comes after "+duration.Format(is.After)+"; it was "+duration.Format(was.After),
			d.ifCalls([]Reason{rows("those in it keep the due time that they have"), programs("rows that they move there get the old time")})...)
	}
	if was.Event.Name != is.Event.Name {
		d.add(DeadlineEvent, path+".event", was.Pos, is.Pos, Minor, what+" fires "+is.Event.Name+"; it was "+was.Event.Name,
			d.ifCalls([]Reason{rows("those that are due fire " + is.Event.Name), programs("their sweepers still fire " + was.Event.Name)})...)
	}
	if was.Max != is.Max {
		d.add(DeadlineMax, path+".max", was.Pos, is.Pos, Minor, what+" runs "+times(is.Max)+"; it was "+times(was.Max),
			d.ifCalls([]Reason{rows("a due time that is set still fires; the next one is set by the new number")})...)
	}
}

// ifCalls leaves out the reasons that speak of rows and calls where there are none.
func (d *differ) ifCalls(reasons []Reason) []Reason {
	if !d.calls() {
		return nil
	}
	return reasons
}

func deadlineText(w *model.Deadline) string {
	text := w.Event.Name + " after " + duration.Format(w.After)
	if w.Max > 0 {
		text += ", " + times(w.Max)
	}
	return text
}

func times(n int) string {
	if n == 0 {
		return "without end"
	}
	return fmt.Sprintf("at most %d times", n)
}
