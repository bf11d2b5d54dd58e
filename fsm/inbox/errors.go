package inbox

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-go/pawl/fsm"
)

// Errors of this package, for errors.Is. Those of the database are fsm's: with
// [fsm.ErrUnknown] the same delivery or command again is safe.
var (
	// ErrConfig: the inbox or a provider is not configured as it must be.
	ErrConfig = errors.New("bad inbox configuration")
	// ErrProvider: there is no provider of that name.
	ErrProvider = errors.New("no such provider")
	// ErrRefused: the delivery is not believed. The webhook package's error is
	// wrapped. Nothing of the delivery was stored.
	ErrRefused = errors.New("delivery refused")
	// ErrUnreadable: the delivery is genuine, and not what Parse can read. It was
	// stored.
	ErrUnreadable = errors.New("delivery cannot be read")
	// ErrUnknownType is for a Parse or a Handler to return: the event is of a type
	// that is none of ours. It is recorded as ignored, and the provider is done.
	ErrUnknownType = errors.New("event type is not one of ours")
	// ErrTooEarly is for a Handler to return: the event cannot be judged yet. It
	// is parked, as for [fsm.ErrNotFound].
	ErrTooEarly = errors.New("event came too early")
	// ErrState: the event is not in a state in which the command applies. The
	// error is a [StateError].
	ErrState = errors.New("event is in another state")
	// ErrNotOdd: the delivery does not wait for a person, or not any more.
	ErrNotOdd = errors.New("delivery does not wait for a person")
	// ErrTables: the tables are missing; fsmgen tables inbox writes them.
	ErrTables = errors.New("the inbox has no tables; run fsmgen tables inbox")
)

// Reasons to park an event that are not the handler's errors.
var (
	errVersion = errors.New("the expected version was not the row's")
	errPanic   = errors.New("the handler panicked")
	errLost    = errors.New("the event is another's by now")
)

// StateError says in which state the event of a command is.
type StateError struct {
	Event int64
	State State
}

// Error names event and state.
func (e *StateError) Error() string {
	return fmt.Sprintf("event %d is %s: %v", e.Event, e.State, ErrState)
}

// Unwrap returns ErrState.
func (e *StateError) Unwrap() error { return ErrState }

// maxReason bounds what is kept of an error, in bytes.
const maxReason = 300

// reasonOf is an error's text as it is kept: one line of valid UTF-8, cut.
func reasonOf(err error) string {
	text := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(err.Error(), " "))
	for len(text) > maxReason {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	return text
}

// stored classifies an error of the inbox's own statements.
func stored(step string, err error) error {
	if err == nil {
		return nil
	}
	var state interface{ SQLState() string }
	if errors.As(err, &state) && state.SQLState() == "42P01" {
		return fmt.Errorf("inbox: %s: %w: %w", step, ErrTables, err)
	}
	return fmt.Errorf("inbox: %s: %w", step, err)
}

// checkText refuses a text that PostgreSQL or a person could not read. The error
// names the text and not its value.
func checkText(name, text string, least, most int) error {
	bad := ""
	switch {
	case len(text) < least:
		bad = "is missing"
	case len(text) > most:
		bad = fmt.Sprintf("is over %d bytes", most)
	case !utf8.ValidString(text):
		bad = "is not UTF-8"
	case strings.ContainsFunc(text, unicode.IsControl):
		bad = "has a control character"
	case least > 0 && strings.TrimSpace(text) == "":
		bad = "is blank"
	}
	if bad == "" {
		return nil
	}
	return fmt.Errorf("%w: %s %s", fsm.ErrArgument, name, bad)
}
