package studio

import (
	"net/http"
	"slices"

	"github.com/pawl-go/pawl/internal/gendocs"
	"github.com/pawl-go/pawl/internal/pipeline"
	"github.com/pawl-go/pawl/internal/suite"
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
	View gendocs.View
	// Kept is what is shown alone, "state" or "event", and KeptName its name.
	Kept, KeptName string
	Sections       []gendocs.Section
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
		data.Sections = data.View.Outline(v.Lang)
		p.Sections = data.Sections
		query := v.URL.Query()
		if state := m.Model.State(query.Get("state")); state != nil {
			data.Kept, data.KeptName = "state", state.Name
		} else if event := m.Model.Event(query.Get("event")); event != nil {
			data.Kept, data.KeptName = "event", event.Name
		}
	}
	p.Data = data
	return v.show(p)
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
