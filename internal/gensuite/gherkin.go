package gensuite

import (
	"fmt"
	"slices"
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
	steps := d.written(quoted, oneLine)
	steps.tables = true
	for _, c := range d.suite.Cases {
		fmt.Fprintf(&b, "\n  %s\n  %s: %s\n", tag(key(c.ID)), d.say(kwScenario), d.summary(c))
		steps.scenario(&b, c)
	}
	return []File{{d.base() + ".feature", []byte(b.String())}}, nil
}

// scenario writes the steps of a case.
func (d *document) scenario(b *strings.Builder, c *suite.Case) {
	d.steps(b, kwGiven, d.precondition(c))
	if c.Start != nil {
		d.dataTable(b, rowValues, c.Given)
	}
	for _, l := range d.script(c) {
		first := len(l.action) - l.last
		d.steps(b, kwWhen, l.action[:first])
		d.dataTable(b, callValues, l.values)
		d.steps(b, kwAnd, l.data)
		d.steps(b, kwAnd, l.action[first:])
		d.steps(b, kwThen, l.expected)
	}
}

// dataTable writes values as a step with a table of names and values; none as
// nothing.
func (d *document) dataTable(b *strings.Builder, intro wording.Phrase, values []suite.Value) {
	if len(values) == 0 {
		return
	}
	d.steps(b, kwAnd, []string{d.say(intro)})
	for _, v := range values {
		text := v.Text
		if v.Null {
			text = "NULL"
		}
		fmt.Fprintf(b, "      | %s | %s |\n", tableCell(v.Name), tableCell(text))
	}
}

var cellEscapes = strings.NewReplacer(`\`, `\\`, "|", `\|`, "\n", `\n`, "\r", " ")

// tableCell writes a text so that a table's cell is read as it stands.
func tableCell(text string) string { return cellEscapes.Replace(text) }

// steps writes sentences as steps, the first with the keyword: they go on
// behind it and have no full stop.
func (d *document) steps(b *strings.Builder, keyword wording.Phrase, said []string) {
	for _, text := range said {
		text = strings.TrimSuffix(strings.TrimSuffix(text, "."), "。")
		fmt.Fprintf(b, "    %s%s\n", d.say(keyword), uncapitalized(text))
		keyword = kwAnd
	}
}

// imperatives begin the sentences that tell a tester what to do.
var imperatives = []string{"Call ", "Choose ", "Create ", "Deliver ", "Give ", "Let ", "Note ", "Start "}

// uncapitalized is a sentence as it goes on behind a keyword: "When I call".
func uncapitalized(text string) string {
	subject := ""
	if slices.ContainsFunc(imperatives, func(verb string) bool { return strings.HasPrefix(text, verb) }) {
		subject = "I "
	}
	if text != "" && 'A' <= text[0] && text[0] <= 'Z' {
		text = string(text[0]-'A'+'a') + text[1:]
	}
	return subject + text
}

// tag is a word as a tag. Keys are free of what ends one.
func tag(word string) string { return "@" + word }

// quoted writes a name between quotes, as step definitions take arguments.
func quoted(name string) string { return strconv.Quote(oneLine(name)) }
