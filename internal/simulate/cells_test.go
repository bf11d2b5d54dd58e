package simulate_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/oracle"
	"github.com/pawl-go/pawl/internal/simulate"
	"github.com/pawl-go/pawl/internal/suite"
)

// Every case that the suites of every definition have is played as a link, and must
// come to what the suite says, which knows nothing of the oracle: every cell, every
// way of it, facts told again and versions that are wrong.
func TestEveryCellAsTheSuitesHaveIt(t *testing.T) {
	t.Parallel()
	for file, m := range every(t) {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			played := simulate.For(m)
			cells := map[*model.Cell]bool{}
			maker := suite.For(m)
			for _, name := range []string{"all-cells", "guards", "n-plus", "walks"} {
				s, err := maker.Make(name, 0)
				require.NoError(t, err)
				for _, c := range s.Cases {
					for i, step := range tellable(c) {
						if i == 0 {
							cells[step.Event.Cells[step.From.Index]] = true
						}
					}
					playCase(t, played, c)
				}
			}
			require.Len(t, cells, len(m.States)*len(m.Events), "every cell")
		})
	}
}

// tellable are the steps of a case before the first that has no values, or is of
// another row, which a life does not have.
func tellable(c *suite.Case) []suite.Step {
	at := slices.IndexFunc(c.Steps, func(s suite.Step) bool { return s.Unknown != "" || s.Other })
	if at < 0 {
		return c.Steps
	}
	return c.Steps[:at]
}

func playCase(t *testing.T, m *simulate.Machine, c *suite.Case) {
	t.Helper()
	steps := []simulate.Step{{Kind: simulate.Create}}
	if c.Start != nil {
		steps[0] = simulate.Step{Kind: simulate.Given, Name: c.Start.Name}
	}
	for _, v := range c.Given {
		table := m.Model.Table
		switch {
		case v.Name == table.Version:
			_, err := fmt.Sscan(v.Text, &steps[0].Version)
			require.NoError(t, err)
		case !v.Null && (c.Start != nil || table.Column(v.Name) == nil || slices.Contains(m.Model.Created(), table.Column(v.Name))):
			steps[0].Args = append(steps[0].Args, simulate.Arg{Name: v.Name, Text: v.Text})
		}
	}
	at := max(steps[0].Version, 1)
	for _, s := range tellable(c) {
		call := simulate.Step{Name: s.Event.Name}
		for i, p := range s.Event.Params {
			text := "1"
			if len(s.Params) > 0 {
				if s.Params[i].Null {
					continue
				}
				text = s.Params[i].Text
			}
			call.Args = append(call.Args, simulate.Arg{Name: p.Name, Text: text})
		}
		switch s.Version {
		case suite.RightVersion:
			call.Version = at
		case suite.WrongVersion:
			call.Version = at + 1
		}
		if s.Moved() {
			at++
		}
		steps = append(steps, call)
	}
	text := simulate.Text(steps)
	tape := play(t, m, text)
	require.Contains(t, []simulate.Outcome{oracle.Applied, simulate.Began}, tape.Steps[0].Outcome, "%s: %s", c.ID, text)
	for i, s := range tellable(c) {
		got := tape.Steps[i+1]
		require.Nil(t, got.Problem, "%s: %s", c.ID, text)
		require.Equal(t, simulate.Outcome(s.Outcome), got.Outcome, "%s: step %d of %s", c.ID, i+1, text)
		require.Equal(t, []string{s.From.Name, s.To.Name}, []string{got.From, got.To}, c.ID)
		require.Equal(t, len(s.Emit), len(got.Emits), c.ID)
		for j, topic := range s.Emit {
			require.Equal(t, topic, got.Emits[j], c.ID)
		}
		require.Equal(t, s.Fact, got.Fact != nil, c.ID)
		require.Equal(t, s.Moved(), got.History, c.ID)
		require.Equal(t, s.Moved(), got.Version == got.Was+1, c.ID)
		taken := slices.IndexFunc(got.Guards, func(g simulate.Tried) bool { return g.Taken })
		if s.Transition != nil {
			require.Same(t, s.Transition, got.Guards[taken].Transition, c.ID)
		}
		after(t, c, &s, got)
	}
}

// after holds the columns that the suite knows against those that were set.
func after(t *testing.T, c *suite.Case, s *suite.Step, got simulate.Told) {
	t.Helper()
	for _, want := range s.After {
		for _, set := range got.Set {
			if set.Column.Name == want.Name && set.Column.Type.Kind != model.KindTime && set.Column.Type.Kind != model.KindNumeric {
				text, null, known := simulate.Shown(set.After)
				require.True(t, known, c.ID)
				require.Equal(t, []any{want.Text, want.Null}, []any{text, null}, "%s: %s", c.ID, want.Name)
			}
		}
	}
}
