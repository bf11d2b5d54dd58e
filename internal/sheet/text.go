package sheet

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Clean replaces what a file of text cannot hold by something that can be seen:
// a control character by its picture (U+2400 and on), bytes that are no UTF-8
// and the two non-characters that XML refuses by U+FFFD. Tab and line breaks
// stay; a line ends with one LF.
func Clean(text string) string {
	if clean(text) {
		return text // as most are
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n':
			return r
		case r < 0x20:
			return 0x2400 + r
		case r == 0x7F:
			return '␡'
		case r == 0xFFFE || r == 0xFFFF:
			return utf8.RuneError
		}
		return r // invalid bytes come as RuneError
	}, lines.Replace(text))
}

// clean reports whether Clean has nothing to do.
func clean(text string) bool {
	for i := range len(text) {
		if b := text[i]; b < 0x20 && b != '\t' && b != '\n' || b == 0x7F {
			return false
		}
	}
	return utf8.ValidString(text) && !strings.Contains(text, "\uFFFE") && !strings.Contains(text, "\uFFFF")
}

var lines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// Fit cuts a text that is longer than max UTF-16 units and says so at its end,
// with how much is missing: "… [cut: 12 of 32779 characters left out]". A max
// that has no room for this mark is passed.
func Fit(text string, max int) string {
	if len(text) <= max { // no character has more units than bytes
		return text
	}
	total := units(text)
	if total <= max {
		return text
	}
	// The mark is longest when all is left out.
	room := max - units(cut(total, total))
	kept := 0
	for i, r := range text {
		n := utf16.RuneLen(r)
		if kept+n > room {
			return text[:i] + cut(total-kept, total)
		}
		kept += n
	}
	return text
}

func cut(missing, total int) string {
	return fmt.Sprintf("… [cut: %d of %d characters left out]", missing, total)
}

// units is the length of a text in UTF-16 units, in which spreadsheets count.
func units(text string) int {
	n := 0
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}

// Shown is how wide a text is on a screen of even letters: two for a character
// of East Asia or a picture, one for any other.
func Shown(text string) int {
	n := 0
	for _, r := range text {
		n++
		if r < wide[0].first {
			continue
		}
		for _, w := range wide {
			if r >= w.first && r <= w.last {
				n++
			}
		}
	}
	return n
}

// wide has the characters that take two places, in order.
var wide = []struct{ first, last rune }{
	{0x1100, 0x115F}, {0x2E80, 0xA4CF}, {0xAC00, 0xD7A3}, {0xF900, 0xFAFF}, {0xFE30, 0xFE6F}, {0xFF00, 0xFF60}, {0x1F300, utf8.MaxRune},
}
