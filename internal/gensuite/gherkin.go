package gensuite

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pawl-go/pawl/internal/suite"
	"github.com/pawl-go/pawl/internal/wording"
)

// The keywords of Gherkin in the two languages.
var (
	kwFeature  = wording.Phrase{EN: "Feature", ZH: "功能"}
	kwScenario = wording.Phrase{EN: "Scenario", ZH: "场景"}
	kwGiven    = wording.Phrase{EN: "Given ", ZH: "假如"}
	kwWhen     = wording.Phrase{EN: "When ", ZH: "当"}
	kwThen     = wording.Phrase{EN: "Then ", ZH: "那么"}
	kwAnd      = wording.Phrase{EN: "And ", ZH: "而且"}
)

// gherkin is one feature with a scenario for each case, tagged with the
// machine, the suite and the case's key, by which tools that import features
// find a scenario again.
func gherkin(d *document) ([]File, error) {
	m := d.suite.Machine
	var b strings.Builder
	if d.say(kwFeature) == kwFeature.ZH {
		b.WriteString("# language: zh-CN\n")
	}
	fmt.Fprintf(&b, "@pawl %s %s\n%s: %s\n\n", tag(m.Name), tag(d.suite.Name), d.say(kwFeature), d.say(suiteTitle, d.suite.Name, m.Name))
	// A line of the description must not begin like a line of Gherkin.
	fmt.Fprintf(&b, "  %s\n", d.criterion())
	if m.Describe != "" {
		fmt.Fprintf(&b, "  %s\n", d.say(ofMachine, m.Name, d.text(m.Describe)))
	}
	if len(d.suite.Cases) == 0 {
		fmt.Fprintf(&b, "  %s\n", d.say(noCases))
	}
	steps := newDocument(d.suite, d.lang)
	steps.name = quoted
	for _, c := range d.suite.Cases {
		fmt.Fprintf(&b, "\n  %s\n  %s: %s\n", tag(key(c.ID)), d.say(kwScenario), d.summary(c))
		steps.scenario(&b, c)
	}
	return []File{{d.base() + ".feature", []byte(b.String())}}, nil
}

// scenario writes the steps of a case.
func (d *document) scenario(b *strings.Builder, c *suite.Case) {
	d.steps(b, kwGiven, d.precondition(c))
	for _, l := range d.script(c) {
		d.steps(b, kwWhen, l.action)
		d.steps(b, kwAnd, l.data)
		d.steps(b, kwThen, l.expected)
	}
}

// steps writes sentences as steps, the first with the keyword: they go on
// behind it and have no full stop.
func (d *document) steps(b *strings.Builder, keyword wording.Phrase, said []string) {
	for _, text := range said {
		text = strings.TrimSuffix(strings.TrimSuffix(text, "."), "。")
		fmt.Fprintf(b, "    %s%s\n", d.say(keyword), uncapitalized(text))
		keyword = kwAnd
	}
}

// uncapitalized is a sentence as it goes on behind a keyword.
func uncapitalized(text string) string {
	if text != "" && 'A' <= text[0] && text[0] <= 'Z' {
		return string(text[0]-'A'+'a') + text[1:]
	}
	return text
}

// tag is a word as a tag. Keys are free of what ends one.
func tag(word string) string { return "@" + word }

// quoted writes a name between quotes, as step definitions take arguments.
func quoted(name string) string { return strconv.Quote(oneLine(name)) }
