package linear

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-go/pawl/internal/oracle"
)

// String is the call with its parameters, as they were written.
func (op *operation) String() string {
	text := op.name()
	if op.kind == reads || op.kind == ends {
		return text
	}
	if len(op.params) > 0 {
		var short bytes.Buffer
		if json.Compact(&short, op.params) == nil {
			text += " " + short.String()
		}
	}
	if op.expect != 0 {
		text += fmt.Sprintf(" expecting version %d", max(op.expect, 0))
	}
	return text
}

// answer is what the operation was told.
func (op *operation) answer() string {
	switch {
	case op.kind == ends:
		return "the end of what is known"
	case op.later:
		return "not answered yet"
	case op.void:
		return "an error: " + op.fail
	case op.seen != nil:
		return op.seen.String()
	case op.told == nil:
		return "nothing: it may have had its effect or not"
	case op.told.outcome == oracle.NotFound:
		return string(oracle.NotFound)
	}
	text := toldText(op.told.outcome, op.told.state, op.told.version, op.told.made)
	for i, name := range slices.Sorted(maps.Keys(op.told.columns)) {
		text += fmt.Sprintf("%s %s=%s", map[bool]string{true: ", with", false: ""}[i == 0], name, op.told.columns[name])
	}
	if op.told.snapshot {
		text += ", from the snapshot"
	}
	return text
}

// String is what was seen.
func (s *seen) String() string {
	if s.gone {
		return "no row"
	}
	text := fmt.Sprintf("%s %d", s.state, s.version)
	if s.looked.history {
		text += "; history: " + list(s.history, madeText)
	}
	if s.looked.facts {
		text += "; facts: " + list(s.facts, fact.String)
	}
	if s.looked.outbox {
		text += "; outbox: " + list(s.emitted, emitted.String)
	}
	return text
}

func (f fact) String() string { return fmt.Sprintf("%q %s", f.identity, madeText(f.first)) }

func (e emitted) String() string { return fmt.Sprintf("%s of %s %d", e.topic, e.event, e.version) }

func list[T any](all []T, text func(T) string) string {
	if len(all) == 0 {
		return "none"
	}
	words := make([]string, len(all))
	for i, one := range all {
		words[i] = text(one)
	}
	return strings.Join(words, ", ")
}

// historyText is what the row's history must hold.
func historyText(e *oracle.Entry) string {
	var all []oracle.Transition
	for ; e != nil; e = e.Before {
		if e.History {
			all = append(all, e.Transition)
		}
	}
	slices.Reverse(all)
	return list(all, madeText)
}

// outboxText is what the row must have emitted.
func outboxText(e *oracle.Entry) string {
	var all []emitted
	for ; e != nil; e = e.Before {
		for _, topic := range e.Emits {
			all = append(all, emitted{e.Event, topic, e.Version})
		}
	}
	slices.Reverse(all)
	return list(all, emitted.String)
}
