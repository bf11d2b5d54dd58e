package sheet

import (
	"strings"
	"unicode"
)

// Neutral makes a text harmless to programs that take a CSV cell for a formula:
// an apostrophe is put before a cell that begins with one of
//
//	= + - @ tab CR LF
//
// or with a full-width or small form of the first four, also behind spaces,
// quotes and characters that are not seen. Inside a text the same is done after
// each semicolon, tab and line break, where a program that was told another
// separator would begin a cell.
//
// Original takes the apostrophes away again. A number cell is not a text, and
// stays as it is: -5 is a number and no formula.
func Neutral(text string) string {
	var b strings.Builder
	written := 0 // so much of the text: nothing for most, which stay as they are
	for at, start := 0, true; ; start = false {
		if runs(text[at:], start) {
			b.WriteString(text[written:at])
			b.WriteByte('\'')
			written = at
		}
		end := strings.IndexAny(text[at:], separators)
		if end < 0 {
			break
		}
		at += end + 1
	}
	if b.Len() == 0 {
		return text
	}
	b.WriteString(text[written:])
	return b.String()
}

// Original gives back the text that Neutral was given.
func Original(neutral string) string {
	var b strings.Builder
	for start, rest := true, neutral; ; start = false {
		if after, ok := strings.CutPrefix(rest, "'"); ok && runs(after, start) {
			rest = after
		}
		end := strings.IndexAny(rest, separators) + 1
		if end == 0 {
			b.WriteString(rest)
			return b.String()
		}
		b.WriteString(rest[:end])
		rest = rest[end:]
	}
}

// separators end a cell for a program that was told so; the comma is not among
// them, since every cell with one is quoted.
const separators = ";\t\r\n"

// openers begin a formula, in every width that a program may fold to the plain one.
const openers = "=+-@\uFF1D\uFF0B\uFF0D\uFF20\uFE66\uFE62\uFE63\uFE6B"

// runs reports whether the text, from its beginning, may be taken for a formula.
// An apostrophe before it changes nothing about that, which is what makes
// Neutral reversible. At the start of a cell a tab and a line break count too.
func runs(text string, start bool) bool {
	for _, r := range text {
		switch {
		case strings.ContainsRune(separators, r):
			return start && r != ';'
		case !unseen(r):
			return strings.ContainsRune(openers, r)
		}
	}
	return false
}

// unseen reports whether a program may skip the character before a formula.
func unseen(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune("'\"`\u2018\u2019\u201C\u201D\uFF02\uFF07", r) ||
		unicode.Is(unicode.Cf, r) || unicode.IsControl(r)
}
