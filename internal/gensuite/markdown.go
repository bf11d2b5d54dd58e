package gensuite

import (
	"fmt"
	"strings"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/suite"
)

// markdown is a page of GitHub's Markdown: a section for each state that cases
// start from, in it those of one step as rows of a table and longer ones each as
// a table of its own, and the coverage at the end. Names are code, and nothing in a name or a text
// is taken for a mark.
func markdown(d *document) ([]File, error) {
	d = d.written(codeSpan, markdownText)
	m := d.suite.Machine
	w := &page{d: d}
	w.printf("# %s\n\n%s", d.say(suiteTitle, d.suite.Name, m.Name), d.criterion())
	if m.Describe != "" {
		w.printf("\n\n%s", d.say(ofMachine, d.name(m.Name), d.text(m.Describe)))
	}
	w.printf("\n\n%s\n", d.counts())
	if len(d.suite.Cases) == 0 {
		w.printf("\n%s\n", d.say(noCases))
	}
	for i, rest := 0, d.suite.Cases; len(rest) > 0; i++ {
		if i == 0 || rest[0].Start != w.start {
			w.section(rest[0].Start)
		}
		n := alike(rest)
		if n == 0 {
			w.long(rest[0])
			n = 1
		} else {
			w.short(rest[:n])
		}
		rest = rest[n:]
	}
	w.coverage()
	return []File{{d.base() + ".md", []byte(w.String())}}, nil
}

// page is Markdown that is being written.
type page struct {
	strings.Builder
	d *document
	// start is the state of the section.
	start *model.State
}

func (w *page) printf(format string, args ...any) { fmt.Fprintf(w, format, args...) }

// row writes a row of a table; the header's is followed by a rule.
func (w *page) row(cells ...string) { w.printf("| %s |\n", strings.Join(cells, " | ")) }

func (w *page) header(cells ...string) {
	w.printf("\n")
	w.row(cells...)
	w.printf("|%s\n", strings.Repeat(" --- |", len(cells)))
}

// alike is how many cases from the first on have one step and start from the
// same state; 0 for a case that is to be told by itself.
func alike(cases []*suite.Case) int {
	var start *model.State
	for i, c := range cases {
		if c.Start == nil || len(c.Steps) != 1 || i > 0 && c.Start != start {
			return i
		}
		start = c.Start
	}
	return len(cases)
}

// section begins the cases that start from a state, nil for a row's creation.
func (w *page) section(start *model.State) {
	w.start = start
	if start == nil {
		w.printf("\n## %s\n", w.d.say(fromNew))
		return
	}
	w.printf("\n## %s\n", w.d.say(fromState, w.d.state(start)))
	if way := w.d.way(start); len(way) > 0 {
		w.printf("\n%s\n", strings.Join(way, " "))
	}
}

// short writes cases of one step, a row each.
func (w *page) short(cases []*suite.Case) {
	d := w.d
	w.header(d.say(headID), d.say(headRow), d.say(headAction), d.say(headData), d.say(headExpected))
	for _, c := range cases {
		l := d.script(c)[0]
		w.row(d.name(c.ID), d.values(c.Given), broken(l.action), broken(d.given(l)), broken(l.expected))
	}
}

// long writes a case of several steps.
func (w *page) long(c *suite.Case) {
	d := w.d
	w.printf("\n### %s\n\n%s\n", d.name(c.ID), strings.Join(d.stands(c), " "))
	w.header("#", d.say(headAction), d.say(headData), d.say(headExpected))
	for i, l := range d.script(c) {
		w.row(fmt.Sprint(i+1), broken(l.action), broken(d.given(l)), broken(l.expected))
	}
}

// toldCases is how many cases of one item a page names: where hundreds of ways
// take a transition, a few prove as much. The tables name all.
const toldCases = 5

// coverage writes the coverage table.
func (w *page) coverage() {
	d := w.d
	if len(d.suite.Items) == 0 {
		return
	}
	w.printf("\n## %s\n", d.say(coverageName))
	w.header(d.say(headItem), d.say(headCases))
	for i, cases := range d.suite.CoveredBy() {
		item := d.suite.Items[i]
		if len(cases) == 0 {
			w.row(d.name(item.ID), d.say(uncovered, d.text(item.Why)))
			continue
		}
		var said []string
		for _, at := range cases[:min(len(cases), toldCases)] {
			said = append(said, d.name(d.suite.Cases[at].ID))
		}
		if more := len(cases) - toldCases; more > 0 {
			said = append(said, fmt.Sprintf("… +%d", more))
		}
		w.row(d.name(item.ID), broken(said))
	}
}

// broken puts sentences on lines of one cell.
func broken(said []string) string { return strings.Join(said, "<br>") }

// markdownEscapes are for all that is a mark somewhere in a line or a cell. A
// backslash before punctuation that is no mark is not seen; a bar ends a cell
// whatever stands around it, and a mention or an address would become a link.
var markdownEscapes = strings.NewReplacer(
	"&", "&amp;", "<", "&lt;", ">", "&gt;", `\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`,
	"|", "&#124;", "~", `\~`, "#", `\#`, "!", `\!`, "$", `\$`, "@", "&#64;", "://", ":&#8203;//", "www.", "www&#8203;.")

// markdownText writes a text so that it is read as it stands.
func markdownText(text string) string { return markdownEscapes.Replace(oneLine(text)) }

// codeSpan writes a name as code. Within backticks a bar still ends a cell, and
// cannot be written another way, so such a name goes into a tag.
func codeSpan(name string) string {
	name = oneLine(name)
	if !strings.ContainsAny(name, "|`") {
		return "`" + name + "`"
	}
	return "<code>" + markdownText(name) + "</code>"
}
