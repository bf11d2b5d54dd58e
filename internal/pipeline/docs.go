package pipeline

import (
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/fileset"
	"github.com/pawl-go/pawl/internal/gendocs"
	"github.com/pawl-go/pawl/internal/model"
)

// Docs renders the folder of pages for people (see [gendocs.Render]) of
// machines that were checked without errors. Warnings and waivers among the
// problems go onto the page of the machine whose definition they are about.
// since is nil when nothing was compared. The error is that of a renderer.
func Docs(machines []*model.Machine, problems *diag.List, since *gendocs.Since) (*fileset.Set, error) {
	in := gendocs.Input{Since: since}
	for _, m := range machines {
		in.Machines = append(in.Machines, docsOf(m, problems))
	}
	files, err := gendocs.Render(in)
	if err != nil {
		return nil, err
	}
	set := fileset.New()
	for _, f := range files {
		if err := set.Add(f.Path, f.Content); err != nil {
			return nil, err
		}
	}
	return set, nil
}

// docsOf gathers what the pages of one machine show.
func docsOf(m *model.Machine, problems *diag.List) gendocs.Machine {
	out := gendocs.Machine{Model: m}
	for _, p := range problems.Sorted() {
		if p.Pos.File == m.Source {
			out.Warnings = append(out.Warnings, p)
		}
	}
	for _, w := range problems.Waived() {
		if w.Pos.File == m.Source {
			out.Waived = append(out.Waived, w)
		}
	}
	return out
}
