package genmatrix

import (
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/sheet"
	"github.com/pawl-go/pawl/internal/wording"
)

// view is a machine with what all formats say of it.
type view struct {
	*model.Machine
	lang string
	// across has the states as columns and the events as rows: a matrix is as
	// narrow as it can be.
	across bool
}

func newView(m *model.Machine, lang string) view {
	return view{Machine: m, lang: lang, across: len(m.States) <= len(m.Events)}
}

// say gives a phrase in the view's language.
func (v view) say(p wording.Phrase, args ...any) string {
	if len(args) == 0 {
		return p.In(v.lang)
	}
	return p.Sprintf(v.lang, args...)
}

// cell is the cell in a row and a column of the matrix, both from 0.
func (v view) cell(row, column int) *model.Cell {
	if v.across {
		return v.Events[row].Cells[column]
	}
	return v.Events[column].Cells[row]
}

// head is a column's or row's name with its label.
type head struct {
	name, label string
	state       *model.State
	event       *model.Event
}

func (v view) stateHeads() []head {
	heads := make([]head, len(v.States))
	for i, s := range v.States {
		heads[i] = head{name: s.Name, label: wording.Label(s.Name, s.Labels, v.lang), state: s}
	}
	return heads
}

func (v view) eventHeads() []head {
	heads := make([]head, len(v.Events))
	for i, e := range v.Events {
		heads[i] = head{name: e.Name, label: wording.Label(e.Name, e.Labels, v.lang), event: e}
	}
	return heads
}

func (v view) rows() []head {
	if v.across {
		return v.eventHeads()
	}
	return v.stateHeads()
}

func (v view) columns() []head {
	if v.across {
		return v.stateHeads()
	}
	return v.eventHeads()
}

// corner is what stands above the rows and before the columns.
func (v view) corner() string {
	if v.across {
		return v.say(cornerAcross)
	}
	return v.say(cornerDown)
}

// kind groups cells by what they do; its text is a class of the HTML and a word
// of the CSV, and stays as it is.
type kind string

const (
	moves      kind = "moves"
	guarded    kind = "guarded"
	replay     kind = "replay"
	ignore     kind = "ignore"
	compensate kind = "compensate"
	reject     kind = "reject"
)

// kindOf is the kind of a cell: guarded wherever a guard is asked.
func kindOf(c *model.Cell) kind {
	if c.Moves() {
		if len(c.Transitions) == 1 && c.Closed() {
			return moves
		}
		return guarded
	}
	return decided[c.Otherwise]
}

var decided = map[model.Decision]kind{
	model.Reject: reject, model.GuardFailed: reject,
	model.Replay: replay, model.Ignore: ignore, model.Compensate: compensate,
}

// group is one kind with its words and the number of its cells.
type group struct {
	kind        kind
	word, means wording.Phrase
	look        sheet.Kind
	count       int
}

// groups are all kinds in the order of the legend, counted.
func (v view) groups() []group {
	groups := []group{
		{kind: moves, word: wordMoves, means: meansMoves, look: sheet.Moves},
		{kind: guarded, word: wordGuarded, means: meansGuarded, look: sheet.Guarded},
		{kind: compensate, word: wording.Decision(model.Compensate), means: wording.Explained(model.Compensate), look: sheet.Compensate},
		{kind: replay, word: wording.Decision(model.Replay), means: wording.Explained(model.Replay), look: sheet.Replay},
		{kind: ignore, word: wording.Decision(model.Ignore), means: wording.Explained(model.Ignore), look: sheet.Ignore},
		{kind: reject, word: wording.Decision(model.Reject), means: wording.Explained(model.Reject), look: sheet.Reject},
	}
	counts := map[kind]int{}
	for _, e := range v.Events {
		for _, c := range e.Cells {
			counts[kindOf(c)]++
		}
	}
	for i := range groups {
		groups[i].count = counts[groups[i].kind]
	}
	return groups
}

// look is how a cell of the kind looks in a spreadsheet.
func (k kind) look() sheet.Kind {
	switch k {
	case moves:
		return sheet.Moves
	case guarded:
		return sheet.Guarded
	case replay:
		return sheet.Replay
	case ignore:
		return sheet.Ignore
	case compensate:
		return sheet.Compensate
	}
	return sheet.Reject
}

// due says when the cell's event comes by itself: empty for a cell whose state's
// deadline does not fire it.
func (v view) due(c *model.Cell) string {
	d := c.State.Deadline
	if d == nil || d.Event != c.Event {
		return ""
	}
	said := v.say(byItself, wording.Duration(d.After, v.lang))
	if d.Max > 0 {
		said += v.say(atMost, d.Max)
	}
	return said
}
