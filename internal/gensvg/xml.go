package gensvg

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// markup is XML that grows. Text is escaped wherever it comes in.
type markup struct {
	strings.Builder
	slots []slot
}

// slot is where Marks put something in, behind the first bytes of the text.
type slot struct {
	behind int
	fill   func(*Marks) string
}

// slot leaves a place for what the marks say.
func (w *markup) slot(fill func(*Marks) string) { w.slots = append(w.slots, slot{w.Len(), fill}) }

// put writes what we say ourselves, filled in as by fmt.
func (w *markup) put(format string, args ...any) { fmt.Fprintf(w, format, args...) }

// escape makes a text harmless in content and in attributes.
func escape(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch r = visible(r); r {
		case '&':
			b.WriteString("&amp;")
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '"':
			b.WriteString("&quot;")
		case '\'':
			b.WriteString("&#39;")
		case '\n', '\t', '\r':
			fmt.Fprintf(&b, "&#%d;", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// visible is U+FFFD for what XML cannot say, such as control characters, and for
// what no reader could see, such as a character that turns the direction of
// writing round. The joiners that scripts and emoji need are kept.
func visible(r rune) rune {
	switch {
	case r >= ' ' && r < 0x7f:
		return r
	case r == '\n' || r == '\t' || r == '\r' || r == zeroWidthJoiner || r == zeroWidthNonJoiner:
		return r
	case r == 0xfffe || r == 0xffff || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp):
		return utf8.RuneError
	}
	return r
}

// comment makes a text harmless in a comment, which may not have two hyphens
// side by side or end with one.
func comment(text string) string {
	return strings.ReplaceAll(escape(text), "--", "&#45;&#45;")
}
