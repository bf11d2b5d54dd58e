package genfile

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// commentWidth is where lines of a comment break, the slashes included.
const commentWidth = 80

// commentLine makes one line of a comment. The space after the slashes is what
// keeps "go:build" and "line" from being directives.
func commentLine(text string) string {
	if text == "" {
		return "//"
	}
	return "// " + text
}

// wrap breaks prefix and text into lines of words; an empty line divides
// paragraphs. Words longer than a line stand alone.
func wrap(prefix, text string) []string {
	var lines []string
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if prefix != "" {
		text = prefix + " " + strings.TrimLeft(text, " \n\t")
	}
	paragraph := ""
	for _, line := range append(strings.Split(text, "\n"), "") {
		if strings.TrimSpace(line) != "" {
			paragraph += line + " "
			continue
		}
		if paragraph == "" {
			continue
		}
		if len(lines) > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, wrapWords(strings.Fields(oneLine(paragraph)))...)
		paragraph = ""
	}
	return lines
}

func wrapWords(words []string) []string {
	var lines []string
	line, width := "", 0
	for _, word := range words {
		n := utf8.RuneCountInString(word)
		if line != "" && len("// ")+width+1+n > commentWidth {
			lines = append(lines, line)
			line, width = "", 0
		}
		if line == "" {
			// "// +build" is read as a build constraint even with its space.
			if strings.HasPrefix(word, "+build") {
				word, n = `"`+word+`"`, n+2
			}
			line, width = word, n
			continue
		}
		line += " " + word
		width += 1 + n
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// oneLine shows what cannot be seen as escapes, and spaces of any kind as one.
func oneLine(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\t' || r == '\n' || r == '\r':
			b.WriteByte(' ')
		case unicode.IsGraphic(r):
			b.WriteRune(r)
		case r > 0xFFFF:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		i += size
	}
	return b.String()
}
