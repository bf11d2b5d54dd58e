package studio

import (
	"net/http"

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
		Suite: func(su *suite.Suite) string { return v.at("m", m.Name, "suites", su.Name) },
	}
}

// file serves a file to download: a diagram, a matrix, or a suite.
func (s *Studio) file(v *visit) error {
	m, err := v.machine()
	if err != nil {
		return err
	}
	if m.Model == nil {
		return &notFound{}
	}
	name := v.PathValue("file")
	parts, err := m.drawn[v.Lang]()
	if err != nil {
		return err
	}
	content, ok := download(name, parts.Pictures, parts.Tables)
	if !ok { // suites take longer to make
		if parts, err = m.files[v.Lang](); err != nil {
			return err
		}
		for _, list := range parts.Suites {
			if content, ok = download(name, list); ok {
				break
			}
		}
	}
	if !ok {
		return &notFound{}
	}
	h := v.w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", `attachment; filename="`+ascii(name)+`"`)
	v.w.WriteHeader(http.StatusOK)
	_, _ = v.w.Write(content)
	return nil
}

func download(name string, lists ...[]gendocs.Download) ([]byte, bool) {
	for _, list := range lists {
		for _, d := range list {
			if d.Name == name {
				return d.Content, true
			}
		}
	}
	return nil, false
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
