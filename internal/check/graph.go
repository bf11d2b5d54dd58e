package check

import "github.com/pawl-go/pawl/internal/model"

// graph warns of states that no row reaches, or that none can leave.
func (c *checker) graph() {
	if c.gaps {
		return
	}
	states := c.machine.States
	next := make([][]int, len(states))
	for _, t := range c.machine.Transitions {
		for _, from := range t.From {
			if from != t.To {
				next[from.Index] = append(next[from.Index], t.To.Index)
			}
		}
	}
	if reached := reach(c.machine.Initial(), next); reached != nil {
		for i, s := range states {
			if !reached[i] {
				c.warnf(s.Pos, CodeUnreached, "no row ever reaches state %s: no way leads to it from %s; add a transition, or delete the state", quote(s.Name), quote(c.machine.Initial().Name))
			}
		}
	}
	for i, s := range states {
		if len(next[i]) == 0 && !s.Final && !s.Resting {
			c.warnf(s.Pos, CodeDeadEnd, "no transition leaves state %s; add one, or mark it final: true", quote(s.Name))
		}
	}
}

func reach(from *model.State, next [][]int) []bool {
	if from == nil {
		return nil
	}
	reached := make([]bool, len(next))
	reached[from.Index] = true
	for queue := []int{from.Index}; len(queue) > 0; queue = queue[1:] {
		for _, to := range next[queue[0]] {
			if !reached[to] {
				reached[to] = true
				queue = append(queue, to)
			}
		}
	}
	return reached
}
