package randommachine

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/pawl-go/pawl/internal/model"
)

// Step is one thing that is done to a machine's rows. It is kept as JSON.
type Step struct {
	// Do is one of the Do constants.
	Do string `json:"do"`
	// Row is the number of the row, of those of Keys.
	Row int `json:"row"`
	// Event is that of a call, of a batch or of a sweep, and State that of a correction.
	Event string `json:"event,omitempty"`
	State string `json:"state,omitempty"`
	// Values are parameters, or the columns that a creator gives: the texts by which
	// PostgreSQL reads them, nil for NULL.
	Values map[string]*string `json:"values,omitempty"`
	// Version is what is expected: "right", "wrong", or empty for nothing.
	Version string `json:"version,omitempty"`
	// After is what the clock goes on by before.
	After time.Duration `json:"after,omitempty"`
	// Items are those of a batch, calls of one event.
	Items []Step `json:"items,omitempty"`
}

// What a step does.
const (
	DoCreate  = "create"
	DoCall    = "call"
	DoBatch   = "batch"
	DoCorrect = "correct"
	DoSweep   = "sweep"
)

// Keys draws the keys of some rows, different ones, each a text for every column.
func Keys(t *rapid.T, m *model.Machine, n int) [][]string {
	return rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) []string {
		var key []string
		for _, k := range m.Table.Keys {
			typ := k.Type
			typ.Length = 0 // each of Texts is short enough
			key = append(key, Text(Value(t, typ, k.Name)))
		}
		return key
	}), 2, n, func(key []string) string { return strings.Join(key, "\x00") }).Draw(t, "keys")
}

// Text is the text by which PostgreSQL reads a value of Value.
func Text(v any) string {
	switch v := v.(type) {
	case time.Time:
		return v.UTC().Format("2006-01-02 15:04:05.999999-07")
	case []byte:
		return `\x` + hex.EncodeToString(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}

// Steps draws what is done to rows: first each is made.
func Steps(t *rapid.T, m *model.Machine, rows, n int) []Step {
	var steps []Step
	for i := range rows {
		steps = append(steps, creation(t, m, i))
	}
	for range n {
		if chance(t, "done", 97) { // so that shrinking leaves steps out
			steps = append(steps, step(t, m, rows))
		}
	}
	return steps
}

func step(t *rapid.T, m *model.Machine, rows int) Step {
	after := one(t, "clock", 0, 0, time.Second, time.Minute, time.Hour, 25*time.Hour, 11*24*time.Hour)
	row := rapid.IntRange(0, rows-1).Draw(t, "row")
	s := Step{Do: DoCreate, After: after}
	switch what := rapid.IntRange(0, 19).Draw(t, "step"); {
	case what < 13:
		s = Call(t, pick(t, "event", m.Events), row)
		if chance(t, "absent row", 4) {
			s.Row = rows
		}
	case what < 15:
		e := pick(t, "event", m.Events)
		s = Step{Do: DoBatch, Event: e.Name}
		for range rapid.IntRange(1, 5).Draw(t, "items") {
			s.Items = append(s.Items, Call(t, e, rapid.IntRange(0, rows).Draw(t, "item's row")))
		}
	case what < 16:
		s = creation(t, m, row)
	case what < 17:
		s = Step{Do: DoCorrect, Row: row, State: pick(t, "state", m.States).Name, Version: version(t, 20)}
	default:
		if due := m.DeadlineEvents(); len(due) > 0 {
			s = Step{Do: DoSweep, Event: pick(t, "sweep", due).Name}
		} else {
			s = Call(t, pick(t, "event", m.Events), row)
		}
	}
	s.After = after
	return s
}

// pick draws one of several things by its number, which is what is told of it.
func pick[T any](t *rapid.T, label string, from []T) T {
	return from[rapid.IntRange(0, len(from)-1).Draw(t, label)]
}

// Call draws a call of an event.
func Call(t *rapid.T, e *model.Event, row int) Step {
	s := Step{Do: DoCall, Row: row, Event: e.Name, Version: version(t, 85)}
	if e.ExpectVersion && s.Version == "" && chance(t, "version after all", 90) {
		s.Version = "right"
	}
	for _, p := range e.Params {
		s.give(p.Name, value(t, p.Type, p.Name, p.Optional))
	}
	return s
}

func version(t *rapid.T, none int) string {
	if chance(t, "version", 100-none) {
		return one(t, "version expected", "right", "right", "wrong")
	}
	return ""
}

func creation(t *rapid.T, m *model.Machine, row int) Step {
	s := Step{Do: DoCreate, Row: row}
	for _, c := range m.Created() {
		s.give(c.Name, value(t, c.Type, c.Name, c.Optional || c.Default != nil))
	}
	return s
}

func (s *Step) give(name string, value *string) {
	if s.Values == nil {
		s.Values = map[string]*string{}
	}
	s.Values[name] = value
}

func value(t *rapid.T, of model.Type, label string, optional bool) *string {
	if optional && chance(t, label+" NULL", 30) {
		return nil
	}
	text := Text(Value(t, of, label))
	if of.Kind == model.KindUUID && chance(t, label+" spelled", 20) {
		text = "{" + strings.ToUpper(text) + "}"
	}
	return &text
}
