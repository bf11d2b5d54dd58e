package gendocs

import (
	"strings"

	"github.com/pawl-go/pawl/internal/suite"
	"github.com/pawl-go/pawl/internal/wording"
)

// How much of a suite a page shows; the downloads have all of it.
const (
	maxCases   = 400
	maxItems   = 1500
	maxCovered = 4
)

// suitePage is the page of one suite.
type suitePage struct {
	frame
	SuiteView
}

// SuiteView is what the templates of a suite show, in one language.
type SuiteView struct {
	suiteRow
	Total, More int
	Cases       []caseEntry
	Coverage    []itemEntry
}

// caseEntry is one case in words.
type caseEntry struct {
	ID, Anchor, Start string
	Given             []string
	Steps             []stepEntry
}

// stepEntry is one call and what must be seen then.
type stepEntry struct {
	Event, Variant, Version, Unknown string
	Params, After, Emit              []string
	Second, Repeat, Fact             bool
	Class, Outcome, To               string
}

// itemEntry is one thing to be covered, with the cases that do.
type itemEntry struct {
	ID, Why string
	Cases   []caseLink
	More    int
}

type caseLink struct{ ID, Anchor string }

// SuiteViewOf puts together what is shown of a suite.
func SuiteViewOf(s *suite.Suite, parts Parts, links Links, lang string) SuiteView {
	v := SuiteView{suiteRow: suiteRowOf(s, parts, links, lang), Total: len(s.Cases), More: max(0, len(s.Cases)-maxCases)}
	for _, c := range s.Cases[:min(len(s.Cases), maxCases)] {
		v.Cases = append(v.Cases, caseOf(c, lang))
	}
	v.Coverage = coverageOf(s, lang)
	return v
}

// Outline has the sections of the suite's page.
func (v *SuiteView) Outline(lang string) []Section {
	return []Section{
		{"cases", wording.Phrase{EN: "Cases", ZH: "用例"}.In(lang), v.Total},
		{"coverage", wording.Phrase{EN: "Coverage", ZH: "覆盖"}.In(lang), v.suiteRow.Items},
	}
}

func suiteOf(in Input, look *look, at int, s *suite.Suite, parts Parts, lang string) suitePage {
	m := in.Machines[at]
	p := suitePage{
		frame: framed(look, lang, s.Name+" – "+m.Model.Name, m.Model.Name+"/"+suiteFile(s),
			link{Text: m.Model.Name, Href: "index.html"}, link{Text: s.Name}),
		SuiteView: SuiteViewOf(s, parts, beside, lang),
	}
	p.Source = m.Model.Source
	p.Sections = p.SuiteView.Outline(lang)
	p.OthersTitle = wording.Phrase{EN: "Test suites", ZH: "测试集"}.In(lang)
	for _, other := range m.Suites {
		l := link{Text: other.Name, Href: suiteFile(other), Count: len(other.Cases)}
		if other == s {
			l.Href = ""
		}
		p.Others = append(p.Others, l)
	}
	return p
}

func caseAnchor(c *suite.Case) string { return "case-" + slug(c.ID) }

func caseOf(c *suite.Case, lang string) caseEntry {
	e := caseEntry{ID: c.ID, Anchor: caseAnchor(c), Given: values(c.Given)}
	e.Start = wording.Phrase{EN: "A new row is created.", ZH: "新建一行。"}.In(lang)
	if c.Start != nil {
		e.Start = wording.Phrase{EN: "A row stands in %s.", ZH: "有一行处于 %s。"}.Sprintf(lang, c.Start.Name)
	}
	for i := range c.Steps {
		e.Steps = append(e.Steps, stepOf(&c.Steps[i], lang))
	}
	return e
}

func stepOf(s *suite.Step, lang string) stepEntry {
	e := stepEntry{
		Event: s.Event.Name, Variant: variant(s.Variant, lang), Params: values(s.Params), Unknown: why(s.Unknown, lang), Second: s.Second, Repeat: s.Repeat,
		Class: outcomeClass(s.Outcome), Outcome: string(s.Outcome), After: values(s.After), Emit: s.Emit, Fact: s.Fact,
	}
	if s.To != nil {
		e.To = s.To.Name
	}
	switch s.Version {
	case suite.RightVersion:
		e.Version = wording.Phrase{EN: "with the row's version", ZH: "带该行的版本"}.In(lang)
	case suite.WrongVersion:
		e.Version = wording.Phrase{EN: "with another version", ZH: "带其他版本"}.In(lang)
	}
	return e
}

// variant is a way of a cell in words. Behind the way there may be the boundary
// at which it is tried: "none at amount_matches b-1".
func variant(v, lang string) string {
	for name, words := range map[string]wording.Phrase{
		"none": {EN: "no guard true", ZH: "没有条件成立"},
		"else": {EN: "no guard before it true", ZH: "前面的条件都不成立"},
	} {
		if v == name {
			return words.In(lang)
		}
		if at, behind := strings.CutPrefix(v, name+" at "); behind {
			return words.In(lang) + wording.Phrase{EN: " at ", ZH: " @ "}.In(lang) + at
		}
	}
	return v
}

// why is the reason of a suite in the language. What it is about, behind its
// first words, is the definition's.
func why(text, lang string) string {
	for _, r := range reasons {
		if about, is := strings.CutPrefix(text, r.EN); is {
			return r.In(lang) + about
		}
	}
	return text
}

// reasons are how the reasons of a suite begin.
var reasons = []wording.Phrase{
	{EN: "no row ever reaches state ", ZH: "没有行会到达状态 "},
	{EN: "no values exist for which: ", ZH: "不存在这样的取值："},
	{EN: "values are not known for which: ", ZH: "尚不知道这样的取值："},
}

// values are values as people write them, each name = value.
func values(list []suite.Value) []string {
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = v.Name + " = " + v.Text
		if v.Null {
			texts[i] = v.Name + " = NULL"
		}
	}
	return texts
}

// coverageOf says of each item which cases cover it.
func coverageOf(s *suite.Suite, lang string) []itemEntry {
	var entries []itemEntry
	by := s.CoveredBy()
	for i, item := range s.Items[:min(len(s.Items), maxItems)] {
		e := itemEntry{ID: item.ID, Why: why(item.Why, lang), More: max(0, len(by[i])-maxCovered)}
		for _, at := range by[i][:min(len(by[i]), maxCovered)] {
			l := caseLink{ID: s.Cases[at].ID}
			if at < maxCases {
				l.Anchor = caseAnchor(s.Cases[at])
			}
			e.Cases = append(e.Cases, l)
		}
		entries = append(entries, e)
	}
	return entries
}
