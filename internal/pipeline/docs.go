package pipeline

import (
	"errors"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/fileset"
	"github.com/pawl-go/pawl/internal/gendocs"
	"github.com/pawl-go/pawl/internal/genmatrix"
	"github.com/pawl-go/pawl/internal/gensvg"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/suite"
)

// Docs renders the folder of pages for people (see [gendocs.Render]) of
// machines that were checked without errors. Warnings and waivers among the
// problems go onto the page of the machine whose definition they are about.
// since is nil when nothing was compared. The error is that of a renderer.
func Docs(machines []*model.Machine, problems *diag.List, since *gendocs.Since) (*fileset.Set, error) {
	in := gendocs.Input{
		Since: since, Style: gensvg.Style(gensvg.Auto) + string(genmatrix.Style()), Script: string(genmatrix.Script()),
	}
	in.Machines = make([]gendocs.Machine, len(machines))
	var group errgroup.Group
	for i, m := range machines {
		group.Go(func() (err error) {
			in.Machines[i], err = docsOf(m, problems)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
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
func docsOf(m *model.Machine, problems *diag.List) (gendocs.Machine, error) {
	out := Described(m, problems)
	if err := AddSuites(&out); err != nil {
		return out, err
	}
	out.Parts = func(lang string) (gendocs.Parts, error) {
		parts, err := Drawn(m, lang)
		if err == nil {
			err = addSuiteFiles(&parts, out.Suites, lang)
		}
		return parts, err
	}
	return out, nil
}

// Described is what pages show of a machine, without suites and parts.
func Described(m *model.Machine, problems *diag.List) gendocs.Machine {
	out := gendocs.Machine{Model: m, Numbers: suite.SizesOf(m).Numbers()}
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

// most is how many cases a suite has that somebody works through.
const most = 20_000

// longest is the suite that takes as long as all others together.
const longest = "n-switch=2"

// AddSuites makes the suites, and notes which there are not. The longest is made
// beside the others, with a maker of its own: a maker serves one at a time.
func AddSuites(out *gendocs.Machine) error {
	names := suite.Names()
	names[slices.Index(names, "n-switch=K")] = longest
	made := make([]*suite.Suite, len(names))
	errs := make([]error, len(names))
	var group sync.WaitGroup
	for _, long := range []bool{true, false} {
		group.Go(func() {
			maker := suite.For(out.Model)
			for i, name := range names {
				if (name == longest) == long {
					made[i], errs[i] = maker.Make(name, most)
				}
			}
		})
	}
	group.Wait()
	var large *suite.LimitError
	var none *suite.NoTourError
	for i, name := range names {
		switch {
		case errors.As(errs[i], &large):
			out.Absent = append(out.Absent, gendocs.Absent{Name: name, Cases: large.Cases})
		case errors.As(errs[i], &none):
			out.Absent = append(out.Absent, gendocs.Absent{Name: name})
		case errs[i] != nil:
			return errs[i]
		default:
			out.Suites = append(out.Suites, made[i])
		}
	}
	return nil
}
