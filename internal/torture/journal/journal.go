// Package journal keeps what a client asked for and what it was told, in a file, an
// entry at a time: what was written before the process was killed is there. What it
// says about an engine is for others to judge.
package journal

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Call is what was asked for.
type Call struct {
	// ID is the call's own: each try of the same work has another one. It is the
	// request id in the history.
	ID string `json:"id"`
	// Bundle and Group say which rows belong together.
	Bundle  int    `json:"b"`
	Group   int    `json:"g"`
	Machine string `json:"m"`
	Event   string `json:"e"`
	Key     string `json:"k"`
	// Params are by the definition's names.
	Params map[string]any `json:"p,omitempty"`
	// Identity is what makes it a fact, empty for an event without one.
	Identity string `json:"i,omitempty"`
	// Version is the expected one, 0 for none.
	Version int64 `json:"v,omitempty"`
	// Mode is how it was made: single, tx, batch, ...
	Mode string `json:"w"`
	// Then says that an effect hangs on its being Applied.
	Then bool `json:"t,omitempty"`
	// At is when it began, by [Now].
	At int64 `json:"at"`
}

// Words for what is no outcome of the engine's.
const (
	// Nothing: certainly nothing was done. Unknown: nobody knows.
	Nothing = "nothing done"
	Unknown = "unknown"
	// NotFound and BadArgument are answers too.
	NotFound    = "not found"
	BadArgument = "bad argument"
	// Strange is an error that the documents do not tell of.
	Strange = "strange error"
)

// Answer is what it was told.
type Answer struct {
	ID string `json:"id"`
	At int64  `json:"at"`
	// Outcome is one of the runtime's, or of the words above.
	Outcome string `json:"o"`
	// Error says more: a SQLSTATE where there is one.
	Error   string         `json:"err,omitempty"`
	State   string         `json:"s,omitempty"`
	Version int64          `json:"v,omitempty"`
	Columns map[string]any `json:"c,omitempty"`
	Made    Made           `json:"by,omitzero"`
	// Snapshot says that it was answered from a transaction's snapshot.
	Snapshot bool `json:"snap,omitempty"`
	// Runs is how often a transaction was run for it, where it was in one.
	Runs int `json:"n,omitempty"`
}

// Made is the transition that an answer tells of.
type Made struct {
	Event   string `json:"e,omitempty"`
	Outcome string `json:"o,omitempty"`
	From    string `json:"f,omitempty"`
	To      string `json:"t,omitempty"`
	Version int64  `json:"v,omitempty"`
}

// Note is something that happened beside the calls: a token that was used, a leak.
type Note struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// entry is a line of the file. One of its fields is set.
type entry struct {
	Call   *Call   `json:"q,omitempty"`
	Answer *Answer `json:"a,omitempty"`
	Note   *Note   `json:"n,omitempty"`
}

// Now is a clock that never goes back, and that all processes of a machine share.
func Now() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		return 0 // no system that the project supports lacks it
	}
	return t.Nano()
}

// Writer writes a journal. It is safe for concurrent use.
type Writer struct {
	mutex sync.Mutex
	file  *os.File
	err   error
}

// Create makes the file, which must not be there.
func Create(path string) (*Writer, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	return &Writer{file: file}, nil
}

// Ask notes calls that begin now; they must not be sent before it returns.
func (w *Writer) Ask(calls ...*Call) {
	entries := make([]entry, len(calls))
	at := Now()
	for i, c := range calls {
		c.At = at
		entries[i].Call = c
	}
	w.write(entries)
}

// Tell notes answers that came just now.
func (w *Writer) Tell(answers ...*Answer) {
	entries := make([]entry, len(answers))
	at := Now()
	for i, a := range answers {
		a.At = at
		entries[i].Answer = a
	}
	w.write(entries)
}

// Note notes something else.
func (w *Writer) Note(kind, text string) { w.write([]entry{{Note: &Note{kind, text}}}) }

// write writes entries by one call of the system, so that a kill can tear the last alone.
func (w *Writer) write(entries []entry) {
	var text []byte
	for _, e := range entries {
		line, err := json.Marshal(e)
		if err != nil {
			w.fail(err)
			return
		}
		text = append(append(text, line...), '\n')
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if _, err := w.file.Write(text); err != nil && w.err == nil {
		w.err = err
	}
}

func (w *Writer) fail(err error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.err == nil {
		w.err = err
	}
}

// Close returns the first error of all that was written: a journal that lacks
// something proves nothing.
func (w *Writer) Close() error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return errors.Join(w.err, w.file.Close())
}

// Entry is one call with its answer, nil where none came, or a note.
type Entry struct {
	Call   *Call
	Answer *Answer
	Note   *Note
}

// Read reads a journal and hands over each call once its answer is known, and in the
// end those that have none. A last line that a kill has cut short is passed over; the
// error is that of the file, of another line that is none, or take's.
func Read(path string, take func(Entry) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	open := map[string]*Call{}
	lines := bufio.NewReaderSize(file, 1<<20)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			break // what is behind the last line's end was never said
		}
		if err != nil {
			return err
		}
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("%s:%d: %w", path, n, err)
		}
		switch {
		case e.Call != nil:
			open[e.Call.ID] = e.Call
		case e.Note != nil:
			if err := take(Entry{Note: e.Note}); err != nil {
				return err
			}
		case e.Answer != nil:
			call := open[e.Answer.ID]
			if call == nil {
				return fmt.Errorf("%s:%d: an answer to nothing", path, n)
			}
			delete(open, e.Answer.ID)
			if err := take(Entry{Call: call, Answer: e.Answer}); err != nil {
				return err
			}
		}
	}
	for _, call := range open {
		if err := take(Entry{Call: call}); err != nil {
			return err
		}
	}
	return nil
}
