// Package sqlexpr reads one SQL expression of a definition with PostgreSQL's
// own grammar, and cuts it into the parts that a renderer must know: columns
// of the guarded row, parameters written @name, and the clock written now().
//
// It accepts only what a guarded statement can keep its promises with: one
// expression over one row, its parameters and the injected clock. Whatever
// reads other rows, asks the server's clock or has an effect is refused. What
// a name means, where the fragment stands in its file, and which name was
// probably meant, it leaves to internal/check. Types are found as PostgreSQL
// finds them, and a constant is refused when it certainly cannot be read; what
// depends on the row, such as a sum that overflows, is left to the database.
package sqlexpr

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"
)

// MaxLength is the length in bytes that a fragment may have. Nobody reads a
// longer condition, and the parser's stack is spared deep nesting.
const MaxLength = 4096

// Scope says which names a fragment may use, and what it is for.
type Scope struct {
	// Columns are the columns of the guarded row that may be read.
	Columns []Field
	// Params are the parameters that may be used, without their @.
	Params []Field
	// Clock says that now() may be used.
	Clock bool
	// Want is what the fragment's value must be; its zero value asks for nothing.
	Want Want
}

// Field is a name that a fragment may use, with its type.
type Field struct {
	Name string
	// Type is the type as people write it, for messages.
	Type     string
	Category Category
	// Enum says that Type is the name of an enum.
	Enum bool
	// States are the only texts or whole numbers that the field ever has; nil
	// when they are not known.
	States []string
}

// Want says what the value of a fragment is used as.
type Want struct {
	Category Category
	// Type is the type of the column that takes the value, as people write it;
	// empty when it is not known, or no column takes it.
	Type string
	// As names the use in messages: "bigint paid_cents", or "a guard".
	As string
}

// PartKind tells the parts of a fragment apart.
type PartKind int

const (
	// Text is SQL without a name that matters.
	Text PartKind = iota
	// Column is a column of Scope.Columns.
	Column
	// Param is a parameter of Scope.Params.
	Param
	// Now is the injected clock.
	Now
)

// Part is one piece of a fragment. The Text of all parts, one after the other,
// is the fragment byte for byte.
type Part struct {
	Kind PartKind
	// Text is the piece as written.
	Text string
	// Name is the resolved name of a Column or Param part, else empty.
	Name string
}

// Issue is one thing wrong with a fragment.
type Issue struct {
	// Offset is where it stands, in bytes from the fragment's start.
	Offset int
	Kind   Kind
	// Name is the column, parameter, function, type or operator concerned, if any.
	Name string
	// Message says what is wrong and what to do, without position or code.
	Message string
}

// Parse reads a fragment. It returns the fragment's parts when nothing is
// wrong with it, else nil parts and every issue that it found, in order of
// their offsets. It is safe for concurrent use and never panics.
func Parse(source string, scope Scope) ([]Part, []Issue) {
	w := &walker{source: source, scope: scope}
	if masked, ok := w.read(); ok {
		w.parse(masked)
	}
	if len(w.issues) > 0 {
		sort.SliceStable(w.issues, func(i, j int) bool { return w.issues[i].Offset < w.issues[j].Offset })
		return nil, w.issues
	}
	return w.parts(), nil
}

// read checks that the source can be a fragment at all, scans it, and returns
// it as scan does.
func (w *walker) read() (masked string, ok bool) {
	switch {
	case strings.TrimSpace(w.source) == "":
		w.add(0, Empty, "", "the SQL expression is empty")
	case len(w.source) > MaxLength:
		w.add(0, TooLong, "", "the SQL expression has %d bytes; at most %d are read, so compute it elsewhere and pass it as a parameter", len(w.source), MaxLength)
	case !utf8.ValidString(w.source) || strings.ContainsRune(w.source, 0):
		w.add(0, Syntax, "", "the SQL expression is not valid UTF-8 text, or holds a NUL character")
	default:
		return w.scan()
	}
	return "", false
}

// walker gathers what one Parse finds.
type walker struct {
	source string
	scope  Scope
	tokens []token
	// params has the name of each parameter by the offset of its @.
	params map[int]string
	marks  []mark
	issues []Issue
}

// mark is a stretch of the source that becomes a part of its own.
type mark struct {
	start, end int
	kind       PartKind
	name       string
}

func (w *walker) add(offset int, kind Kind, name, format string, args ...any) {
	offset = max(0, min(offset, len(w.source)))
	w.issues = append(w.issues, Issue{Offset: offset, Kind: kind, Name: name, Message: fmt.Sprintf(format, args...)})
}

func (w *walker) parts() []Part {
	sort.Slice(w.marks, func(i, j int) bool { return w.marks[i].start < w.marks[j].start })
	var parts []Part
	at := 0
	for _, m := range w.marks {
		if m.start < at {
			continue // the grammar repeats an operand, as in a BETWEEN SYMMETRIC
		}
		if m.start > at {
			parts = append(parts, Part{Kind: Text, Text: w.source[at:m.start]})
		}
		parts = append(parts, Part{Kind: m.kind, Text: w.source[m.start:m.end], Name: m.name})
		at = m.end
	}
	if at < len(w.source) {
		parts = append(parts, Part{Kind: Text, Text: w.source[at:]})
	}
	return parts
}
