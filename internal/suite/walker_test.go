package suite_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/suite"
)

// walked is what an independent walker sees of a case: it knows the cells of the
// machine and nothing of how suites are made.
type walked struct {
	// way has, for each step, its cell and transition in words.
	way []string
}

// cellWords names a cell with what was done in it, apart from all IDs of the package.
func cellWords(s *model.State, e *model.Event, t *model.Transition) string {
	words := s.Name + "\x00" + e.Name
	if t != nil {
		words += "\x00" + t.Pos.String()
	}
	return words
}

// walk takes a case step by step through the cells of the machine and fails
// where a step does what its cell does not allow. Steps of a second session are
// judged from where the step before has left the row.
func walk(t *testing.T, m *model.Machine, c *suite.Case) walked {
	t.Helper()
	var w walked
	at := m.Initial()
	if c.Start != nil {
		at = c.Start
	}
	for i := range c.Steps {
		s := &c.Steps[i]
		require.Same(t, at, s.From, "%s step %d", c.ID, i+1)
		cell := s.Event.Cells[at.Index]
		if s.Transition != nil {
			require.Contains(t, cell.Transitions, s.Transition, "%s step %d", c.ID, i+1)
		}
		requireTaken(t, c, s, cell)
		if s.Outcome == suite.Applied {
			at = s.Transition.To
		}
		require.Same(t, at, s.To, "%s step %d", c.ID, i+1)
		w.way = append(w.way, cellWords(s.From, s.Event, s.Transition))
	}
	return w
}

// requireTaken judges one step by its cell.
func requireTaken(t *testing.T, c *suite.Case, s *suite.Step, cell *model.Cell) {
	t.Helper()
	switch s.Outcome {
	case suite.Applied:
		require.NotNil(t, s.Transition, c.ID)
		require.Equal(t, s.Transition.Emit, s.Emit, c.ID)
		require.Equal(t, len(s.Event.Identity) > 0, s.Fact, c.ID)
	case suite.Stale:
		require.True(t, cell.Moves(), c.ID)
		require.Equal(t, suite.WrongVersion, s.Version, c.ID)
	case suite.Mismatched:
		require.True(t, s.Repeat, c.ID)
	default:
		if s.Outcome == suite.Replayed && s.Repeat {
			return // a known fact is answered before any cell is looked at
		}
		require.False(t, cell.Closed(), "%s: a transition is always taken here", c.ID)
		want := map[model.Decision]suite.Outcome{
			model.Reject: suite.Rejected, model.Replay: suite.Replayed, model.Ignore: suite.Ignored,
			model.Compensate: suite.Compensated, model.GuardFailed: suite.GuardFailed,
		}[cell.Otherwise]
		require.Equal(t, want, s.Outcome, c.ID)
		require.Nil(t, s.Transition, c.ID)
		require.Equal(t, s.Outcome == suite.Compensated, s.Fact, c.ID)
		if s.Outcome == suite.Compensated {
			require.Equal(t, cell.Emit, s.Emit, c.ID)
		} else {
			require.Empty(t, s.Emit, c.ID)
		}
	}
}

// requireWalkable walks all cases of a suite, and compares what was seen to be
// covered with what the suite says of itself. It returns what was seen of each case.
func requireWalkable(t *testing.T, s *suite.Suite) []walked {
	t.Helper()
	requireIDs(t, s)
	seen := make([]walked, len(s.Cases))
	for i, c := range s.Cases {
		seen[i] = walk(t, s.Machine, c)
		require.True(t, slices.IsSorted(c.Covers), c.ID)
		for at, item := range s.Items {
			require.Equal(t, covers(c, item), slices.Contains(c.Covers, at), "%s and %s", c.ID, item.ID)
		}
	}
	for at, cases := range s.CoveredBy() {
		require.Equal(t, len(cases) == 0, s.Items[at].Why != "", "%s is covered by a case, or says why not", s.Items[at].ID)
	}
	return seen
}

func requireIDs(t *testing.T, s *suite.Suite) {
	t.Helper()
	ids := make(map[string]bool)
	for _, c := range s.Cases {
		require.True(t, strings.HasPrefix(c.ID, s.Machine.Name+"/"+s.Name), c.ID)
		require.False(t, ids[c.ID], "%s stands twice", c.ID)
		ids[c.ID] = true
	}
	items := make(map[string]bool)
	for _, i := range s.Items {
		require.False(t, items[i.ID], "%s stands twice", i.ID)
		items[i.ID] = true
	}
}

// covers looks in the case for the item's cells, one after another without a
// gap, each done as the item says.
func covers(c *suite.Case, item suite.Item) bool {
	for first := 0; first+len(item.Steps) <= len(c.Steps); first++ {
		all := true
		for i, want := range item.Steps {
			all = all && does(&c.Steps[first+i], want, item.Kind)
		}
		if all {
			return true
		}
	}
	return false
}

func does(s *suite.Step, want suite.ItemStep, kind suite.ItemKind) bool {
	if s.From != want.State || s.Event != want.Event {
		return false
	}
	if kind == suite.ItemGuard {
		return s.Variant == want.Variant && s.Transition != want.Transition
	}
	return s.Transition == want.Transition
}

// moves lists the transitions of a machine as the walker names them.
func moves(m *model.Machine) []string {
	var all []string
	for _, t := range m.Transitions {
		for _, from := range t.From {
			all = append(all, cellWords(from, t.Event, t))
		}
	}
	return all
}

// chains lists all sequences of n transitions, each as the walker names it.
func chains(m *model.Machine, n int) []string {
	type chain struct {
		words string
		at    *model.State
	}
	var all []chain
	for _, s := range m.States {
		all = append(all, chain{"", s})
	}
	for range n {
		var longer []chain
		for _, c := range all {
			for _, t := range m.Transitions {
				if slices.Contains(t.From, c.at) {
					longer = append(longer, chain{c.words + "\n" + cellWords(c.at, t.Event, t), t.To})
				}
			}
		}
		all = longer
	}
	words := make([]string, len(all))
	for i, c := range all {
		words[i] = c.words
	}
	return words
}
