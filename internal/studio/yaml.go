package studio

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-go/pawl/internal/diag"
)

// span is a piece of a line of YAML that is shown in one way.
type span struct{ Class, Text string }

// maxLine is how much of a line is shown, in bytes.
const maxLine = 4096

// spans cuts a line into keys, comments, what cannot be seen, and the rest; what
// is found in it begins at the places given. It colours, and does not parse: a line inside
// of a longer text may be coloured as if it stood alone.
func spans(line []byte, found []diag.Position) []span {
	more := len(line) - maxLine
	if more > 0 {
		line = line[:maxLine]
	}
	runes, classes := readable(line)
	colour(runes, classes)
	for _, p := range found {
		mark(runes, classes, p.Col-1)
	}
	var out []span
	for from := 0; from < len(runes); {
		to := from + 1
		for to < len(runes) && classes[to] == classes[from] {
			to++
		}
		out = append(out, span{classes[from], strings.Join(runes[from:to], "")})
		from = to
	}
	if more > 0 {
		out = append(out, span{"odd", fmt.Sprintf("… +%d B", more)})
	}
	return out
}

// readable are the characters of a line, those that nobody could see spelt out.
func readable(line []byte) (texts, classes []string) {
	for len(line) > 0 {
		r, size := utf8.DecodeRune(line)
		text, class := string(line[:size]), ""
		switch {
		case r == utf8.RuneError && size == 1:
			text, class = fmt.Sprintf(`\x%02x`, line[0]), "odd"
		case r != '\t' && r != ' ' && !unicode.IsPrint(r):
			text, class = fmt.Sprintf(`\u%04x`, r), "odd"
		}
		texts, classes = append(texts, text), append(classes, class)
		line = line[size:]
	}
	return texts, classes
}

// colour gives keys and comments their classes.
func colour(runes, classes []string) {
	quote, start := "", true // start: only what may stand before a key has been seen since
	key := 0
	for i, r := range runes {
		before := " "
		if i > 0 {
			before = runes[i-1]
		}
		switch {
		case quote != "":
			if r == quote {
				quote = ""
			}
		case (r == `"` || r == "'") && (before == " " || strings.ContainsAny(before, "{[,:")):
			quote = r
			if start {
				key, start = i, false
			}
		case r == "#" && (before == " " || before == "\t"):
			paint(classes[i:], "rest")
			return
		case r == ":" && (i+1 == len(runes) || runes[i+1] == " ") && !start:
			paint(classes[key:i], "key")
			start = true
		case r == "{" || r == "," || r == "[":
			start = true
		case start && r != " " && r != "-" && r != "\t":
			key, start = i, false
		}
	}
}

func paint(classes []string, class string) {
	for i := range classes {
		if classes[i] == "" {
			classes[i] = class
		}
	}
}

// mark underlines the word at a place, or the end of a line that is shorter.
func mark(runes, classes []string, at int) {
	if len(runes) == 0 || at < 0 {
		return
	}
	at = min(at, len(runes)-1)
	end := at + 1
	word := func(r string) bool {
		c, _ := utf8.DecodeRuneInString(r)
		return c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c)
	}
	for word(runes[at]) && end < len(runes) && word(runes[end]) {
		end++
	}
	for i := at; i < end; i++ {
		if !strings.Contains(classes[i], "hit") {
			classes[i] = strings.TrimSpace(classes[i] + " hit")
		}
	}
}
