package example

import (
	"github.com/pawl-go/pawl/internal/logic"
	"github.com/pawl-go/pawl/internal/model"
)

// Problem asks for a row and for the parameters of calls that are made on it,
// one after another.
type Problem struct {
	// Created says that the row begins with its creation, so that only what a
	// creator gives is free, and all else has its default.
	Created bool
	// Known are columns of the row before the first call that are not to be chosen,
	// by their names: the version among them. One with an empty SQL has a value that
	// nobody knows. Created must not be set then.
	Known []Value
	Calls []Call
}

// Call is one call and what must hold when it comes.
type Call struct {
	// State is where the row stands when the call comes, To where it stands then.
	State, To *model.State
	Event     *model.Event
	Must      []Condition
	// Moves says that the call changes the row: it raises the version, and
	// assigns Set.
	Moves bool
	Set   []model.Assignment
	// Again is the number, counted from 1, of the earlier call whose fact this
	// one tells again, with the same parameters; 0 is a call with a fact of its
	// own. Differs says that the fingerprint is another one then.
	Again   int
	Differs bool
	// Told is how many facts of the event were told before the first call, so that
	// this one may have an identity of its own.
	Told int
}

// Condition is one that must hold when a call comes.
type Condition struct {
	Expr *model.Expr
	// Untrue asks for the expression to be false or NULL instead of true.
	Untrue bool
	// Bound, where it is not 0, asks only that the sides of the expression's
	// bound of that number are Steps steps apart, and Decides that it hangs on
	// them whether the expression is true (see logic.Ask).
	Bound, Steps int
	Decides      bool
}

// IsNull is the condition that a column or parameter, given as a reference to
// it, is NULL.
func IsNull(ref model.Part) Condition {
	name := ref.Text
	if ref.Kind == model.ParamRef {
		name = "@" + name
	}
	return Condition{Expr: &model.Expr{Source: name + " IS NULL", Parts: []model.Part{ref, {Text: " IS NULL"}}}}
}

// String says the condition for people.
func (c Condition) String() string {
	switch {
	case c.Untrue:
		return "not " + c.Expr.Source
	}
	return c.Expr.Source
}

// Value is a column or a parameter with a value.
type Value struct {
	Name string
	// SQL is the value as a literal that PostgreSQL reads as the type.
	SQL string
	// Text is the value for people and for forms, empty for NULL.
	Text string
	Null bool
}

// Answer is what was found.
type Answer struct {
	// Row has the row before the first call, key first and then in the order of
	// the columns: what must be given to insert one, and what anything asked or
	// assigned reads. The version is last, and there only where it is asked for.
	Row []Value
	// Calls has the values of each call, or of the calls before the one that
	// failed.
	Calls []Taken
	// Failed is the number of the first call, from 0, for which nothing was found
	// that suits all calls up to it; -1 when all is found. Why says what it needs
	// and, unless Never is set, what is not known of it. Never says that no values
	// exist.
	Failed int
	Why    string
	Never  bool
}

// Taken has the values of one call.
type Taken struct {
	// Params are all parameters of the event, in order.
	Params []Value
	// After are the columns that the call sets, in the order set, as far as
	// their values are known.
	After []Value
	// Unsure are the columns and parameters, in the order of the table and then of
	// the event, of which a CHECK speaks that only the database can answer: it, or
	// what a column is set to, is beyond package logic. The values suit everything
	// else, and a CHECK may refuse them.
	Unsure []string
}

// Now is the time that now() is in every example, as a timestamptz literal. It
// is the clock that whoever runs an example must inject.
const Now = "'2026-01-15 12:00:00+00'"

// Finder finds examples for one machine and remembers what it has found. It is
// not for concurrent use.
type Finder struct {
	machine *model.Machine
	reader  logic.Reader
	// solved has the groups by their key, and alike those with values by their shape.
	solved, alike map[string]solution
	// assigned is nil without a table.
	assigned  assigned
	variables map[wish]symbol
	version   symbol
	// left is how many questions may still be asked.
	left int
}

// maxQuestions bounds the work for one machine: some seconds, which only
// machines with thousands of guards that are all different come near.
const maxQuestions = 20_000

// NewFinder returns a finder for a machine, with or without a table.
func NewFinder(m *model.Machine) *Finder {
	f := &Finder{machine: m, solved: map[string]solution{}, alike: map[string]solution{}, variables: map[wish]symbol{}, left: maxQuestions}
	if m.Table != nil {
		f.assigned = assignments(m)
		name := m.Table.Version
		typ, _ := model.ParseType(m.Table.VersionType)
		f.version = keyed(symbol{Var: logic.Var{Name: name, Kind: logic.Int, Bits: 64}, people: name, typ: typ, natural: []string{"1"}})
	}
	return f
}

// Bound is a comparison within a condition.
type Bound = logic.Bound

// Bounds returns the comparisons of numbers, dates and times in a condition of
// the event.
func (f *Finder) Bounds(event *model.Event, e *model.Expr) []Bound {
	if f.machine.Table == nil || e == nil {
		return nil
	}
	return f.reader.Bounds(Variables(f.machine.Table, event), e.Source)
}
