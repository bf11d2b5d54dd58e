package suite

import "github.com/pawl-go/pawl/internal/model"

// Sizes are how large a machine is and how large each suite of it would be. A
// number is nil where what it counts does not exist. One that is too large for
// an int64 is the largest one.
type Sizes struct {
	Machine string `json:"machine"`
	States  int64  `json:"states"`
	Events  int64  `json:"events"`
	// Cells are states × events, and NullCells those of them without a transition.
	Cells int64 `json:"cells"`
	// Transitions count one for each state that a transition leaves, and each
	// guarded variant by itself. They are the cases of the suite 0-switch.
	Transitions int64 `json:"transitions"`
	NullCells   int64 `json:"null_cells"`
	// Switch1 and Switch2 are the sequences of two and three transitions (Chow).
	Switch1 int64 `json:"switch1"`
	Switch2 int64 `json:"switch2"`
	// NPlusLeaves and NPlusSteps are the ways of Binder's round-trip tree and
	// the transitions on them; NPlusSneak are these ways and the sneak tests, the
	// cases of the suite n-plus.
	NPlusLeaves int64 `json:"nplus_leaves"`
	NPlusSteps  int64 `json:"nplus_steps"`
	NPlusSneak  int64 `json:"nplus_sneak"`
	// TourClosed and TourOpen are the transitions on the shortest way from the
	// initial state that takes all of them, back to it and to any end; nil where
	// there is no such way.
	TourClosed *int64 `json:"tour_closed"`
	TourOpen   *int64 `json:"tour_open"`
	// Walks are the fewest walks from the initial state that take all transitions
	// a row can come to, and WalkSteps the fewest transitions on so many walks.
	Walks     int64 `json:"walks"`
	WalkSteps int64 `json:"walk_steps"`
	// RacePairs are the pairs of events, each with itself too, that a state
	// both allows, summed over the states.
	RacePairs int64 `json:"race_pairs"`
}

// Number is one of the sizes.
type Number struct {
	// Name is the one that JSON has.
	Name string
	// Value is nil where the machine has no such suite.
	Value *int64
}

// Numbers returns the sizes in their order.
func (s Sizes) Numbers() []Number {
	return []Number{
		{"states", &s.States}, {"events", &s.Events}, {"cells", &s.Cells}, {"transitions", &s.Transitions}, {"null_cells", &s.NullCells},
		{"switch1", &s.Switch1}, {"switch2", &s.Switch2},
		{"nplus_leaves", &s.NPlusLeaves}, {"nplus_steps", &s.NPlusSteps}, {"nplus_sneak", &s.NPlusSneak},
		{"tour_closed", s.TourClosed}, {"tour_open", s.TourOpen},
		{"walks", &s.Walks}, {"walk_steps", &s.WalkSteps}, {"race_pairs", &s.RacePairs},
	}
}

// SizesOf counts without making a suite. Every machine has sizes: one without a
// table, without an end, with states that no row reaches, with one state and
// nothing else.
func SizesOf(m *model.Machine) Sizes {
	g := graphOf(m)
	s := Sizes{
		Machine:     m.Name,
		States:      int64(len(m.States)),
		Events:      int64(len(m.Events)),
		Cells:       int64(len(m.States) * len(m.Events)),
		Transitions: int64(len(g.arcs)),
		Switch1:     g.sequences(2),
		Switch2:     g.sequences(3),
		RacePairs:   racePairs(m),
	}
	s.NullCells = s.Cells - g.movingCells()
	s.NPlusLeaves, s.NPlusSteps = g.leafSizes()
	s.NPlusSneak = s.NPlusLeaves + g.sneakSize()
	walks := g.fewestWalks()
	s.Walks, s.WalkSteps = walks.walks, walks.steps()
	s.TourClosed = stepsOf(g.closedTour())
	s.TourOpen = stepsOf(walks.openTour())
	return s
}

// stepsOf is the length of a tour, nil for one that does not exist.
func stepsOf(p *plan) *int64 {
	if p == nil {
		return nil
	}
	steps := p.steps()
	return &steps
}

// racePairs is Σ out·(out + 1) / 2 over the states, out being the number of
// events with a transition from the state.
func racePairs(m *model.Machine) int64 {
	var pairs int64
	for _, s := range m.States {
		var out int64
		for _, e := range m.Events {
			if e.Cells[s.Index].Moves() {
				out++
			}
		}
		pairs += out * (out + 1) / 2
	}
	return pairs
}
