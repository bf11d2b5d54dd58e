package linear

import (
	"encoding/json"
	"time"

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
	Key     *string         `json:"key"` // nil for none: a key may be empty
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
	Event   string  `json:"event"`
	Key     *string `json:"key"`
	From    string  `json:"from"`
	To      string  `json:"to"`
	Version int64   `json:"version"`
}
