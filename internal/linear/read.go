package linear

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/oracle"
)

// Words of lines.
const (
	typeCall   = "call"
	typeReturn = "return"
	typeRow    = "row"
	typeRead   = "read"

	eventRead  = "read"
	eventSweep = "sweep"

	errorNothingDone = "nothing done"
	errorUnknown     = "unknown"
	errorNotFound    = "not found"
	errorArgument    = "argument"
	errorContended   = "contended"
)

// line is one line of a history; docs/histories.md has the fields.
type line struct {
	Type string `json:"type"`
	ID   string `json:"id"`
	At   int64  `json:"at"`

	Client  string          `json:"client"`
	Machine string          `json:"machine"`
	Key     string          `json:"key"`
	Event   string          `json:"event"`
	Params  json.RawMessage `json:"params"`
	Expect  *int64          `json:"expect"`
	Now     time.Time       `json:"now"`
	Since   int64           `json:"since"`

	Error      string      `json:"error"`
	Outcome    string      `json:"outcome"`
	State      string      `json:"state"`
	Version    int64       `json:"version"`
	Transition *transition `json:"transition"`
	Snapshot   bool        `json:"snapshot"`
	Swept      []swept     `json:"swept"`

	Gone    bool                       `json:"gone"`
	Columns map[string]json.RawMessage `json:"columns"`
	History *[]transition              `json:"history"`
	Facts   *[]struct {
		Event       string `json:"event"`
		Identity    string `json:"identity"`
		Fingerprint string `json:"fingerprint"`
		transition
	} `json:"facts"`
	Outbox *[]struct {
		Event   string `json:"event"`
		Topic   string `json:"topic"`
		Version int64  `json:"version"`
	} `json:"outbox"`
}

type transition struct {
	Event   string `json:"event"`
	Outcome string `json:"outcome"`
	From    string `json:"from"`
	To      string `json:"to"`
	Version int64  `json:"version"`
}

func (t transition) made() oracle.Transition {
	return oracle.Transition{Event: t.Event, Outcome: oracle.Outcome(t.Outcome), From: t.From, To: t.To, Version: t.Version}
}

type swept struct {
	Event   string `json:"event"`
	Key     string `json:"key"`
	From    string `json:"from"`
	To      string `json:"to"`
	Version int64  `json:"version"`
}

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

func (f *reader) take(l *line) error {
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
	if l.Key == "" {
		return f.err("the call has no key")
	}
	op.key = f.keyed(l.Key)
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
	t := &told{outcome: oracle.Outcome(l.Outcome), state: l.State, version: l.Version, snapshot: l.Snapshot}
	if !slices.Contains(outcomes, t.outcome) {
		return f.err("there is no outcome %q", l.Outcome)
	}
	if l.Transition != nil {
		made := l.Transition.made()
		t.made = &made
	}
	if t.snapshot {
		op.aged()
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
		if e == nil {
			return f.err("machine %s has no event %q", f.machine.Name, s.Event)
		}
		made := oracle.Transition{Event: s.Event, Outcome: oracle.Applied, From: s.From, To: s.To, Version: s.Version}
		f.ops = append(f.ops, &operation{
			place: op.place, client: op.client, key: f.keyed(s.Key), event: e, interval: op.interval,
			told: &told{oracle.Applied, s.To, s.Version, &made, false},
		})
	}
	return nil
}

func (f *reader) look(l *line) error {
	if l.Key == "" {
		if l.Type == typeRead && l.Gone {
			f.wholes = append(f.wholes, interval{l.Since, l.At})
			return nil
		}
		return f.err("the row has no key")
	}
	s := l.seen()
	key := f.keyed(l.Key)
	if l.Type == typeRead {
		op := &operation{place: f.place, kind: reads, client: l.Client, key: key, interval: interval{l.Since, l.At}, seen: s}
		if l.Since == 0 || l.Since > l.At {
			return f.err("a read needs the time since which it was under way")
		}
		f.ops = append(f.ops, op)
		return nil
	}
	if f.starts[key] != nil {
		return f.err("the row %s begins twice", key)
	}
	f.starts[key] = &start{f.place, l.At, s}
	return nil
}

// seen reads what was seen of a row.
func (l *line) seen() *seen {
	s := &seen{gone: l.Gone, state: l.State, version: l.Version, columns: map[string][]byte{},
		looked: looks{l.History != nil, l.Facts != nil, l.Outbox != nil}}
	for name, v := range l.Columns {
		s.columns[name] = v
	}
	if l.History != nil {
		for _, t := range *l.History {
			t.Outcome = string(oracle.Applied)
			s.history = append(s.history, t.made())
		}
	}
	if l.Facts != nil {
		for _, v := range *l.Facts {
			v.transition.Event = v.Event
			s.facts = append(s.facts, fact{v.Event, v.Identity, v.Fingerprint, v.made()})
		}
	}
	if l.Outbox != nil {
		for _, v := range *l.Outbox {
			s.emitted = append(s.emitted, emitted{v.Event, v.Topic, v.Version})
		}
	}
	return s
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
