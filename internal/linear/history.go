package linear

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/oracle"
)

// HistoryError says what is wrong with a history, so that it cannot be checked.
type HistoryError struct {
	File string
	Line int
	Err  error
}

// Error names file, line and what is wrong.
func (e *HistoryError) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }

// Unwrap gives the cause.
func (e *HistoryError) Unwrap() error { return e.Err }

// History is what was recorded of one machine. Read it whole, then check it.
type History struct {
	machine *model.Machine
	events  map[string]*model.Event
	keys    map[string]string // each key once

	ops    []*operation
	starts map[string]*start
	sweeps []*operation // whose end is not known
	wholes []interval   // when somebody looked at all rows there are
	all    bool         // whether the rows from before are all of them

	// strangers counts what was seen of rows that nobody called, torn the files that
	// end in the middle of a line.
	strangers, torn int
}

// NewHistory returns an empty history of the machine, which must have a table.
func NewHistory(m *model.Machine) (*History, error) {
	if m.Table == nil {
		return nil, fmt.Errorf("machine %s has no table, so there is nothing to record", m.Name)
	}
	h := &History{machine: m, events: map[string]*model.Event{}, keys: map[string]string{}, starts: map[string]*start{}}
	for _, e := range m.Events {
		h.events[e.Name] = e
	}
	return h, nil
}

// kind is what an operation is.
type kind int

const (
	fires    kind = iota // calls an event
	creates              // creates the row
	corrects             // forces the row into a state
	reads                // looks at the row
	sweeps               // moves whatever a deadline may, and nobody knows what
	ends                 // comes after all that is known
)

// interval is the time from the beginning of something to its end.
type interval struct{ from, to int64 }

// never is the end of what has not ended.
const never = math.MaxInt64

// operation is one call, or one look at a row.
type operation struct {
	place
	kind   kind
	client string
	key    string
	event  *model.Event // nil unless it fires one
	params []byte       // as they were written
	expect int64        // the expected version, 0 for none
	now    time.Time    // zero when nobody knows
	target *model.State // of a correction
	began  int64        // when its transaction took its snapshot at the earliest, 0 for none
	interval
	// told is nil where nobody knows what became of it, and void says that certainly
	// nothing was done.
	told *told
	void bool
	// later says that it was answered, and that this is left out: see pending.
	later bool
	fail  string // the kind of error that it ended in
	seen  *seen  // by one that reads

	values oracle.Values // the params, read
	unfit  bool          // no call takes its arguments
	fact   string        // what makes it a fact, empty for none
	// either says that a branch had to be allowed since the judge could not tell.
	either atomic.Bool
}

// unknown reports whether the call may have had its effect or not.
func (op *operation) unknown() bool {
	return op.told == nil && op.seen == nil && !op.void && op.kind != ends
}

// told is what a call answered.
type told struct {
	outcome  oracle.Outcome
	state    string
	version  int64
	made     *oracle.Transition // nil where it says nothing of it
	columns  map[string][]byte
	snapshot bool
}

// seen is what somebody saw of a row, and start a row that was there before.
type seen struct {
	gone    bool
	state   string
	version int64
	columns map[string][]byte
	history []oracle.Transition // nil where nobody looked
	facts   []fact
	emitted []emitted

	looked looks
}

// looks says what was looked at.
type looks struct{ history, facts, outbox bool }

type fact struct {
	event, identity, fingerprint string
	first                        oracle.Transition
}

type emitted struct {
	event, topic string
	version      int64
}

type start struct {
	place
	at int64
	*seen
}

// place is where something is written.
type place struct {
	file string
	line int
}

func (p place) err(format string, args ...any) error {
	return &HistoryError{p.file, p.line, fmt.Errorf(format, args...)}
}

// ErrNothing says that no line of the history is of the machine.
var ErrNothing = errors.New("the history has no line of the machine")

// operations counts what was called and seen.
func (h *History) operations() int { return len(h.ops) + len(h.sweeps) }

// name is the event of an operation, as the history has it.
func (op *operation) name() string {
	switch op.kind {
	case creates:
		return oracle.EventCreate
	case corrects:
		return oracle.EventCorrect
	case reads:
		return eventRead
	case sweeps:
		return eventSweep
	case fires:
		return op.event.Name
	}
	return ""
}
