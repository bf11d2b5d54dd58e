package simulate

import (
	"fmt"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
)

// Code says what kind of problem it is.
type Code string

// Problems of a link, or of a step that does not fit the definition.
const (
	// NotReadable: the step breaks the rules of writing.
	NotReadable Code = "not readable"
	// OtherVersion: the link is none of this version's.
	OtherVersion Code = "other version"
	// TooLong: the link is longer than MaxLength, or has more than MaxSteps steps;
	// what is behind is left out.
	TooLong Code = "too long"
	// NoEvent, NoState, NoParam, NoColumn, NoChoice: nothing is called so.
	NoEvent  Code = "no event"
	NoState  Code = "no state"
	NoParam  Code = "no parameter"
	NoColumn Code = "no column"
	NoChoice Code = "no choice"
	// Missing: a value is needed.
	Missing Code = "missing"
	// BadValue: the value is none of the type's.
	BadValue Code = "bad value"
	// NotFirst: only a life's first step may say that a row is there.
	NotFirst Code = "not first"
)

// Problem is why a link, or a step of it, cannot be played as it is.
type Problem struct {
	Code Code
	// Name is what does not fit, as it is written, and Nearest what was most likely
	// meant: both may be empty.
	Name, Nearest string
	// Type is the type that the value of Name must have, and Why what is wrong with
	// it, in PostgreSQL's words or those of evaluate.
	Type, Why string
}

// Error is the problem in English.
func (p *Problem) Error() string {
	text := map[Code]string{
		NotReadable:  "the step %q cannot be read: %s",
		OtherVersion: "the link is of version %q, which is not known here",
		TooLong:      "the link is too long: %q and what is behind it is left out",
		NoEvent:      "there is no event %q",
		NoState:      "there is no state %q",
		NoParam:      "the event has no parameter %q",
		NoColumn:     "no column %q is given to a row",
		NoChoice:     "there is nothing to choose for %q",
		Missing:      "%q needs a value",
		BadValue:     "the value of %q is no %s: %s",
		NotFirst:     "only the first step may be %q",
	}[p.Code]
	switch p.Code {
	case NotReadable:
		text = fmt.Sprintf(text, p.Name, p.Why)
	case BadValue:
		text = fmt.Sprintf(text, p.Name, p.Type, p.Why)
	default:
		text = fmt.Sprintf(text, p.Name)
	}
	if p.Nearest != "" {
		text += fmt.Sprintf("; did you mean %q?", p.Nearest)
	}
	return text
}

func unnamed(code Code, name string, names []string) *Problem {
	return &Problem{Code: code, Name: name, Nearest: diag.Nearest(name, names)}
}

func eventNames(m *model.Machine) []string {
	names := make([]string, len(m.Events))
	for i, e := range m.Events {
		names[i] = e.Name
	}
	return names
}

// noState says that a state is not there, or what it is called today.
func noState(m *model.Machine, name string) *Problem {
	names := make([]string, len(m.States))
	for i, s := range m.States {
		if s.Was == name {
			return &Problem{Code: NoState, Name: name, Nearest: s.Name}
		}
		names[i] = s.Name
	}
	return unnamed(NoState, name, names)
}
