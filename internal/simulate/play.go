package simulate

import (
	"errors"
	"math"
	"time"

	"github.com/pawl-go/pawl/internal/evaluate"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/oracle"
)

// Outcome is what a step came to: an outcome or error of the oracle's, or one of
// those below.
type Outcome = oracle.Outcome

// What steps come to beside what calls answer.
const (
	// NotPlayed: the step does not fit the definition; see Told.Problem.
	NotPlayed Outcome = "not played"
	// Open: the answer hangs on a guard that cannot be worked out here, and nobody
	// has chosen. Nothing is done.
	Open Outcome = "open"
	// Failed: PostgreSQL refuses an expression, such as a division by zero. Nothing
	// is done.
	Failed Outcome = "failed"
	// Passed: time has passed.
	Passed Outcome = "passed"
	// Began: the row is there as it was given.
	Began Outcome = "began"
	// NothingDue: the sweep came, and the row is not due.
	NothingDue Outcome = "nothing due"
)

// Told is a step and what came of it.
type Told struct {
	// N is the step's number, from 1.
	N    int
	Step Step
	// At is the time of the step; after a Wait, when it is over.
	At      time.Time
	Problem *Problem
	Outcome Outcome
	// Event is what was called, by a Sweep too; nil for all else.
	Event *model.Event
	// Cell is where the row stood, before a call that came so far.
	Cell *model.Cell
	// Known is the fact that answered before any cell was looked at.
	Known *Known
	// Guards are the cell's transitions in order, with what their guards came to.
	Guards []Tried
	// Checks are conditions on parameters and columns, as far as they are false or
	// could not be worked out.
	Checks []Condition
	// Param and Fault say which parameter cannot identify, and why.
	Param *model.Param
	Fault oracle.TextFault
	// NoVersion says that the event must be told a version, and was not.
	NoVersion bool
	// Retired says that a correction was into a state that no row may enter.
	Retired bool
	// Error has the SQLSTATE of Failed and what PostgreSQL would say.
	Error *evaluate.Failure

	// From and Was are the state and version before, To and Version those after;
	// from is empty before there is a row, and so is to where there is none.
	From, To     string
	Was, Version int64
	// Made is the transition that the answer tells of, as [oracle.Answer] has it.
	Made oracle.Transition
	// Set are the columns whose value changed, in the table's order.
	Set []Change
	// Blind are the expressions of values that could not be worked out here.
	Blind []*model.Expr
	// History says that history has a line of it, Fact what was recorded, and Emits
	// what the outbox has.
	History bool
	Fact    *Fact
	Emits   []string
	// Due is when the row is due after the step, zero for never.
	Due time.Time
}

// Tried is a transition of a cell, and what its guard came to: nil for one without
// a guard, and for one that was not looked at.
type Tried struct {
	Transition *model.Transition
	Guard      *Condition
	// Taken says that this one moved the row, or would have with the right version.
	Taken bool
}

// Known is the fact that a call tells again.
type Known struct {
	// Step is the number of the one that told it first.
	Step int
	Fact *Fact
	// Same says that the fingerprint is the same. Told is what the call says it is.
	Same bool
	Told string
}

// Fact is a row of the table of facts.
type Fact struct {
	Step                  int
	Event                 *model.Event
	Identity, Fingerprint string
	Made                  oracle.Transition
}

// Change is a column that a step set.
type Change struct {
	Column        *model.Column
	Before, After any
}

// Tape is a life as it went.
type Tape struct {
	Machine *Machine
	Steps   []Told
	// Now is the time after the last step.
	Now   time.Time
	world oracle.World
}

// row is the key of the one row that a life is about.
const row = "row"

// Row returns the row after the last step, and whether there is one.
func (t *Tape) Row() (oracle.Row, bool) { return t.world.Row(row) }

// Play plays steps. It always comes to an end: what does not fit is passed over,
// and said so.
func (m *Machine) Play(steps []Step) *Tape {
	t := &Tape{Machine: m, Now: Start}
	for i := range steps {
		t.Steps = append(t.Steps, t.play(steps[i], i+1))
	}
	return t
}

// Then plays one step more, and leaves the tape as it is.
func (t *Tape) Then(s Step) Told {
	next := *t
	return next.play(s, len(t.Steps)+1)
}

// play plays a step. The tape's steps are not looked at but for facts.
func (t *Tape) play(s Step, n int) Told {
	told := Told{N: n, Step: s, At: t.Now}
	before, there := t.Row()
	if there {
		told.From, told.Was = before.State.Name, before.Version
		told.To, told.Version, told.Due = told.From, told.Was, before.Due
	}
	p := &player{Tape: t, Told: &told, row: before, there: there}
	switch {
	case s.Bad != nil:
		p.unfit(s.Bad)
	case s.Kind == Create:
		p.create()
	case s.Kind == Given:
		p.begin()
	case s.Kind == Wait:
		t.Now = t.Now.Add(s.After)
		told.At, told.Outcome = t.Now, Passed
	case s.Kind == Sweep:
		p.sweep()
	case s.Kind == Correct:
		p.correct()
	default:
		p.fire()
	}
	return told
}

// player plays one step.
type player struct {
	*Tape
	*Told
	row   oracle.Row
	there bool
}

func (p *player) unfit(problem *Problem) { p.Problem, p.Outcome = problem, NotPlayed }

// fire calls an event.
func (p *player) fire() {
	m := p.Machine.Model
	e := m.Event(p.Step.Name)
	if e == nil {
		p.unfit(unnamed(NoEvent, p.Step.Name, eventNames(m)))
		return
	}
	params, problem := arguments(e, p.Step.Args)
	if problem != nil {
		p.unfit(problem)
		return
	}
	p.Event = e
	if p.Param, p.Fault = oracle.Unfit(e, params); p.Param != nil {
		p.Outcome = oracle.BadArgument
		return
	}
	if p.NoVersion = e.ExpectVersion && p.Step.Version == 0 && p.Machine.HasTable(); p.NoVersion {
		p.Outcome = oracle.BadArgument
		return
	}
	p.call(oracle.Call{Event: e, Key: row, Params: params, Version: p.Step.Version, Now: p.Now})
}

// call makes a call, and tells what came of it.
func (p *player) call(c oracle.Call) {
	var cell *model.Cell
	if p.there {
		cell = c.Event.Cells[p.row.State.Index]
	}
	if problem := choosable(&p.Step, c.Event, cell, p.Machine.played.Table); problem != nil {
		p.unfit(problem)
		return
	}
	o := p.Machine.observe(&p.Step, c.Event, cell)
	next, answer, err := p.world.Call(p.Machine.played, o, c)
	if p.ended(o, err) {
		p.Cell = cell
		p.tried(o)
		return
	}
	if p.overflows(answer) {
		p.Cell = cell
		p.tried(o)
		return
	}
	p.answered(o, next, answer)
	if p.Outcome == oracle.BadArgument || !p.there {
		return
	}
	identity := oracle.Identity(c.Event.Identity, c.Params)
	fingerprint := oracle.Identity(c.Event.Fingerprint, c.Params)
	if p.known(c.Event, identity, fingerprint) {
		return
	}
	p.Cell = cell
	p.tried(o)
	if answer.Fact {
		p.Fact = &Fact{p.N, c.Event, identity, fingerprint, answer.Made}
	}
}

// known says which fact answered, if one did.
func (p *player) known(e *model.Event, identity, fingerprint string) bool {
	if len(e.Identity) == 0 {
		return false
	}
	for _, f := range p.Facts() {
		if f.Event == e && f.Identity == identity {
			p.Known = &Known{f.Step, &f, f.Fingerprint == fingerprint, fingerprint}
			return true
		}
	}
	return false
}

// tried tells the guards of the cell.
func (p *player) tried(o *observer) {
	if p.Cell == nil {
		return
	}
	decided := false // nothing behind it is looked at
	for _, t := range p.Cell.Transitions {
		tried := Tried{Transition: t}
		if t.Guard == nil {
			tried.Taken, decided = !decided, true
		} else if tried.Guard = o.guard(t.Guard); tried.Guard != nil {
			tried.Taken = !decided && tried.Guard.Truth == True
			decided = decided || tried.Taken || tried.Guard.Truth == Untold
		}
		p.Guards = append(p.Guards, tried)
	}
}

// ended tells of a call that came to no answer.
func (p *player) ended(o *observer, err error) bool {
	p.Checks, p.Blind = o.checks(), o.blind
	var failure *evaluate.Failure
	switch {
	case err == nil:
		return false
	case errors.As(err, &failure):
		p.Outcome, p.Error = Failed, failure
	default:
		p.Outcome = Open
	}
	p.Blind = nil
	return true
}

// overflows tells of a move of a row that has the last version there is.
func (p *player) overflows(a oracle.Answer) bool {
	last, kind := int64(math.MaxInt64), "bigint"
	if t := p.Machine.played.Table; t.VersionType == "integer" {
		last, kind = math.MaxInt32, t.VersionType
	}
	if !p.there || a.Outcome != oracle.Applied || p.row.Version < last {
		return false
	}
	p.Outcome, p.Error = Failed, &evaluate.Failure{State: outOfRange, Message: kind + " out of range"}
	return true
}

// outOfRange is the SQLSTATE of a number that its type does not hold.
const outOfRange = "22003"

// answered takes the world after a call.
func (p *player) answered(o *observer, next oracle.World, a oracle.Answer) {
	p.world = next
	p.Outcome, p.Made, p.Told.History, p.Emits = a.Outcome, a.Made, a.History, a.Emits
	if a.Outcome != oracle.Applied {
		p.Blind = nil
	}
	r, there := p.Tape.Row()
	if !there {
		return
	}
	p.To, p.Version, p.Due = r.State.Name, r.Version, r.Due
	for _, c := range p.Machine.played.Table.Columns {
		if before, after := p.row.Columns[c.Name], r.Columns[c.Name]; before != after {
			p.Set = append(p.Set, Change{c, before, after})
		}
	}
}
