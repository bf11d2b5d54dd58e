package oracle

import (
	"time"

	"github.com/pawl-go/pawl/internal/model"
)

// Swept is a row that a sweep moved, and what that emitted.
type Swept struct {
	Key   string
	Made  Transition
	Emits []string
}

// Sweep fires a deadline's event on all rows that are due, as one statement does, and
// returns what moved in the order of the keys. failed says that a row would break a
// check of its table: then nothing is done. The error is the Judge's.
func (w World) Sweep(m *model.Machine, j Judge, e *model.Event, now time.Time) (next World, swept []Swept, failed bool, err error) {
	next = w
	for _, key := range w.Keys() {
		r := w.rows[key]
		if d := r.State.Deadline; d == nil || d.Event != e || r.Due.IsZero() || r.Due.After(now) {
			continue
		}
		after, a, err := next.Call(m, j, Call{Event: e, Key: key, Now: now})
		switch {
		case err != nil:
			return w, nil, false, err
		case a.Outcome == CheckFailed:
			return w, nil, true, nil
		case a.Outcome == Applied:
			next, swept = after, append(swept, Swept{key, a.Made, a.Emits})
		}
	}
	return next, swept, false, nil
}
