package gensvg

// mark is a small drawing before a text, so that a picture is read without
// colours too.
type mark int

const (
	noMark mark = iota
	markCallback
	markDeadline
	markReject
	markCompensate
	markEmit
	markResting
	markRetired
)

// draw puts the mark where a line of text begins, x, centred on y. Marks
// are 10 units wide.
func (m mark) draw(w *markup, x, y int, tone string) {
	if m == noMark {
		return
	}
	w.put(`<path class="mark %s%s" d="M%d %d%s"/>`, tone, marks[m].class, x, y, marks[m].path)
}

var marks = [...]struct{ class, path string }{
	markCallback:   {" solid", "m0 0l8 -5v10z"},
	markDeadline:   {"", "m0 0a5 5 0 1 1 10 0a5 5 0 1 1 -10 0m5 -3v3l2.5 1.5"},
	markReject:     {"", "m1 -4l8 8m0 -8l-8 8"},
	markCompensate: {" solid", "m0 4.5l5 -9l5 9z"},
	markEmit:       {" solid", "m1 -5l8 5l-8 5z"},
	markResting:    {"", "m3 -4v8m4 -8v8"},
	markRetired:    {"", "m0 0a5 5 0 1 1 10 0a5 5 0 1 1 -10 0m1.5 -3.5l7 7"},
}
