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
	Numbers []Number
	// Suites are its test suites.
	Suites []*suite.Suite
	// Parts returns what other renderers made of it in a language; nil for a
	// machine of which nothing was made.
	Parts func(lang string) (Parts, error)
}

// Number is one size of a machine, under the name that fsmgen stats gives it.
type Number struct {
	Name string
	// Value is nil for a size that does not exist.
	Value *int
}

// Parts are what other renderers made of a machine in one language. Every part
// may be missing, and the pages then do without.
type Parts struct {
	// Picture is an svg element whose parts bear data-state, or data-from,
	// data-to and data-event, so that the page can tell them apart.
	Picture string
	// Slices show one state with its neighbours each, for a machine whose
	// picture is too large to read.
	Slices []Slice
	// Matrix is a table element whose cells bear data-state, data-event and data-kind.
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

// Download is a file that lies beside the pages.
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
	start, err := execute("start", Languages()[0], frame{})
	if err != nil {
		return nil, err
	}
	files := []File{{Path: "index.html", Content: start}}
	for _, lang := range Languages() {
		more, err := renderIn(in, lang)
		if err != nil {
			return nil, err
		}
		files = append(files, more...)
	}
	return files, nil
}

// renderIn renders the set of one language.
func renderIn(in Input, lang string) ([]File, error) {
	parts := make([]Parts, len(in.Machines))
	for i, m := range in.Machines {
		if m.Parts == nil {
			continue
		}
		var err error
		if parts[i], err = m.Parts(lang); err != nil {
			return nil, fmt.Errorf("%s: %w", m.Model.Name, err)
		}
	}
	index, err := execute("index", lang, indexOf(in, parts, lang))
	if err != nil {
		return nil, err
	}
	files := []File{{Path: path.Join(lang, "index.html"), Content: index}}
	for i := range in.Machines {
		more, err := machineFiles(in, i, parts[i], lang)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", in.Machines[i].Model.Name, err)
		}
		files = append(files, more...)
	}
	return files, nil
}

// machineFiles renders the pages of one machine, with its downloads.
func machineFiles(in Input, at int, parts Parts, lang string) ([]File, error) {
	m := in.Machines[at]
	folder := path.Join(lang, m.Model.Name)
	page, err := execute("machine", lang, machineOf(in, at, parts, lang))
	if err != nil {
		return nil, err
	}
	files := []File{{Path: path.Join(folder, "index.html"), Content: page}}
	downloads := slices.Concat(parts.Pictures, parts.Tables)
	for _, s := range m.Suites {
		page, err := execute("suite", lang, suiteOf(in, at, s, parts, lang))
		if err != nil {
			return nil, err
		}
		files = append(files, File{Path: path.Join(folder, suiteFile(s)), Content: page})
		downloads = append(downloads, parts.Suites[s.Name]...)
	}
	for _, d := range downloads {
		files = append(files, File{Path: path.Join(folder, d.Name), Content: d.Content})
	}
	return files, nil
}
