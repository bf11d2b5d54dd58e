// Package diag holds what the generator tells its user: positions, codes,
// problems, and the list that collects, orders and prints them.
//
// It knows nothing of definitions. Which codes exist, and what they mean, is
// declared by the packages that report them.
package diag

import (
	"strconv"
	"strings"
)

// Position is a place in a source file.
//
// Line and Col count from 1; Col counts Unicode characters, not bytes. A zero
// Line means the file as a whole, and a zero Col the line as a whole.
type Position struct {
	File string
	Line int
	Col  int
}

// String returns "file:line:col", leaving out the parts that are zero. The
// zero Position gives "-".
func (p Position) String() string {
	var b strings.Builder
	if p.File == "" {
		b.WriteByte('-')
	} else {
		b.WriteString(p.File)
	}
	if p.Line > 0 {
		b.WriteByte(':')
		b.WriteString(strconv.Itoa(p.Line))
		if p.Col > 0 {
			b.WriteByte(':')
			b.WriteString(strconv.Itoa(p.Col))
		}
	}
	return b.String()
}

// Severity says whether a problem stops generation.
type Severity int

// The severities. The zero value is Error, so that a forgotten severity is
// never the harmless one.
const (
	Error Severity = iota
	Warning
)

// String returns "error" or "warning".
func (s Severity) String() string {
	if s == Warning {
		return "warning"
	}
	return "error"
}

// Code names a kind of problem, such as "FSM008". A code is never reused for
// another kind.
type Code string

// Rule documents one code: what it is about, what causes it and what to do.
type Rule struct {
	Code     Code
	Severity Severity
	Short    string
	Cause    string
	Fix      string
	// Waivable says that a definition may waive the rule, with a reason.
	Waivable bool
}

// Problem is one finding at one place.
type Problem struct {
	Pos      Position
	Code     Code
	Severity Severity
	Message  string
}
