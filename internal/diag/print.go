package diag

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text writes one line a problem, sorted:
//
//	definitions/order.yaml:12:9: FSM012 event "pya" is not declared; did you mean "pay"?
//
// A warning has the word "warning:" after its code. Characters that could
// move a terminal's cursor, or hide text, are written as escapes. An empty
// list writes nothing. The error is the writer's.
func (l *List) Text(w io.Writer) error {
	var b strings.Builder
	for _, p := range l.Sorted() {
		b.WriteString(harmless(p.Pos.String()))
		b.WriteString(": ")
		b.WriteString(harmless(string(p.Code)))
		if p.Severity == Warning {
			b.WriteString(" warning:")
		}
		b.WriteByte(' ')
		b.WriteString(harmless(p.Message))
		b.WriteByte('\n')
	}
	if b.Len() == 0 {
		return nil
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// harmless escapes whatever is not a visible character or a space.
func harmless(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
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

// jsonProblem fixes the field names and their order.
type jsonProblem struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Col      int    `json:"col"`
	Code     string `json:"code"`
	Severity string `json:"severity"`
	Message  string `json:"message"`
}

// JSON writes the sorted problems as an array of objects with the fields
// file, line, col, code, severity and message, in that order. An empty list
// writes an empty array. The error is the writer's.
func (l *List) JSON(w io.Writer) error {
	out := []jsonProblem{}
	for _, p := range l.Sorted() {
		out = append(out, jsonProblem{
			File:     p.Pos.File,
			Line:     p.Pos.Line,
			Col:      p.Pos.Col,
			Code:     string(p.Code),
			Severity: p.Severity.String(),
			Message:  p.Message,
		})
	}
	return encode(w, out)
}

func encode(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
