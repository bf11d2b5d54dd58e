// Package oracle says what a call of a machine must answer and leave behind, from
// the definition alone: it knows no SQL, no generated code and no database, so that
// those can be held against it. Rows live in a [World], which a call makes another
// of; nothing in it is shared by writing, and any number of goroutines may ask.
//
// What an expression of the definition comes to is a [Judge]'s to say. Concurrency is
// not its business: who wants to know whether calls at once can be explained asks it
// about them one after the other, in the orders that are possible.
package oracle

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pawl-go/pawl/internal/model"
)

// Outcome is what a call did, in the runtime's words.
type Outcome string

// The outcomes, in the order in which a call judges; the last three are no outcomes
// but errors of which nothing has been done.
const (
	Replayed    Outcome = "Replayed"
	Mismatched  Outcome = "Mismatched"
	Ignored     Outcome = "Ignored"
	Rejected    Outcome = "Rejected"
	GuardFailed Outcome = "GuardFailed"
	Stale       Outcome = "Stale"
	Compensated Outcome = "Compensated"
	Applied     Outcome = "Applied"

	// NotFound: there is no such row.
	NotFound Outcome = "not found"
	// BadArgument: a parameter's check is false.
	BadArgument Outcome = "bad argument"
	// CheckFailed: the row that the transition would leave breaks a column's check.
	CheckFailed Outcome = "check failed"
)

// Values are columns of a row or parameters of a call, by name. A missing one, and
// nil, is NULL. Which Go types stand for PostgreSQL's is agreed between those who
// make the values and the Judge; they must be comparable with ==.
type Values map[string]any

// Context is what an expression is evaluated in. The machine's own columns, such as
// status and version, are among the row's.
type Context struct {
	Row, Params Values
	Now         time.Time
}

// Judge evaluates expressions. An error says that it cannot, or that PostgreSQL
// would fail as well, and no answer follows.
type Judge interface {
	// Holds is the truth of a condition: true, false, or NULL, which is known = false.
	Holds(e *model.Expr, in Context) (truth, known bool, err error)
	// Value is what an assignment gives; nil for NULL.
	Value(e *model.Expr, in Context) (any, error)
}

// Row is a row as the machine sees it.
type Row struct {
	State   *model.State
	Version int64
	// Due is when the state's deadline has passed, zero for none, and Runs how often
	// a deadline's self-loop ran.
	Due  time.Time
	Runs int
	// Columns are the declared ones.
	Columns Values
	// Made is the transition that led here.
	Made Transition
}

// Transition is what a call did first, as its repetitions are told.
type Transition struct {
	Event    string
	Outcome  Outcome
	From, To string
	Version  int64
}

// Fact is what is kept of an event with an identity.
type Fact struct {
	Key, Fingerprint string
	First            Transition
}

// Call is one call of an event.
type Call struct {
	Event  *model.Event
	Key    string
	Params Values
	// Version is the expected one; 0 is none.
	Version int64
	Now     time.Time
}

// Answer is what the call must say, and what it must have written.
type Answer struct {
	Outcome Outcome
	// State, Version and Columns are the row's after the call; empty for NotFound.
	State   string
	Version int64
	Columns Values
	// Made is the transition that made the row so: the known fact's, else the
	// latest. Its Event is empty for a row that was never moved.
	Made Transition
	// History, Fact and Emits say what the call wrote beside the row.
	History, Fact bool
	Emits         []string
}

// Wrote reports whether anything was written.
func (a Answer) Wrote() bool { return a.History || a.Fact || len(a.Emits) > 0 }

// World is all rows and facts of a machine.
type World struct {
	rows  map[string]Row
	facts map[string]Fact
}

// Row returns a row, and whether it is there.
func (w World) Row(key string) (Row, bool) {
	r, ok := w.rows[key]
	return r, ok
}

// Facts returns how many facts a row has.
func (w World) Facts(key string) (n int) {
	for _, f := range w.facts {
		if f.Key == key {
			n++
		}
	}
	return n
}

// With returns a world with the row as given, whatever it was before.
func (w World) With(key string, r Row) World {
	next := World{maps.Clone(w.rows), w.facts}
	if next.rows == nil {
		next.rows = map[string]Row{}
	}
	next.rows[key] = r
	return next
}

// Created is a row as a creation leaves it.
func Created(m *model.Machine, columns Values, now time.Time) Row {
	return entered(m.Initial(), Row{Columns: columns, Version: 1}, false, now)
}

// entered is the row with the deadline of a state that it enters. stays says that it
// was there before.
func entered(s *model.State, r Row, stays bool, now time.Time) Row {
	r.State, r.Due = s, time.Time{}
	runs := 0
	if d := s.Deadline; d != nil {
		if stays && d.Max > 0 {
			runs = r.Runs + 1
		}
		if d.Max == 0 || runs < d.Max {
			r.Due = now.Add(d.After)
		}
	}
	r.Runs = runs
	return r
}

// Call makes the call, and returns the world after it. The error is the Judge's; the
// world is then the one before.
func (w World) Call(m *model.Machine, j Judge, c Call) (World, Answer, error) {
	r, found := w.rows[c.Key]
	if !found {
		return w, Answer{Outcome: NotFound}, nil
	}
	in := Context{own(m, r), c.Params, c.Now}
	if bad, err := badArgument(j, c.Event, in); bad || err != nil {
		return w, Answer{Outcome: BadArgument}, err
	}
	identity := identityOf(c)
	if f, known := w.facts[identity]; known && identity != "" {
		a := answer(Mismatched, r)
		if f.Key == c.Key {
			a.Made = f.First
			if f.Fingerprint == textOf(c.Event.Fingerprint, c.Params) {
				a.Outcome = Replayed
			}
		}
		return w, a, nil
	}
	cell := c.Event.Cells[r.State.Index]
	for _, t := range cell.Transitions {
		if t.Guard != nil {
			truth, known, err := j.Holds(t.Guard.SQL, in)
			if err != nil {
				return w, Answer{}, err
			}
			if !truth || !known {
				continue
			}
		}
		if c.Version != 0 && c.Version != r.Version {
			return w, answer(Stale, r), nil
		}
		return w.move(m, j, c, r, t, identity, in)
	}
	switch cell.Otherwise {
	case model.Replay:
		return w, answer(Replayed, r), nil
	case model.Ignore:
		return w, answer(Ignored, r), nil
	case model.Compensate:
		a := answer(Compensated, r)
		a.Fact, a.Emits = true, cell.Emit
		a.Made = Transition{c.Event.Name, Compensated, r.State.Name, r.State.Name, r.Version}
		return w.fact(identity, Fact{c.Key, textOf(c.Event.Fingerprint, c.Params), a.Made}), a, nil
	case model.GuardFailed:
		return w, answer(GuardFailed, r), nil
	}
	return w, answer(Rejected, r), nil
}

// move takes a transition.
func (w World) move(m *model.Machine, j Judge, c Call, r Row, t *model.Transition, identity string, in Context) (World, Answer, error) {
	columns := maps.Clone(r.Columns)
	if columns == nil {
		columns = Values{}
	}
	for _, set := range t.Set {
		v, err := j.Value(set.Value, in)
		if err != nil {
			return w, Answer{}, err
		}
		columns[set.Column.Name] = v
	}
	moved := entered(t.To, r, t.To == r.State, c.Now)
	moved.Columns, moved.Version = columns, r.Version+1
	moved.Made = Transition{c.Event.Name, Applied, r.State.Name, t.To.Name, moved.Version}
	after := Context{own(m, moved), nil, c.Now}
	for _, column := range m.Table.Columns {
		if column.Check == nil {
			if columns[column.Name] == nil && !column.Optional {
				return w, answer(CheckFailed, r), nil // NOT NULL
			}
			continue
		}
		truth, known, err := j.Holds(column.Check, after)
		if err != nil {
			return w, Answer{}, err
		}
		if known && !truth || columns[column.Name] == nil && !column.Optional {
			return w, answer(CheckFailed, r), nil
		}
	}
	a := answer(Applied, moved)
	a.History, a.Emits = true, t.Emit
	next := w.With(c.Key, moved)
	if identity != "" {
		a.Fact = true
		next = next.fact(identity, Fact{c.Key, textOf(c.Event.Fingerprint, c.Params), moved.Made})
	}
	return next, a, nil
}

// fact is the world with one fact more.
func (w World) fact(identity string, f Fact) World {
	next := World{w.rows, maps.Clone(w.facts)}
	if next.facts == nil {
		next.facts = map[string]Fact{}
	}
	next.facts[identity] = f
	return next
}

func answer(o Outcome, r Row) Answer {
	return Answer{Outcome: o, State: r.State.Name, Version: r.Version, Columns: r.Columns, Made: r.Made}
}

// own is the row's columns, with those that are the machine's.
func own(m *model.Machine, r Row) Values {
	all := maps.Clone(r.Columns)
	if all == nil {
		all = Values{}
	}
	all[m.Table.Status.Column] = r.State.Name
	all[m.Table.Version] = r.Version
	all[m.Table.Runs] = int64(r.Runs)
	if !r.Due.IsZero() {
		all[m.Table.Deadline] = r.Due
	}
	return all
}

// badArgument reports whether a parameter's check is false. NULL is fine, as in a
// CHECK of PostgreSQL.
func badArgument(j Judge, e *model.Event, in Context) (bool, error) {
	for _, p := range e.Params {
		if p.Check == nil {
			continue
		}
		truth, known, err := j.Holds(p.Check, Context{nil, in.Params, in.Now})
		if err != nil || known && !truth {
			return true, err
		}
	}
	return false, nil
}

// identityOf is the event's name with what makes the call a fact, empty for an event
// without an identity.
func identityOf(c Call) string {
	if len(c.Event.Identity) == 0 {
		return ""
	}
	return c.Event.Name + " " + textOf(c.Event.Identity, c.Params)
}

// textOf tells values apart; none is the empty text.
func textOf(params []*model.Param, values Values) string {
	var b strings.Builder
	for _, p := range params {
		fmt.Fprintf(&b, "%q ", fmt.Sprint(values[p.Name]))
	}
	return b.String()
}

// Same reports whether two worlds are one.
func (w World) Same(v World) bool {
	return maps.EqualFunc(w.rows, v.rows, func(a, b Row) bool {
		return a.State == b.State && a.Version == b.Version && a.Runs == b.Runs && a.Due.Equal(b.Due) &&
			a.Made == b.Made && maps.Equal(a.Columns, b.Columns)
	}) && maps.Equal(w.facts, v.facts)
}

// Keys are those of all rows, in order.
func (w World) Keys() []string { return slices.Sorted(maps.Keys(w.rows)) }
