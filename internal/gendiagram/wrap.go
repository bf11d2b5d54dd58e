package gendiagram

import (
	"slices"
	"strings"
	"unicode"
)

// wrap cuts a text into lines of at most width columns, at its spaces and
// between characters that are written without any. A longer word stays whole:
// names are for searching. White space is one space; the result has at least one line.
func wrap(text string, width int) []string {
	lines := []string{""}
	columns := 0
	for _, word := range pieces(clean(text), width) {
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

// pieces cuts a text where a line may end: behind a space and behind a wide
// character. A mark stays with the word behind it, and so does a word with the
// brackets behind it, "支付 (pay)", where both fit a line.
func pieces(text string, width int) []string {
	var all []string
	begin := 0
	cut := func(piece string) {
		if i := strings.Index(piece, " ("); i > 0 && columnsOf(strings.TrimRight(piece, " ")) > width {
			all = append(all, piece[:i+1], piece[i+1:])
			return
		}
		all = append(all, piece)
	}
	runes := []rune(text)
	closes := 0 // where short brackets end, which stay in one line
	for i, r := range runes {
		var before, behind rune
		if i > 0 {
			before = runes[i-1]
		}
		if n := slices.Index(runes[i:min(i+24, len(runes))], ')'); r == '(' && n >= 0 {
			closes = i + n
		}
		if i < closes {
			continue
		}
		if i+1 < len(runes) {
			behind = runes[i+1]
		}
		if r == ' ' && !isMark(before) && behind != '(' || isWide(r) && !clings(behind) {
			cut(string(runes[begin : i+1]))
			begin = i + 1
		}
	}
	cut(string(runes[begin:]))
	return all
}

// clings reports whether a character may not begin a line: a space, a closing
// sign, and what is set onto the character before it or joins it.
func clings(r rune) bool {
	return r == ' ' || r == zeroWidthJoiner || unicode.IsPunct(r) || unicode.Is(unicode.M, r) || 0x1f3fb <= r && r <= 0x1f3ff
}

const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
)

func isMark(r rune) bool { return strings.ContainsRune("◄○×▲►□¬═", r) }

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
