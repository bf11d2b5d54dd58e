package gensvg

import (
	"strings"

	"github.com/pawl-go/pawl/internal/layered"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/picture"
	"github.com/pawl-go/pawl/internal/wording"
)

// block is lines of text with a border around them: a state, or what is written
// on an arrow.
type block struct {
	lines      []line
	padX, padY int
}

// line is one line of a block. A mark is drawn before it; center lines stand in
// the middle, others begin at the left. A rule divides it from the line above.
type line struct {
	text   string
	font   font
	mark   mark
	tone   string // a further class, for its colour
	indent bool   // begins where the text behind a mark does
	center bool
	rule   bool
	arc    int  // the arc that it belongs to, from 1; 0 for none
	figure bool // a figure of the page stands behind it
}

const (
	// markRoom is the room that a mark takes before its line.
	markRoom = 15
	// ruleRoom is the room of a rule.
	ruleRoom = 9
	// figureGap is between a line and the figure behind it.
	figureGap = 6
	// Limits of lines.
	titleWidth = 190
	stateWidth = 168
	eventWidth = 176
)

// width is that of the line with its mark.
func (l line) width() int {
	w := width(l.text, l.font)
	if l.mark != noMark || l.indent {
		w += markRoom
	}
	if l.figure {
		w += figureGap + FigureWidth
	}
	return w
}

func (b block) empty() bool { return len(b.lines) == 0 }

// size is 0 × 0 for a block without lines.
func (b block) size() layered.Size {
	if b.empty() {
		return layered.Size{}
	}
	s := layered.Size{H: 2 * b.padY}
	for _, l := range b.lines {
		s.W = max(s.W, l.width())
		s.H += l.font.line
		if l.rule {
			s.H += ruleRoom
		}
	}
	s.W += 2 * b.padX
	return s
}

// add wraps the text and appends its lines, which are all like the one given.
func (b *block) add(text string, like line, limit int) {
	room := limit
	indent := like.indent || like.mark != noMark
	if indent {
		room -= markRoom
	}
	for i, t := range wrap(text, like.font, room) {
		l := like
		l.text = t
		if i > 0 {
			l.rule, l.mark, l.indent, l.figure = false, noMark, indent, false
		}
		b.lines = append(b.lines, l)
	}
}

// stateBlock is what stands in a state's box: its title, its name where that is
// another, whether rows may stay, and what it refuses and compensates.
func stateBlock(p *picture.Picture, n *picture.Node, lang string) block {
	b := block{padX: 15, padY: 11}
	title, name := picture.Title(n.State, lang)
	b.add(title, line{font: fontState, center: true}, titleWidth)
	b.add(name, line{font: fontName, center: true}, stateWidth)
	if n.Rest() == picture.Resting {
		b.standing(picture.MarkResting, markResting, n, lang)
	} else if n.State.Retired {
		b.standing(picture.MarkRetired, markRetired, n, lang)
	}
	var compensated []*model.Cell
	rule := true
	for _, r := range p.Remarks(n) {
		if r.Decision != model.Reject {
			compensated = append(compensated, r.Cells...)
			continue
		}
		text := strings.TrimPrefix(r.Text(lang), picture.MarkReject+" ")
		if len(r.Cells) <= few {
			text = titles(r.Cells, lang)
		}
		b.add(text, line{font: fontNote, mark: markReject, tone: "reject", rule: true}, stateWidth)
		rule = false
	}
	b.add(titles(compensated, lang), line{font: fontNote, mark: markCompensate, tone: "compensate", rule: rule}, stateWidth)
	return b
}

// few is how many events a state names that it refuses.
const few = 6

// titles are the events of cells; the tip of the state says more.
func titles(cells []*model.Cell, lang string) string {
	names := make([]string, len(cells))
	for i, c := range cells {
		names[i], _ = picture.EventTitle(c.Event, lang)
	}
	return strings.Join(names, comma.In(lang))
}

var comma = wording.Phrase{EN: ", ", ZH: "、"}

// standing says that rows may stay, or enter no more.
func (b *block) standing(text string, m mark, n *picture.Node, lang string) {
	words := strings.TrimPrefix(picture.Standing(n.State, lang), text+" ")
	b.add(words, line{font: fontNote, mark: m, tone: "standing", center: true}, stateWidth)
}

// edgeBlock is what stands on an arrow: for each arc what sets it going, and on
// lines of their own its guard in brackets and what stands behind that. A bare
// picture has nothing there.
func edgeBlock(p *picture.Picture, e *picture.Edge, o Options) block {
	b := block{padX: 9, padY: 5}
	if p.Bare {
		return b
	}
	for i, a := range e.Arcs {
		text, m, tone := a.Text(o.Lang, o.Emits), noMark, "plain"
		switch a.Kind() {
		case picture.Callback:
			text, m, tone = strings.TrimPrefix(text, picture.MarkCallback+" "), markCallback, "callback"
		case picture.Deadline:
			text, m, tone = strings.TrimPrefix(text, picture.MarkDeadline+" "), markDeadline, "deadline"
		}
		like := line{font: fontEvent, mark: m, tone: tone, arc: i + 1, figure: o.Figures}
		head, guard := cutGuard(text, a)
		b.add(head, like, eventWidth)
		like.font, like.rule, like.mark, like.indent, like.figure = fontGuard, false, noMark, m != noMark, false
		b.add(guard, like, eventWidth)
	}
	return b
}

// cutGuard takes the guard in brackets, and what stands behind it, off the text
// of an arc; guard is empty for an arc without one.
func cutGuard(text string, a picture.Arc) (head, guard string) {
	if a.Transition.Guard == nil {
		return text, ""
	}
	if i := strings.LastIndex(text, " ["+picture.Guard(a.Transition.Guard)+"]"); i >= 0 {
		return text[:i], text[i+1:]
	}
	return text, ""
}
