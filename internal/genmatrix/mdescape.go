package genmatrix

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// mdText makes a text show as it is in Markdown, in a table's cell and
// elsewhere. Only what would mean something is escaped, so that the raw file
// reads well: an underscore within a word stays.
func mdText(text string) string {
	var b strings.Builder
	for i, r := range text {
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
		switch {
		case strings.ContainsRune("\\`*[]|~$", r),
			r == '_' && !(wordly(before) && wordly(after)),
			strings.ContainsRune("#+-=.)", r) && i == 0: // what begins a block in a line of its own
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&' && (wordly(after) || after == '#'):
			b.WriteString("&amp;")
		case r == '\n':
			b.WriteString("<br>")
		case r == '\r':
		case r < ' ' && r != '\t' || r == 0x7F:
			b.WriteRune(0x2400 + min(r, 0x21)) // its picture
		default:
			b.WriteRune(r)
		}
	}
	return edges(b.String())
}

// edges keeps the blanks at the ends of a text, which Markdown drops.
func edges(s string) string {
	if strings.TrimSpace(s) == s {
		return s
	}
	if strings.HasPrefix(s, " ") {
		s = "&#32;" + s[1:]
	}
	if strings.HasSuffix(s, " ") {
		s = s[:len(s)-1] + "&#32;"
	}
	return s
}

func wordly(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// mdComment is a text within an HTML comment, which ends at two hyphens.
func mdComment(text string) string {
	return strings.NewReplacer("--", "- -", "\n", " ", "\r", " ", ">", "&gt;").Replace(text)
}
