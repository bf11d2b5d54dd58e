package fsm

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgtype"
)

// MaxIdentity is the greatest size of one identity or fingerprint parameter,
// in bytes.
const MaxIdentity = 1024

// IdentityText refuses a text that cannot be part of an identity or a
// fingerprint: empty, over MaxIdentity bytes, not UTF-8, or with a control
// character. The error is ErrArgument, names the parameter and not its value.
// Generated code calls it before any SQL.
func IdentityText(e *EventInfo, param, value string) error {
	problem := TextProblem(value, MaxIdentity)
	if problem == "" {
		return nil
	}
	return &CallError{e.Machine, e.Event, ErrArgument, fmt.Errorf("%s %s", param, problem)}
}

// TextProblem says what keeps a text from being a name or a number that rows are
// found by, in words that follow its own name and do not show it: it is empty, has
// more than limit bytes, is not UTF-8, or holds a control character. It is empty
// when nothing does.
func TextProblem(text string, limit int) string {
	switch {
	case text == "":
		return "is empty"
	case len(text) > limit:
		return fmt.Sprintf("has %d bytes, more than %d", len(text), limit)
	case !utf8.ValidString(text):
		return "is not UTF-8"
	case strings.IndexFunc(text, unicode.IsControl) >= 0:
		return "holds a control character"
	}
	return ""
}

// IdentitySize refuses an identity of several texts that are over MaxIdentity
// bytes together: it is one key of an index, which takes no more. The error is
// ErrArgument. Generated code calls it before any SQL.
func IdentitySize(e *EventInfo, values ...string) error {
	size := 0
	for _, v := range values {
		size += len(v)
	}
	if size <= MaxIdentity {
		return nil
	}
	return &CallError{e.Machine, e.Event, ErrArgument, fmt.Errorf("the identity has %d bytes, more than %d", size, MaxIdentity)}
}

// UUIDText refuses a text that is no uuid: PostgreSQL takes 32 hexadecimal
// digits, a hyphen after any four of them or none, in braces or not. The error is
// ErrArgument, names the argument and not its value. Generated code calls it
// before any SQL.
func UUIDText(e *EventInfo, name, value string) error {
	if isUUID(value) {
		return nil
	}
	return &CallError{e.Machine, e.Event, ErrArgument, fmt.Errorf("%s is no uuid", name)}
}

// isUUID reads as PostgreSQL's uuid_in does: a hyphen may stand after any four
// digits but the last, and nowhere else.
func isUUID(text string) bool {
	if strings.HasPrefix(text, "{") && strings.HasSuffix(text, "}") {
		text = text[1 : len(text)-1]
	}
	digits := 0
	for i := range len(text) {
		switch c := text[i]; {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'f', c >= 'A' && c <= 'F':
			digits++
		case c != '-' || i == 0 || text[i-1] == '-' || digits%4 != 0 || digits == 32:
			return false
		}
	}
	return digits == 32
}

// FiniteNumeric refuses NaN and the infinities, which PostgreSQL holds to be
// greater than any number: a check such as > 0 lets them pass, and a sum that
// takes one in is lost for good. NULL is none of them. The error is ErrArgument,
// names the argument and not its value. Generated code calls it before any SQL.
func FiniteNumeric(e *EventInfo, name string, value pgtype.Numeric) error {
	return finite(e, name, !value.NaN && value.InfinityModifier == pgtype.Finite)
}

// FiniteFloat is [FiniteNumeric] for a double precision.
func FiniteFloat(e *EventInfo, name string, value float64) error {
	return finite(e, name, !math.IsNaN(value) && !math.IsInf(value, 0))
}

func finite(e *EventInfo, name string, yes bool) error {
	if yes {
		return nil
	}
	return &CallError{e.Machine, e.Event, ErrArgument, fmt.Errorf("%s is not a finite number", name)}
}

// Correction says who forces a row into another state, and why. Both are
// required.
type Correction struct {
	Actor, Reason string
}

// Check returns ErrArgument when the actor or the reason is blank. Generated
// code calls it before any SQL.
func (c Correction) Check(e *EventInfo) error {
	switch {
	case strings.TrimSpace(c.Actor) == "":
		return &CallError{e.Machine, e.Event, ErrArgument, errors.New("a correction needs an actor")}
	case strings.TrimSpace(c.Reason) == "":
		return &CallError{e.Machine, e.Event, ErrArgument, errors.New("a correction needs a reason")}
	}
	return nil
}
