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
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/sqlname"
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
	// Columns are the declared ones, and Key those of the key as far as they are told:
	// expressions may read them.
	Columns, Key Values
	// Made is the transition that led here, or the creation.
	Made Transition
	// Past is what was written beside the row, the newest first.
	Past *Entry
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

// Entry is what one call wrote beside a row, and all before it. It is never changed.
type Entry struct {
	Transition
	// History and Fact say that there is a row of each, Emits what is in the outbox.
	History, Fact bool
	Emits         []string
	Before        *Entry
}

// Before stands at the end of a past of which no more is known: an entry whose event
// is EventUntold. Whatever hangs on it has that event.
func Before() *Entry { return &Entry{Transition: Transition{Event: EventUntold}, History: true} }

// latest is the newest entry of the event in the history.
func (e *Entry) latest(event string) Transition {
	for ; e != nil; e = e.Before {
		if e.History && (e.Event == event || e.Event == EventUntold) {
			return e.Transition
		}
	}
	return Transition{}
}

// same reports whether two pasts hold the same, in the same order.
func (e *Entry) same(f *Entry) bool {
	for e != f {
		if e == nil || f == nil || e.Transition != f.Transition || e.History != f.History || e.Fact != f.Fact || !slices.Equal(e.Emits, f.Emits) {
			return false
		}
		e, f = e.Before, f.Before
	}
	return true
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
	// Made is the transition that made the row so: the known fact's, that of the
	// same event in a replay cell, else the latest. Its Event is empty where there is
	// none to show: the event of a replay cell has not moved the row, or the fact
	// belongs to another row.
	Made Transition
	// History, Fact and Emits say what the call wrote beside the row.
	History, Fact bool
	Emits         []string
}

// Wrote reports whether anything was written.
func (a Answer) Wrote() bool { return a.History || a.Fact || len(a.Emits) > 0 }

// Events that every machine has, and what stands for one that is not known.
const (
	EventCreate  = "create"
	EventCorrect = "correct"
	EventUntold  = "?"
)

// Created is a row as a creation leaves it.
func Created(m *model.Machine, columns Values, now time.Time) Row {
	r := entered(m.Initial(), Row{Columns: columns, Version: 1}, nil, now)
	r.Made = birth(m)
	return r.wrote(Entry{Transition: r.Made, History: true, Emits: m.CreateEmit})
}

// birth is the creation, as calls tell of it.
func birth(m *model.Machine) Transition {
	return Transition{EventCreate, Applied, "", m.Initial().Name, 1}
}

// wrote is the row with one entry more.
func (r Row) wrote(e Entry) Row {
	e.Before = r.Past
	r.Past = &e
	return r
}

// entered is the row with the deadline of a state that it enters by an event, nil for
// none. One that was there before and comes back by the deadline's own event has run
// once more; any other event has it enter anew.
func entered(s *model.State, r Row, by *model.Event, now time.Time) Row {
	stays := r.State == s
	r.State, r.Due = s, time.Time{}
	runs := 0
	if d := s.Deadline; d != nil {
		if stays && d.Max > 0 && d.Event == by {
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
		a.Made = Transition{}
		if f.Key == c.Key {
			a.Made = f.First
			if f.Fingerprint == Identity(c.Event.Fingerprint, c.Params) {
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
		a := answer(Replayed, r)
		a.Made = r.Past.latest(c.Event.Name)
		return w, a, nil
	case model.Ignore:
		return w, answer(Ignored, r), nil
	case model.Compensate:
		a := answer(Compensated, r)
		a.Fact, a.Emits = true, cell.Emit
		a.Made = Transition{c.Event.Name, Compensated, r.State.Name, r.State.Name, r.Version}
		next := w.With(c.Key, r.wrote(Entry{Transition: a.Made, Fact: true, Emits: cell.Emit}))
		return next.fact(identity, Fact{c.Key, Identity(c.Event.Fingerprint, c.Params), a.Made}), a, nil
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
	moved := entered(t.To, r, c.Event, c.Now)
	moved.Columns, moved.Version = columns, r.Version+1
	moved.Made = Transition{c.Event.Name, Applied, r.State.Name, t.To.Name, moved.Version}
	if broken, err := breaks(m, j, moved, c.Now); broken || err != nil {
		return w, answer(CheckFailed, r), err
	}
	a := answer(Applied, moved)
	a.History, a.Fact, a.Emits = true, identity != "", t.Emit
	next := w.With(c.Key, moved.wrote(Entry{Transition: moved.Made, History: true, Fact: a.Fact, Emits: t.Emit}))
	if a.Fact {
		next = next.fact(identity, Fact{c.Key, Identity(c.Event.Fingerprint, c.Params), moved.Made})
	}
	return next, a, nil
}

// breaks reports whether the row breaks a column's check, or has NULL where it must not.
// As in PostgreSQL NULL comes first, and then the checks in the order of their names:
// one that is false hides that another behind it cannot be worked out.
func breaks(m *model.Machine, j Judge, r Row, now time.Time) (bool, error) {
	in := Context{own(m, r), nil, now}
	var checked []*model.Column
	for _, c := range m.Table.Columns {
		if r.Columns[c.Name] == nil && !c.Optional {
			return true, nil
		}
		if c.Check != nil {
			checked = append(checked, c)
		}
	}
	called := sqlname.Machine{Name: m.Name, Table: m.Table.Name, Existing: m.Table.Existing}
	slices.SortFunc(checked, func(a, b *model.Column) int {
		return strings.Compare(called.ColumnCheck(a.Name), called.ColumnCheck(b.Name))
	})
	for _, c := range checked {
		truth, known, err := j.Holds(c.Check, in)
		if err != nil || known && !truth {
			return true, err
		}
	}
	return false, nil
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
	for _, c := range m.Table.Keys {
		all[c.Name] = Untold{}
		if v, told := r.Key[c.Name]; told {
			all[c.Name] = v
		}
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
	return factKey(c.Event.Name, Identity(c.Event.Identity, c.Params))
}

func factKey(event, identity string) string { return event + " " + identity }
