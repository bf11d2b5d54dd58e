// Package suite makes the test suites of a machine: which cases a criterion
// asks for, what each does and what must then be seen, and what each covers. It
// knows the sizes of all of them beforehand. How a suite looks in a file is the
// renderers' business, and so is the language in which people read it.
//
// Everything is in the order of the definition, ties included, so that the same
// machine always has the same suites.
package suite

import "github.com/pawl-go/pawl/internal/model"

// Outcome is what a call answers: the words of the runtime.
type Outcome string

// What a call answers.
const (
	Applied     Outcome = "Applied"
	Replayed    Outcome = "Replayed"
	Ignored     Outcome = "Ignored"
	Compensated Outcome = "Compensated"
	Rejected    Outcome = "Rejected"
	GuardFailed Outcome = "GuardFailed"
	Stale       Outcome = "Stale"
	Mismatched  Outcome = "Mismatched"
)

// Suite is all cases of one criterion for one machine.
type Suite struct {
	Machine *model.Machine
	// Name is the criterion as it is asked for: "all-cells", "n-switch=2".
	Name string
	// Cases are independent of each other: each begins with a fresh row.
	Cases []*Case
	// Items are all that the criterion asks to cover, each once, in order.
	Items []Item
}

// Case is one test.
type Case struct {
	// ID is the case's for as long as what it tests is in the machine, unique in
	// the machine: "order/all-cells/PENDING/pay". It is of the machine, the
	// criterion, states, events and variants, and of no number that other cases
	// have a say in.
	ID string
	// Start is the state in which the row stands before the first step; nil for a
	// case that begins with the row's creation.
	Start *model.State
	// Given are the row's values before the first step, those that matter, in the
	// order of the columns.
	Given []Value
	// Other is the key of a second row that is there besides, in the same state
	// and otherwise with the same values; nil unless a step is of it.
	Other []Value
	Steps []Step
	// Covers are indexes in the suite's Items, ascending.
	Covers []int
}

// Step is one call and what must be seen after it.
type Step struct {
	// From is where the row stands before the step.
	From  *model.State
	Event *model.Event
	// Transition is the one that must be taken; nil where nothing moves.
	Transition *model.Transition
	// Variant tells the ways of one cell apart: the name of the guard that must
	// be true, "guard 2" for the second when it has no name, "else" for the
	// unguarded one behind guards, "none" when no guard is true. What else is
	// true of the values follows it: a bound of the guard ("amount_matches b-1")
	// or of another one ("none at amount_matches b-1"), a column that is NULL, a
	// second guard that is true (", other too"). Empty for a cell that has one way.
	Variant string
	// Params are the values of the event's parameters, those that matter, in order.
	Params []Value
	// Unknown says why no values are given although some matter: the
	// condition, in words. Empty when Given and Params are enough. With Unsure it
	// says what they are not enough for.
	Unknown string
	// Unsure are the columns and, with @, the parameters of which a CHECK speaks
	// that only the database can answer. Given and Params suit the guards then,
	// and a CHECK may refuse them.
	Unsure []string
	// Version says what version the call expects: nothing, the row's, or another one.
	Version Expect
	// Repeat says that the call brings a fact which an earlier step has brought.
	Repeat bool
	// Other says that the call names the case's other row. It is what must be seen
	// of that row then, which nothing has moved, that From and To say.
	Other bool
	// Second says that the call comes in a second session, after the step before
	// has been done and before it is committed.
	Second bool

	Outcome Outcome
	// To is where the row must stand afterwards.
	To *model.State
	// After are the values of the columns that the transition sets, where they
	// are known; the others keep their values.
	After []Value
	// Emit are the outbox rows that must have been written by this step.
	Emit []string
	// Fact says that the step must leave a row in the facts table.
	Fact bool
}

// Moved reports whether the step must raise the version by one and leave one row of history.
func (s *Step) Moved() bool { return s.Outcome == Applied }

// Expect is what a call says of the version.
type Expect int

// What a call says of the version.
const (
	// AnyVersion is a call that expects none.
	AnyVersion Expect = iota
	// RightVersion is the row's version.
	RightVersion
	// WrongVersion is another one.
	WrongVersion
)

// Value is a column of the row, or a parameter, with a value.
type Value struct {
	Name string
	// SQL is the value as a literal that PostgreSQL reads as the type: 5, 'x', NULL.
	SQL string
	// Text is the value for people and for forms: 5, x, and empty for NULL.
	Text string
	Null bool
}

// Item is one thing to be covered.
type Item struct {
	// ID is unique in the suite: "cell PENDING/pay", "pair PENDING/pay PAYING/cancel".
	ID   string
	Kind ItemKind
	// Steps are the cells concerned, in order: one of a cell, two of a pair.
	Steps []ItemStep
	// Why says why no case covers the item; empty for one that is covered.
	Why string
}

// ItemStep is one cell of an item, with the transition or the variant meant.
type ItemStep struct {
	State      *model.State
	Event      *model.Event
	Transition *model.Transition
	Variant    string
}

// ItemKind groups items.
type ItemKind string

// Kinds of items.
const (
	ItemCell       ItemKind = "cell"
	ItemTransition ItemKind = "transition"
	ItemSequence   ItemKind = "sequence"
	ItemGuard      ItemKind = "guard"
	ItemRace       ItemKind = "race"
	// ItemFact is a fact that is told again, ItemVersion a version that a call expects.
	ItemFact    ItemKind = "fact"
	ItemVersion ItemKind = "version"
)

// CoveredBy returns, for each item in order, the indexes of the cases that cover it.
func (s *Suite) CoveredBy() [][]int {
	by := make([][]int, len(s.Items))
	for i, c := range s.Cases {
		for _, item := range c.Covers {
			by[item] = append(by[item], i)
		}
	}
	return by
}
