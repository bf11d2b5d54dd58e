package linear

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/oracle"
)

// Read adds the lines of a file, named for errors. Lines of other machines are passed
// over, and so is a last line that a crash cut off. A call without an answer is one
// that may have had its effect at any time. The error is a *[HistoryError], or r's.
func (h *History) Read(r io.Reader, file string) error {
	f := &reader{History: h, open: map[string]*operation{}, place: place{file, 0}}
	in := bufio.NewReaderSize(r, 1<<16)
	for {
		text, err := in.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s: %w", file, err)
		}
		whole := err == nil
		f.line++
		if len(bytes.TrimSpace(text)) > 0 {
			var l line
			switch bad := json.Unmarshal(text, &l); {
			case bad == nil:
				if err := f.take(&l); err != nil {
					return err
				}
			case whole:
				return f.err("%w", bad)
			default:
				h.torn++
			}
		}
		if !whole {
			break
		}
	}
	for _, op := range f.open {
		if op != nil && op.kind == sweeps {
			h.sweeps = append(h.sweeps, op)
		}
	}
	return nil
}

// reader is one file that is being read.
type reader struct {
	*History
	place
	// open has the calls that have not been answered, nil for those of other machines.
	open map[string]*operation
}

// latest is the latest time that a line may have: it leaves room to come after it, and
// for the time between any two.
const latest = int64(1) << 62

func (f *reader) take(l *line) error {
	switch {
	case l.At < 0 || l.At > latest || l.Since < 0 || l.Since > latest:
		return f.err("a time is from 0 to %d nanoseconds", latest)
	case l.Since > l.At:
		return f.err("the time since which it was under way is later than the time that it has")
	}
	switch l.Type {
	case typeCall:
		return f.call(l)
	case typeReturn:
		return f.answer(l)
	case typeRow, typeRead:
		if l.Machine != f.machine.Name {
			return nil
		}
		return f.look(l)
	}
	return f.err("there is no type %q: it is call, return, row or read", l.Type)
}

// keyed is the key in its one spelling, kept once.
func (f *reader) keyed(text string) string {
	key := canonicalKey(f.machine.Table.Keys, text)
	if kept, ok := f.keys[key]; ok {
		return kept
	}
	f.keys[key] = key
	return key
}

func (f *reader) call(l *line) error {
	if l.ID == "" {
		return f.err("a call needs an id")
	}
	if _, twice := f.open[l.ID]; twice {
		return f.err("the call %q has not ended, and begins again", l.ID)
	}
	f.open[l.ID] = nil
	if l.Machine != f.machine.Name {
		return nil
	}
	op := &operation{place: f.place, client: l.Client, params: bytes.Clone(l.Params), now: l.Now, began: l.Since, interval: interval{l.At, never}}
	if l.Expect != nil {
		if op.expect = *l.Expect; op.expect == 0 {
			op.expect = -1 // no row has it
		}
	}
	switch e := f.events[l.Event]; {
	case e != nil:
		op.event = e
	case l.Event == oracle.EventCreate:
		op.kind = creates
	case l.Event == oracle.EventCorrect:
		op.kind = corrects
	case l.Event == eventSweep:
		op.kind = sweeps
		f.open[l.ID] = op
		return nil
	default:
		return f.err("machine %s has no event %q", f.machine.Name, l.Event)
	}
	if l.Key == nil {
		return f.err("the call has no key")
	}
	op.key = f.keyed(*l.Key)
	if op.kind == corrects {
		if err := op.aim(f.machine); err != nil {
			return err
		}
	}
	f.open[l.ID] = op
	f.ops = append(f.ops, op)
	return nil
}

func (f *reader) answer(l *line) error {
	op, known := f.open[l.ID]
	if !known {
		return f.err("the answer is to %q, which has not been called, or was answered before", l.ID)
	}
	delete(f.open, l.ID)
	if op == nil {
		return nil
	}
	if l.At < op.from {
		return f.err("the answer is older than the call")
	}
	op.to = l.At
	switch op.fail = l.Error; l.Error {
	case "":
	case errorUnknown:
		op.to = never
		if op.kind == sweeps {
			f.sweeps = append(f.sweeps, op)
		}
		return nil
	case errorNothingDone, errorArgument, errorContended:
		op.void = true
		return nil
	case errorNotFound:
		op.told = &told{outcome: oracle.NotFound}
		op.aged() // an error does not say whether it is from a snapshot
		return nil
	default:
		return f.err("there is no error %q: it is %s, %s, %s, %s or %s", l.Error, errorNothingDone, errorUnknown, errorNotFound, errorArgument, errorContended)
	}
	if op.kind == sweeps {
		return f.swept(op, l.Swept)
	}
	return f.told(op, l)
}

// outcomes are those that a call can answer.
var outcomes = []oracle.Outcome{
	oracle.Replayed, oracle.Mismatched, oracle.Ignored, oracle.Rejected, oracle.GuardFailed, oracle.Stale, oracle.Compensated, oracle.Applied,
}

func (f *reader) told(op *operation, l *line) error {
	t := &told{outcome: oracle.Outcome(l.Outcome), state: l.State, version: l.Version, snapshot: l.Snapshot, columns: bytesOf(l.Columns)}
	if !slices.Contains(outcomes, t.outcome) {
		return f.err("there is no outcome %q", l.Outcome)
	}
	if err := f.columns(l.Columns); err != nil {
		return err
	}
	if l.Transition != nil {
		made := l.Transition.made()
		t.made = &made
	}
	if t.snapshot && t.outcome != oracle.Applied && t.outcome != oracle.Compensated {
		op.aged() // what had an effect had it during the call, or at the COMMIT
	}
	op.told = t
	return nil
}

// aged makes the answer as old as its transaction may be.
func (op *operation) aged() {
	if op.began != 0 {
		op.from = min(op.from, op.began)
	}
}

// swept makes a call of every row that a sweep moved.
func (f *reader) swept(op *operation, rows []swept) error {
	for _, s := range rows {
		e := f.events[s.Event]
		switch {
		case e == nil:
			return f.err("machine %s has no event %q", f.machine.Name, s.Event)
		case len(f.machine.DeadlineStates(e)) == 0:
			return f.err("no deadline of machine %s has the event %q, so no sweep moves a row by it", f.machine.Name, s.Event)
		case s.Key == nil:
			return f.err("a row that was swept has no key")
		}
		made := oracle.Transition{Event: s.Event, Outcome: oracle.Applied, From: s.From, To: s.To, Version: s.Version}
		f.ops = append(f.ops, &operation{
			place: op.place, client: op.client, key: f.keyed(*s.Key), event: e, interval: op.interval,
			told: &told{outcome: oracle.Applied, state: s.To, version: s.Version, made: &made},
		})
	}
	return nil
}

// aim reads the state of a correction.
func (op *operation) aim(m *model.Machine) error {
	var p struct {
		To string `json:"to"`
	}
	if err := json.Unmarshal(op.params, &p); err != nil || m.State(p.To) == nil {
		return op.err("a correction needs the parameter to, a state of %s: %q", m.Name, p.To)
	}
	op.target = m.State(p.To)
	return nil
}
