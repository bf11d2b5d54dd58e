package gendiagram

import (
	"strings"
	"unicode"
)

// wrap cuts a text into lines of at most width columns, at its spaces and
// between characters that are written without any. A longer word stays whole:
// names are for searching. White space is one space; the result has at least one line.
func wrap(text string, width int) []string {
	lines := []string{""}
	columns := 0
	for _, word := range pieces(clean(text)) {
		w := columnsOf(word)
		last := &lines[len(lines)-1]
		if columns > 0 && columns+columnsOf(strings.TrimRight(word, " ")) > width {
			*last = strings.TrimRight(*last, " ")
			lines, columns = append(lines, ""), 0
			last = &lines[len(lines)-1]
		}
		*last += word
		columns += w
	}
	last := &lines[len(lines)-1]
	*last = strings.TrimRight(*last, " ")
	return lines
}

// pieces cuts a text behind every space and every wide character. A mark and the
// word behind it stay together.
func pieces(text string) []string {
	var all []string
	begin := 0
	runes := []rune(text)
	for i, r := range runes {
		space := r == ' ' && !(i > 0 && isMark(runes[i-1]))
		// A closing sign does not begin a line.
		wide := isWide(r) && (i+1 == len(runes) || runes[i+1] != ' ' && !unicode.IsPunct(runes[i+1]) && !unicode.Is(unicode.M, runes[i+1]) && runes[i+1] != zeroWidthJoiner && r != zeroWidthJoiner)
		if i > 0 && runes[i] != ' ' && wide && i+1 < len(runes) && runes[i+1] >= 0x1f3fb && runes[i+1] <= 0x1f3ff {
			wide = false // a skin tone belongs to what it follows
		}
		if space || wide {
			all = append(all, string(runes[begin:i+1]))
			begin = i + 1
		}
	}
	return append(all, string(runes[begin:]))
}

const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
)

func isMark(r rune) bool { return strings.ContainsRune("◄○×▲►□¬", r) }

// columnsOf is how wide a text is, as far as a font of one width goes.
func columnsOf(text string) int {
	n := 0
	for _, r := range text {
		switch {
		case unicode.Is(unicode.M, r), r == zeroWidthJoiner, r == zeroWidthNonJoiner:
		case isWide(r):
			n += 2
		default:
			n++
		}
	}
	return n
}

// isWide reports whether a character takes two columns: the scripts of East Asia
// and emoji, roughly.
func isWide(r rune) bool {
	return r >= 0x1100 && (r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf || r >= 0xac00 && r <= 0xd7a3 ||
		r >= 0xf900 && r <= 0xfaff || r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60 || r >= 0x1f300 && r <= 0x3fffd)
}

// visible returns what stands for a character in a picture: white space is a
// space, and what cannot be seen, or moves others, is U+FFFD. The joiners that
// emoji and some scripts are made with stay.
func visible(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case unicode.IsPrint(r), r == zeroWidthJoiner, r == zeroWidthNonJoiner:
		return r
	}
	return unicode.ReplacementChar
}
