package simulate_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/oracle"
	"github.com/pawl-go/pawl/internal/simulate"
	"github.com/pawl-go/pawl/internal/suite"
)

// What an order's stories come to is written here by hand, from the definition.
func TestStoriesOfAnOrder(t *testing.T) {
	t.Parallel()
	m := sample(t)
	want := map[simulate.StoryKind][]simulate.Outcome{
		simulate.Happy: {"Applied", "Applied", "Applied", "Applied", "passed", "Applied"},
		simulate.Late:  {"Applied", "passed", "Applied", "Applied"},
		simulate.Wrong: {"Applied", "Compensated"},
		simulate.Twice: {"Applied", "Applied", "Replayed", "Mismatched"},
	}
	end := map[simulate.StoryKind]string{simulate.Happy: "COMPLETED", simulate.Late: "REFUNDING", simulate.Wrong: "PENDING", simulate.Twice: "PAID"}
	require.Len(t, m.Stories(), len(want))
	for _, s := range m.Stories() {
		tape := m.Play(s.Steps)
		var got []simulate.Outcome
		for _, told := range tape.Steps {
			got = append(got, told.Outcome)
		}
		require.Equal(t, want[s.Kind], got, s.Kind)
		require.Equal(t, end[s.Kind], tape.Steps[len(tape.Steps)-1].To, s.Kind)
		if s.Kind != simulate.Happy {
			require.Equal(t, "payment_succeeded", s.Event.Name, s.Kind)
		}
	}
}

// Every definition has a story, and each begins with a row and fits a link.
func TestEveryDefinitionHasStories(t *testing.T) {
	t.Parallel()
	for file, m := range every(t) {
		played := simulate.For(m)
		require.NotEmpty(t, played.Stories(), file)
		for _, s := range played.Stories() {
			script := simulate.Parse(simulate.Text(s.Steps))
			require.Nil(t, script.Problem, file)
			tape := played.Play(script.Steps)
			require.Equal(t, oracle.Applied, tape.Steps[0].Outcome, file)
			for _, told := range tape.Steps {
				require.Nil(t, told.Problem, "%s: %s", file, s.Kind)
			}
		}
	}
}

// In every state of every definition, each event is offered with parameters that
// are right, and each way of a cell for which the suites know values is among them.
func TestWaysOfEveryState(t *testing.T) {
	t.Parallel()
	for file, m := range every(t) {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			played := simulate.For(m)
			maker := suite.For(m)
			for _, s := range m.States {
				ways, reached := maker.Shortest(s)
				if !reached {
					continue
				}
				life := maker.Life("", ways)
				steps := []simulate.Step{played.Created()}
				for i := range life.Steps {
					tape := played.Play(steps)
					steps = append(steps, taking(t, tape, life.Steps[i].Transition))
				}
				tape := played.Play(steps)
				r, there := tape.Row()
				require.True(t, there)
				require.Same(t, s, r.State)
				offered(t, tape, s)
			}
		})
	}
}

// taking is the offered call that takes a transition.
func taking(t *testing.T, tape *simulate.Tape, want *model.Transition) simulate.Step {
	t.Helper()
	for _, e := range tape.Ways() {
		for _, w := range e.Ways {
			for _, g := range w.Told.Guards {
				if g.Taken && g.Transition == want && w.Told.Outcome == oracle.Applied {
					return w.Step
				}
			}
		}
	}
	require.FailNow(t, "no way is offered", "%s to %s", want.Event.Name, want.To.Name)
	return simulate.Step{}
}

func offered(t *testing.T, tape *simulate.Tape, s *model.State) {
	t.Helper()
	all := tape.Ways()
	require.Len(t, all, len(tape.Machine.Model.Events))
	for i, e := range all {
		require.Same(t, tape.Machine.Model.Events[i], e.Event)
		require.NotEmpty(t, e.Ways)
		for _, w := range e.Ways {
			require.Nil(t, w.Told.Problem)
			require.NotContains(t, []simulate.Outcome{oracle.BadArgument, oracle.CheckFailed, oracle.Mismatched, simulate.Open, simulate.Failed}, w.Told.Outcome, "%s in %s", e.Event.Name, s.Name)
			steps := append(stepsOf(tape), w.Step)
			last := tape.Machine.Play(steps).Steps[len(steps)-1]
			require.Equal(t, w.Told.Outcome, last.Outcome, "what is offered is what happens")
			require.Equal(t, w.Told.To, last.To)
		}
		cell := e.Event.Cells[s.Index]
		if variants := suite.Variants(cell); len(variants) == 1 {
			require.Len(t, e.Ways, 1)
			require.Equal(t, simulate.Outcome(variants[0].Outcome), e.Ways[0].Told.Outcome, "%s in %s", e.Event.Name, s.Name)
		}
	}
}

func stepsOf(tape *simulate.Tape) []simulate.Step {
	var out []simulate.Step
	for _, s := range tape.Steps {
		out = append(out, s.Step)
	}
	return out
}

func TestWaysOfAPaidOrder(t *testing.T) {
	t.Parallel()
	tape := play(t, sample(t), bought+"/payment_succeeded,payment_no=payment_no-2,paid_cents=100")
	got := map[string][]simulate.Outcome{}
	for _, e := range tape.Ways() {
		for _, w := range e.Ways {
			got[e.Event.Name] = append(got[e.Event.Name], w.Told.Outcome)
		}
	}
	require.Equal(t, []simulate.Outcome{"Applied", "Applied", "GuardFailed"}, got["refund"], "a part, the rest, too much")
	require.Equal(t, []simulate.Outcome{"Applied"}, got["ship"])
	require.Equal(t, []simulate.Outcome{"Compensated"}, got["payment_succeeded"])
	require.Empty(t, play(t, sample(t), "1").Ways(), "there is no row")
}

// A fact told again has the same call once more, and another one whose fingerprint
// is another.
func TestAgain(t *testing.T) {
	t.Parallel()
	m := sample(t)
	tape := play(t, m, bought+"/pay/payment_failed,payment_no=p0/payment_succeeded,payment_no=p1,paid_cents=100")
	require.Nil(t, tape.Again(&tape.Steps[1]), "no fact is left")
	failed := tape.Again(&tape.Steps[2])
	require.Nil(t, failed.Other, "there is no fingerprint")
	require.Equal(t, oracle.Replayed, tape.Then(failed.Same).Outcome)
	paid := tape.Again(&tape.Steps[len(tape.Steps)-1])
	require.Equal(t, oracle.Replayed, tape.Then(paid.Same).Outcome)
	require.Equal(t, oracle.Mismatched, tape.Then(*paid.Other).Outcome)
	require.Equal(t, "paid_cents", paid.Param.Name)
	require.Equal(t, 4, len(tape.Steps), "asking changes nothing")
	require.True(t, slices.Equal(paid.Same.Args, tape.Steps[3].Step.Args))
}

// An event whose guard is not worked out is offered once for each way that it can
// go, with the choice made.
func TestWaysOfWhatCannotBeWorkedOut(t *testing.T) {
	t.Parallel()
	tape := play(t, machine(t, hard), "1/.create,rest=6")
	var got []string
	for _, w := range tape.Ways()[0].Ways {
		got = append(got, simulate.Text([]simulate.Step{w.Step})+" "+w.Told.To)
		require.Contains(t, []simulate.Outcome{oracle.Applied, oracle.GuardFailed}, w.Told.Outcome)
		require.NotEmpty(t, w.Step.Choices)
	}
	require.Contains(t, got[0], ".1=true B")
}
