package linear

import (
	"errors"
	"math"
	"slices"

	"github.com/pawl-go/pawl/internal/evaluate"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/oracle"
)

// state is what the model has come to.
type state struct {
	oracle.World
	// over says that all has happened of which anybody was told.
	over bool
	// waiting are calls of which nobody knows and that had their effect last, as long as
	// nothing came that depends on it.
	waiting []*operation
}

// possible is one thing that a call may do.
type possible struct {
	oracle.World
	oracle.Answer
}

// step returns the states that the operation may lead to, none where it cannot be next.
func (c *checker) step(from state, op *operation) []state {
	switch {
	case op.unknown():
		return c.perhaps(from, op)
	case slices.ContainsFunc(from.waiting, func(u *operation) bool { return !u.concerns(op) }):
		return nil
	case op.kind == ends:
		return []state{{World: from.World, over: true}}
	case op.kind == reads:
		if !c.agrees(from.World, op) {
			return nil
		}
		return []state{{World: from.World}}
	}
	var next []state
	for _, p := range c.possible(from.World, op) {
		if p.Outcome == "" || c.answers(p.Answer, op.told) {
			next = append(next, state{World: p.World})
		}
	}
	return next
}

// perhaps is step for a call of which nobody knows. The search would try every moment
// for it, and with many such calls never end. So it may come only where it has an effect,
// and right before something that depends on it: moved there past what does not, it
// explains the same. That it has no effect, ever, is said once for all, when everything
// else is over.
func (c *checker) perhaps(from state, op *operation) []state {
	if from.over {
		return []state{from}
	}
	var next []state
	for _, p := range c.possible(from.World, op) {
		if p.Wrote() {
			waiting := slices.DeleteFunc(slices.Clone(from.waiting), func(u *operation) bool { return u.concerns(op) })
			next = append(next, state{World: p.World, waiting: append(waiting, op)})
		}
	}
	return next
}

// concerns reports whether two operations are about one row or one fact.
func (op *operation) concerns(other *operation) bool {
	return op.key == other.key || op.fact != "" && op.fact == other.fact
}

// possible lists what the call may do in this world, as far as the judge cannot tell.
// Where an answer hangs on something untold, its outcome is empty, and any will do.
func (c *checker) possible(w oracle.World, op *operation) []possible {
	if op.kind == sweeps {
		return c.sweep(w, op)
	}
	b := &brancher{m: c.m, judge: c.judge}
	var all []possible
	for again := true; again; again = b.next() {
		next, answer, err := c.make(w, b, op)
		var failure *evaluate.Failure
		switch {
		case errors.As(err, &failure):
			next, answer = w, oracle.Answer{Outcome: failed, State: failure.State}
		case err != nil:
			b.asked = true
			next, answer = w, oracle.Answer{}
		}
		all = append(all, possible{next, answer})
	}
	if b.asked {
		op.either.Store(true)
	}
	return all
}

// failed is what the model answers where PostgreSQL gives an error, and nothing is done.
const failed oracle.Outcome = "an error"

// make makes the call.
func (c *checker) make(w oracle.World, j oracle.Judge, op *operation) (next oracle.World, answer oracle.Answer, err error) {
	if op.unfit {
		return w, oracle.Answer{Outcome: oracle.BadArgument}, nil
	}
	switch op.kind {
	case creates:
		next, answer, err = w.Create(c.m, j, op.key, op.values, op.now)
	case corrects:
		next, answer = w.Correct(op.key, op.target, op.expect, op.now)
	default:
		next, answer, err = w.Call(c.m, j, oracle.Call{Event: op.event, Key: op.key, Params: op.values, Version: op.expect, Now: op.now})
	}
	if err == nil && answer.Outcome == oracle.Applied && !c.counts(answer.Version) {
		return w, oracle.Answer{}, &evaluate.Failure{State: "22003", Message: "the version is out of range"}
	}
	return next, answer, err
}

// counts reports whether the column of versions holds one that was counted up to.
func (c *checker) counts(version int64) bool {
	if c.m.Table.VersionType == "integer" {
		return version > 0 && version <= math.MaxInt32
	}
	return version > 0 // one too great has become negative
}

// sweep is possible for a sweep: any deadline's event, in the states that have it.
func (c *checker) sweep(w oracle.World, op *operation) []possible {
	var all []possible
	for _, e := range c.m.DeadlineEvents() {
		if r, ok := w.Row(op.key); ok && slices.Contains(c.m.DeadlineStates(e), r.State) {
			one := &operation{kind: fires, key: op.key, event: e, values: oracle.Values{}}
			all = append(all, c.possible(w, one)...)
			if one.either.Load() {
				op.either.Store(true)
			}
		}
	}
	return all
}

// answers reports whether what was told is what the model says.
func (c *checker) answers(a oracle.Answer, t *told) bool {
	if a.Outcome != t.outcome {
		return false
	}
	return a.Outcome == oracle.NotFound || a.State == t.state && a.Version == t.version && c.madeBy(a.Made, t.made) && c.sameColumns(a.Columns, t.columns)
}

// madeBy compares transitions. An answer may leave it open, and must where the history
// was cut off.
func (c *checker) madeBy(is oracle.Transition, told *oracle.Transition) bool {
	return told == nil || is.Event == oracle.EventUntold || is == *told || *told == oracle.Transition{} && c.forgets()
}

// forgets reports whether entries of the history may be gone.
func (c *checker) forgets() bool { h := c.m.Table.History; return h != nil && h.Keep > 0 }

// begin is the world before the first call.
func (c *checker) begin(p *partition) (oracle.World, error) {
	var w oracle.World
	for _, key := range p.keys {
		s := p.starts[key]
		if s == nil || s.gone {
			continue
		}
		r, err := c.row(s)
		if err != nil {
			return w, err
		}
		w = w.With(key, r)
		for _, f := range s.facts {
			w = w.Knowing(f.event, f.identity, oracle.Fact{Key: key, Fingerprint: f.fingerprint, First: f.first})
		}
	}
	return w, nil
}

// row makes a row of what was seen before the history.
func (c *checker) row(s *start) (oracle.Row, error) {
	st := stateOf(c.m, s.state)
	if st == nil {
		return oracle.Row{}, s.err("machine %s has no state %q", c.m.Name, s.state)
	}
	r := oracle.Row{State: st, Version: s.version, Columns: oracle.Values{}}
	for _, column := range c.m.Table.Columns {
		r.Columns[column.Name] = oracle.Untold{}
		if text, ok := s.columns[column.Name]; ok {
			v, err := decode(column.Type, text)
			if err != nil {
				return r, s.err("%s: %w", column.Name, err)
			}
			r.Columns[column.Name] = v
		}
	}
	r.Past, r.Made = c.past(s.seen)
	return r, nil
}

// past is what was written beside a row before the history, and what made it so.
func (c *checker) past(s *seen) (past *oracle.Entry, made oracle.Transition) {
	switch {
	case !s.looked.history || c.forgets():
		past = oracle.Before()
		made = past.Transition
	case !s.looked.outbox:
		past = &oracle.Entry{Transition: oracle.Transition{Event: oracle.EventUntold}} // of the outbox alone
	}
	for _, e := range s.emitted {
		past = &oracle.Entry{Transition: oracle.Transition{Event: e.event, Version: e.version}, Emits: []string{e.topic}, Before: past}
	}
	for _, t := range s.history {
		past, made = &oracle.Entry{Transition: t, History: true, Before: past}, t
	}
	return past, made
}

// stateOf is the state of that name, or of which a table keeps that text.
func stateOf(m *model.Machine, text string) *model.State {
	for _, s := range m.States {
		if s.Name == text || m.Table.Status.Text(s.Name, s.Code) == text {
			return s
		}
	}
	return nil
}
