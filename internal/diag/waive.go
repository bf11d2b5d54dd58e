package diag

import "slices"

// Waived is a problem that its definition does not want to be told of, and why.
type Waived struct {
	Problem
	Reason string
}

// Waive notes a problem that is waived. It counts neither as a problem nor as
// an error.
func (l *List) Waive(p Problem, reason string) {
	l.waived = append(l.waived, Waived{p, reason})
}

// Waived returns the problems that were waived, in the order noted; nil for
// none and for a nil list. The caller may keep and change the slice.
func (l *List) Waived() []Waived {
	if l == nil {
		return nil
	}
	return slices.Clone(l.waived)
}
