package oracle

import (
	"errors"
	"time"

	"github.com/pawl-go/pawl/internal/model"
)

// ErrUntold is the error for an answer that hangs on a value which is not known.
var ErrUntold = errors.New("a value is not known")

// Untold stands for a value that the Judge could not work out. It is for those who
// go on without; a world of theirs may hold it.
type Untold struct{}

// Create makes the call that creates the row. The params are what the creator gives,
// by column, those of the key too where an expression reads them. The error is the Judge's, or ErrUntold; the world is then the one before.
func (w World) Create(m *model.Machine, j Judge, key string, params Values, now time.Time) (World, Answer, error) {
	columns := Values{}
	for _, c := range m.Table.Columns {
		columns[c.Name] = nil
		if c.Default != nil {
			v, err := j.Value(c.Default, Context{Now: now})
			if err != nil {
				return w, Answer{}, err
			}
			columns[c.Name] = v
		}
	}
	for _, c := range m.Created() {
		if v := params[c.Name]; v != nil || c.Default == nil {
			columns[c.Name] = v
		}
	}
	r := Created(m, columns, now)
	r.Key = Values{}
	for _, c := range m.Table.Keys {
		if v, told := params[c.Name]; told {
			r.Key[c.Name] = v
		}
	}
	if broken, err := breaks(m, j, r, now); broken || err != nil {
		return w, Answer{Outcome: CheckFailed}, err // as PostgreSQL, which looks for the key afterwards
	}
	if there, found := w.rows[key]; found {
		outcome, err := again(m, there, params)
		if err != nil {
			return w, Answer{}, err
		}
		a := answer(outcome, there)
		a.Made = birth(m)
		return w, a, nil
	}
	a := answer(Applied, r)
	a.History, a.Emits = true, m.CreateEmit
	return w.With(key, r), a, nil
}

// again compares a creation with the row that is there. Whoever left a default to
// the table is satisfied with what it was.
func again(m *model.Machine, r Row, params Values) (Outcome, error) {
	for _, c := range m.Created() {
		asked, is := params[c.Name], r.Columns[c.Name]
		switch {
		case m.Sets(c), asked == nil && c.Default != nil:
		case asked == Untold{}, is == Untold{}:
			return "", ErrUntold
		case asked != is:
			return Mismatched, nil
		}
	}
	return Replayed, nil
}

// Correct makes the call that forces the row into a state; version is the expected
// one, 0 for none.
func (w World) Correct(key string, to *model.State, version int64, now time.Time) (World, Answer) {
	r, found := w.rows[key]
	if !found {
		return w, Answer{Outcome: NotFound}
	}
	a := answer(Ignored, r)
	a.Made = Transition{} // a correction tells of its own alone
	switch {
	case r.State == to:
		return w, a
	case version != 0 && version != r.Version:
		a.Outcome = Stale
		return w, a
	}
	moved := entered(to, r, nil, now)
	moved.Version = r.Version + 1
	moved.Made = Transition{EventCorrect, Applied, r.State.Name, to.Name, moved.Version}
	a = answer(Applied, moved)
	a.History = true
	return w.With(key, moved.wrote(Entry{Transition: moved.Made, History: true})), a
}
