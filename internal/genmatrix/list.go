package genmatrix

import (
	"iter"
	"strings"

	"github.com/pawl-go/pawl/internal/duration"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/sheet"
	"github.com/pawl-go/pawl/internal/wording"
)

// list renders the ways of all cells as CSV.
func list(name string, ways *sheet.Sheet, flavour sheet.Flavour) ([]File, error) {
	content, err := sheet.CSV(ways, flavour)
	return []File{{name, content}}, err
}

// ways gives the ways of all cells, states and events in order.
func (v view) ways() iter.Seq2[*model.Cell, wording.Way] {
	return func(yield func(*model.Cell, wording.Way) bool) {
		for i := range v.States {
			for _, e := range v.Events {
				for _, w := range wording.Ways(e.Cells[i]) {
					if !yield(e.Cells[i], w) {
						return
					}
				}
			}
		}
	}
}

// wayList is the list for people.
func (v view) wayList() *sheet.Sheet {
	columns := []listColumn{
		{colState, 18, func(c *model.Cell, _ wording.Way) string { return c.State.Name }},
		{colStateName, 20, func(c *model.Cell, _ wording.Way) string { return wording.Label(c.State.Name, c.State.Labels, v.lang) }},
		{colEvent, 22, func(c *model.Cell, _ wording.Way) string { return c.Event.Name }},
		{colEventName, 20, func(c *model.Cell, _ wording.Way) string { return wording.Label(c.Event.Name, c.Event.Labels, v.lang) }},
		{colVariant, 18, func(_ *model.Cell, w wording.Way) string { return w.Variant }},
		{colGuard, 40, func(_ *model.Cell, w wording.Way) string { return guardText(w) }},
		{colOutcome, 14, func(_ *model.Cell, w wording.Way) string { return v.outcome(w) }},
		{colTo, 18, func(_ *model.Cell, w wording.Way) string { return to(w) }},
		{colSets, 40, func(_ *model.Cell, w wording.Way) string { return setText(w) }},
		{colEmits, 22, func(_ *model.Cell, w wording.Way) string { return strings.Join(w.Emit, ", ") }},
		{colNote, 36, v.note},
	}
	s := &sheet.Sheet{Freeze: 1, Filter: true}
	for _, c := range columns {
		s.Columns = append(s.Columns, sheet.Column{Header: v.say(c.header), Width: c.width, Wrap: true})
	}
	s.Rows = func(yield func([]sheet.Cell) bool) {
		for c, w := range v.ways() {
			row := make([]sheet.Cell, len(columns))
			for i, column := range columns {
				row[i] = sheet.Text(column.text(c, w))
				if column.header == colOutcome {
					row[i].Kind = wayKind(w).look()
				}
			}
			if !yield(row) {
				return
			}
		}
	}
	return s
}

// listColumn is a column of the list, with what stands in it.
type listColumn struct {
	header wording.Phrase
	width  float64
	text   func(*model.Cell, wording.Way) string
}

// wayImport is the list for programs: its header and its words are the same in
// every language, and guards come with their SQL.
func (v view) wayImport() *sheet.Sheet {
	s := &sheet.Sheet{Rows: func(yield func([]sheet.Cell) bool) {
		for c, w := range v.ways() {
			name, sql := "", ""
			if g := w.Guard(); g != nil {
				name, sql = g.Name, g.SQL.Source
			}
			if !yield(sheet.Texts(
				v.Name, c.State.Name, c.Event.Name, w.Variant, name, guardText(w), sql,
				word(w), to(w), setText(w), strings.Join(w.Emit, " "), deadline(c), identity(c, w),
			)) {
				return
			}
		}
	}}
	for _, name := range []string{"machine", "state", "event", "variant", "guard", "condition", "sql", "outcome", "to", "sets", "emits", "deadline", "fact"} {
		s.Columns = append(s.Columns, sheet.Column{Header: name})
	}
	return s
}

// wayKind is the kind of one way, for its look.
func wayKind(w wording.Way) kind {
	switch {
	case w.Transition == nil:
		return decided[w.Decision]
	case w.Guard() != nil:
		return guarded
	}
	return moves
}

// word is what a way does, in the words of the definition.
func word(w wording.Way) string {
	if w.Transition != nil {
		return string(moves)
	}
	return w.Decision.String()
}

// outcome is what a way does, in the view's language.
func (v view) outcome(w wording.Way) string {
	if w.Transition != nil {
		return v.say(wordMoves)
	}
	return v.say(wording.Decision(w.Decision))
}

func guardText(w wording.Way) string {
	if g := w.Guard(); g != nil {
		return wording.Guard(g)
	}
	return ""
}

func to(w wording.Way) string {
	if w.Transition != nil {
		return w.Transition.To.Name
	}
	return ""
}

func setText(w wording.Way) string {
	if w.Transition != nil {
		return wording.Sets(w.Transition)
	}
	return ""
}

// note says when the cell's event comes by itself, and which fact the way
// leaves behind.
func (v view) note(c *model.Cell, w wording.Way) string {
	var notes []string
	if due := v.due(c); due != "" {
		notes = append(notes, due)
	}
	if id := identity(c, w); id != "" {
		notes = append(notes, v.say(fact, id))
	}
	return strings.Join(notes, "; ")
}

// identity is what identifies the fact that the way records; empty where it
// records none.
func identity(c *model.Cell, w wording.Way) string {
	if w.Transition == nil && w.Decision != model.Compensate {
		return ""
	}
	return paramNames(c.Event.Identity)
}

func paramNames(params []*model.Param) string {
	names := make([]string, len(params))
	for i, p := range params {
		names[i] = p.Name
	}
	return strings.Join(names, ", ")
}

// deadline is the time after which the cell's event comes by itself, as the
// definition writes it; empty where it does not.
func deadline(c *model.Cell) string {
	if d := c.State.Deadline; d != nil && d.Event == c.Event {
		return duration.Format(d.After)
	}
	return ""
}
