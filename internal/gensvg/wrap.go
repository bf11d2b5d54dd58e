package gensvg

import (
	"strings"
	"unicode"
)

// wrap breaks the text into lines that are not wider than the limit: at spaces
// and line breaks and between wide characters; behind punctuation in a name only
// when the name does not fit a line, and anywhere when nothing else helps. An
// empty text has no line.
func wrap(text string, f font, limit int) []string {
	w := wrapper{font: f, room: float64(limit-1) * 100 / f.size}
	all := pieces(strings.Map(visible, text))
	for i, p := range all {
		if !p.inner {
			w.begin(all[i:])
		}
		w.add(p.text)
	}
	w.flush()
	return w.lines
}

// wrapper fills lines.
type wrapper struct {
	font       font
	room, used float64 // in hundredths of the font's size
	line       strings.Builder
	lines      []string
}

func (w *wrapper) flush() {
	if t := strings.TrimSpace(w.line.String()); t != "" {
		w.lines = append(w.lines, t)
	}
	w.line.Reset()
	w.used = 0
}

// measure is how wide the text is without the space at its end.
func (w *wrapper) measure(text string) float64 {
	sum := 0.0
	for _, r := range strings.TrimSuffix(text, " ") {
		sum += advance(r, w.font)
	}
	return sum
}

// begin ends the line when the word at the front fits a line but not this one.
func (w *wrapper) begin(rest []piece) {
	word := w.measure(rest[0].text)
	for _, p := range rest[1:] {
		if !p.inner {
			break
		}
		word += w.measure(p.text)
	}
	if w.used > 0 && w.used+word > w.room && word <= w.room {
		w.flush()
	}
}

// add puts a piece on the line, on the next one, or on as many as it needs.
func (w *wrapper) add(text string) {
	bare := w.measure(text)
	if w.used > 0 && w.used+bare > w.room {
		w.flush()
	}
	for _, r := range text {
		a := advance(r, w.font)
		if w.used > 0 && a > 0 && w.used+a > w.room && r != ' ' {
			w.flush()
		}
		w.line.WriteRune(r)
		w.used += a
	}
}

// piece is text without a place where a line may end, but for its end. An inner
// one goes on a word.
type piece struct {
	text  string
	inner bool
}

// pieces cuts the text where a line may end. Each run of blanks is one space at
// the end of a piece.
func pieces(text string) []piece {
	var out []piece
	var now strings.Builder
	inner := false
	cut := func(next bool) {
		if now.Len() > 0 {
			out = append(out, piece{now.String(), inner})
			now.Reset()
		}
		inner = next
	}
	var last rune
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			r = ' '
			if last == ' ' || now.Len() == 0 && len(out) == 0 {
				continue
			}
			now.WriteRune(r)
			cut(false)
		case joins(r) || last == zeroWidthJoiner || closes(r):
			now.WriteRune(r)
		case wide(r) || wide(last):
			if !opens(last) {
				cut(false)
			}
			now.WriteRune(r)
		default:
			if strings.ContainsRune("_./:-,", last) && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
				cut(true)
			}
			now.WriteRune(r)
		}
		last = r
	}
	cut(false)
	return out
}

const (
	zeroWidthJoiner    = '\u200d'
	zeroWidthNonJoiner = '\u200c'
)

// closes and opens are the marks that no line begins and none ends with.
func closes(r rune) bool {
	return strings.ContainsRune(",;:!?)]\u3001\u3002\u300b\u300d\u300f\u3011\uff01\uff09\uff0c\uff1a\uff1b\uff1f", r)
}
func opens(r rune) bool { return strings.ContainsRune("([\u300a\u300c\u300e\u3010\uff08", r) }
