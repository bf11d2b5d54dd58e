package compare

import (
	"slices"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
)

// decision notes that a cell decides otherwise.
func (g *grouped) decision(o, n *model.Cell) {
	reasons := g.running(g.judge(o, n))
	if g.calls() && g.endsCellsEdges(o) {
		reasons = []Reason{g.judge(o, n), programs("they decide as before, and the database takes their moves " + untilAdvance)}
	}
	old, new := cellEmits(o), cellEmits(n)
	if topics := without(old, new); len(topics) > 0 {
		reasons = append(reasons, breaks(consumers("it does not emit "+list(topics)+" here any more")))
	}
	if topics := without(new, old); len(topics) > 0 {
		reasons = append(reasons, consumers("it emits "+list(topics)+" here"))
	}
	g.note(cellChange{kind: CellDecision, level: Minor, text: "was: " + g.says(o, g.newName) + "; is: " + g.says(n, own),
		reasons: reasons, old: cellPos(o), new: cellPos(n)})
}

func cellEmits(c *model.Cell) []string {
	var topics []string
	for _, t := range c.Transitions {
		topics = append(topics, t.Emit...)
	}
	if c.Compensates() {
		topics = append(topics, c.Emit...)
	}
	return unique(topics)
}

func cellPos(c *model.Cell) diag.Position {
	if c.Moves() {
		return c.Transitions[0].Pos
	}
	return c.Event.Pos
}

// judge says what another decision does to callers. It is safe when every call
// that moved a row still does, to the same state, and no success becomes a
// refusal and no record is left out.
func (g *grouped) judge(o, n *model.Cell) Reason {
	kept := 0
	for kept < min(len(o.Transitions), len(n.Transitions)) && g.newName(o.Transitions[kept].To) == n.Transitions[kept].To.Name &&
		g.keeps(o.Transitions[kept], n.Transitions[kept], kept == len(o.Transitions)-1 && kept == len(n.Transitions)-1) {
		kept++
	}
	switch {
	case kept < len(o.Transitions) && !n.Moves():
		return breaks(callers("calls that moved the row do not any more"))
	case kept < len(o.Transitions):
		return breaks(callers("some calls that moved the row lead elsewhere or are answered otherwise"))
	case !n.Closed() && o.Otherwise != n.Otherwise:
		if r := decided(o.Otherwise, n.Otherwise); r.Breaks || len(n.Transitions) == len(o.Transitions) {
			return r
		}
	}
	switch o.Otherwise {
	case model.Reject, model.GuardFailed:
		return callers("calls that were refused move the row now")
	case model.Compensate:
		return callers("facts that were recorded without a move move the row now")
	}
	return callers("calls that succeeded and did nothing move the row now")
}

// keeps reports whether whatever took o takes n.
func (g *grouped) keeps(o, n *model.Transition, last bool) bool {
	return sameGuard(o.Guard, n.Guard) || last && compareGuards(o.Guard, n.Guard) == looser
}

// decided says what another answer does where no transition is taken.
func decided(o, n model.Decision) Reason {
	refusals := []model.Decision{model.Reject, model.GuardFailed}
	switch {
	case o == model.Compensate:
		return breaks(callers("facts that were recorded leave no trace any more"))
	case slices.Contains(refusals, o) && slices.Contains(refusals, n):
		return callers("calls are refused as before, under another name")
	case slices.Contains(refusals, o):
		return callers("calls that were refused succeed now, and move nothing")
	case slices.Contains(refusals, n):
		return breaks(callers("calls that succeeded and did nothing are refused now"))
	case n == model.Compensate:
		return callers("facts that did nothing are recorded now")
	}
	return callers("calls succeed and do nothing as before, under another name")
}
