package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/gendiagram"
	"github.com/pawl-go/pawl/internal/gendocs"
	"github.com/pawl-go/pawl/internal/genmatrix"
	"github.com/pawl-go/pawl/internal/gensuite"
	"github.com/pawl-go/pawl/internal/gensvg"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/suite"
)

// Material is one file made of a machine for people or their tools.
type Material struct {
	Name    string
	Content []byte
}

// DefaultLimit is the most cases of a suite where nothing else is asked for.
const DefaultLimit = suite.DefaultLimit

// Sizes are the sizes of a machine's suites.
type Sizes = suite.Sizes

// Stats counts without making a suite.
func Stats(m *model.Machine) Sizes { return suite.SizesOf(m) }

// Suites returns the names of the suites.
func Suites() []string { return suite.Names() }

// formatSVG is the format of diagram that is drawn here instead of by another
// program.
const formatSVG = "svg"

// DiagramFormats returns the formats of diagrams.
func DiagramFormats() []string { return append([]string{formatSVG}, gendiagram.Formats()...) }

// Themes returns the themes of diagrams.
func Themes() []string {
	return []string{string(gensvg.Auto), string(gensvg.Light), string(gensvg.Dark)}
}

// Languages returns the languages that material of the machines can be asked for
// in: those of its words, and then those of the machines' labels.
func Languages(machines []*model.Machine) []string {
	tags := gendocs.Languages()
	add := func(labels []model.Label) {
		for _, l := range labels {
			if !slices.ContainsFunc(tags, func(tag string) bool { return strings.EqualFold(tag, l.Lang) }) {
				tags = append(tags, l.Lang)
			}
		}
	}
	for _, m := range machines {
		for _, s := range m.States {
			add(s.Labels)
		}
		for _, e := range m.Events {
			add(e.Labels)
		}
	}
	return tags
}

// Speaks reports whether a language is one of some, or of the same kind as one, as
// zh-CN is of zh. Names alone, which an empty one asks for, there always are.
func Speaks(languages []string, lang string) bool {
	return lang == "" || slices.ContainsFunc(languages, func(tag string) bool {
		return model.PrimaryLanguage(tag) == model.PrimaryLanguage(lang)
	})
}

// NoSuite reports whether an error says that a machine has no such suite: no
// tour, or one that is too large. Other machines may have it.
func NoSuite(err error) bool {
	var none *suite.NoTourError
	var large *suite.LimitError
	return errors.As(err, &none) || errors.As(err, &large)
}

// DiagramOptions say how a machine is drawn.
type DiagramOptions struct {
	// Lang is the language of labels; empty is for names alone.
	Lang string
	// Theme is one of Themes; empty is auto for svg and light for the others,
	// which cannot follow the reader's.
	Theme string
	// State is the name of the state to draw with what leads in and out; empty is
	// for the whole machine.
	State string
}

// TooLarge is the error of a machine for which there is no picture of
// everything.
type TooLarge = gensvg.TooLarge

// Diagram draws a machine. The first file is the whole picture, or an overview
// of it where that could not be read. With a *TooLarge come the pictures of
// single states.
func Diagram(m *model.Machine, format string, o DiagramOptions) ([]Material, error) {
	var state *model.State
	if o.State != "" {
		if state = m.State(o.State); state == nil {
			return nil, unknownState(m, o.State)
		}
	}
	if format == formatSVG {
		return drawn(m, gensvg.Options{Lang: o.Lang, Theme: gensvg.Theme(o.Theme), State: state})
	}
	if o.Theme == string(gensvg.Auto) {
		return nil, fmt.Errorf("a diagram for %s cannot follow the reader's theme: choose light or dark", format)
	}
	files, err := gendiagram.Render(m, format, gendiagram.Options{Lang: o.Lang, Theme: gendiagram.Theme(o.Theme), State: state})
	if err != nil {
		return nil, err
	}
	var made []Material
	for _, f := range files {
		made = append(made, Material(f))
	}
	return made, nil
}

func drawn(m *model.Machine, o gensvg.Options) ([]Material, error) {
	if o.Theme != "" && !slices.Contains(Themes(), string(o.Theme)) {
		return nil, fmt.Errorf("no theme %q; there are %s", o.Theme, strings.Join(Themes(), ", "))
	}
	files, err := gensvg.Render(m, o)
	var made []Material
	for _, f := range files {
		made = append(made, Material{Name: f.Name, Content: f.Content})
	}
	return made, err
}

func unknownState(m *model.Machine, name string) error {
	var names []string
	for _, s := range m.States {
		names = append(names, s.Name)
	}
	if near := diag.Nearest(name, names); near != "" {
		return fmt.Errorf("no state %q; did you mean %q?", name, near)
	}
	return fmt.Errorf("no state %q; there are %s", name, model.StateNames(m.States))
}

// MatrixFormats returns the formats of matrices.
func MatrixFormats() []string { return genmatrix.Formats() }

// Matrix makes the table of what each event does in each state.
func Matrix(m *model.Machine, format, lang string) ([]Material, error) {
	files, err := genmatrix.Render(m, format, lang)
	if err != nil {
		return nil, err
	}
	var made []Material
	for _, f := range files {
		made = append(made, Material(f))
	}
	return made, nil
}

// TestFormats returns the formats of suites.
func TestFormats() []string {
	var names []string
	for _, f := range gensuite.Formats() {
		names = append(names, f.Name)
	}
	return names
}

// Tests makes a suite of at most limit cases. The first file has the cases.
func Tests(m *model.Machine, name, format, lang string, limit int) ([]Material, error) {
	s, err := suite.Make(m, name, limit)
	if err != nil {
		return nil, err
	}
	files, err := gensuite.Render(s, format, lang)
	if err != nil {
		return nil, err
	}
	var made []Material
	for _, f := range files {
		made = append(made, Material(f))
	}
	return made, nil
}

// ReadWhole is Lint for material: what people look at shows a lifecycle as it
// is written, also one that generation refuses for what it judges of it, such
// as guards that overlap. ok is false when an error left something out of a
// machine, so that a picture would not be true.
func ReadWhole(ctx context.Context, fsys fs.FS, paths []string, problems *diag.List) (machines []*model.Machine, ok bool, err error) {
	machines, err = Lint(ctx, fsys, paths, problems)
	if err != nil {
		return nil, false, err
	}
	return machines, len(Untrue(problems)) == 0, nil
}

// Untrue returns the errors by which something was left out of a machine, so that
// a picture of it would not be true; those that only judge a lifecycle, such
// as guards that overlap, are not among them.
func Untrue(problems *diag.List) []diag.Problem {
	judged := make(map[diag.Code]bool)
	for _, r := range Rules() {
		judged[r.Code] = r.Waivable
	}
	return slices.DeleteFunc(problems.Sorted(), func(p diag.Problem) bool {
		return p.Severity != diag.Error || judged[p.Code]
	})
}
