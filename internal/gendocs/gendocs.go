// Package gendocs renders the pages from which people work: a folder of HTML
// that a browser opens from disk, with an index of all machines, a page for
// each, and a page for each test suite, in English and in Chinese.
//
// It puts together and explains. Pictures, matrices and the files to download
// come rendered from others, and where the folder is written is the caller's
// business. Pages load nothing: style and script are in them, and their
// content security policy forbids everything else.
package gendocs

import (
	"fmt"
	"path"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/pawl-go/pawl/internal/compare"
	"github.com/pawl-go/pawl/internal/diag"
	"github.com/pawl-go/pawl/internal/model"
	"github.com/pawl-go/pawl/internal/suite"
)

// Languages are those in which there is a set of pages, the default first. Each
// is the name of its folder.
func Languages() []string { return []string{"en", "zh"} }

// Input is what the pages are made of.
type Input struct {
	// Machines are in the order of the index.
	Machines []Machine
	// Since is nil when nothing was compared.
	Since *Since
	// Style and Script are what pictures and matrices need once a page.
	Style, Script string
}

// Since is what changed, and since when.
type Since struct {
	Revision string
	Report   *compare.Report
}

// Machine is a machine with what is known and was made of it.
type Machine struct {
	Model *model.Machine
	// Warnings and Waived are what the checks have to say of its definition.
	Warnings []diag.Problem
	Waived   []diag.Waived
	// Numbers are its sizes, in the order in which they are shown.
	Numbers []suite.Number
	// Suites are its test suites, and Absent those that it does not have.
	Suites []*suite.Suite
	Absent []Absent
	// Parts returns what other renderers made of it in a language; nil for a
	// machine of which nothing was made.
	Parts func(lang string) (Parts, error)
}

// Absent is a suite that a machine does not have.
type Absent struct {
	Name string
	// Cases says how many it would have when these are too many for anyone; 0 when
	// the machine does not allow such a suite.
	Cases int64
}

// Parts are what other renderers made of a machine in one language. Every part
// may be missing, and the pages then do without.
type Parts struct {
	// Picture is an svg element: states in it are elements with data-state, arrows
	// those with data-from and data-to, and what leads along them, within, those
	// with data-event.
	Picture string
	// Thumb is a picture for the index, smaller and with other ids.
	Thumb string
	// Slices show one state with its neighbours each, for a machine whose
	// picture is too large to read.
	Slices []Slice
	// Matrix holds a table whose cells have data-state and data-event, and whose
	// headers have one of them.
	Matrix string
	// Pictures, Tables and Suites are files to download: of the picture, of the
	// matrix, and of each suite by its name.
	Pictures, Tables []Download
	Suites           map[string][]Download
}

// Slice is the picture of one state and its neighbours.
type Slice struct {
	State   *model.State
	Picture string
}

// Download is a file that lies beside the pages, in the folder files.
type Download struct {
	// Format is its short name for people: "Mermaid", "Xray CSV".
	Format string
	// Name is the file's name, unique in the machine and language.
	Name    string
	Content []byte
}

// File is one file of the folder, its path with forward slashes.
type File struct {
	Path    string
	Content []byte
}

// Render returns the files of the folder, in the order of the input: first the
// page that opens one of the languages. Without machines the indexes say that
// there are none. The error is that of a part, or of a page that cannot be
// rendered, which is a fault of this package.
func Render(in Input) ([]File, error) {
	look := lookOf(in)
	start, err := execute("start", Languages()[0], frame{Lang: Languages()[0], Title: "Lifecycles · 生命周期", look: look})
	if err != nil {
		return nil, err
	}
	files := []File{{Path: "index.html", Content: start}}
	sets := make([][]File, len(Languages()))
	err = together(len(sets), func(i int) (err error) {
		sets[i], err = renderIn(in, look, Languages()[i])
		return err
	})
	return append(files, slices.Concat(sets...)...), err
}

// together does a number of things at the same time, and returns the error of
// one that fails. Each writes to a place of its own, so that the order of the
// result is not that of their ends.
func together(n int, do func(i int) error) error {
	var group errgroup.Group
	for i := range n {
		group.Go(func() error { return do(i) })
	}
	return group.Wait()
}

// renderIn renders the set of one language.
func renderIn(in Input, look *look, lang string) ([]File, error) {
	parts := make([]Parts, len(in.Machines))
	pages := make([][]File, len(in.Machines))
	err := together(len(in.Machines), func(i int) (err error) {
		m := in.Machines[i]
		if m.Parts != nil {
			if parts[i], err = m.Parts(lang); err != nil {
				return fmt.Errorf("%s: %w", m.Model.Name, err)
			}
		}
		if pages[i], err = machineFiles(in, look, i, parts[i], lang); err != nil {
			return fmt.Errorf("%s: %w", m.Model.Name, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	index, err := execute("index", lang, indexOf(in, look, parts, lang))
	if err != nil {
		return nil, err
	}
	return append([]File{{Path: path.Join(lang, "index.html"), Content: index}}, slices.Concat(pages...)...), nil
}

// machineFiles renders the pages of one machine, with its downloads.
func machineFiles(in Input, look *look, at int, parts Parts, lang string) ([]File, error) {
	m := in.Machines[at]
	folder := path.Join(lang, m.Model.Name)
	page, err := execute("machine", lang, machineOf(in, look, at, parts, lang))
	if err != nil {
		return nil, err
	}
	files := []File{{Path: path.Join(folder, "index.html"), Content: page}}
	downloads := slices.Concat(parts.Pictures, parts.Tables)
	for _, s := range m.Suites {
		page, err := execute("suite", lang, suiteOf(in, look, at, s, parts, lang))
		if err != nil {
			return nil, err
		}
		files = append(files, File{Path: path.Join(folder, suiteFile(s)), Content: page})
		downloads = append(downloads, parts.Suites[s.Name]...)
	}
	for _, d := range downloads {
		files = append(files, File{Path: path.Join(folder, "files", d.Name), Content: d.Content})
	}
	return files, nil
}
