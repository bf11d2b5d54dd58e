package audit

import (
	"bytes"
	"fmt"

	"github.com/pawl-go/pawl/internal/model"
)

// walker judges the records of one machine. They come by key; of one key the
// row first, then history and facts by version, an entry before its facts. It
// keeps one row and one entry.
type walker struct {
	*lifecycle
	found func(Finding)
	read  Read

	key   []byte
	begun bool
	row   rowSeen
	// entries and facts are how many came of the key.
	entries, facts int64
	last           entrySeen
	// early is how many Applied facts came before the first entry, and earlyAt
	// the first one's version.
	early, earlyAt int64
	// retired and former count rows by state index: those in a retired state,
	// and those that still hold a former name.
	retired, former []int64
}

// rowSeen is the row of the key.
type rowSeen struct {
	there   bool
	version int64
	state   *model.State // nil for one that the definition lacks
	// undue is set while a missing due time is not told yet: a row that is not
	// taken in has no history either, and that is one cause.
	undue bool
}

// entrySeen is the newest entry of the key so far.
type entrySeen struct {
	version         int64
	event, from, to []byte
	// owed is set while a fact for the entry is to come, claimed when one came.
	owed, claimed bool
}

func newWalker(l *lifecycle, found func(Finding)) *walker {
	return &walker{
		lifecycle: l, found: found, read: Read{Machine: l.Name},
		retired: make([]int64, len(l.states)), former: make([]int64, len(l.states)),
	}
}

func (w *walker) find(kind Kind, version int64, format string, args ...any) {
	w.found(Finding{Kind: kind, Machine: w.Name, Key: string(w.key), Version: version, Text: fmt.Sprintf(format, args...)})
}

// take judges one record.
func (w *walker) take(r *record) {
	if !w.begun || !bytes.Equal(w.key, r.key) {
		w.end()
		w.begun = true
		w.key = append(w.key[:0], r.key...)
	}
	switch r.of {
	case ofRow:
		w.read.Rows++
		w.takeRow(r)
	case ofEntry:
		w.read.Entries++
		if w.row.there {
			w.undue()
			w.takeEntry(r)
		}
		w.entries++
	case ofFact:
		w.read.Facts++
		w.facts++
		if w.row.there {
			w.takeFact(r)
		}
	}
}

// end judges what only the last record of a key shows. It is called once more
// after the last record of all.
func (w *walker) end() {
	if !w.begun {
		return
	}
	w.settle()
	switch {
	case !w.row.there && w.entries > 0:
		w.find(OrphanHistory, 0, "the history has %s of a row that is not there", several(w.entries, "entry", "entries"))
	case !w.row.there:
	case w.entries == 0 && w.forgets():
		w.undue()
	case w.entries == 0:
		if !w.Table.Existing {
			w.undue()
		}
		hint := ""
		if w.Table.Existing {
			hint = "; if a program of before its machine inserted it, CALL " + w.called().Adopt() + "() takes it in"
		}
		w.find(NoHistory, w.row.version, "the row has no history%s", hint)
	default:
		w.newest()
		if w.early > 0 && !w.forgets() {
			w.find(FactMismatch, w.earlyAt, "%s before the history begins", several(w.early, "fact was Applied", "facts were Applied"))
		}
	}
	if !w.row.there && w.facts > 0 {
		w.find(OrphanFacts, 0, "the database has %s of a row that is not there", several(w.facts, "fact", "facts"))
	}
	w.begun, w.row, w.entries, w.facts, w.early = false, rowSeen{}, 0, 0, 0
	w.last.owed, w.last.claimed = false, false
}

// newest compares the row with the entry that should have led to it.
func (w *walker) newest() {
	switch {
	case w.row.version >= 1 && w.last.version != w.row.version:
		w.find(HistoryMismatch, w.row.version, "the row is at version %d, its history ends at version %d", w.row.version, w.last.version)
	case w.row.state != nil && w.names[string(w.last.to)] != w.row.state:
		w.find(HistoryMismatch, w.row.version, "the row is %s, its history ends in %s", w.row.state.Name, word(w.last.to))
	}
}

func (w *walker) takeRow(r *record) {
	s := w.stored[string(r.to)]
	if w.row.there { // possible without the primary key alone
		w.find(BadVersion, r.version, "the key is there twice")
		return
	}
	w.row = rowSeen{there: true, version: r.version, state: s}
	if r.version < 1 {
		w.find(BadVersion, r.version, "the row's version is %d; the first is 1", r.version)
	}
	if w.CountsRuns() && r.runs < 0 {
		w.find(BadRuns, r.version, "the row's deadline ran %d times", r.runs)
	}
	if s == nil {
		w.find(UnknownState, r.version, "the row is %s, which is no state of the definition", word(r.to))
		return
	}
	if s.Retired {
		w.retired[s.Index]++
	}
	if s.Was != "" && string(r.to) == s.Was && w.Table.Status.Storage != model.StoredCode {
		w.former[s.Index]++
	}
	if w.Deadlines() && !w.due[s.Index] && !w.past(s) {
		w.deadline(s, r)
	}
}

// deadline compares the row's due time with what its state asks for.
func (w *walker) deadline(s *model.State, r *record) {
	d := s.Deadline
	switch {
	case d == nil && r.flag:
		w.find(StrayDeadline, r.version, "the row has a deadline, and %s has none", s.Name)
	case d == nil:
	case !r.flag && (d.Max == 0 || r.runs < int64(d.Max)):
		w.row.undue = true
	case r.bad:
		w.find(Overdue, r.version, "the row is overdue in %s: %s has not come", s.Name, d.Event.Name)
	}
}

// undue tells of a missing due time, once.
func (w *walker) undue() {
	if s := w.row.state; w.row.undue {
		w.find(DeadlineMissing, w.row.version, "the row has no deadline, so nothing moves it out of %s by %s", s.Name, s.Deadline.Event.Name)
	}
	w.row.undue = false
}

// several is a number with its word.
func several(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// word shows a text of the database, whatever is in it.
func word(b []byte) string {
	if b == nil {
		return "NULL"
	}
	return fmt.Sprintf("%.100q", b)
}
