package studio

import (
	"net/http"
	"slices"

	"github.com/pawl-go/pawl/internal/gendocs"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/pipeline"
	"github.com/pawl-go/pawl/internal/suite"
	"github.com/pawl-go/pawl/internal/wording"
)

// lifecyclePart is the page of a machine with its picture, and the files made of
// it.
func lifecyclePart(s *Studio) (part, error) {
	return part{entry: "lifecycle", routes: []route{
		{"/m/{machine}", s.lifecycle},
		{"/m/{machine}/files/{file}", s.file},
	}}, nil
}

// lifecyclePage is what the page shows.
type lifecyclePage struct {
	*machine
	kept
	View     gendocs.View
	Sections []gendocs.Section
	// Deadlines are the states that have one.
	Deadlines []*model.State
}

func (s *Studio) lifecycle(v *visit) error {
	m, err := v.machine()
	if err != nil {
		return err
	}
	p := page{Title: m.Name, Machine: m, Entry: "lifecycle", Template: "lifecycle"}
	data := lifecyclePage{machine: m}
	if m.Model != nil {
		parts, err := m.drawn[v.Lang]()
		if err != nil {
			return err
		}
		data.View = gendocs.ViewOf(pipeline.Described(m.Model, nil), parts, nil, v.links(m), v.Lang)
		data.Sections = data.outline(v)
		p.Sections = data.Sections
		if err := data.keep(v); err != nil {
			return err
		}
	}
	p.Data = data
	return v.show(p)
}

// outline are the sections of the page: those of the folder of pages, and the deadlines.
func (p *lifecyclePage) outline(v *visit) []gendocs.Section {
	list := p.View.Outline(v.Lang)
	for _, s := range p.Model.States {
		if s.Deadline != nil {
			p.Deadlines = append(p.Deadlines, s)
		}
	}
	if len(p.Deadlines) > 0 {
		at := slices.IndexFunc(list, func(s gendocs.Section) bool { return s.ID == "matrix" })
		section := gendocs.Section{ID: "deadlines", Title: v.say(wording.Phrase{EN: "Deadlines", ZH: "期限"}), Count: len(p.Deadlines)}
		list = slices.Insert(list, max(at, 0), section)
	}
	return list
}

// Leads are the states that an event's transitions lead to from one.
func (p lifecyclePage) Leads(s *model.State) []*model.State {
	var to []*model.State
	for _, t := range s.Deadline.Event.Cells[s.Index].Transitions {
		if !slices.Contains(to, t.To) {
			to = append(to, t.To)
		}
	}
	return to
}

// Loops reports whether a deadline leads back to its state.
func (p lifecyclePage) Loops(s *model.State) bool { return slices.Contains(p.Leads(s), s) }

// keep draws the picture with what the address names alone.
func (p *lifecyclePage) keep(v *visit) error {
	if p.kept = v.keptOf(p.Model); p.Kept == "" {
		return nil
	}
	var err error
	p.View.Picture, err = p.pictures.marked(pictureOf{lang: v.Lang}, p.marks)
	return err
}

// links are the addresses of what was made of a machine.
func (v *visit) links(m *machine) gendocs.Links {
	return gendocs.Links{
		File: func(d gendocs.Download) string {
			t := tongue{v.Lang, true} // the file is of the page's language
			return t.at("m", m.Name, "files", d.Name)
		},
		SuiteFile: func(su *suite.Suite, d gendocs.Download) string {
			t := tongue{v.Lang, true}
			return t.at("m", m.Name, "suites", su.Name, d.Name)
		},
		Suite: func(su *suite.Suite) string { return v.at("m", m.Name, "suites", su.Name) },
	}
}

// file serves a file to download: a diagram or a matrix.
func (s *Studio) file(v *visit) error {
	m, err := v.whole()
	if err != nil {
		return err
	}
	parts, err := m.drawn[v.Lang]()
	if err != nil {
		return err
	}
	for _, d := range slices.Concat(parts.Pictures, parts.Tables) {
		if d.Name == v.PathValue("file") {
			v.download(d)
			return nil
		}
	}
	return &notFound{}
}

// download answers with a file that a browser keeps and does not show.
func (v *visit) download(d gendocs.Download) {
	h := v.w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", `attachment; filename="`+ascii(d.Name)+`"`)
	v.w.WriteHeader(http.StatusOK)
	_, _ = v.w.Write(d.Content)
}

// ascii is a name that can stand in a header.
func ascii(name string) string {
	out := []rune(name)
	for i, r := range out {
		if r < ' ' || r > '~' || r == '"' || r == '\\' || r == '/' {
			out[i] = '_'
		}
	}
	return string(out)
}
