package studio

import (
	"bytes"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/pipeline"
	"github.com/pawl-go/pawl/internal/wording"
)

// sourcePart shows definitions as they are written, with what the checks find
// beside the line, and explains each finding.
func sourcePart(s *Studio) (part, error) {
	explained, err := pipeline.Explain()
	if err != nil {
		return part{}, err
	}
	rules := map[string]pipeline.Explanation{}
	for _, e := range explained {
		rules[string(e.Code)] = e
	}
	return part{entry: "source", routes: []route{
		{"/m/{machine}/source", s.source},
		{"/rules/{code}", func(v *visit) error { return v.rule(rules[v.PathValue("code")]) }},
	}}, nil
}

// mostLines are shown of a definition: more is no text for people.
const mostLines = 8000

// sourcePage is what the page shows.
type sourcePage struct {
	*machine
	Lines []sourceLine
	// More are the lines that are not shown.
	More int
	// Whole are the findings about no line, and All those of all lines.
	Whole, All []finding
}

// sourceLine is one line with what is found in it.
type sourceLine struct {
	Number   int
	Spans    []span
	Findings []finding
	// Worst is the class of the worst of them.
	Worst string
}

// finding is what the checks say of a place.
type finding struct {
	Line                       int
	Code, Class, Word, Message string
	// Reason says why it is accepted.
	Reason string
}

func (s *Studio) source(v *visit) error {
	m, err := v.machine()
	if err != nil {
		return err
	}
	return v.show(page{Title: v.say(wording.Phrase{EN: "%s: source", ZH: "%s：源文件"}, m.Name), Machine: m, Entry: "source", Template: "source", Data: v.sourceOf(m)})
}

func (v *visit) sourceOf(m *machine) sourcePage {
	p := sourcePage{machine: m}
	at := map[int][]diag.Position{}
	by := map[int][]finding{}
	for _, f := range v.findings(m, at) {
		p.All = append(p.All, f)
		by[f.Line] = append(by[f.Line], f)
	}
	text := bytes.TrimSuffix(m.Text, []byte("\n"))
	lines := bytes.Split(text, []byte("\n"))
	p.More = max(0, len(lines)-mostLines)
	p.Whole = by[0]
	for i, line := range lines[:len(lines)-p.More] {
		l := sourceLine{Number: i + 1, Spans: spans(bytes.TrimSuffix(line, []byte("\r")), at[i+1]), Findings: by[i+1]}
		for _, f := range l.Findings {
			if l.Worst == "" || f.Class == "bad" || f.Class == "warn" && l.Worst == "fine" {
				l.Worst = f.Class
			}
		}
		p.Lines = append(p.Lines, l)
	}
	return p
}

// findings are the problems, and then what was waived; at gets the places of the
// problems, by line.
func (v *visit) findings(m *machine, at map[int][]diag.Position) []finding {
	var all []finding
	for _, p := range m.Problems {
		f := finding{Line: p.Pos.Line, Code: string(p.Code), Class: "bad", Word: v.say(wording.Phrase{EN: "error", ZH: "错误"}), Message: p.Message}
		if p.Severity == diag.Warning {
			f.Class, f.Word = "warn", v.say(wording.Phrase{EN: "warning", ZH: "警告"})
		}
		at[f.Line] = append(at[f.Line], p.Pos)
		all = append(all, f)
	}
	for _, w := range m.Waived {
		all = append(all, finding{
			Line: w.Pos.Line, Code: string(w.Code), Class: "fine", Word: v.say(wording.Phrase{EN: "accepted", ZH: "已接受"}), Message: w.Message, Reason: w.Reason,
		})
	}
	return all
}

// rule explains a code, with a case that fails by it and one that passes.
func (v *visit) rule(e pipeline.Explanation) error {
	if e.Code == "" {
		return &notFound{what: wording.Phrase{EN: "There is no such rule.", ZH: "没有这条规则。"}}
	}
	return v.show(page{Title: string(e.Code) + " " + e.Short, Template: "rule", Data: e})
}
