package gensuite

import (
	"fmt"
	"slices"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/suite"
	"github.com/pawl-go/pawl/internal/wording"
)

// document is a suite in one language.
type document struct {
	suite *suite.Suite
	lang  string
	// name writes a name of the definition, and text writes words of its author,
	// so that the format takes nothing in them for its own. Other words need no
	// care.
	name, text func(string) string
	// tables says that the format has a table for the row's values, so that no
	// sentence tells of them.
	tables bool
	// ways has a way to each state: see suite.Ways.
	ways [][]suite.Step
	// scripts has the lines of the cases that were asked for, and befores what
	// stands before them. Formats whose texts are written alike share them.
	scripts map[*suite.Case][]line
	befores map[*suite.Case][]string
	// said has what was said of steps that are alike but for their values: the
	// cases of a suite take the same few steps again and again.
	said map[alikeSteps][]string
}

// alikeSteps is equal for steps of which the same is said, their values apart.
type alikeSteps struct {
	what                        about
	from, to                    *model.State
	event                       *model.Event
	transition                  *model.Transition
	variant                     string
	outcome                     suite.Outcome
	version                     suite.Expect
	repeat, other, second, fact bool
	emits                       int
	firstEmit                   *string
}

// about tells apart what is said of a step.
type about int

const (
	ofAction about = iota
	ofConditions
	ofExpected
	ofTitle
)

// alike returns what was said of a step like this one, and works it out the
// first time.
func (d *document) alike(what about, s *suite.Step, work func(*suite.Step) []string) []string {
	k := alikeSteps{
		what: what, from: s.From, to: s.To, event: s.Event, transition: s.Transition, variant: s.Variant, outcome: s.Outcome,
		version: s.Version, repeat: s.Repeat, other: s.Other, second: s.Second, fact: s.Fact, emits: len(s.Emit),
	}
	if k.emits > 0 {
		k.firstEmit = &s.Emit[0] // a list of the definition, which nobody changes
	}
	return once(d.said, k, func(alikeSteps) []string { return work(s) })
}

// newDocument is a document of plain text, on lines of its own.
func newDocument(s *suite.Suite, lang string) *document {
	d := &document{suite: s, lang: lang, ways: suite.Ways(s.Machine)}
	return d.written(oneLine, oneLine)
}

// written is the document with names and texts written in another way.
func (d *document) written(name, text func(string) string) *document {
	out := *d
	out.name, out.text = name, text
	out.scripts, out.befores, out.said = map[*suite.Case][]line{}, map[*suite.Case][]string{}, map[alikeSteps][]string{}
	return &out
}

// once returns what is remembered of something, and works it out the first time.
func once[K comparable, T any](known map[K][]T, k K, work func(K) []T) []T {
	out, there := known[k]
	if !there {
		out = slices.Clip(work(k)) // who adds to it must not write into it
		known[k] = out
	}
	return out
}

// say fills a phrase in.
func (d *document) say(p wording.Phrase, args ...any) string {
	if len(args) == 0 {
		return p.In(d.lang)
	}
	return fmt.Sprintf(p.In(d.lang), args...)
}

// state and event are names with their labels: "PAYING (Payment in progress)".
func (d *document) state(s *model.State) string { return d.named(s.Name, s.Labels) }
func (d *document) event(e *model.Event) string { return d.named(e.Name, e.Labels) }

func (d *document) named(name string, labels []model.Label) string {
	label := wording.Label(name, labels, d.lang)
	if label == "" {
		return d.name(name)
	}
	return d.say(brackets, d.name(name), d.text(label))
}

// hasRow says that the machine guards a table, so that there is a row with a
// version and a history to look at.
func (d *document) hasRow() bool { return d.suite.Machine.Table != nil }

// criterion says what the suite is for.
func (d *document) criterion() string {
	if p, ok := criteria[d.suite.Name]; ok {
		return d.say(p)
	}
	return d.say(sequences)
}

// counts says how large the suite is and how much it covers.
func (d *document) counts() string {
	steps, covered := 0, 0
	for _, c := range d.suite.Cases {
		steps += len(c.Steps)
	}
	for _, cases := range d.suite.CoveredBy() {
		if len(cases) > 0 {
			covered++
		}
	}
	items := len(d.suite.Items)
	percent := "100 %"
	if covered < items { // never 100 % by rounding
		percent = fmt.Sprintf("%d %%", covered*100/items)
	}
	return d.say(suiteCounts, len(d.suite.Cases), steps, covered, items, percent)
}
