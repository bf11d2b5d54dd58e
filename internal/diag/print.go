package diag

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"
)

// Text writes one line a problem, sorted:
//
//	definitions/order.yaml:12:9: FSM012 event "pya" is not declared; did you mean "pay"?
//
// A warning has the word "warning:" after its code. Characters that could
// move a terminal's cursor, or hide text, are written as escapes. An empty
// list writes nothing. However many there are, all are written, a few at a
// time. The error is the writer's.
func (l *List) Text(w io.Writer) error {
	b := bufio.NewWriter(w) // keeps the first error, and Flush returns it
	for _, p := range l.Sorted() {
		writeHarmless(b, p.Pos.String())
		b.WriteString(": ")
		writeHarmless(b, string(p.Code))
		if p.Severity == Warning {
			b.WriteString(" warning:")
		}
		b.WriteByte(' ')
		writeHarmless(b, p.Message)
		b.WriteByte('\n')
	}
	return b.Flush()
}

// writeHarmless escapes whatever is not a visible character or a space.
func writeHarmless(b *bufio.Writer, s string) {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(b, `\x%02x`, s[i])
		case unicode.IsGraphic(r):
			b.WriteRune(r)
		case r > 0xFFFF:
			fmt.Fprintf(b, `\U%08x`, r)
		default:
			fmt.Fprintf(b, `\u%04x`, r)
		}
		i += size
	}
}

// Report is a list as JSON has it; its fields are only added to. It may be
// embedded in a larger object.
type Report struct {
	Errors   int               `json:"errors"`
	Warnings int               `json:"warnings"`
	Problems []ReportedProblem `json:"problems"`
	Waived   []ReportedProblem `json:"waived"`
}

// ReportedProblem is one problem of a [Report].
type ReportedProblem struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Col      int    `json:"col"`
	Code     string `json:"code"`
	Severity string `json:"severity"`
	Message  string `json:"message"`
	// Reason is that of the waiver.
	Reason string `json:"reason,omitempty"`
}

func reported(p Problem) ReportedProblem {
	return ReportedProblem{
		File:     p.Pos.File,
		Line:     p.Pos.Line,
		Col:      p.Pos.Col,
		Code:     string(p.Code),
		Severity: p.Severity.String(),
		Message:  p.Message,
	}
}

// Report counts the problems in errors and warnings, and lists them sorted, and
// what is waived. Neither list is nil.
func (l *List) Report() Report {
	out := Report{Problems: []ReportedProblem{}, Waived: []ReportedProblem{}}
	for _, p := range l.Sorted() {
		if p.Severity == Error {
			out.Errors++
		} else {
			out.Warnings++
		}
		out.Problems = append(out.Problems, reported(p))
	}
	for _, p := range l.Waived() {
		waived := reported(p.Problem)
		waived.Reason = p.Reason
		out.Waived = append(out.Waived, waived)
	}
	return out
}

// JSON writes the [Report]. Its lists are arrays, perhaps empty, of objects with
// the fields file, line, col, code, severity and message, and, of what is
// waived, reason. The error is the writer's.
func (l *List) JSON(w io.Writer) error { return Encode(w, l.Report()) }

// Encode writes v as JSON with an indentation of two spaces and a newline at the
// end. The error is the writer's, or that of a value which JSON cannot hold.
func Encode(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
