package gensvg

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// markup is XML that grows. Text is escaped wherever it comes in.
type markup struct{ strings.Builder }

// put writes what we say ourselves, filled in as by fmt.
func (w *markup) put(format string, args ...any) { fmt.Fprintf(w, format, args...) }

// escape makes a text harmless in content and in attributes. What XML cannot
// say, such as control characters and broken UTF-8, becomes U+FFFD.
func escape(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '&':
			b.WriteString("&amp;")
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '"':
			b.WriteString("&quot;")
		case r == '\'':
			b.WriteString("&#39;")
		case r == '\n' || r == '\t' || r == '\r':
			fmt.Fprintf(&b, "&#%d;", r)
		case r < ' ' || r == 0xfffe || r == 0xffff || r >= 0x7f && r < 0xa0:
			b.WriteRune(utf8.RuneError)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// comment makes a text harmless in a comment, which may not have two hyphens
// side by side or end with one.
func comment(text string) string {
	return strings.ReplaceAll(escape(text), "--", "&#45;&#45;")
}
