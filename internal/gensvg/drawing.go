package gensvg

import (
	"strings"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/picture"
)

// Drawing is a picture that is laid out and written, but for what its marks say. It may
// be used from many goroutines.
type Drawing struct {
	text string
	// slots are in the order of the text.
	slots []slot
}

// Marked returns the picture with marks, nil for none.
func (d *Drawing) Marked(m *Marks) string {
	var b strings.Builder
	from := 0
	for _, s := range d.slots {
		b.WriteString(d.text[from:s.behind])
		b.WriteString(s.fill(m))
		from = s.behind
	}
	b.WriteString(d.text[from:])
	return b.String()
}

// file is the picture without marks.
func (d *Drawing) file() []byte { return []byte(d.text) }

// FigureWidth and FigureHeight are the room of a figure behind an event.
const FigureWidth, FigureHeight = 58, 14

// Marks are what a page adds to a picture: classes beside those that it has by itself,
// words that are letters and hyphens with blanks between them, or none; and figures. A
// function that is nil adds nothing.
type Marks struct {
	// Whole is of the svg element.
	Whole string
	State func(*model.State) string
	Edge  func(*picture.Edge) string
	// Arc is asked for each transition that has its words on an edge.
	Arc func(*picture.Edge, picture.Arc) string
	// StateFigure and ArcFigure are put into the places that Options.Figures leaves. They
	// are SVG, in which the page has escaped what is not its own; arc counts the edge's
	// from 0.
	StateFigure func(*model.State) string
	ArcFigure   func(e *picture.Edge, arc int) string
}

func (m *Marks) whole() string {
	if m == nil {
		return ""
	}
	return class(m.Whole)
}

func (m *Marks) state(s *model.State) string {
	if m == nil || m.State == nil {
		return ""
	}
	return class(m.State(s))
}

func (m *Marks) edge(e *picture.Edge) string {
	if m == nil || m.Edge == nil {
		return ""
	}
	return class(m.Edge(e))
}

func (m *Marks) arc(e *picture.Edge, a picture.Arc) string {
	if m == nil || m.Arc == nil {
		return ""
	}
	return class(m.Arc(e, a))
}

func (m *Marks) stateFigure(s *model.State) string {
	if m == nil || m.StateFigure == nil {
		return ""
	}
	return m.StateFigure(s)
}

func (m *Marks) arcFigure(e *picture.Edge, arc int) string {
	if m == nil || m.ArcFigure == nil {
		return ""
	}
	return m.ArcFigure(e, arc)
}

// class is a mark as it stands behind other classes.
func class(words string) string {
	if words == "" {
		return ""
	}
	return " " + escape(words)
}
