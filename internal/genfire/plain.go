package genfire

import (
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/suite"
)

// Plain makes the cases and races of a machine whose values need no thought: one
// case a cell, and one race for each ordered pair of events that both move a row
// from one state without a guard. What has a guard is left without values.
func Plain(m *model.Machine) (cells, races []*suite.Case) {
	for _, s := range m.States {
		var moving []suite.Step
		for _, e := range m.Events {
			step := plainStep(e.Cells[s.Index])
			cells = append(cells, &suite.Case{Start: s, Steps: []suite.Step{step}})
			if step.Moved() && step.Unknown == "" {
				moving = append(moving, step)
			}
		}
		for _, first := range moving {
			for _, second := range moving {
				second.Second = true
				races = append(races, &suite.Case{Start: s, Steps: []suite.Step{first, second}})
			}
		}
	}
	return cells, races
}

func plainStep(c *model.Cell) suite.Step {
	step := suite.Step{From: c.State, Event: c.Event, To: c.State}
	for _, p := range c.Event.Params {
		step.Params = append(step.Params, suite.Value{Name: p.Name, SQL: plain(p.Type)})
	}
	for _, t := range c.Transitions {
		if t.Guard != nil {
			step.Unknown = "it depends on a guard"
		}
	}
	if c.Moves() {
		t := c.Transitions[0]
		step.Transition, step.To, step.Outcome, step.Emit = t, t.To, suite.Applied, t.Emit
		return step
	}
	step.Outcome = suite.Outcome(outcomeOf(c.Otherwise))
	if c.Otherwise == model.Compensate {
		step.Emit = c.Emit
	}
	return step
}
