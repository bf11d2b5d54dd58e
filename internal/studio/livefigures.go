package studio

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/pawl-go/pawl/internal/gensvg"
	"github.com/pawl-go/pawl/internal/live"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/picture"
	"github.com/pawl-go/pawl/internal/wording"
)

// withFigures writes the rows of each state on its box, and the flow on its arrow. What is
// kept may be nil.
func withFigures(p *pictures, lang string, v live.View, kept *gensvg.Marks) (template.HTML, error) {
	marks := gensvg.Marks{}
	if kept != nil {
		marks = *kept
	}
	marks.StateFigure = func(s *model.State) string { return stateFigure(s, v) } // figures are digits
	marks.ArcFigure = func(e *picture.Edge, arc int) string { return arcFigure(e, arc, v, lang) }
	return p.marked(pictureOf{lang: lang, live: true}, &marks)
}

// aMinute is behind a flow, in as little room as there is.
var aMinute = wording.Phrase{EN: "/min", ZH: "/分"}

// arcFigure is how often an event takes its arrow; empty for never. Where an arrow has
// an event twice, by two guards, the first has the figure of both.
func arcFigure(e *picture.Edge, arc int, v live.View, lang string) string {
	event := e.Arcs[arc].Transition.Event
	if slices.ContainsFunc(e.Arcs[:arc], func(a picture.Arc) bool { return a.Transition.Event == event }) {
		return ""
	}
	r := v.Moves.Value.PerMinute(e.From.Name, e.To.Name, event.Name)
	if r <= 0 {
		return ""
	}
	text := short(r) + aMinute.In(lang)
	width := min(pillWidth(text)*4/5, gensvg.FigureWidth)
	return fmt.Sprintf(`<g class="flow"><rect y="%d" width="%d" height="%d" rx="7"/><text x="%d" y="4">%s</text></g>`,
		-gensvg.FigureHeight/2, width, gensvg.FigureHeight, width/2, text)
}

// short is a flow per minute in four characters or so.
func short(perMinute float64) string {
	unit := ""
	for _, larger := range []string{"k", "M", "G"} {
		if perMinute < 999.5 {
			break
		}
		perMinute, unit = perMinute/1000, larger
	}
	return rate(perMinute) + unit
}

// stateFigure is the number of rows, and how many of them are overdue.
func stateFigure(s *model.State, v live.View) string {
	if !v.Counts.Known() {
		return ""
	}
	late := v.Deadlines.Value.Of(s.Name)
	n, class := v.Counts.Value.Of(s.Name), "rows"
	text := brief(n)
	if !v.Counts.Value.Exact { // estimates know nothing of rare states
		text = "≈ " + brief(max(n, late))
	}
	if n == 0 && late == 0 {
		class += " none"
	}
	out := pill(class, text, 8, -14)
	if late > 0 {
		out += pill("late", "⏱ "+upTo(late), 4-pillWidth(text), -14)
	}
	return out
}

// pillWidth is room for a text of digits and signs.
func pillWidth(text string) int {
	width := 14
	for _, r := range text {
		switch {
		case strings.ContainsRune(",. /i", r):
			width += 4
		case r > 0x7f:
			width += 11
		default:
			width += 8
		}
	}
	return width
}

// pill is a text on a ground, with its right end and its top at a point.
func pill(class, text string, x, y int) string {
	width := pillWidth(text)
	return fmt.Sprintf(`<g class="%s"><rect x="%d" y="%d" width="%d" height="18" rx="9"/><text x="%d" y="%d">%s</text></g>`, class, x-width, y, width, x-width/2, y+13, template.HTMLEscapeString(text))
}
