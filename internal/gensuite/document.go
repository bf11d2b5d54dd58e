package gensuite

import (
	"fmt"

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
}

// newDocument is a document of plain text, on lines of its own.
func newDocument(s *suite.Suite, lang string) *document {
	return &document{suite: s, lang: lang, name: oneLine, text: oneLine, ways: suite.Ways(s.Machine)}
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
