// Package simulate plays the life of one row in the head: steps in, and for each
// what the call would answer and why. Nothing is stored and no database is asked:
// internal/oracle judges, and internal/evaluate works out what expressions come to.
// What that cannot work out is not guessed: the step waits for the reader to choose
// whether the condition is true, and the choice becomes part of the step.
//
// Steps are written as a short text, see [Parse], so that a life is a link. How it
// all looks, and in which language, is left to the caller.
package simulate

import (
	"slices"
	"sync"
	"time"

	"github.com/pawl-go/pawl/internal/evaluate"
	"github.com/pawl-go/pawl/internal/model"
)

// Start is when a life begins: the time that now() is in every example too.
var Start = time.Date(2026, time.January, 15, 12, 0, 0, 0, time.UTC)

// Kind is what a step does.
type Kind int

// Kinds of steps.
const (
	// Fire calls an event.
	Fire Kind = iota
	// Create creates the row.
	Create
	// Given begins with a row as it is, in a state that it has come to somehow.
	Given
	// Wait lets time pass. Nothing happens by itself: a deadline fires when the
	// sweep comes.
	Wait
	// Sweep is the deadline sweep.
	Sweep
	// Correct forces the row into a state, as support may.
	Correct
)

// Step is one step of a life, as a link has it. Whether it fits a machine is seen
// when it is played.
type Step struct {
	Kind Kind
	// Name is the event's, or the state's of Given and Correct.
	Name string
	// Args are the parameters of an event, or columns of Create and Given. One that
	// is left out is NULL, or has its default.
	Args []Arg
	// Version is what the call expects, 0 for nothing; the row's for Given.
	Version int64
	// After is how long a Wait takes.
	After time.Duration
	// Choices are what the reader chose where a condition cannot be worked out.
	Choices []Choice
	// Bad says why the text of the step cannot be read; it is Text then, and
	// nothing else.
	Bad  *Problem
	Text string
}

// Arg is a value by the name of its parameter or column, in PostgreSQL's spelling.
type Arg struct{ Name, Text string }

// Arg returns the value of that name, and whether the step has it.
func (s *Step) Arg(name string) (string, bool) {
	for _, a := range s.Args {
		if a.Name == name {
			return a.Text, true
		}
	}
	return "", false
}

// Truth is what a condition comes to, in three-valued logic.
type Truth int

// Truths. The zero value is none of them.
const (
	Untold Truth = iota
	True
	False
	Null
)

var truths = map[Truth]string{True: "true", False: "false", Null: "null"}

// String is the word by which links and templates know it, empty for Untold.
func (t Truth) String() string { return truths[t] }

func truthOf(truth, known bool) Truth {
	switch {
	case !known:
		return Null
	case truth:
		return True
	}
	return False
}

// Choice is what the reader chose for a condition: Of is "1" for the guard of the
// cell's first transition, "@name" for the check of a parameter, and the name of a
// column for its check.
type Choice struct {
	Of    string
	Truth Truth
}

// Choose returns the step with a choice more, or another one in its place.
func (s Step) Choose(of string, t Truth) Step {
	s.Choices = slices.DeleteFunc(slices.Clone(s.Choices), func(c Choice) bool { return c.Of == of })
	s.Choices = append(s.Choices, Choice{of, t})
	return s
}

func (s *Step) choice(of string) Truth {
	for _, c := range s.Choices {
		if c.Of == of {
			return c.Truth
		}
	}
	return Untold
}

// Machine is a machine that lives are played of. It may be used by many goroutines.
type Machine struct {
	// Model is the machine as it was defined.
	Model *model.Machine
	// played is it with a table, which the oracle needs: an empty one where the
	// definition has none.
	played  *model.Machine
	judge   *evaluate.Judge
	stories func() []Story
}

// For returns the machine to play.
func For(m *model.Machine) *Machine {
	played := m
	if m.Table == nil {
		empty := *m
		empty.Table = &model.Table{
			Status:  model.Status{Column: model.StatusColumn, Type: "text"},
			Version: model.VersionColumn, Deadline: model.DeadlineColumn, Runs: model.DeadlineRunsColumn, VersionType: "bigint",
		}
		played = &empty
	}
	out := &Machine{Model: m, played: played, judge: evaluate.For(played)}
	out.stories = sync.OnceValue(out.makeStories)
	return out
}

// HasTable reports whether the machine has a row to show: one without a table has
// states and outcomes alone.
func (m *Machine) HasTable() bool { return m.Model.Table != nil }
