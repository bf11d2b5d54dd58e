package fsm

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxIdentity is the greatest size of one identity or fingerprint parameter,
// in bytes.
const MaxIdentity = 1024

// IdentityText refuses a text that cannot be part of an identity or a
// fingerprint: empty, over MaxIdentity bytes, not UTF-8, or with a NUL. The
// error is ErrArgument, names the parameter and not its value. Generated code
// calls it before any SQL.
func IdentityText(e *EventInfo, param, value string) error {
	problem := ""
	switch {
	case value == "":
		problem = "is empty"
	case len(value) > MaxIdentity:
		problem = fmt.Sprintf("has %d bytes, more than %d", len(value), MaxIdentity)
	case !utf8.ValidString(value):
		problem = "is not UTF-8"
	case strings.IndexByte(value, 0) >= 0:
		problem = "holds a NUL"
	}
	if problem == "" {
		return nil
	}
	return &CallError{e.Machine, e.Event, ErrArgument, fmt.Errorf("%s %s", param, problem)}
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
