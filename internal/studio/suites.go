package studio

import (
	"errors"
	"slices"

	"github.com/pawl-go/pawl/internal/gendocs"
	"github.com/pawl-go/pawl/internal/pipeline"
	"github.com/pawl-go/pawl/internal/suite"
	"github.com/pawl-go/pawl/internal/wording"
)

// suitesPart shows the test suites of a machine, with everything that can be
// downloaded of it.
func suitesPart(s *Studio) (part, error) {
	return part{entry: "suites", routes: []route{
		{"/m/{machine}/suites", s.suites},
		{"/m/{machine}/suites/{suite}", s.suite},
		{"/m/{machine}/suites/{suite}/{file}", s.suiteFile},
	}}, nil
}

// whole is the machine that the address names, with its model; the error is a *notFound.
func (v *visit) whole() (*machine, error) {
	m, err := v.machine()
	if err == nil && m.Model == nil {
		err = &notFound{what: wording.Phrase{EN: "The definition has errors, and there is no machine yet.", ZH: "定义有错误，尚无状态机。"}}
	}
	return m, err
}

// suitesPage is what the page of all suites shows.
type suitesPage struct {
	*machine
	View gendocs.View
}

func (s *Studio) suites(v *visit) error {
	m, err := v.machine()
	if err != nil {
		return err
	}
	p := page{Title: v.say(wording.Phrase{EN: "%s: suites", ZH: "%s：测试集"}, m.Name), Machine: m, Entry: "suites", Template: "suites"}
	data := suitesPage{machine: m}
	if m.Model != nil {
		all, err := m.suites()
		if err != nil {
			return err
		}
		parts, err := m.drawn[v.Lang]()
		if err != nil {
			return err
		}
		parts.Suites = map[string][]gendocs.Download{}
		for _, su := range all.Suites {
			for _, format := range pipeline.TestFormats() {
				parts.Suites[su.Name] = append(parts.Suites[su.Name], gendocs.Download{Format: pipeline.FormatTitle(format, v.Lang), Name: format})
			}
		}
		data.View = gendocs.ViewOf(all, parts, nil, v.links(m), v.Lang)
	}
	p.Data = data
	return v.show(p)
}

// one is the suite that the address names; the error is a *notFound.
func (v *visit) one() (*machine, *suite.Suite, error) {
	m, err := v.whole()
	if err != nil {
		return nil, nil, err
	}
	all, err := m.suites()
	if err != nil {
		return nil, nil, err
	}
	i := slices.IndexFunc(all.Suites, func(su *suite.Suite) bool { return su.Name == v.PathValue("suite") })
	if i < 0 {
		return nil, nil, &notFound{what: wording.Phrase{EN: "The machine has no such suite.", ZH: "该状态机没有这个测试集。"}}
	}
	return m, all.Suites[i], nil
}

// suitePage is what the page of one suite shows.
type suitePage struct {
	*machine
	Suite gendocs.SuiteView
	// Others are all suites of the machine.
	Others []menuEntry
}

func (s *Studio) suite(v *visit) error {
	m, su, err := v.one()
	if err != nil {
		return err
	}
	files, err := m.suiteFiles(su, v.Lang)
	if err != nil {
		return err
	}
	view := gendocs.SuiteViewOf(su, gendocs.Parts{Suites: map[string][]gendocs.Download{su.Name: files}}, v.links(m), v.Lang)
	data := suitePage{machine: m, Suite: view}
	all, err := m.suites()
	if err != nil {
		return err
	}
	for _, other := range all.Suites {
		data.Others = append(data.Others, menuEntry{Text: other.Name, Href: v.at("m", m.Name, "suites", other.Name), Current: other == su})
	}
	return v.show(page{Title: m.Name + ": " + su.Name, Machine: m, Entry: "suites", Template: "suite-page", Data: data, Sections: view.Outline(v.Lang)})
}

// suiteFile serves a file of a suite by its name, or the first one of a format by the format's.
func (s *Studio) suiteFile(v *visit) error {
	m, su, err := v.one()
	if err != nil {
		return err
	}
	name := v.PathValue("file")
	if slices.Contains(pipeline.TestFormats(), name) {
		files, err := pipeline.SuiteFiles(su, v.Lang, name)
		if err != nil {
			return err
		}
		if len(files) == 0 {
			return errors.New("the format " + name + " gave no file")
		}
		v.download(files[0])
		return nil
	}
	files, err := m.suiteFiles(su, v.Lang)
	if err != nil {
		return err
	}
	for _, d := range files {
		if d.Name == name {
			v.download(d)
			return nil
		}
	}
	return &notFound{}
}
