package gendocs

import (
	"html/template"
	"strconv"

	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/suite"
	"github.com/pawl-go/pawl/internal/wording"
)

// machinePage is the page of one machine.
type machinePage struct {
	frame
	View
}

// View is what the templates of a machine's sections show, in one language: see
// [Templates].
type View struct {
	Machine *model.Machine
	Parts   Parts
	Picture template.HTML
	Slices  []slicePicture
	Matrix  template.HTML
	// Pictures and Tables lead to the downloads.
	Pictures, Tables []fileLink
	Cells            int
	States           []stateEntry
	Events           []eventEntry
	Guards           []guardEntry
	Columns          []columnEntry
	Suites           []suiteRow
	Absent           []suiteRow
	Numbers          []numberRow
	Since            *changes
	Notes            []note
	Answers          []answer
}

// Links say where a page finds others.
type Links struct {
	// File and SuiteFile give the address of a download, and Suite that of a suite's
	// page.
	File      func(Download) string
	SuiteFile func(*suite.Suite, Download) string
	Suite     func(*suite.Suite) string
}

// beside are the links of a folder: all that a machine has lies beside its page.
var beside = Links{
	File:      func(d Download) string { return "files/" + d.Name },
	SuiteFile: func(_ *suite.Suite, d Download) string { return "files/" + d.Name },
	Suite:     suiteFile,
}

type slicePicture struct {
	State   *model.State
	Picture template.HTML
}

// suiteRow is a suite in the table of suites.
type suiteRow struct {
	Name, File, About            string
	Cases, Steps, Covered, Items int
	Files                        []fileLink
	// Why says why there is no such suite.
	Why string
}

type fileLink struct{ Format, Href string }

func (l Links) files(list []Download) []fileLink {
	var links []fileLink
	for _, d := range list {
		links = append(links, fileLink{d.Format, l.File(d)})
	}
	return links
}

type numberRow struct{ Text, Value string }

type answer struct{ Outcome, When, Seen string }

// note is what the checks have to say.
type note struct{ Code, Word, Place, Message, Reason string }

// ViewOf puts together what is shown of a machine; since is nil when nothing was
// compared.
func ViewOf(input Machine, parts Parts, since *Since, links Links, lang string) View {
	m := input.Model
	v := View{
		Machine: m, Parts: parts, Picture: svg(parts.Picture), Matrix: svg(parts.Matrix),
		Pictures: links.files(parts.Pictures), Tables: links.files(parts.Tables),
		Cells:  len(m.States) * len(m.Events),
		States: stateEntries(m, lang), Events: eventEntries(m, lang), Guards: guardEntries(m), Columns: columnEntries(m, lang),
		Numbers: numberRows(input.Numbers, lang), Notes: notesOf(input, lang), Answers: answersIn(lang),
	}
	for _, s := range parts.Slices {
		v.Slices = append(v.Slices, slicePicture{s.State, svg(s.Picture)})
	}
	for _, s := range input.Suites {
		v.Suites = append(v.Suites, suiteRowOf(s, parts, links, lang))
	}
	for _, a := range input.Absent {
		v.Absent = append(v.Absent, absentRow(a, lang))
	}
	if since != nil {
		v.Since = changesOf(since, m.Name, lang)
	}
	return v
}

func machineOf(in Input, look *look, at int, parts Parts, lang string) machinePage {
	m := in.Machines[at].Model
	p := machinePage{
		frame: framed(look, lang, m.Name, m.Name+"/index.html", link{Text: m.Name}),
		View:  ViewOf(in.Machines[at], parts, in.Since, beside, lang),
	}
	p.Source = m.Source
	p.Sections = p.View.Outline(lang)
	p.OthersTitle = wording.Phrase{EN: "Machines", ZH: "状态机"}.In(lang)
	for i, other := range in.Machines {
		l := link{Text: other.Model.Name, Href: "../" + other.Model.Name + "/index.html"}
		if i == at {
			l.Href = ""
		}
		p.Others = append(p.Others, l)
	}
	return p
}

// Outline has the sections that have something to show, in order.
func (v *View) Outline(lang string) []Section {
	var list []Section
	for _, s := range []struct {
		id    string
		title wording.Phrase
		has   bool
		count int
	}{
		{"picture", wording.Phrase{EN: "Picture", ZH: "状态图"}, v.Picture != "", 0},
		{"states", wording.Phrase{EN: "States", ZH: "状态"}, true, len(v.States)},
		{"events", wording.Phrase{EN: "Events", ZH: "事件"}, true, len(v.Events)},
		{"guards", wording.Phrase{EN: "Guards", ZH: "条件"}, len(v.Guards) > 0, len(v.Guards)},
		{"matrix", wording.Phrase{EN: "Matrix", ZH: "矩阵"}, v.Matrix != "", v.Cells},
		{"tests", wording.Phrase{EN: "Test suites", ZH: "测试集"}, len(v.Suites) > 0, len(v.Suites)},
		{"numbers", wording.Phrase{EN: "Sizes", ZH: "规模"}, len(v.Numbers) > 0, 0},
		{"changes", wording.Phrase{EN: "Changes", ZH: "变更"}, v.Since != nil, v.Since.size()},
		{"answers", wording.Phrase{EN: "What a call answers", ZH: "调用的结果"}, true, 0},
		{"row", wording.Phrase{EN: "The row", ZH: "数据行"}, len(v.Columns) > 0, 0},
		{"words", wording.Phrase{EN: "Words of others", ZH: "外部状态词"}, len(v.Machine.Maps) > 0, 0},
		{"notes", wording.Phrase{EN: "Notes of the checks", ZH: "检查提示"}, len(v.Notes) > 0, len(v.Notes)},
	} {
		if s.has {
			list = append(list, Section{s.id, s.title.In(lang), s.count})
		}
	}
	return list
}

func suiteRowOf(s *suite.Suite, parts Parts, links Links, lang string) suiteRow {
	row := suiteRow{
		Name: s.Name, File: links.Suite(s), About: aboutSuite(s.Name, lang), Cases: len(s.Cases), Items: len(s.Items),
	}
	for _, d := range parts.Suites[s.Name] {
		row.Files = append(row.Files, fileLink{d.Format, links.SuiteFile(s, d)})
	}
	for _, c := range s.Cases {
		row.Steps += len(c.Steps)
	}
	for _, cases := range s.CoveredBy() {
		if len(cases) > 0 {
			row.Covered++
		}
	}
	return row
}

func absentRow(a Absent, lang string) suiteRow {
	row := suiteRow{Name: a.Name, About: aboutSuite(a.Name, lang), Why: wording.Phrase{EN: "This machine has none.", ZH: "该状态机没有。"}.In(lang)}
	if a.Cases > 0 {
		row.Why = wording.Phrase{EN: "It would have %d cases, too many to work through.", ZH: "将有 %d 个用例，多到无法执行。"}.Sprintf(lang, a.Cases)
	}
	return row
}

func numberRows(list []suite.Number, lang string) []numberRow {
	var rows []numberRow
	for _, n := range list {
		row := numberRow{Text: n.Name, Value: "–"}
		if words, known := numbers[n.Name]; known {
			row.Text = words.In(lang)
		}
		if n.Value != nil {
			row.Value = strconv.FormatInt(*n.Value, 10)
		}
		rows = append(rows, row)
	}
	return rows
}

func notesOf(m Machine, lang string) []note {
	var notes []note
	for _, w := range m.Warnings {
		notes = append(notes, note{Code: string(w.Code), Word: wording.Phrase{EN: "warning", ZH: "警告"}.In(lang), Place: place(w.Pos), Message: w.Message})
	}
	for _, w := range m.Waived {
		notes = append(notes, note{Code: string(w.Code), Word: wording.Phrase{EN: "accepted", ZH: "已接受"}.In(lang), Place: place(w.Pos), Message: w.Message, Reason: w.Reason})
	}
	return notes
}

func answersIn(lang string) []answer {
	var list []answer
	for _, o := range outcomes {
		list = append(list, answer{string(o.outcome), o.when.In(lang), o.seen.In(lang)})
	}
	return list
}
