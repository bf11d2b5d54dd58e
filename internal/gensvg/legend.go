package gensvg

import (
	"github.com/pawl-go/pawl/internal/layered"
	"github.com/pawl-go/pawl/internal/picture"
	"github.com/pawl-go/pawl/internal/wording"
)

// legend explains the signs of a picture and the guards on its arrows. Its items
// stand side by side as far as there is room.
type legend struct {
	items     []legendItem
	y, height int
}

type legendItem struct {
	sign  picture.Sign
	guard string // in brackets instead of a sign
	lines []string
	x, y  int // y from the legend's begin
}

const (
	swatchRoom  = 44
	legendWidth = 300 // where the text of an item breaks
	legendGap   = 26
)

func makeLegend(p *picture.Picture, o Options, room int) legend {
	var l legend
	for _, e := range p.Legend(o.Lang, o.Emits) {
		l.items = append(l.items, legendItem{sign: e.Sign, lines: wrap(e.Text, fontLegend, legendWidth)})
	}
	for _, g := range p.Guards() {
		text := wording.Guard(g)
		l.items = append(l.items, legendItem{guard: "[" + g.Name + "]", lines: wrap(text, fontLegend, 2*legendWidth)})
	}
	l.flow(room)
	return l
}

// flow puts the items into rows; the guards begin a row of their own.
func (l *legend) flow(room int) {
	x, y, row := 0, 0, 0
	guards := false
	for i := range l.items {
		it := &l.items[i]
		w := it.width()
		if x > 0 && (x+w > room || it.guard != "" && !guards) {
			x, y, row = 0, y+row+8, 0
		}
		guards = it.guard != ""
		if it.guard != "" && it.head()+12 > room/2 { // a long name stands above its text
			it.lines = append(wrap(it.guard, fontGuard, room), it.lines...)
			it.guard = ""
		}
		it.x, it.y = x, y
		row = max(row, len(it.lines)*fontLegend.line)
		x += w + legendGap
	}
	if len(l.items) > 0 {
		l.height = y + row
	}
}

func (it legendItem) width() int {
	w := 0
	for _, t := range it.lines {
		w = max(w, width(t, fontLegend))
	}
	return w + it.head()
}

// head is the room before the text.
func (it legendItem) head() int {
	if it.guard != "" {
		return width(it.guard, fontGuard) + 8
	}
	return swatchRoom
}

func (l legend) write(w *markup) {
	if len(l.items) == 0 {
		return
	}
	w.put("<g class=\"pawl-legend\">\n")
	for _, it := range l.items {
		x, y := margin+it.x, l.y+it.y
		if it.guard != "" {
			textAt(w, fontGuard, "", x, y+11, it.guard)
		} else {
			it.swatch(w, x, y+7)
		}
		for i, t := range it.lines {
			textAt(w, fontLegend, "", x+it.head(), y+11+i*fontLegend.line, t)
		}
		w.put("\n")
	}
	w.put("</g>\n")
}

// swatch shows the sign as it looks in the picture, in 34 units from x.
func (it legendItem) swatch(w *markup, x, y int) {
	line := func(class string) {
		tip := layered.Point{X: x + 34, Y: y}
		w.put(`<g class="pawl-edge %s"><path class="line" d="M%d %dH%d"/><path class="head" d="%s"/></g>`,
			class, x, y, x+34-headLength+2, arrowhead(tip, layered.Right, 1))
	}
	box := func(class string) {
		w.put(`<g class="pawl-state %s">`, class)
		frame(w, layered.Box{X: x + 3, Y: y - 8, W: 28, H: 16}, 5, 3)
		w.put("</g>")
	}
	switch it.sign {
	case picture.SignHappy:
		w.put(`<g class="pawl-edge happy"><path class="glow" d="M%d %dH%d"/></g>`, x+2, y, x+26)
		line("plain happy")
	case picture.SignCallback:
		line("callback")
		markCallback.draw(w, x+9, y, "callback")
	case picture.SignDeadline:
		line("deadline")
		w.put(`<circle class="behind" cx="%d" cy="%d" r="7"/>`, x+13, y)
		markDeadline.draw(w, x+8, y, "deadline")
	case picture.SignFinal:
		box("final")
	case picture.SignResting:
		box("resting")
	case picture.SignRetired:
		box("retired")
	case picture.SignReject:
		markReject.draw(w, x+12, y, "reject")
	case picture.SignCompensate:
		markCompensate.draw(w, x+12, y, "compensate")
	case picture.SignEmit:
		markEmit.draw(w, x+12, y, "plain")
	}
}
