package suite

import (
	"strconv"

	"github.com/pawl-go/pawl/internal/model"
)

// Variant is one way that a cell can go.
type Variant struct {
	// Name is as that of Step.Variant: empty where the cell has one way.
	Name string
	// Transition is the one that is taken, nil where nothing moves.
	Transition *model.Transition
	Outcome    Outcome
	// To is where the row stands then.
	To   *model.State
	Emit []string
	// Fact says that a row of the facts table is left.
	Fact bool
}

// Names of variants that are no guard's.
const (
	variantElse = "else"
	variantNone = "none"
)

// Variants returns every way that a cell can go when a new fact comes, in the
// order in which its transitions are tried: those, and last what is said when
// none is taken, unless a transition without guard leaves nothing to say. It is
// never empty. Whether values exist that lead each way is not asked.
func Variants(cell *model.Cell) []Variant {
	var out []Variant
	for i, t := range cell.Transitions {
		v := Variant{
			Name: guardName(t, i), Transition: t, Outcome: Applied, To: t.To, Emit: t.Emit,
			Fact: len(cell.Event.Identity) > 0,
		}
		if t.Guard == nil && i > 0 {
			v.Name = variantElse
		}
		out = append(out, v)
	}
	if cell.Closed() {
		return out
	}
	last := Variant{Outcome: outcomeOf(cell.Otherwise), To: cell.State}
	if last.Outcome == Compensated {
		last.Emit, last.Fact = cell.Emit, true
	}
	if len(out) > 0 {
		last.Name = variantNone
	}
	return append(out, last)
}

// guardName is what the variant of a guarded transition is called, the i-th of
// its cell; empty for one without a guard. A guard whose name would be taken for
// another variant's goes by its number.
func guardName(t *model.Transition, i int) string {
	if t.Guard == nil {
		return ""
	}
	switch t.Guard.Name {
	case "", variantElse, variantNone, "guard":
		return "guard " + strconv.Itoa(i+1)
	}
	return t.Guard.Name
}

// outcomeOf is what a call answers where no transition is taken.
func outcomeOf(d model.Decision) Outcome {
	switch d {
	case model.Replay:
		return Replayed
	case model.Ignore:
		return Ignored
	case model.Compensate:
		return Compensated
	case model.GuardFailed:
		return GuardFailed
	}
	return Rejected
}

// step is one call that goes this way, from the cell's state. A call of an event
// that wants a version expects the row's.
func (v Variant) step(cell *model.Cell) Step {
	s := Step{
		From: cell.State, Event: cell.Event, Transition: v.Transition, Variant: v.Name,
		Outcome: v.Outcome, To: v.To, Emit: v.Emit, Fact: v.Fact,
	}
	if cell.Event.ExpectVersion {
		s.Version = RightVersion
	}
	return s
}

// still is the step with an answer that leaves everything as it is.
func (s Step) still(o Outcome) Step {
	s.Outcome, s.Transition, s.To, s.Emit, s.Fact = o, nil, s.From, nil, false
	return s
}
