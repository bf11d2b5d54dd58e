package genfire

import (
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/suite"
)

// MaxCells is the size of a machine, in cells, up to which every guard is
// given values. The cases of a larger one are Plain.
const MaxCells = 20_000

// Plain makes the cases and races of a machine without a look at its guards: one
// case a cell, which renders as one line for all states with one decision, and
// one race for each event that meets itself where it moves a row without a
// guard. Cells with guards are left without values, and are skipped.
func Plain(m *model.Machine) (cells, races []*suite.Case) {
	for _, s := range m.States {
		for _, e := range m.Events {
			step := plainStep(e.Cells[s.Index])
			cells = append(cells, &suite.Case{Start: s, Steps: []suite.Step{step}})
			if step.Moved() && step.Unknown == "" && len(e.Identity) == 0 {
				second := plainStep(e.Cells[step.To.Index])
				second.Second = true
				races = append(races, &suite.Case{Start: s, Steps: []suite.Step{step, second}})
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
