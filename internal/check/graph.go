package check

import (
	"slices"

	"github.com/pawl-go/pawl/internal/model"
)

// Tags that the rules know. They stand for what the language cannot see: where
// a row holds a customer's money, and how it rightly leaves.
const (
	tagMoney    = "money"
	tagRefund   = "refund"
	tagDelivery = "delivery"
)

// graph warns of states that no row reaches, that none can leave, that lead to
// no end, that wait for somebody outside alone, and that lose money.
func (c *checker) graph() {
	if c.gaps {
		return
	}
	states := c.machine.States
	next := make([][]int, len(states))
	back := make([][]int, len(states))
	for _, t := range c.machine.Transitions {
		for _, from := range t.From {
			if from != t.To {
				next[from.Index] = append(next[from.Index], t.To.Index)
				back[t.To.Index] = append(back[t.To.Index], from.Index)
			}
		}
	}
	if initial := c.machine.Initial(); initial != nil {
		reached := reach([]int{initial.Index}, next)
		for i, s := range states {
			if !reached[i] && !s.Retired {
				c.warnf(s.Pos, CodeUnreached, "no row ever reaches state %s: no way leads to it from %s; add a transition, or delete the state", quote(s.Name), quote(initial.Name))
			}
		}
	}
	for i, s := range states {
		if len(next[i]) == 0 && !s.Final && !s.Resting {
			c.warnf(s.Pos, CodeDeadEnd, "no transition leaves state %s; add one, or mark it final: true", quote(s.Name))
		}
	}
	c.ends(next, back)
	c.stuck(next)
	c.money()
}

// ends warns of states from which no row can come to an end: a final state, or
// one where it may rest. A machine without any is a cycle, of which there is
// nothing to say.
func (c *checker) ends(next, back [][]int) {
	var ends []int
	final := false
	for i, s := range c.machine.States {
		final = final || s.Final
		if s.Final || s.Resting {
			ends = append(ends, i)
		}
	}
	if !final {
		return
	}
	ending := reach(ends, back)
	for i, s := range c.machine.States {
		if !ending[i] && len(next[i]) > 0 {
			c.warnf(s.Pos, CodeNoEnd, "a row in state %s can never come to an end: no way leads from it to a final or resting state; add one, or mark a state final or resting", quote(s.Name))
		}
	}
}

// stuck warns of states in which a row waits with no deadline and no event that
// is for people: one that is neither a callback nor a deadline's.
func (c *checker) stuck(next [][]int) {
	human := make([]bool, len(c.machine.States))
	timed := make(map[*model.Event]bool)
	for _, s := range c.machine.States {
		if s.Deadline != nil {
			timed[s.Deadline.Event] = true
		}
	}
	for _, t := range c.machine.Transitions {
		if !t.Event.Callback && !timed[t.Event] {
			for _, from := range t.From {
				human[from.Index] = true
			}
		}
	}
	for i, s := range c.machine.States {
		if s.Final || s.Resting || s.Deadline != nil || human[i] || len(next[i]) == 0 {
			continue
		}
		c.warnf(s.Pos, CodeStuck, "a row may stay in state %s for good: it has no deadline, and nothing moves the row from it but callbacks, which may not come, and events that the deadlines of other states fire; add a deadline or an event for people, or mark the state resting", quote(s.Name))
	}
}

// money warns of states that hold money and from which a row can come to a
// final state without a transition that gives something for it.
func (c *checker) money() {
	states := c.machine.States
	lost := make([][]int, len(states)) // ways on which neither money nor goods change hands
	for _, t := range c.machine.Transitions {
		if t.Tagged(tagRefund) || t.Tagged(tagDelivery) {
			continue
		}
		for _, from := range t.From {
			lost[from.Index] = append(lost[from.Index], t.To.Index)
		}
	}
	for i, s := range states {
		if !slices.Contains(s.Tags, tagMoney) || s.Final {
			continue
		}
		for j, reached := range reach([]int{i}, lost) {
			if reached && states[j].Final {
				c.warnf(s.Pos, CodeMoney, "state %s holds money, and a row can come from it to %s without a refund or a delivery; tag the transitions that give the money or the goods with refund or delivery, or close the way",
					quote(s.Name), quote(states[j].Name))
				break
			}
		}
	}
}

// reach marks what can be reached from some states, themselves included.
func reach(from []int, next [][]int) []bool {
	reached := make([]bool, len(next))
	for _, i := range from {
		reached[i] = true
	}
	for queue := slices.Clone(from); len(queue) > 0; queue = queue[1:] {
		for _, to := range next[queue[0]] {
			if !reached[to] {
				reached[to] = true
				queue = append(queue, to)
			}
		}
	}
	return reached
}

// loops reports whether a transition of the cell leads back to its state.
func loops(cell *model.Cell) bool {
	return slices.ContainsFunc(cell.Transitions, func(t *model.Transition) bool { return t.To == cell.State })
}
