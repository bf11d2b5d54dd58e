package record

import (
	"time"

	"github.com/pawl-go/pawl/fsm"
)

// Types of lines.
const (
	typeCall   = "call"
	typeReturn = "return"
	typeRow    = "row"
	typeRead   = "read"
)

// Events that a definition does not have: the creation of a row, and a sweep of
// deadlines.
const (
	eventCreate = "create"
	eventSweep  = "sweep"
)

// Kinds of errors, as lines have them.
const (
	errorNothingDone = "nothing done"
	errorUnknown     = "unknown"
	errorNotFound    = "not found"
	errorArgument    = "argument"
	errorContended   = "contended"
)

// line is one line of a history. docs/histories.md says what each field means.
type line struct {
	Type string `json:"type"`
	ID   string `json:"id,omitempty"`
	At   int64  `json:"at"`

	Client  string         `json:"client,omitempty"`
	Machine string         `json:"machine,omitempty"`
	Key     *string        `json:"key,omitempty"` // nil for none: a key may be empty
	Event   string         `json:"event,omitempty"`
	Params  map[string]any `json:"params,omitempty"`
	Expect  *int64         `json:"expect,omitempty"`
	Now     *time.Time     `json:"now,omitempty"`
	Since   int64          `json:"since,omitempty"`

	Error      string      `json:"error,omitempty"`
	Outcome    fsm.Outcome `json:"outcome,omitempty"`
	State      string      `json:"state,omitempty"`
	Version    int64       `json:"version,omitempty"`
	Transition *Transition `json:"transition,omitempty"`
	Snapshot   bool        `json:"snapshot,omitempty"`
	Swept      []swept     `json:"swept,omitempty"`

	Gone    bool           `json:"gone,omitempty"`
	Columns map[string]any `json:"columns,omitempty"`
	History []Transition   `json:"history,omitzero"`
	Facts   []Fact         `json:"facts,omitzero"`
	Outbox  []Emitted      `json:"outbox,omitzero"`
}

// Answer is what a call was told.
type Answer struct {
	Outcome fsm.Outcome
	// State and Version are the row's, as the answer has them.
	State   string
	Version int64
	// Transition is the one that the answer says made the row so, nil where it says
	// nothing of it. The zero Transition is an answer too: that there is none.
	Transition *Transition
	// Snapshot says that the answer is from the snapshot of its transaction.
	Snapshot bool
}

// Transition is one entry of a row's life.
type Transition struct {
	Event string `json:"event,omitempty"`
	// Outcome is empty for an entry of the history, where all were Applied.
	Outcome fsm.Outcome `json:"outcome,omitempty"`
	// From is empty for the creation of the row.
	From    string `json:"from,omitempty"`
	To      string `json:"to,omitempty"`
	Version int64  `json:"version,omitempty"`
}

// Row is what somebody saw of a row at one moment: in one statement, or in one
// transaction that is REPEATABLE READ. What was not looked at is nil; an empty slice
// says that there is nothing.
type Row struct {
	// Gone says that there is no such row. All else is then empty.
	Gone    bool
	State   string
	Version int64
	// Columns are declared columns by name, as many as were looked at.
	Columns map[string]any
	// History has the entries of the row's history by version; Facts its facts and
	// Outbox what it has emitted, in any order.
	History []Transition
	Facts   []Fact
	Outbox  []Emitted
}

// Fact is a fact as the machine's table of facts keeps it.
type Fact struct {
	Event       string      `json:"event"`
	Identity    string      `json:"identity"`
	Fingerprint string      `json:"fingerprint"`
	Outcome     fsm.Outcome `json:"outcome"`
	From        string      `json:"from"`
	To          string      `json:"to"`
	Version     int64       `json:"version"`
}

// Emitted is a row of the outbox.
type Emitted struct {
	Event   string `json:"event"`
	Topic   string `json:"topic"`
	Version int64  `json:"version"`
}

// swept is a row that a sweep moved.
type swept struct {
	Event   string `json:"event"`
	Key     string `json:"key"`
	From    string `json:"from"`
	To      string `json:"to"`
	Version int64  `json:"version"`
}

// saw puts what was seen of a row into a line.
func (l *line) saw(r Row) *line {
	l.Gone, l.State, l.Version, l.Columns = r.Gone, r.State, r.Version, r.Columns
	l.History, l.Facts, l.Outbox = r.History, r.Facts, r.Outbox
	return l
}
