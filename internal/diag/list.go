package diag

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// List collects problems. The zero value is an empty list ready for use. It
// is not safe for concurrent use.
type List struct {
	problems []Problem
	waived   []Waived
}

// Add appends one problem.
func (l *List) Add(p Problem) {
	l.problems = append(l.problems, p)
}

// Addf appends one problem with a message made by [fmt.Sprintf].
func (l *List) Addf(pos Position, code Code, sev Severity, format string, args ...any) {
	l.Add(Problem{Pos: pos, Code: code, Severity: sev, Message: fmt.Sprintf(format, args...)})
}

// Append adds all problems of another list, which may be nil.
func (l *List) Append(other *List) {
	if other != nil {
		l.problems = append(l.problems, other.problems...)
		l.waived = append(l.waived, other.waived...)
	}
}

// Len returns the number of problems as they were added, repeats included.
// A nil list has none.
func (l *List) Len() int {
	if l == nil {
		return 0
	}
	return len(l.problems)
}

// Errors returns how many of the sorted problems have severity Error; zero
// means that generation may go on. A nil list has none.
func (l *List) Errors() int {
	n := 0
	for _, p := range l.Sorted() {
		if p.Severity == Error {
			n++
		}
	}
	return n
}

// Sorted returns a copy ordered by file, line, column, code and message, each
// problem once. It is empty, and not nil, when there is nothing to report; a
// nil list is empty.
func (l *List) Sorted() []Problem {
	if l == nil {
		return []Problem{}
	}
	sorted := append([]Problem{}, l.problems...)
	slices.SortFunc(sorted, order)
	return slices.Compact(sorted)
}

// order is total, so that equal problems are neighbours. Most differ in their
// line, and no more of them is compared.
func order(a, b Problem) int {
	if c := strings.Compare(a.Pos.File, b.Pos.File); c != 0 {
		return c
	}
	if c := cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col)); c != 0 {
		return c
	}
	return cmp.Or(
		cmp.Compare(a.Code, b.Code),
		cmp.Compare(a.Message, b.Message),
		cmp.Compare(a.Severity, b.Severity),
	)
}
