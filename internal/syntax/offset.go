package syntax

import (
	"bytes"
	"sort"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/pawl-go/pawl/internal/diag"
)

type style int

const (
	stylePlain style = iota
	styleSingle
	styleDouble
	styleLiteral
	styleFolded
)

func styleOf(s yaml.Style) style {
	switch {
	case s&yaml.SingleQuotedStyle != 0:
		return styleSingle
	case s&yaml.DoubleQuotedStyle != 0:
		return styleDouble
	case s&yaml.LiteralStyle != 0:
		return styleLiteral
	case s&yaml.FoldedStyle != 0:
		return styleFolded
	}
	return stylePlain
}

// span says that a run of value bytes starting at value stands in the source
// at src, byte for byte, for size bytes. What a value has between two spans
// (a fold, an escape) stands at the end of the earlier one.
type span struct{ value, src, size int }

// PosAt returns the source position of a byte offset in Text, so that a
// mistake inside a SQL fragment can be shown where it was written. An offset
// within an escape or a folded line break gives the place of that escape or
// break; one at or after the end gives the place after the last character.
// The scalar's own position is returned when nothing better is known. A nil
// scalar gives the zero position.
func (s *Scalar) PosAt(byteOffset int) diag.Position {
	if s == nil {
		return diag.Position{}
	}
	if s.src == nil || s.Text == "" {
		return s.Pos
	}
	byteOffset = min(max(byteOffset, 0), len(s.Text))
	spans := s.spans()
	i := sort.Search(len(spans), func(i int) bool { return spans[i].value > byteOffset }) - 1
	if i < 0 {
		return s.Pos
	}
	return s.src.position(spans[i].src + min(byteOffset-spans[i].value, spans[i].size))
}

// spans walks value and source side by side. It stops where the two disagree:
// positions beyond are those of the last agreement.
func (s *Scalar) spans() []span {
	switch s.style {
	case styleLiteral, styleFolded:
		return s.blockSpans()
	}
	w := walker{value: s.Text, text: s.src.text, at: s.src.offset(s.Pos.Line, s.Pos.Col)}
	if s.style != stylePlain {
		if w.at >= len(w.text) || w.text[w.at] != '\'' && w.text[w.at] != '"' {
			return nil // an anchor or tag stands first, which is a problem anyway
		}
		w.at++
	}
	for w.done < len(w.value) && w.step(s.style) {
	}
	return w.spans
}

type walker struct {
	value string
	done  int // bytes of value placed
	text  []byte
	at    int // where the next one is expected
	spans []span
}

// step places one character, escape or fold, and reports whether it could.
func (w *walker) step(st style) bool {
	rest := w.text[w.at:]
	breaks, size := fold(rest)
	switch {
	case breaks == 1:
		return w.place(" ", size)
	case breaks > 1:
		return w.place(strings.Repeat("\n", breaks-1), size)
	case size > 0: // all of them, or a long run would be measured at each step
		return w.copy(rest[:size])
	case len(rest) == 0:
		return false
	case st == styleSingle && bytes.HasPrefix(rest, []byte("''")):
		return w.place("'", 2)
	case st == styleDouble && rest[0] == '\\':
		return w.escape(rest)
	}
	return w.copy(rest[:1])
}

// copy records that text stands in the value as it does in the source.
func (w *walker) copy(text []byte) bool {
	if !strings.HasPrefix(w.value[w.done:], string(text)) {
		return false
	}
	start := span{w.done, w.at, len(text)}
	w.done += len(text)
	w.at += len(text)
	if n := len(w.spans); n > 0 {
		if last := &w.spans[n-1]; last.value+last.size == start.value && last.src+last.size == start.src {
			last.size += start.size
			return true
		}
	}
	w.spans = append(w.spans, start)
	return true
}

// place records that made stands for size source bytes.
func (w *walker) place(made string, size int) bool {
	if !strings.HasPrefix(w.value[w.done:], made) {
		return false
	}
	w.spans = append(w.spans, span{w.done, w.at, 0})
	w.done += len(made)
	w.at += size
	return true
}

// escape places one escape of a double-quoted scalar. What it means is read
// from the value, since the library has decoded it already.
func (w *walker) escape(rest []byte) bool {
	if len(rest) < 2 {
		return false
	}
	if breaks, size := fold(rest[1:]); breaks > 0 && (rest[1] == '\n' || rest[1] == '\r') {
		return w.place(strings.Repeat("\n", breaks-1), 1+size)
	}
	size := 2
	switch rest[1] {
	case 'x':
		size = 4
	case 'u':
		size = 6
	case 'U':
		size = 10
	}
	if len(rest) < size {
		return false
	}
	_, made := utf8.DecodeRuneInString(w.value[w.done:])
	return w.place(w.value[w.done:w.done+made], size)
}

// fold measures blanks that hold at least one line break: how many breaks, and
// how many bytes up to the next text.
func fold(text []byte) (breaks, size int) {
	for size < len(text) {
		switch text[size] {
		case '\n':
			breaks++
		case ' ', '\t', '\r':
		default:
			return breaks, size
		}
		size++
	}
	return breaks, size
}

// blockSpans finds each source line of a block scalar in its value. The lines
// of a literal one are the value's; those of a folded one follow each other
// with spaces or line breaks between.
func (s *Scalar) blockSpans() []span {
	indent := s.blockIndent()
	if indent < 0 {
		return nil
	}
	var spans []span
	value := 0
	for n := s.Pos.Line; n < len(s.src.lines); n++ {
		line := s.src.line(n)
		text := line[min(indent, len(line)):]
		if len(bytes.TrimLeft(line, " ")) > 0 && len(line)-len(bytes.TrimLeft(line, " ")) < indent {
			break // a line further left ends the scalar
		}
		if s.style == styleFolded {
			if len(text) == 0 {
				continue
			}
			for value < len(s.Text) && !strings.HasPrefix(s.Text[value:], string(text)) {
				if s.Text[value] != ' ' && s.Text[value] != '\n' {
					return spans
				}
				value++
			}
		}
		if value >= len(s.Text) || !strings.HasPrefix(s.Text[value:], string(text)) {
			break
		}
		spans = append(spans, span{value, s.src.lines[n] + len(line) - len(text), len(text)})
		value += len(text)
		if s.style == styleLiteral {
			value++ // the line break, which the last line may lack
		}
	}
	return spans
}

// blockIndent is the indentation that the library took away: what the first
// line with text has more in the source than in the value. It is -1 when there
// is no such line.
func (s *Scalar) blockIndent() int {
	more := 0 // spaces that the value kept before its first text
	for line := range strings.Lines(s.Text) {
		if trimmed := strings.TrimLeft(line, " "); trimmed != "" && trimmed != "\n" {
			more = len(line) - len(trimmed)
			break
		}
	}
	for n := s.Pos.Line; n < len(s.src.lines); n++ {
		line := s.src.line(n)
		trimmed := bytes.TrimLeft(line, " ")
		if len(trimmed) == 0 {
			continue
		}
		return max(len(line)-len(trimmed)-more, 0)
	}
	return -1
}
